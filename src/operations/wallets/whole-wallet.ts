import { EngineError, type Reader, type Rows, type Statement } from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import type { JudgedRole } from '../../../core/domain/data-quality.ts';
import { ask, asUnavailable } from '../read/ask.ts';
import {
  type CounterpartyScan,
  decodeScan,
  NOBODY_SCANNED,
  partnerFigures,
  SCAN_COLUMNS,
} from './counterparty-scan.ts';
import { fromWalletRows, PROFILE_RESOURCE, type ProfileScope } from './profile-scope.ts';
import {
  decodeGroup,
  GROUP_COLUMNS,
  GROUPS_MAX,
  isOverAllGroups,
  type ProfileTotals,
  rowFigures,
  rowKeys,
  totalsOf,
} from './profile-totals.ts';

const MAX_SECONDS = 10;
/**
 * Rows that a wallet may take to be read whole, other wallets' rows in the same granules among them: more than a wallet with as many
 * rows as a scan takes in an index of ten parts. The engine knows before it reads anything, and then refuses.
 */
export const WHOLE_ROWS_READ_MAX = 200_000;
/** Columns before those of the scan: the ten of a group. */
const SCAN_FROM = 10;

export interface WholeWallet {
  readonly totals: ProfileTotals;
  readonly scan: CounterpartyScan;
}

type WholeWalletQuery = ProfileScope & { readonly role: JudgedRole; readonly chartFrom: number };

/**
 * Totals and counterparties of a wallet from all of its rows, exact, in one pass over its log: reading it is most of the work, and
 * for a wallet that fits into a scan rollups would only cost more (9 ms against 44, engine.md 4.2).
 */
export function readWholeWallet(reader: Reader, query: WholeWalletQuery): Promise<WholeWallet> {
  return readWhole(query, (statement) => ask(reader, PROFILE_RESOURCE, statement));
}

/** The same, or null where that would read more than is reasonable without knowing how much the wallet did. */
export async function readSmallWallet(
  reader: Reader,
  query: WholeWalletQuery,
  rowsReadMax: number,
): Promise<WholeWallet | null> {
  try {
    const bounded = { max_rows_to_read: rowsReadMax };
    return await readWhole(query, (statement) => reader.rows({ ...statement, settings: bounded }));
  } catch (error) {
    if (error instanceof EngineError && error.problem === 'too_many_rows') return null;
    throw asUnavailable(PROFILE_RESOURCE, error);
  }
}

async function readWhole(
  query: WholeWalletQuery,
  read: (statement: Statement) => Promise<Rows>,
): Promise<WholeWallet> {
  const { wallet, role, chartFrom } = query;
  const { rows } = await read({
    name: 'profile-whole-wallet',
    maxSeconds: MAX_SECONDS,
    maxRows: GROUPS_MAX,
    sql: sql`SELECT ${GROUP_COLUMNS}, ${SCAN_COLUMNS} FROM (
        SELECT ${rowKeys(chartFrom)}, ${rowFigures(wallet)}, ${partnerFigures(wallet, role)}
        ${fromWalletRows(query, sql`1`)} GROUP BY GROUPING SETS ((side, chain, chart_day), (counterparty)))
      GROUP BY side, chain, chart_day`,
  });
  const [scan] = rows.filter(isOverAllGroups);
  const groups = rows.filter((row) => !isOverAllGroups(row));
  return {
    totals: totalsOf(groups.map(decodeGroup)),
    scan: scan === undefined ? NOBODY_SCANNED : decodeScan(scan.slice(SCAN_FROM)),
  };
}
