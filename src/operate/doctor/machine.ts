import { statfs } from 'node:fs/promises';
import { EngineError, type Reader } from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import type { Config } from '../../../core/config/config.ts';
import { type Finding, failure, ok, skipped, warning } from './finding.ts';

/** The machine (Node, disk), and settings that are allowed but unwise. */

const NODE_MIN = [20, 19] as const;

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const [majorMin, minorMin] = NODE_MIN;
  const isEnough = major > majorMin || (major === majorMin && minor >= minorMin);
  if (isEnough) return ok('node', `${version} will do`);
  return failure('node', `${version} is too old`, `Install Node ${majorMin}.${minorMin} or newer.`);
}

const GIBIBYTE = 1024 ** 3;
const FREE_FAILURE_BYTES = GIBIBYTE;
/** A merge may need as much again as its largest parts. */
const FREE_WARNING_BYTES = 5 * GIBIBYTE;
const FREE_WARNING_SHARE = 0.1;

export interface Space {
  readonly whose: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export function judgeSpace({ whose, freeBytes, totalBytes }: Space): Finding {
  const share = totalBytes === 0 ? 1 : freeBytes / totalBytes;
  const says = `${whose} has ${(freeBytes / GIBIBYTE).toFixed(1)} GiB free (${Math.round(share * 100)} %)`;
  const remedy = 'Make room, or move the data: a full disk stops inserts, and payments cannot be taken.';
  if (freeBytes < FREE_FAILURE_BYTES) return failure('disk', says, remedy);
  return freeBytes < FREE_WARNING_BYTES || share < FREE_WARNING_SHARE
    ? warning('disk', says, remedy)
    : ok('disk', says);
}

export async function checkDataDirectory({ dataDir }: Pick<Config, 'dataDir'>): Promise<Finding> {
  try {
    const { bavail, blocks, bsize } = await statfs(dataDir);
    return judgeSpace({
      whose: 'the data directory',
      freeBytes: bavail * bsize,
      totalBytes: blocks * bsize,
    });
  } catch {
    return skipped('disk', 'there is no data directory yet');
  }
}

const MAX_SECONDS = 5;
const DISKS_MAX = 100;

export async function checkEngineDisks(reader: Reader): Promise<readonly Finding[]> {
  try {
    const { rows } = await reader.rows({
      name: 'doctor-disks',
      sql: sql`SELECT name, free_space, total_space FROM system.disks WHERE type = 'Local'`,
      maxSeconds: MAX_SECONDS,
      maxRows: DISKS_MAX,
    });
    return rows.map(([name, free, total]) =>
      judgeSpace({
        whose: `the engine’s disk ${String(name)}`,
        freeBytes: Number(free),
        totalBytes: Number(total),
      }),
    );
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return [
      skipped('disk', 'the engine does not tell its disks: grant SELECT on system.disks to the reader'),
    ];
  }
}

/** Settings that the program takes and an operator may regret. */
export function checkConfiguration(config: Config): readonly Finding[] {
  const { clickhouse, control, payment, http, role } = config;
  const found: Finding[] = [];
  const regret = (says: string, remedy: string): void =>
    void found.push(warning('configuration', says, remedy));
  if (clickhouse.url !== null && clickhouse.reader === null)
    regret('reads use the writer’s credentials', 'Set clickhouse.reader to a user that can only read.');
  if (clickhouse.url !== null && clickhouse.guest === null)
    regret('there is no guest user: callers’ SQL is not run', 'Set clickhouse.guest (docs/operators.md).');
  if (role !== 'all' && control.redisUrl === null && role === 'api')
    regret(
      'accounts are kept in a file of this machine alone',
      'Set control.redisUrl for more than one API process.',
    );
  if ((role === 'api' || control.redisUrl !== null) && config.cursorSecrets.length === 0)
    regret(
      'cursors are signed with a key of this machine alone',
      'Set the same cursorSecrets for every API process.',
    );
  if (payment.facilitatorUrl !== null && http.publicUrl === null)
    regret('calls are sold and http.publicUrl is not set', 'Set http.publicUrl: it is in every offer.');
  for (const { chain, rpcUrls } of config.chains)
    if (new Set(rpcUrls).size === 1)
      regret(
        `${chain} has one RPC URL`,
        'Give a second one: nodes fail, and contradictions are settled by another.',
      );
  return found.length > 0 ? found : [ok('configuration', 'is whole, and nothing in it is unwise')];
}

/** Payments, bearer tokens, holds and leases have times in them. */
const SKEW_WARNING_MS = 2_000;
const SKEW_FAILURE_MS = 30_000;
/** A reading of another clock, between two readings of ours. */
export interface ClockReading {
  readonly whose: string;
  readonly theirMs: number;
  readonly beforeMs: number;
  readonly afterMs: number;
}

/** Compares another clock with ours, allowing for the round trip. */
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
    return skipped('clock', 'the engine does not report its time');
  }
}
