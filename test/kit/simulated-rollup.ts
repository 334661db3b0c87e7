import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import { createLog } from '../../core/log.ts';
import type { RollupLimits } from '../../ingest/rollup/due.ts';
import { mergeRelayerTotals } from '../../ingest/rollup/relayer-totals.ts';
import { runRollup } from '../../ingest/rollup/worker.ts';
import { untilAcknowledged } from '../../ingest/write/batch-writer.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { freshLooks } from './fresh-looks.ts';
import type { KillableEngine } from './killable-engine.ts';

const log = createLog('silent', 'simulated-rollup');
const POLL_MS = 10;
const MAX_SECONDS = 10;

/** Everything is due at once; a busy block is enough for a day to be closed by hours. */
const LIMITS: RollupLimits = {
  pollMs: POLL_MS,
  closeAfterMs: 0,
  quietMs: 0,
  closeAnywayAfterMs: 0,
  splitAboveRows: 50,
  slicesPerPassMax: 4,
  totalsEveryMs: 0,
};

/**
 * The product's rollup worker as a process that ends when nothing is dirty and the relayers' totals are merged from that.
 * Rejects when it dies or meets what no waiting mends.
 * `engine` tells of the tables whatever happens to the worker.
 */
export async function rollUp(writer: Writer, engine: KillableEngine): Promise<void> {
  const ending = new AbortController();
  const versions = createVersions(0n);
  let failed = false;
  const running = runRollup({
    writer,
    versions,
    log,
    signal: ending.signal,
    clock: { nowMs: () => Date.now() },
    limits: LIMITS,
  }).catch((error: unknown) => {
    failed = true;
    throw error;
  });
  running.catch(() => undefined); // awaited below
  const isClean = freshLooks(engine.changes, async () => (await dirtySlices(engine.writer)) === 0);
  while (!failed && !(await isClean())) await delay(POLL_MS);
  ending.abort();
  await running;
  // By itself it may have been ended before it came to this.
  const { signal } = new AbortController();
  await untilAcknowledged(log, signal, () => mergeRelayerTotals({ writer, versions }));
}

/** Infinite while the engine does not answer. */
async function dirtySlices(observer: Writer): Promise<number> {
  try {
    const { rows } = await observer.rows({
      name: 'simulation-dirty',
      sql: sql`SELECT count() FROM rollup_slices WHERE ver > rolled_ver`,
      maxSeconds: MAX_SECONDS,
      maxRows: 1,
    });
    return Number(rows[0]?.[0]);
  } catch {
    return Number.POSITIVE_INFINITY; // it is being restarted
  }
}
