import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, sql } from '../../clickhouse/engine/sql.ts';
import type { Clock } from '../../core/clock.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { secondsOf, spansOf, WINDOWS, type Window } from '../../core/domain/window.ts';
import type { Log } from '../../core/log.ts';
import { type Pass, restOf } from '../passes/repeat.ts';
import { rankingPass } from './pass.ts';

/** In durations of a pass: all five windows take a seventh of one thread at most. */
const REST_PER_PASS = 30;
/** Passes over a small index take a fraction of a second. */
const REST_MIN_MS = 15_000;
/** A ranking that callers read is renewed when this share of its window is new. */
const NEW_SHARE = 0.01;
/** The same of a ranking that no caller has read lately (`src/asked-rankings.ts`). */
const NEW_SHARE_UNREAD = 0.25;
/** Any ranking is renewed when its window has moved by this share of its length: a minute of a day, half an hour of thirty days. */
const MOVED_SHARE = 1 / 1_440;
const COUNT_MAX_SECONDS = 60;
/** While nothing is indexed, or nothing is ranked and no caller has asked: a first ranking is wanted soon after either. */
const EMPTY_POLL_MS = 1_000;
/** The first ranking of a window that no caller reads waits so long: a start has enough to do, and the first rows are soon followed by more. */
const FIRST_UNREAD_MS = 60_000;

/** Ranks wallets by each window, the short windows first and most often, because a pass over them is the quickest. */
export function rankingPasses({
  writer,
  chains,
  log,
  clock,
  isRead = () => true,
}: {
  readonly writer: Writer;
  /** That are served. */
  readonly chains: readonly Chain[];
  readonly log: Log;
  readonly clock: Clock;
  /** Whether callers read this ranking; absent where this process is not told. */
  readonly isRead?: ((window: Window) => boolean) | undefined;
}): Pass[] {
  const startedMs = clock.nowMs();
  return WINDOWS.map((window) => {
    let ranked: Ranked | null = null;
    return {
      name: `ranking-${window}`,
      failureText: 'ranking the wallets failed; the last ranking stays',
      restMs: restOf({ perPass: REST_PER_PASS, minMs: REST_MIN_MS }),
      pollMs: EMPTY_POLL_MS,
      async run(signal) {
        const nowMs = clock.nowMs();
        if (ranked === null && !isRead(window) && nowMs - startedMs < FIRST_UNREAD_MS) return 'waiting';
        const rows = await countRows(writer, window, nowMs);
        if (ranked !== null && !isWorthIt(window, ranked, { rows, atMs: nowMs, isRead: isRead(window) }))
          return 'current';
        const pass = await rankingPass(writer, { window, chains, nowMs, signal });
        if (pass === null) return 'waiting';
        ranked = { rows, atMs: nowMs };
        log.debug({ window, wallets: pass.wallets, tookMs: pass.tookMs }, 'wallets ranked');
        return 'done';
      },
    };
  });
}

interface Ranked {
  /** Stored rows of the window; versions that are not merged yet count each. */
  readonly rows: number;
  /** Unix milliseconds. */
  readonly atMs: number;
}

function isWorthIt(window: Window, before: Ranked, now: Ranked & { readonly isRead: boolean }): boolean {
  const movedMs = MOVED_SHARE * 1_000 * secondsOf(window === 'all' ? '90d' : window);
  return (
    now.atMs - before.atMs >= movedMs ||
    Math.abs(now.rows - before.rows) >= (now.isRead ? NEW_SHARE : NEW_SHARE_UNREAD) * before.rows
  );
}

async function countRows(writer: Writer, window: Window, nowMs: number): Promise<number> {
  const [span] = spansOf(window, Math.floor(nowMs / 1_000), 1);
  const { rows } = await writer.rows({
    name: 'ranking-window-count',
    sql: sql`SELECT count() FROM settlements WHERE block_time >= ${dateTime(span?.from ?? 0)}`,
    maxSeconds: COUNT_MAX_SECONDS,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}
