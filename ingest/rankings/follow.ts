import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { WINDOWS } from '../../core/domain/window.ts';
import type { Log } from '../../core/log.ts';
import { type Pass, restOf } from '../passes/repeat.ts';
import { rankingPass } from './pass.ts';

/** In durations of a pass: all five windows take a seventh of one thread at most. */
const REST_PER_PASS = 30;
/** Passes over a small index take a fraction of a second. */
const REST_MIN_MS = 15_000;
/** While nothing is indexed: a first ranking is wanted soon after the first settlements. */
const EMPTY_POLL_MS = 1_000;

/** Ranks wallets by each window, the short windows first and most often, because a pass over them is the quickest. */
export function rankingPasses({
  writer,
  chains,
  log,
  clock,
}: {
  readonly writer: Writer;
  /** That are served. */
  readonly chains: readonly Chain[];
  readonly log: Log;
  readonly clock: Clock;
}): Pass[] {
  return WINDOWS.map((window) => ({
    name: `ranking-${window}`,
    failureText: 'ranking the wallets failed; the last ranking stays',
    restMs: restOf({ perPass: REST_PER_PASS, minMs: REST_MIN_MS }),
    pollMs: EMPTY_POLL_MS,
    async run(signal) {
      const pass = await rankingPass(writer, { window, chains, nowMs: clock.nowMs(), signal });
      if (pass === null) return 'waiting';
      log.debug({ window, wallets: pass.wallets, tookMs: pass.tookMs }, 'wallets ranked');
      return 'done';
    },
  }));
}
