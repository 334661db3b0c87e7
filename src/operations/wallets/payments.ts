import { IS_COUNTED, IS_DUST } from '../../../clickhouse/engine/counted-rows.ts';
import { EngineError, type Reader, type Row } from '../../../clickhouse/engine/engine.ts';
import {
  addressBytes,
  allOf,
  dateTime,
  type Sql,
  sql,
  text,
  unionAll,
} from '../../../clickhouse/engine/sql.ts';
import type { RollupCoverage, TimeRange } from '../../../clickhouse/tables/coverage.ts';
import { walletRows } from '../../../clickhouse/tables/history.ts';
import type { Address } from '../../../core/domain/address.ts';
import { tooLargeFor } from '../as-of.ts';
import { ask, asUnavailable } from '../ask.ts';
import { PAIR_SETTINGS, pairsBetween } from '../index-state/pairs.ts';
import { keyConditions, PROFILE_RESOURCE, type ProfileScope } from './profile-totals.ts';
import { SNAPSHOT_ROWS_READ_MAX, WHOLE_ROWS_READ_MAX } from './read-profile.ts';
import type { WalletRole } from './slice.ts';

/**
 * What a wallet paid and was paid in a span of time, to be put behind FROM. Columns: `other` (FixedString(20), the wallet itself among
 * them), `chain`, `inbound` (1: it was paid), `day`, `n`, `usd`, `proven_n`, `proven`, the same without dust as `judged_n`, `judged_usd` and
 * `judged_proven`, `first_time`, `last_time`; to be added up by `other`.
 *
 * Most wallets are small: their own rows are one read of the table ordered by wallet. Only of larger ones the days of pairs are read,
 * which take a look into each month for a wallet with a single payment, too.
 */

const MAX_SECONDS = 10;

export interface PaymentScope extends ProfileScope {
  readonly span: TimeRange;
  /** Only where the wallet was this. */
  readonly role?: WalletRole | undefined;
  /** Only with this wallet. */
  readonly other?: Address | undefined;
  /** Rows that it may take to read the wallet from its rows. Tests lower it. */
  readonly wholeRowsReadMax?: number;
}

/** A statement about payments. */
export interface PaymentQuestion {
  readonly name: string;
  readonly maxRows: number;
  sql(payments: Sql): Sql;
}

/** Asks about the rows of the first of these wallets that is small, or else about the pairs of the first one. */
export async function askPayments(
  deps: { readonly reader: Reader; readonly coverage: RollupCoverage },
  scopes: readonly [PaymentScope, ...PaymentScope[]],
  question: (wallet: Address) => PaymentQuestion,
): Promise<readonly Row[]> {
  for (const scope of scopes) {
    const rows = await askSmallWallet(deps.reader, scope, question(scope.wallet));
    if (rows !== null) return rows;
  }
  return askPairs(deps, scopes[0], question(scopes[0].wallet));
}

/** About the pairs of a wallet, whose size does not matter. */
export async function askPairs(
  { reader, coverage }: { readonly reader: Reader; readonly coverage: RollupCoverage },
  scope: PaymentScope,
  { sql: statement, ...about }: PaymentQuestion,
): Promise<readonly Row[]> {
  if (scope.asOf !== undefined) throw tooLargeFor(SNAPSHOT_ROWS_READ_MAX);
  const { rows } = await ask(reader, PROFILE_RESOURCE, {
    ...about,
    maxSeconds: MAX_SECONDS,
    settings: PAIR_SETTINGS,
    sql: statement(pairPayments(scope, coverage)),
  });
  return rows;
}

/** About the rows of a wallet; null where the engine finds, before it reads, that they are too many. */
export async function askSmallWallet(
  reader: Reader,
  scope: PaymentScope,
  { sql: statement, ...about }: PaymentQuestion,
): Promise<readonly Row[] | null> {
  const { asOf, wholeRowsReadMax = WHOLE_ROWS_READ_MAX } = scope;
  try {
    const { rows } = await reader.rows({
      ...about,
      maxSeconds: MAX_SECONDS,
      settings: {
        max_rows_to_read: asOf === undefined ? wholeRowsReadMax : SNAPSHOT_ROWS_READ_MAX,
      },
      sql: statement(rowPayments(scope)),
    });
    return rows;
  } catch (error) {
    if (error instanceof EngineError && error.problem === 'too_many_rows') return null;
    throw asUnavailable(PROFILE_RESOURCE, error);
  }
}

function rowPayments(scope: PaymentScope): Sql {
  const { role, other, span } = scope;
  const during = [
    ...keyConditions(scope),
    sql`block_time >= ${dateTime(span.from)}`,
    ...(span.to === null ? [] : [sql`block_time < ${dateTime(span.to)}`]),
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
