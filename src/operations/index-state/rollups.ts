import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { bigintField, integerField } from '../../../clickhouse/engine/row-reader.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { COVERAGE, decodeCoverage, type RollupCoverage } from '../../../clickhouse/tables/coverage.ts';
import { IS_OPEN, sliceStart } from '../../../clickhouse/tables/rollups.ts';
import type { Clock } from '../../../core/clock.ts';
import { versionTimeMs } from '../../../core/domain/settlement.ts';
import { ask, cached } from '../ask.ts';

/** The state of the rollups: which part of time they answer for, and how far they are. */

export interface Rollups {
  /** At most a second old. */
  coverage(): Promise<RollupCoverage>;
}

const RESOURCE = 'settlements';
const MAX_AGE_MS = 1_000;
const MAX_SECONDS = 5;

export function createRollups(deps: { readonly reader: Reader; readonly clock: Clock }): Rollups {
  return {
    coverage: cached({ clock: deps.clock, maxAgeMs: MAX_AGE_MS, load: () => readCoverage(deps.reader) }),
  };
}

export async function readCoverage(reader: Reader): Promise<RollupCoverage> {
  const { rows } = await ask(reader, RESOURCE, COVERAGE);
  return decodeCoverage(rows);
}

/** How far the rollups are, for telemetry. */
export interface RollupState {
  /** Slices with changes that are not rolled up, the present day included. */
  readonly openSlices: number;
  /** Unix seconds at which the oldest of them begins; null when there is none. */
  readonly oldestOpen: number | null;
  /** Unix seconds of the newest computation; null before the first. */
  readonly lastClosedAt: number | null;
}

export async function readRollupState(reader: Reader): Promise<RollupState> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'rollup-state',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT countIf(${IS_OPEN}),
        minIf(toUnixTimestamp(${sliceStart}), ${IS_OPEN}),
        (SELECT max(gen) FROM rollup_state)
      FROM rollup_slices`,
  });
  const [open, oldest, newestGen] = rows[0] ?? [];
  const openSlices = integerField(open);
  const gen = bigintField(newestGen);
  return {
    openSlices,
    oldestOpen: openSlices === 0 ? null : integerField(oldest),
    lastClosedAt: gen === 0n ? null : Math.floor(versionTimeMs(gen) / 1_000),
  };
}
