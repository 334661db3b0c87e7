import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../core/log.ts';
import type { ChainStatus, StatusSnapshot } from './chain-status.ts';

const REPORT_EVERY_TERMINAL_MS = 2_000;
const REPORT_EVERY_LOG_MS = 10_000;

/** Tells how the backfill goes, with an ETA: readable lines on a terminal, structured ones otherwise. */
export async function reportProgress(
  chains: readonly { readonly name: string; readonly status: Pick<ChainStatus, 'snapshot'> }[],
  log: Log,
  signal: AbortSignal,
  /** Writes one line for a person; null where nobody watches. */
  terminal: ((line: string) => void) | null,
): Promise<void> {
  const announced = new Set<string>();
  while (!signal.aborted) {
    await delay(terminal ? REPORT_EVERY_TERMINAL_MS : REPORT_EVERY_LOG_MS, undefined, { signal });
    for (const { name, status } of chains) {
      const snapshot = status.snapshot();
      if (snapshot.state === 'following' && announced.has(name)) continue; // nothing new: the backfill is done and was announced
      if (snapshot.state === 'following') announced.add(name);
      else announced.delete(name);
      if (terminal) terminal(progressLine(name, snapshot));
      else log.info({ ...snapshot, chain: name, etaSeconds: etaSeconds(snapshot) }, 'progress');
    }
  }
}

/** Seconds until the backfill ends at the present rate; null while there is no rate. */
export function etaSeconds({ backfillDone, backfillTotal, blocksPerSecond }: StatusSnapshot): number | null {
  const left = backfillTotal - backfillDone;
  if (left <= 0) return 0;
  return blocksPerSecond > 0 ? Math.ceil(left / blocksPerSecond) : null;
}

export function progressLine(name: string, snapshot: StatusSnapshot): string {
  const { state, backfillDone, backfillTotal, blocksPerSecond, rowsPerSecond, indexedBlock, headBlock } =
    snapshot;
  if (state !== 'backfilling') return `${name}: ${state}, block ${indexedBlock} of ${headBlock}`;
  const percent = ((100 * backfillDone) / Math.max(1, backfillTotal)).toFixed(1);
  const eta = etaSeconds(snapshot);
  return `${name}: backfill ${percent} %, ${Math.round(blocksPerSecond)} blocks/s, ${Math.round(rowsPerSecond)} rows/s, ETA ${eta === null ? 'unknown' : formatDuration(eta)}`;
}

/** A duration for a person. */
export function formatDuration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
