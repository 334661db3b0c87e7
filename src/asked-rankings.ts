import type { Reader } from '../clickhouse/engine/engine.ts';
import type { Clock } from '../core/clock.ts';
import { WINDOWS, type Window } from '../core/domain/window.ts';
import { RANKING_READ } from './operations/rankings/passes.ts';

/**
 * The API tells its worker, a child process, which rankings callers read, so that the others are made anew less often. Where API and workers
 * are started apart nothing is told, and all rankings count as read.
 */

/** A ranking counts as read for so long after its last reader. */
const READ_MS = 600_000;
const TOLD_EVERY_MS = 5_000;
/** Begins the line; the window follows. */
const LINE = 'ranking read ';

/** A reader that tells which rankings it reads. */
export function tellingReader(reader: Reader, tell: (line: string) => void, clock: Clock): Reader {
  const toldMs = new Map<string, number>();
  return {
    ...reader,
    rows(statement) {
      if (statement.name.startsWith(RANKING_READ)) {
        const line = `${LINE}${statement.name.slice(RANKING_READ.length)}`;
        if (clock.nowMs() - (toldMs.get(line) ?? 0) >= TOLD_EVERY_MS) {
          toldMs.set(line, clock.nowMs());
          tell(line);
        }
      }
      return reader.rows(statement);
    },
  };
}

/** The worker's side. */
export function createRankingsRead(clock: Clock): {
  hear(line: string): void;
  isRead(window: Window): boolean;
} {
  const readMs = new Map<string, number>();
  return {
    hear(line) {
      const window = WINDOWS.find((one) => line === `${LINE}${one}`);
      if (window !== undefined) readMs.set(window, clock.nowMs());
    },
    isRead: (window) => clock.nowMs() - (readMs.get(window) ?? 0) < READ_MS,
  };
}
