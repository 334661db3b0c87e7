import type { Log } from '../../core/log.ts';

const TELL_EVERY_MS = 30_000;
/** A queue that is done in a moment is no news. */
const TOLD_FROM = 1_000;

/** Says in the log, now and then, how far a queue is and when it will have caught up. */
export function reportBacklog(
  what: string,
  log: Log,
  nowMs: () => number = () => performance.now(),
): { tell(due: number, done: number): void } {
  let began: { readonly atMs: number; readonly due: number } | null = null;
  let done = 0;
  let toldMs = 0;
  return {
    /** After each batch: how many were due when it began, and how many of them are done. */
    tell(due, more) {
      const atMs = nowMs();
      if (began === null) {
        if (due < TOLD_FROM) return;
        began = { atMs, due };
        done = 0;
        toldMs = atMs;
        log.info({ queue: what, due }, 'files are being fetched');
        return;
      }
      done += more;
      const left = Math.max(0, due - more);
      if (left === 0) {
        log.info({ queue: what, done }, 'files are fetched');
        began = null;
        return;
      }
      if (atMs - toldMs < TELL_EVERY_MS) return;
      toldMs = atMs;
      const perSecond = done / ((atMs - began.atMs) / 1_000);
      const etaSeconds = perSecond > 0 ? Math.ceil(left / perSecond) : null;
      log.info(
        { queue: what, due: left, done, perSecond: Math.round(perSecond * 10) / 10, etaSeconds },
        'files are being fetched',
      );
    },
  };
}
