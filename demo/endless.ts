import { setTimeout as sleep } from 'node:timers/promises';
import { createLive, type Live } from './live.ts';
import type { Stage } from './stage.ts';

/** The pace of the demo that runs on: a block a second. */
export interface Pace {
  /** One block and what follows it, then waits for the next second. */
  step(): Promise<void>;
}

const BLOCK_EVERY_MS = 1_000;
const SETTLEMENTS_PER_BLOCK_MAX = 12;
/** About one reorg in 40 seconds, one purchase in three. */
const BLOCKS_PER_REORG = 40;
const BLOCKS_PER_PURCHASE = 3;
/**
 * The chain is open to visitors: a block that one mines between two of our calls, or a transaction from one of our addresses, makes a
 * step fail. So many failures in a row have another cause.
 */
const FAILURES_IN_A_ROW_MAX = 5;

export function endlessLive(stage: Stage): Live {
  return createLive({ ...stage, blocksPerReorg: BLOCKS_PER_REORG, blocksPerPurchase: BLOCKS_PER_PURCHASE });
}

export function createPace(stage: Stage, live: Live): Pace {
  const { traffic, world, log } = stage;
  let failures = 0;
  const tryStep = async (): Promise<void> => {
    try {
      await live.step(1 + traffic.random.below(SETTLEMENTS_PER_BLOCK_MAX));
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures >= FAILURES_IN_A_ROW_MAX) throw error;
      log.warn({ err: error }, 'a block could not be made; the chain is read anew');
      world.chain.sender.forget();
      await traffic.catchUp();
    }
  };
  return {
    async step() {
      const began = performance.now();
      await tryStep();
      await sleep(Math.max(0, BLOCK_EVERY_MS - (performance.now() - began)));
    },
  };
}
