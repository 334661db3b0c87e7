import { EngineError, type Reader } from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { type Finding, failure, ok, skipped, warning } from './finding.ts';

/** Payments, bearer tokens, holds and leases have times in them. */
const SKEW_WARNING_MS = 2_000;
const SKEW_FAILURE_MS = 30_000;
const MAX_SECONDS = 5;

/** A clock as it was read, between two looks at ours. */
export interface ClockReading {
  readonly whose: string;
  readonly theirMs: number;
  readonly beforeMs: number;
  readonly afterMs: number;
}

/** Compares another clock with ours; the way there and back is not held against it. */
export function judgeClock({ whose, theirMs, beforeMs, afterMs }: ClockReading): Finding {
  const skewMs = theirMs < beforeMs ? theirMs - beforeMs : Math.max(0, theirMs - afterMs);
  const seconds = (Math.abs(skewMs) / 1_000).toFixed(1);
  const says =
    Math.abs(skewMs) < 1_000
      ? `${whose} agrees with this machine within a second`
      : `${whose} is ${seconds} s ${skewMs < 0 ? 'behind' : 'ahead of'} this machine`;
  const remedy = 'Keep the clocks of all machines in step (NTP).';
  if (Math.abs(skewMs) >= SKEW_FAILURE_MS) return failure('clock', says, remedy);
  return Math.abs(skewMs) >= SKEW_WARNING_MS ? warning('clock', says, remedy) : ok('clock', says);
}

export async function checkEngineClock(reader: Reader, nowMs: () => number): Promise<Finding> {
  const beforeMs = nowMs();
  try {
    const { rows } = await reader.rows({
      name: 'doctor-clock',
      sql: sql`SELECT toUnixTimestamp64Milli(now64(3))`,
      maxSeconds: MAX_SECONDS,
      maxRows: 1,
    });
    return judgeClock({
      whose: 'the engine’s clock',
      theirMs: Number(rows[0]?.[0]),
      beforeMs,
      afterMs: nowMs(),
    });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return skipped('clock', 'the engine does not tell its time');
  }
}
