import { EngineError, type Reader, type Rows, type Statement } from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import type { JudgedRole } from '../../../core/domain/data-quality.ts';
import { ask, asUnavailable } from '../ask.ts';
import { finalCoverage } from '../index-state/finality.ts';
import type { RollupCoverage, Rollups } from '../index-state/rollups.ts';
import {
  type CounterpartyScan,
  decodeScan,
  NOBODY_SCANNED,
  partnerFigures,
  readScanFloor,
  SCAN_COLUMNS,
  SCAN_ROWS_MAX,
  scanCounterparties,
} from './counterparties.ts';
import {
  decodeGroup,
  fromWalletRows,
  GROUP_COLUMNS,
  GROUPS_MAX,
  isOverAllGroups,
  PROFILE_RESOURCE,
  type ProfileScope,
  type ProfileTotals,
  readProfileTotals,
  readRings,
  rowFigures,
  rowKeys,
  startOfDay,
  totalsOf,
  type WalletRing,
} from './profile-totals.ts';

/** Everything that the settlements say about one wallet in one role. */

/** Days of the chart, today included. */
export const CHART_DAYS = 30;

interface ProfileQuery extends ProfileScope {
  readonly role: JudgedRole;
  readonly nowSeconds: number;
  readonly bounds: ProfileBounds;
}

export interface ProfileBounds {
  /** Rows of a wallet that a scan of its newest ones reads at most. A wallet without more is always read whole. */
  readonly scanRowsMax: number;
  /** Rows that a wallet may take to be read whole, whatever the number of its own. */
  readonly wholeRowsReadMax: number;
}

/**
 * Rows that a wallet may take to be read whole, other wallets' rows in the same granules among them: more than a wallet with as many
 * rows as a scan takes in an index of ten parts. The engine knows before it reads anything, and then refuses.
 */
export const WHOLE_ROWS_READ_MAX = 200_000;

export const PROFILE_BOUNDS: ProfileBounds = {
  scanRowsMax: SCAN_ROWS_MAX,
  wholeRowsReadMax: WHOLE_ROWS_READ_MAX,
};

export interface Profile {
  readonly totals: ProfileTotals;
  readonly scan: CounterpartyScan;
  /** Older settlements than the scanned ones exist. */
  readonly scanTruncated: boolean;
  /** As of the newest finished pass, whatever the chain and finality asked for. */
  readonly rings: readonly WalletRing[];
  readonly counterparties: { readonly count: number; readonly exact: boolean };
}

/**
 * A wallet that is read whole is counted from its rows, and everything about it is exact. The rollups only serve larger wallets,
 * whose totals stay exact while shares come from the newest rows.
 */
export async function readProfile(
  deps: { readonly reader: Reader; readonly rollups: Rollups },
  query: ProfileQuery,
): Promise<Profile> {
  const { reader } = deps;
  const chartFrom = startOfDay(query.nowSeconds, CHART_DAYS - 1);
  const [counted, rings] = await Promise.all([
    readCounted(deps, { ...query, chartFrom }),
    readRings(reader, query.wallet),
  ]);
  return { ...counted, rings };
}

async function readCounted(
  deps: { readonly reader: Reader; readonly rollups: Rollups },
  query: ProfileQuery & { readonly chartFrom: number },
): Promise<Omit<Profile, 'rings'>> {
  const { reader } = deps;
  const { scanRowsMax, wholeRowsReadMax } = query.bounds;
  // Most wallets are small, and then this is all.
  const small = await readSmallWallet(reader, query, wholeRowsReadMax);
  if (small !== null) return wholly(small);
  const [floor, coverage] = await Promise.all([
    readScanFloor(reader, query, scanRowsMax),
    coverageOf(deps, query),
  ]);
  if (floor === null) return wholly(await readWholeWallet(reader, query));
  const [{ totals, partners }, scan] = await Promise.all([
    readProfileTotals(reader, { ...query, coverage }),
    scanCounterparties(reader, { ...query, floor }),
  ]);
  // Rows of a rare chain are looked for no further than a bound, and then the scan may have seen all there are.
  if (scan.settlements >= settlementsOf(totals))
    return { totals, scan, scanTruncated: false, counterparties: exactly(scan) };
  const itself = totals.inbound.selfCount > 0 ? 1 : 0;
  const counterparties = { count: Math.max(0, partners - itself), exact: false };
  return { totals, scan, scanTruncated: true, counterparties };
}

function wholly({ totals, scan }: WholeWallet): Omit<Profile, 'rings'> {
  return { totals, scan, scanTruncated: false, counterparties: exactly(scan) };
}

function exactly({ counterparties }: CounterpartyScan): Profile['counterparties'] {
  return { count: counterparties, exact: true };
}

/** A payment to oneself, which is in both directions, once. */
function settlementsOf({ inbound, outbound }: ProfileTotals): number {
  return inbound.count + outbound.count - inbound.selfCount;
}

async function coverageOf(
  deps: { readonly reader: Reader; readonly rollups: Rollups },
  { chain, final }: ProfileQuery,
): Promise<RollupCoverage> {
  const coverage = await deps.rollups.coverage();
  if (final === undefined) return coverage;
  const served = final.filter((block) => chain === undefined || block.chain === chain);
  return finalCoverage(deps.reader, coverage, served);
}

const MAX_SECONDS = 10;
/** Columns before those of the scan: the ten of a group. */
const SCAN_FROM = 10;

interface WholeWallet {
  readonly totals: ProfileTotals;
  readonly scan: CounterpartyScan;
}

type WholeWalletQuery = ProfileScope & { readonly role: JudgedRole; readonly chartFrom: number };

/**
 * Totals and counterparties of a wallet from all of its rows, exact, in one pass over its log: reading it is most of the work, and
 * for a wallet that fits into a scan rollups would only cost more (9 ms against 44).
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
