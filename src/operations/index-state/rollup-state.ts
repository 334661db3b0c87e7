import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { versionTimeMs } from '../../../core/domain/version-time.ts';
import { ask } from '../read/ask.ts';
import { bigintField, integerField } from '../read/decode.ts';

/** How far the rollups are, for telemetry. */
export interface RollupState {
  /** Slices with changes that are not rolled up, the present day included. */
  readonly openSlices: number;
  /** Unix seconds at which the oldest of them begins; null when there is none. */
  readonly oldestOpen: number | null;
  /** Unix seconds of the newest computation; null before the first. */
  readonly lastClosedAt: number | null;
}

const MAX_SECONDS = 5;

export async function readRollupState(reader: Reader): Promise<RollupState> {
  const { rows } = await ask(reader, 'settlements', {
    name: 'rollup-state',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT countIf(ver > rolled_ver),
        minIf(toUnixTimestamp(toDateTime(day, 'UTC')) + greatest(hour, 0) * 3600, ver > rolled_ver),
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
