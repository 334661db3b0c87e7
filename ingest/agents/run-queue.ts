import { setTimeout as delay } from 'node:timers/promises';
import { VERSION_UNITS_PER_MS } from '../../core/domain/version-time.ts';
import type { Log } from '../../core/log.ts';
import { reportBacklog } from './backlog.ts';

/** How a queue of files is worked off. */
export interface QueueLimits {
  /** After a batch with nothing left over, until new files are looked for. */
  readonly pollMs: number;
  /** From one look at everything, for what is due again, to the next. */
  readonly fullEveryMs: number;
  /** The queue rests this many times as long as it looked: looking for nothing must not take a core. */
  readonly restFactor: number;
  readonly filesPerBatch: number;
  readonly filesPerInsert: number;
  /** What is fetched is written this long after the last write, also before an insert is full. */
  readonly saveEveryMs: number;
  /** Between two requests to one host. */
  readonly hostPauseMs?: number;
}

export const QUEUE_LIMITS: QueueLimits = {
  pollMs: 1_000,
  fullEveryMs: 60_000,
  restFactor: 20,
  filesPerBatch: 500,
  filesPerInsert: 100,
  saveEveryMs: 2_000,
};

/** Which rows are looked at: all, or those that were written a short while ago, which is cheap. */
export type Look = 'all' | 'recent';

/** Longer than between two looks at everything, so that nothing is missed that is merely slow to appear. */
const RECENT_MS = 180_000;

/** The version that what `recent` looks at is above; 0 for all. `ver` follows the clock (ingest/write/versions.ts). */
export function lookedAtSince(look: Look, nowMs: number): bigint {
  return look === 'all' ? 0n : BigInt(nowMs - RECENT_MS) * VERSION_UNITS_PER_MS;
}

export interface FetchedBatch {
  readonly fetched: number;
  /** All that were due when it began. */
  readonly total: number;
  /** What it took to find them. */
  readonly lookedMs: number;
}

/** Batch after batch until the signal aborts. */
export async function runQueue(
  what: string,
  { log, signal, limits }: { readonly log: Log; readonly signal: AbortSignal; readonly limits: QueueLimits },
  fetchBatch: (look: Look) => Promise<FetchedBatch>,
): Promise<void> {
  const backlog = reportBacklog(what, log);
  let fullAtMs = 0;
  try {
    while (!signal.aborted) {
      const look: Look = performance.now() >= fullAtMs ? 'all' : 'recent';
      const { fetched, total, lookedMs } = await fetchBatch(look);
      const isMore = fetched > 0 && fetched < total;
      if (look === 'all') {
        backlog.tell(total, fetched);
        if (!isMore)
          fullAtMs = performance.now() + Math.max(limits.fullEveryMs, lookedMs * limits.restFactor);
      }
      const restMs = look === 'all' ? limits.pollMs : Math.max(limits.pollMs, lookedMs * limits.restFactor);
      await delay(isMore ? 0 : restMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Collects rows and saves them in few inserts: each is a part of its table. */
export function collectRows<T>(
  { filesPerInsert, saveEveryMs }: QueueLimits,
  save: (rows: readonly T[]) => Promise<void>,
): { add(row: T): Promise<void>; finish(): Promise<void>; count(): number } {
  const unsaved: T[] = [];
  let count = 0;
  let savedMs = performance.now();
  const finish = async (): Promise<void> => {
    savedMs = performance.now();
    const rows = unsaved.splice(0);
    if (rows.length > 0) await save(rows);
  };
  return {
    async add(row) {
      count++;
      unsaved.push(row);
      if (unsaved.length >= filesPerInsert || performance.now() - savedMs >= saveEveryMs) await finish();
    },
    finish,
    count: () => count,
  };
}
