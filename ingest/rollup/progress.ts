import type { Log } from '../../core/log.ts';
import { formatDuration } from '../follow/status-report.ts';

const REPORT_EVERY_MS = 5_000;
/** Fewer slices than this are the daily business and not worth a line. */
const SLICES_WORTH_REPORTING = 10;

export interface RollupProgress {
  readonly done: number;
  readonly left: number;
  readonly percent: number;
  /** At the rate so far; null while there is none. */
  readonly etaSeconds: number | null;
}

export function rollupProgress(done: number, left: number, elapsedMs: number): RollupProgress {
  const percent = done + left === 0 ? 100 : Math.floor((1_000 * done) / (done + left)) / 10;
  return {
    done,
    left,
    percent,
    etaSeconds: done === 0 ? null : Math.ceil((left * elapsedMs) / done / 1_000),
  };
}

/** Tells how a long catching-up goes, such as the first start over old data. A run ends when nothing is left. */
export function createRollupReport(
  log: Log,
  terminal: ((line: string) => void) | null,
  nowMs: () => number,
): { advanced(closed: number, left: number): void } {
  let run: { readonly sinceMs: number; done: number; reportedMs: number } | null = null;

  const report = (progress: RollupProgress): void => {
    const { done, left, percent, etaSeconds } = progress;
    const eta = etaSeconds === null ? 'unknown' : formatDuration(etaSeconds);
    if (terminal) terminal(`rollups: ${percent.toFixed(1)} % of ${done + left} slices, ETA ${eta}`);
    else log.info(progress, 'rollup progress');
  };

  return {
    advanced(closed, left) {
      const now = nowMs();
      run ??= { sinceMs: now, done: 0, reportedMs: now };
      run.done += closed;
      const isWorthIt = run.done + left >= SLICES_WORTH_REPORTING;
      if (isWorthIt && (left === 0 || now - run.reportedMs >= REPORT_EVERY_MS)) {
        run.reportedMs = now;
        report(rollupProgress(run.done, left, now - run.sinceMs));
      }
      if (left === 0) run = null;
    },
  };
}
