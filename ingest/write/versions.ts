import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql, trustedText } from '../../clickhouse/engine/sql.ts';
import { VERSIONED } from '../../clickhouse/tables/all-tables.ts';
import { VERSION_UNITS_PER_MS } from '../../core/domain/settlement.ts';

/**
 * `ver` of a write attempt: strictly rising, never reused, above everything the tables already hold. The clock survives a
 * restart without being stored; the floor covers a clock that was set back.
 *
 * Versions are `VERSION_STEP` apart. The room between is for regrades: a row that is graded anew keeps its place in time and
 * only fills that room (ingest/grading/regrade), so whatever is written to its key later, tombstones above all, stays above it
 * however the two statements overlap.
 */
export interface Versions {
  next(): bigint;
  /**
   * From now on above `floor` as well. For work that another process has planned: its machine's clock may be hours ahead, and
   * what it retracted before must not win over rows that are written after.
   */
  raise(floor: bigint): void;
}

/**
 * Regrades that one written row can take: a catalogue changes a few times a day at most. Leaves ten attempts a millisecond
 * before the versions run ahead of the clock, which is harmless.
 */
export const VERSION_STEP = 100_000n;

export function createVersions(floor: bigint, nowMs: () => number = Date.now): Versions {
  const wholeStep = (version: bigint): bigint => version - (version % VERSION_STEP);
  let last = wholeStep(floor);
  return {
    raise(above) {
      if (wholeStep(above) > last) last = wholeStep(above);
    },
    next() {
      const fromClock = BigInt(nowMs()) * VERSION_UNITS_PER_MS;
      last = fromClock > last ? fromClock : last + VERSION_STEP;
      return last;
    },
  };
}

/** Reads one well compressed column of every table whole: two seconds at a hundred million rows. */
const MAX_SECONDS = 120;

/** Nothing that is written from now on may carry a version that a row already has, even if the clock was set back. */
export async function highestVersion(writer: Writer): Promise<bigint> {
  const maxima = VERSIONED.map(
    ([table, column]): Sql => sql`SELECT max(${trustedText(column)}) AS version FROM ${trustedText(table)}`,
  ).reduce((all, next) => sql`${all} UNION ALL ${next}`);
  const { rows } = await writer.rows({
    name: 'highest-version',
    sql: sql`SELECT max(version) FROM (${maxima})`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  return BigInt(String(rows[0]?.[0] ?? 0));
}
