import type { Reader } from '../../../clickhouse/engine/engine.ts';
import type { JudgedRole } from '../../../core/domain/data-quality.ts';
import { finalCoverage } from '../index-state/finality.ts';
import type { RollupCoverage, Rollups } from '../index-state/rollup-coverage.ts';
import {
  type CounterpartyScan,
  readScanFloor,
  SCAN_ROWS_MAX,
  scanCounterparties,
} from './counterparty-scan.ts';
import type { ProfileScope } from './profile-scope.ts';
import { type ProfileTotals, readProfileTotals, startOfDay } from './profile-totals.ts';
import { readRings, type WalletRing } from './rings.ts';
import { readSmallWallet, readWholeWallet, WHOLE_ROWS_READ_MAX, type WholeWallet } from './whole-wallet.ts';

/** Everything that the settlements say about one wallet in one role. */

/** Days of the chart, today included. */
export const CHART_DAYS = 30;

export interface ProfileQuery extends ProfileScope {
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
