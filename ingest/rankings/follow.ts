import { setTimeout as delay } from 'node:timers/promises';
import { EngineError, type Writer } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { WINDOWS, type Window } from '../../core/domain/window.ts';
import type { Log } from '../../core/log.ts';
import { rankingPass } from './pass.ts';

/** From the end of a pass over a window to the start of the next, in durations of that pass: all five take a seventh of one thread at most. */
const REST_PER_PASS = 30;
/** Passes over a small index take a fraction of a second. */
const REST_MIN_MS = 15_000;
/** While nothing is indexed: a first ranking is wanted soon after the first settlements. */
const EMPTY_POLL_MS = 1_000;

interface RankingDeps {
  readonly writer: Writer;
  /** That are served. */
  readonly chains: readonly Chain[];
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/**
 * Ranks wallets by each window, one pass at a time, until the signal aborts: the short windows first and most often, because a pass over
 * them is the quickest. If the engine fails, the pass is lost and the previous one stays published.
 */
export async function runRankings(deps: RankingDeps): Promise<void> {
  const { signal, clock } = deps;
  const dueMs = new Map<Window, number>(WINDOWS.map((window) => [window, 0]));
  try {
    while (!signal.aborted) {
      const [window, atMs] = soonest(dueMs);
      await delay(Math.max(0, atMs - performance.now()), undefined, { signal });
      const started = performance.now();
      const outcome = await rank(deps, window, clock.nowMs());
      const ended = performance.now();
      const restMs =
        outcome === 'empty' ? EMPTY_POLL_MS : Math.max(REST_MIN_MS, REST_PER_PASS * (ended - started));
      dueMs.set(window, ended + restMs);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function soonest(dueMs: ReadonlyMap<Window, number>): readonly [Window, number] {
  const [first, ...rest] = [...dueMs];
  if (first === undefined) throw new TypeError('no windows');
  return rest.reduce((best, next) => (next[1] < best[1] ? next : best), first);
}

async function rank(
  { writer, chains, log, signal }: RankingDeps,
  window: Window,
  nowMs: number,
): Promise<'ranked' | 'empty' | 'failed'> {
  try {
    const pass = await rankingPass(writer, { window, chains, nowMs, signal });
    if (pass === null) return 'empty';
    log.debug({ window, wallets: pass.wallets, tookMs: pass.tookMs }, 'wallets ranked');
    return 'ranked';
  } catch (error) {
    signal.throwIfAborted(); // a statement that ends with the worker did not fail
    if (!(error instanceof EngineError)) throw error;
    // Even a refusal (a right that a remote engine does not grant) must not stop indexing; it only logs at a higher level.
    const text = 'ranking the wallets failed; the last ranking stays';
    if (error.problem === 'engine_refused') log.error({ err: error, window }, text);
    else log.warn({ err: error, window }, text);
    return 'failed';
  }
}
