import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../src/log.ts';
import { reportBacklog } from './backlog.ts';

/** How a queue of files is worked off. */
export interface QueueLimits {
  /** After a batch with nothing left over. */
  readonly pollMs: number;
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
  restFactor: 20,
  filesPerBatch: 200,
  filesPerInsert: 100,
  saveEveryMs: 2_000,
};

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
  fetchBatch: () => Promise<FetchedBatch>,
): Promise<void> {
  const backlog = reportBacklog(what, log);
  try {
    while (!signal.aborted) {
      const { fetched, total, lookedMs } = await fetchBatch();
      backlog.tell(total, fetched);
      const isMore = fetched > 0 && fetched < total;
      const restMs = isMore ? 0 : Math.max(limits.pollMs, lookedMs * limits.restFactor);
      await delay(restMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Collects rows and saves them in few inserts: each is a part of its table. */
export function collectRows<T>(
  { filesPerInsert, saveEveryMs }: QueueLimits,
  save: (rows: readonly T[]) => Promise<void>,
): { add(row: T): Promise<void>; finish(): Promise<void> } {
  const unsaved: T[] = [];
  let savedMs = performance.now();
  const finish = async (): Promise<void> => {
    savedMs = performance.now();
    const rows = unsaved.splice(0);
    if (rows.length > 0) await save(rows);
  };
  return {
    async add(row) {
      unsaved.push(row);
      if (unsaved.length >= filesPerInsert || performance.now() - savedMs >= saveEveryMs) await finish();
    },
    finish,
  };
}
