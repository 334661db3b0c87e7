import { IS_COUNTED } from '../../../clickhouse/engine/counted-rows.ts';
import { EngineError, type Reader, type Row, type Statement } from '../../../clickhouse/engine/engine.ts';
import { allOf, type Sql, sql, text } from '../../../clickhouse/engine/sql.ts';
import {
  ALL_TIME,
  closedSlices,
  daysDuring,
  type RollupCoverage,
  type TimeRange,
} from '../../../clickhouse/tables/coverage.ts';
import { walletRows } from '../../../clickhouse/tables/history.ts';
import type { Address } from '../../../core/domain/account.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Snapshot } from '../../../core/domain/snapshot.ts';
import { tooLargeFor } from '../as-of.ts';
import { ask, asUnavailable } from '../ask.ts';
import { type FinalBlock, onChain, onFinalChain, onlyFinal } from '../index-state/finality.ts';

/**
 * Whose settlements figures are about, and where they are read from. Most wallets are small: all of their rows are one read of the table
 * ordered by wallet, and cost less than any sums. Of a larger one the figures come from what the newest pass of verdicts kept, where there is
 * such a thing, or else from sums by day, which cost the same for a wallet of any size.
 */

export interface WalletScope {
  readonly wallet: Address;
  readonly chain: Chain | undefined;
  /** Only rows up to these blocks count; undefined: rows at the tip count too. */
  readonly final: readonly FinalBlock[] | undefined;
  /** Rows as a snapshot has them. */
  readonly asOf?: Snapshot | undefined;
  /** Rows that a wallet may take to be read whole. Tests lower it. */
  readonly wholeRowsReadMax?: number;
}

/** The resource that a 503 names. */
export const WALLETS_RESOURCE = 'wallets';

/**
 * Rows that a wallet may take to be read whole, other wallets' rows in the same granules among them: as many cost what the rollups of a
 * larger one do (60 to 80 ms of processor time), and the answer is exact. The engine knows before it reads anything, and then refuses.
 */
export const WHOLE_ROWS_READ_MAX = 200_000;

/** Of a snapshot, which has no sums: a second or two of the engine. */
const SNAPSHOT_ROWS_READ_MAX = 5_000_000;

/** A question about a wallet, by where it is asked. */
export interface WalletQuestion {
  /** All rows of the wallet; several where the rows of any of them answer it. */
  readonly rows: readonly Statement[];
  /** What the newest pass of verdicts kept of large wallets, up to an hour ago. */
  readonly kept?: Statement;
  /** Sums by day. */
  readonly sums: () => Statement | Promise<Statement>;
}

export async function askWallet(
  reader: Reader,
  scope: WalletScope,
  { rows, kept, sums }: WalletQuestion,
): Promise<readonly Row[]> {
  return (
    (await askSmallWallet(reader, scope, rows)) ??
    (kept === undefined ? null : await askKept(reader, scope, kept)) ??
    (await ask(reader, WALLETS_RESOURCE, await sums())).rows
  );
}

/**
 * The answer of the first statement that reads few enough rows; null where the engine finds, before it reads, that all of them would read too
 * many. Of a snapshot that is the end, because what is read instead follows the index.
 */
export async function askSmallWallet(
  reader: Reader,
  { asOf, wholeRowsReadMax = WHOLE_ROWS_READ_MAX }: WalletScope,
  statements: readonly Statement[],
): Promise<readonly Row[] | null> {
  const rowsMax = asOf === undefined ? wholeRowsReadMax : SNAPSHOT_ROWS_READ_MAX;
  for (const statement of statements) {
    try {
      return (await reader.rows({ ...statement, settings: { max_rows_to_read: rowsMax } })).rows;
    } catch (error) {
      if (!(error instanceof EngineError && error.problem === 'too_many_rows'))
        throw asUnavailable(WALLETS_RESOURCE, error);
    }
  }
  if (asOf !== undefined) throw tooLargeFor(rowsMax);
  return null;
}

/** Null where the wallet was not large when the pass began, or only final rows count. */
export async function askKept(
  reader: Reader,
  { final }: WalletScope,
  statement: Statement,
): Promise<readonly Row[] | null> {
  if (final !== undefined) return null;
  const { rows } = await ask(reader, WALLETS_RESOURCE, statement);
  return rows.length === 0 ? null : rows;
}

/**
 * FROM and WHERE of the wallet's rows that count, one for each role, from the table ordered by wallet. Versions are merged before
 * `del` and `method` are looked at: the engine filters rows earlier only by the sort key, which every version of a row shares.
 */
export function fromWalletRows(scope: WalletScope, when: Sql): Sql {
  if (scope.asOf !== undefined)
    return sql`FROM ${walletRows(scope.asOf, [...keyConditions(scope), when])} WHERE ${IS_COUNTED}`;
  return sql`FROM wallet_rows FINAL WHERE ${allOf([...keyConditions(scope), when])} AND ${IS_COUNTED}`;
}

/** Conditions on the sort key of wallet_rows: which rows are of this wallet (the first one) and count. */
export function keyConditions({ wallet, chain, final }: WalletScope): [Sql, ...Sql[]] {
  return [sql`wallet = ${text(wallet)}`, ...onChain(chain), ...onlyFinal(final)];
}

/**
 * FROM and WHERE of what the rollups hold of the wallet as a payee and as a payer. A key that vanished stays there with a count
 * of zero.
 */
export function fromClosedRows(
  { wallet, chain, final }: WalletScope,
  coverage: RollupCoverage,
  span: TimeRange = ALL_TIME,
): { readonly received: Sql; readonly paid: Sql } {
  const conditions = allOf([
    ...daysDuring(span),
    ...onChain(chain),
    ...onFinalChain(final),
    closedSlices(coverage),
  ]);
  return {
    received: sql`FROM payee_day FINAL WHERE payee = ${text(wallet)} AND ${conditions} AND settlement_count > 0`,
    paid: sql`FROM payer_day FINAL WHERE payer = ${text(wallet)} AND ${conditions} AND settlement_count > 0`,
  };
}
