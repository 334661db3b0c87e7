import type { Log } from '../../core/log.ts';

/**
 * How a process learns that a job waits. The jobs themselves, their order and their claims are in the control store: the announcement
 * here only says that a look at the store is worth it, so an announcement may be lost or come twice. Two adapters: `polledLine` below,
 * for the one process of a SQLite file, and bullmq-line.ts for many processes over Redis.
 *
 *   const working = line.work({ places: 2, claimNext, signal });
 *   line.announce(); // a job was queued
 */
export interface JobLine {
  /** A job waits. Returns at once and never throws. */
  announce(): void;
  /** Runs what waits, at most `places` at once, until the signal aborts; resolves when nothing runs any more. Never rejects. */
  work(options: LineWork): Promise<void>;
  close(): Promise<void>;
}

export interface LineWork {
  readonly places: number;
  /** Claims the next job. The function that it resolves with runs the job and never rejects; null when none waits. */
  claimNext(): Promise<(() => Promise<void>) | null>;
  readonly signal: AbortSignal;
}

/** A second is little against the time of a query that is worth a job. */
const POLL_MS = 1_000;

/** Looks at the store every second, at an announcement, and whenever a job has ended. */
export function polledLine(log: Log, pollMs: number = POLL_MS): JobLine {
  let look = (): void => undefined;
  return {
    announce: () => look(),
    work: async ({ places, claimNext, signal }) => {
      const running = new Set<Promise<void>>();
      let isLooking = false;
      let mustLook = false;
      const fill = async (): Promise<void> => {
        while (running.size < places && !signal.aborted) {
          const run = await claimNext();
          if (run === null) return;
          const ended = run().finally(() => {
            running.delete(ended);
            look();
          });
          running.add(ended);
        }
      };
      look = () => {
        mustLook = true;
        if (isLooking) return;
        isLooking = true;
        void (async () => {
          while (mustLook && !signal.aborted) {
            mustLook = false;
            await fill().catch((error: unknown) => log.debug({ err: error }, 'the jobs cannot be read'));
          }
          isLooking = false;
        })();
      };
      const timer = setInterval(look, pollMs).unref();
      look();
      await untilAborted(signal);
      clearInterval(timer);
      await Promise.all(running);
    },
    close: () => Promise.resolve(),
  };
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
