import type { QueryKiller, QueryProgress } from '../../clickhouse/engine/engine.ts';

/**
 * How long the threads of a query waited instead of working: for cores that others used, or for the disk. It is not charged. The engine
 * tells the processor time of a query while it runs and not in its answer, so queries that may cost more than one unit are looked at.
 */
export interface IdleTime {
  /** Milliseconds, as of the last look. */
  readonly idleMs: number;
  /** Asks the engine now. Never rejects. */
  look(): Promise<void>;
  stop(): void;
}

/** Just before the second unit begins; and how often from then on, so that a query pays for a second of waiting at most. */
const FIRST_LOOK_MS = 4_000;
const LOOK_EVERY_MS = 1_000;

export function watchIdleTime(
  { queryId, threads }: { readonly queryId: string; readonly threads: number },
  killer: Pick<QueryKiller, 'progress'>,
): IdleTime {
  let idleMs = 0;
  let timer: NodeJS.Timeout;
  const look = async (): Promise<void> => {
    // Without an answer nothing is known to have been idle.
    const progress = await killer.progress(queryId).catch(() => null);
    idleMs = Math.max(idleMs, idleTimeOf(progress, threads));
  };
  const keepLooking = async (): Promise<void> => {
    await look();
    timer = setTimeout(keepLooking, LOOK_EVERY_MS).unref();
    if (isOver) clearTimeout(timer);
  };
  let isOver = false;
  timer = setTimeout(keepLooking, FIRST_LOOK_MS).unref();
  return {
    get idleMs() {
      return idleMs;
    },
    look,
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** 0 where the engine does not count processor time. */
export function idleTimeOf(progress: QueryProgress | null, threads: number): number {
  if (progress === null || progress.cpuMs === 0) return 0;
  return Math.max(0, progress.elapsedMs - progress.cpuMs / threads);
}
