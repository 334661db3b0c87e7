import type { Reader } from '../../clickhouse/engine.ts';
import type { JudgedRole } from '../domain/data-quality.ts';
import {
  type CounterpartyScan,
  estimatePartners,
  readScanFloor,
  scanCounterparties,
} from './counterparty-scan.ts';
import { finalCoverage } from './finality.ts';
import type { ProfileScope } from './profile-scope.ts';
import { ALL_LIVE, type ProfileTotals, readProfileTotals, startOfDay } from './profile-totals.ts';
import { readRings, type WalletRing } from './rings.ts';
import type { RollupCoverage, Rollups } from './rollup-coverage.ts';

/** Everything that the settlements say about one wallet in one role. */

/** Days of the chart, today included. */
export const CHART_DAYS = 30;

export interface ProfileQuery extends ProfileScope {
  readonly role: JudgedRole;
  readonly nowSeconds: number;
  /** Rows that the counterparty scan reads at most. */
  readonly scanRowsMax: number;
}

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
 * A wallet whose rows all fit into the scan is counted from them; the rollups only serve wallets above that, whose totals stay
 * exact while shares come from the newest rows. Totals and estimate see the same coverage: a slice never counts twice or never.
 */
export async function readProfile(
  deps: { readonly reader: Reader; readonly rollups: Rollups },
  query: ProfileQuery,
): Promise<Profile> {
  const { reader } = deps;
  const [floor, rings] = await Promise.all([
    readScanFloor(reader, query, query.scanRowsMax),
    readRings(reader, query.wallet),
  ]);
  const coverage = floor === null ? ALL_LIVE : await coverageOf(deps, query);
  const chartFrom = startOfDay(query.nowSeconds, CHART_DAYS - 1);
  const [totals, scan, estimate] = await Promise.all([
    readProfileTotals(reader, { ...query, coverage, chartFrom }),
    scanCounterparties(reader, { ...query, floor }),
    floor === null ? null : estimatePartners(reader, { ...query, coverage }),
  ]);
  // Rows of a rare chain are looked for no further than a bound, and then the scan may have seen all there are.
  if (estimate === null || scan.settlements >= settlementsOf(totals))
    return { totals, scan, rings, scanTruncated: false, counterparties: exactly(scan) };
  const itself = totals.inbound.selfCount > 0 ? 1 : 0;
  const counterparties = { count: Math.max(0, estimate - itself), exact: false };
  return { totals, scan, rings, scanTruncated: true, counterparties };
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
