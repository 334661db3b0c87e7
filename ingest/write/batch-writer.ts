import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { EngineError, type Guard, type Writer } from '../../clickhouse/engine/engine.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { Log } from '../../core/log.ts';
import { backOffMs, retry } from '../../core/process/retry.ts';
import { type BatchRows, type EncodedBatch, encodeBatch, TARGETS } from './batch-rows.ts';
import { GRADES_SCOPE } from './fence.ts';
import type { Versions } from './versions.ts';

/** A restarting engine is back within a second. */
const PAUSES = { firstMs: 100, maxMs: 5_000 } as const;
/** ClickHouse refusals that end by themselves or by an operator's hand: disk full, read-only table, too many parts, memory. */
const PASSING_ENGINE_CODES: ReadonlySet<number> = new Set([243, 242, 252, 241, 202]);

/**
 * Repeats a write until the engine acknowledges it. Only idempotent writes may be given: each attempt must take a fresh `ver`
 * or write the same keys. A refusal that no waiting can mend (a broken statement) is thrown: it must crash the worker.
 */
export function untilAcknowledged<T>(log: Log, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  const pauseMs = (error: unknown, failures: number): number | null => {
    if (!(error instanceof EngineError) || !isPassing(error)) return null;
    const nextMs = backOffMs(failures, PAUSES);
    log.warn(
      {
        statement: error.statement,
        problem: error.problem,
        code: error.engineCode,
        pauseMs: Math.round(nextMs),
      },
      'write not acknowledged, trying again',
    );
    return nextMs;
  };
  return retry(attempt, { signal, pauseMs });
}

function isPassing(error: EngineError): boolean {
  return (
    error.problem !== 'engine_refused' ||
    (error.engineCode !== null && PASSING_ENGINE_CODES.has(error.engineCode))
  );
}

/**
 * Gathers what several windows produced into inserts of the size the engine likes, and answers each window only when its rows
 * are acknowledged. Rows of one chain only, so that a stray insert is found by its scope. Waiting rows are encoded; the rows are
 * let go. Memory is bounded by the callers: each waits for its own rows, and there are only as many as windows are read at once.
 */
export interface BatchWriter {
  /**
   * Resolves when all of it is acknowledged. `gradedBy` is the pass whose catalogue graded the rows, null where one process alone
   * grades. Rejects with `Overtaken` when they were graded by an outdated one, with `RangeError` for a row that its table cannot
   * hold, else only when the worker must stop. While `isMoreComing` says so, the rows may wait for others, up to `GATHERED_MS_MAX`;
   * without it they never do.
   */
  write(rows: BatchRows, gradedBy?: bigint | null, isMoreComing?: () => boolean): Promise<void>;
}

/** Measured: the best rate is at 10,000 to 100,000 rows an insert; beyond that only memory grows. */
const ROWS_PER_INSERT_MAX = 50_000;
/** Callers that will soon bring more wait until this many are together, because each insert has a price of its own … */
const ROWS_PER_INSERT_WANTED = 12_000;
/** … but no longer than this after the insert before, so that the first rows of a backfill, and the rows of a sparse one, do not wait. */
const GATHERED_MS_MAX = 250;

interface Pending {
  readonly batch: EncodedBatch;
  readonly gradedBy: bigint | null;
  readonly isMoreComing: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export function createBatchWriter(deps: {
  readonly chain: Chain;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
}): BatchWriter {
  const queue: Pending[] = [];
  const arrivals = createArrivals();
  const encode = createEncoding();
  let draining = false;
  let endedMs = Number.NEGATIVE_INFINITY;

  const gather = async (): Promise<void> => {
    while (isWaitingForMore(queue)) {
      const leftMs = endedMs + GATHERED_MS_MAX - performance.now();
      if (leftMs <= 0) return;
      await Promise.race([arrivals.next(), delay(leftMs, undefined, { ref: false })]);
    }
  };
  const drain = async (): Promise<void> => {
    draining = true;
    while (queue.length > 0) {
      await gather();
      const group = takeGroup(queue);
      try {
        await writeGroup(deps, group);
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
      endedMs = performance.now();
    }
    draining = false;
  };

  return {
    async write(rows, gradedBy = null, isMoreComing = () => false) {
      const batch = await encode(rows);
      // Also one without rows may be the last that others wait for.
      if (batch.rows === 0) return arrivals.tell();
      return new Promise((resolve, reject) => {
        queue.push({ batch, gradedBy, isMoreComing, resolve, reject });
        arrivals.tell();
        if (!draining) void drain();
      });
    },
  };
}

/** Encodes one batch after another, with a turn between: the engine already reads the first while the next ones are encoded. */
function createEncoding(): (rows: BatchRows) => Promise<EncodedBatch> {
  let last: Promise<void> | null = null;
  const ended = (): void => undefined;
  return (rows) => {
    const encoded =
      last === null ? encodeBatch(rows) : last.then(() => nextTurn()).then(() => encodeBatch(rows));
    const own = encoded.then(ended, ended);
    last = own;
    void own.then(() => {
      if (last === own) last = null;
    });
    return encoded;
  };
}

/** Whether all callers that wait expect more rows soon, and there are too few for an insert. */
function isWaitingForMore(queue: readonly Pending[]): boolean {
  const rows = queue.reduce((sum, { batch }) => sum + batch.rows, 0);
  return rows < ROWS_PER_INSERT_WANTED && queue.every(({ isMoreComing }) => isMoreComing());
}

/** Wakes the waiting drain when a batch has come. */
function createArrivals(): { tell(): void; next(): Promise<void> } {
  let wake = (): void => undefined;
  return {
    tell: () => wake(),
    next: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
  };
}

/** While one insert runs, the next ones gather; the first caller never waits for others. */
function takeGroup(queue: Pending[]): Pending[] {
  const group: Pending[] = [];
  let rows = 0;
  const fits = (next: Pending): boolean =>
    group.length === 0 ||
    // One insert has one guard.
    (group[0]?.gradedBy === next.gradedBy && rows + next.batch.rows <= ROWS_PER_INSERT_MAX);
  while (queue[0] && fits(queue[0])) {
    const next = queue.shift() as Pending; // queue[0] was just seen
    rows += next.batch.rows;
    group.push(next);
  }
  return group;
}

/** All tables of a window get one version; the window counts as written when the last of them is acknowledged. */
async function writeGroup(
  { chain, writer, versions, log, signal }: Parameters<typeof createBatchWriter>[0],
  group: readonly Pending[],
): Promise<void> {
  const gradedBy = group[0]?.gradedBy ?? null;
  const guards: Guard[] = gradedBy === null ? [] : [{ scope: GRADES_SCOPE, token: gradedBy }];
  await untilAcknowledged(log, signal, async () => {
    const ver = versions.next();
    for (const target of TARGETS) {
      const bytes = group.flatMap(({ batch }) =>
        (batch.pieces.get(target) ?? []).map((piece) => piece.at(ver)),
      );
      if (bytes.length === 0) continue;
      const name = `${target.name} ${chain}`;
      // A regrade waits for graded rows, also where one process alone grades and no guard says so.
      const marks = target.isGraded ? { guards, scopes: [chain, GRADES_SCOPE] } : { scopes: [chain] };
      await writer.insert(name, target.table, target.columns, bytes, marks);
    }
  });
}
