import { addressBytes } from '../../../clickhouse/engine/account.ts';
import { IS_COUNTED, IS_DUST } from '../../../clickhouse/engine/counted-rows.ts';
import type { Reader, Row, Statement } from '../../../clickhouse/engine/engine.ts';
import { allOf, type Sql, sql, text, unionAll } from '../../../clickhouse/engine/sql.ts';
import { type RollupCoverage, rowsDuring, type TimeRange } from '../../../clickhouse/tables/coverage.ts';
import { walletRows } from '../../../clickhouse/tables/history.ts';
import type { Address } from '../../../core/domain/account.ts';
import { PAIR_SETTINGS, pairsBetween } from '../index-state/pairs.ts';
import { askWallet, keyConditions, type WalletScope } from './scope.ts';
import type { WalletRole } from './slice.ts';

/**
 * What a wallet paid and was paid in a span of time, to be put behind FROM. Columns: `other` (bytes of an account, the wallet itself among
 * them), `chain`, `inbound` (1: it was paid), `day`, `n`, `usd`, `proven_n`, `proven`, the same without dust as `judged_n`, `judged_usd` and
 * `judged_proven`, `first_time`, `last_time`; to be added up by `other`.
 */

const MAX_SECONDS = 10;

export interface PaymentScope extends WalletScope {
  readonly span: TimeRange;
  /** Only where the wallet was this. */
  readonly role?: WalletRole | undefined;
  /** Only with this wallet. */
  readonly other?: Address | undefined;
}

/** A statement about payments. */
export interface PaymentQuestion {
  readonly name: string;
  readonly maxRows: number;
  sql(payments: Sql): Sql;
}

/** Asks about the rows of the first of these wallets that is small, or else about what was kept, or the pairs of the first one. */
export function askPayments(
  { reader, coverage }: { readonly reader: Reader; readonly coverage: RollupCoverage },
  scopes: readonly [PaymentScope, ...PaymentScope[]],
  question: (wallet: Address) => PaymentQuestion,
  kept?: Statement,
): Promise<readonly Row[]> {
  const statement = (wallet: Address, payments: Sql): Statement => {
    const { sql: asked, ...about } = question(wallet);
    return { ...about, maxSeconds: MAX_SECONDS, sql: asked(payments) };
  };
  const [first] = scopes;
  return askWallet(reader, first, {
    rows: scopes.map((scope) => statement(scope.wallet, rowPayments(scope))),
    ...(kept === undefined ? {} : { kept }),
    sums: () => ({ ...statement(first.wallet, pairPayments(first, coverage)), settings: PAIR_SETTINGS }),
  });
}

function rowPayments(scope: PaymentScope): Sql {
  const { role, other, span } = scope;
  const during = [
    ...keyConditions(scope),
    ...rowsDuring(span),
    ...(role === undefined ? [] : [sql`role = ${text(role)}`]),
  ];
  // The counterparty is not in the sort key: it is looked at after versions are merged.
  const counted = [IS_COUNTED, ...(other === undefined ? [] : [sql`counterparty = ${addressBytes(other)}`])];
  return sql`(SELECT counterparty AS other, chain, role = 'payee' AS inbound, toDate(block_time) AS day, 1 AS n, toDecimal128(amount_usd, 6) AS usd,
      method = 'facilitator_relay' AS proven_n, if(method = 'facilitator_relay', usd, toDecimal128(0, 6)) AS proven,
      NOT ${IS_DUST} AS judged_n, if(judged_n, usd, toDecimal128(0, 6)) AS judged_usd, if(judged_n, proven, toDecimal128(0, 6)) AS judged_proven,
      block_time AS first_time, block_time AS last_time
    FROM ${walletRows(scope.asOf, during)} WHERE ${allOf(counted)})`;
}

function pairPayments(
  { wallet, other, role, span, chain, final }: PaymentScope,
  coverage: RollupCoverage,
): Sql {
  const figures = sql`chain, day, settlement_count AS n, settled_usd AS usd, proven_count AS proven_n, proven_usd AS proven,
    toUInt64(settlement_count - dust_count) AS judged_n, settled_usd - dust_usd AS judged_usd, proven_usd - dust_proven_usd AS judged_proven, first_time, last_time`;
  const received = pairsBetween(span, { chain, final, payer: other, payee: wallet }, coverage);
  const paid = pairsBetween(span, { chain, final, payer: wallet, payee: other }, coverage);
  return sql`(${unionAll([
    ...(role === 'payer' ? [] : [sql`SELECT payer AS other, 1 AS inbound, ${figures} FROM ${received}`]),
    ...(role === 'payee' ? [] : [sql`SELECT payee AS other, 0 AS inbound, ${figures} FROM ${paid}`]),
  ])})`;
}
