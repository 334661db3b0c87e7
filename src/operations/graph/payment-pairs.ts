import { IS_COUNTED } from '../../../clickhouse/engine/counted-rows.ts';
import { allOf, type Sql, sql, text, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/address.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chain.ts';
import type { PaymentPair } from '../../../core/domain/payment-graph.ts';
import { type FinalBlock, onlyFinal } from '../index-state/finality.ts';
import { integerField, textField } from '../read/decode.ts';
import { onChain } from '../settlements/row.ts';

/** SQL that adds settlements up by payer and payee, over all of them or over the log of one wallet. */

/** Which settlements a graph is about. */
export interface PairScope {
  /** Only settlements that this wallet is a party of. */
  readonly wallet: Address | undefined;
  readonly chain: Chain | undefined;
  /** Only rows at or below these blocks; undefined: all. */
  readonly final: readonly FinalBlock[] | undefined;
}

/** Conditions on the sort key: they may be applied before versions are merged. */
export function pairConditions({ wallet, chain, final }: PairScope): Sql[] {
  return [
    ...(wallet === undefined ? [] : [sql`wallet = ${text(wallet)}`]),
    ...onChain(chain),
    ...onlyFinal(final),
  ];
}

/** The table whose order fits the scope. */
export function pairTable({ wallet }: PairScope): Sql {
  return wallet === undefined ? sql`settlements` : sql`wallet_log`;
}

/**
 * One row for each live settlement: payer, payee, amount_usd and the sort key. A wallet's log holds its payments to itself
 * twice, once for each role; the payer's row stands for them.
 */
export function settlementsOf(scope: PairScope, during: readonly Sql[]): Sql {
  const conditions = allOf([...during, ...pairConditions(scope)]);
  if (scope.wallet === undefined) {
    return sql`SELECT payer, payee, amount_usd, block_time, chain, block_number, log_index
      FROM (SELECT * FROM settlements FINAL WHERE ${conditions}) WHERE ${IS_COUNTED}`;
  }
  const own = sql`CAST(unhex(${text(scope.wallet.slice(2))}), 'FixedString(20)')`;
  return sql`SELECT if(role = 'payer', ${own}, counterparty) AS payer, if(role = 'payer', counterparty, ${own}) AS payee,
      amount_usd, block_time, chain, block_number, log_index
    FROM (SELECT * FROM wallet_log FINAL WHERE ${conditions})
    WHERE ${IS_COUNTED} AND NOT (role = 'payee' AND counterparty = ${own})`;
}

/** The columns behind `decodePair`, from rows grouped by payer and payee. */
const PAIR_COLUMNS: Sql = sql`lower(hex(a)), lower(hex(b)), toString(usd), settlements, toUnixTimestamp(first),
  toUnixTimestamp(last)`;

/** Rows that `largestPairs` answers at most. */
export function pairRowsMax(edgesMax: number): number {
  return edgesMax + 2;
}

/**
 * Settlements added up by payer and payee: the `edgesMax` largest pairs and one more, which tells that there are others, and
 * before them all payments to oneself as the one pair of the zero address with itself. The order between equal sums is that of
 * `buildPaymentGraph`.
 */
export function largestPairs(settlements: Sql, edgesMax: number): Sql {
  return sql`SELECT ${PAIR_COLUMNS} FROM
    (
      SELECT if(payer = payee, toFixedString('', 20), payer) AS a, if(payer = payee, toFixedString('', 20), payee) AS b,
        sum(amount_usd) AS usd, count() AS settlements, min(block_time) AS first, max(block_time) AS last
      FROM (${settlements}) GROUP BY a, b
    ) ORDER BY a = b DESC, usd DESC, a, b LIMIT ${uint32(pairRowsMax(edgesMax))}`;
}

/** The newest so many of a set of settlements. */
export function newestOf(settlements: Sql, limit: number): Sql {
  return sql`SELECT payer, payee, amount_usd, block_time FROM (${settlements})
    ORDER BY block_time DESC, chain DESC, block_number DESC, log_index DESC LIMIT ${uint32(limit)}`;
}

export function decodePair(row: readonly unknown[]): PaymentPair {
  return {
    payer: `0x${textField(row[0])}` as Address, // 40 hex digits of a FixedString(20)
    payee: `0x${textField(row[1])}` as Address,
    usdMicros: microsFromDecimal(textField(row[2])),
    count: integerField(row[3]),
    firstSeen: integerField(row[4]),
    lastSeen: integerField(row[5]),
  };
}
