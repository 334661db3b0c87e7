import { setTimeout as sleep } from 'node:timers/promises';
import type { Hash } from '../core/domain/account.ts';
import type { LiveRegistry } from './identities/live-registry.ts';
import type { Errand, Shopper } from './shopper.ts';
import type { SolanaLive } from './solana/live.ts';
import type { Traffic } from './traffic.ts';

/** Traffic at the tip: blocks, purchases over x402 that run at the same time, agents that register and rate, and a reorg every so often. */
export interface Live {
  /**
   * Mines one block with `settlements` payments; one of them may be a purchase that is only begun. Every so often a
   * reorg of depth 1 to 6 follows.
   */
  step(settlements: number): Promise<void>;
  /** Purchases that are begun and not yet settled. Each will be one settlement. */
  readonly pending: number;
  readonly purchases: Purchases;
  /** Mines until no purchase is pending. */
  settleDown(): Promise<void>;
}

/** What agents bought over x402, from our own API and from the shops. */
export interface Purchases {
  /** Their settlements. */
  readonly made: readonly Hash[];
  readonly failed: readonly string[];
}

export interface LiveOptions {
  readonly traffic: Traffic;
  readonly world: { readonly firstBlock: number };
  readonly service: { readonly url: string };
  readonly shoppers: readonly Shopper[];
  /** Run in turn. */
  readonly errands: readonly Errand[];
  readonly blocksPerReorg: number;
  readonly blocksPerPurchase: number;
  /** What happens in the ERC-8004 registries, in every second block. */
  readonly identities: { readonly live: LiveRegistry };
  /** What happens on Solana, at each block of the EVM chain. */
  readonly solana: Pick<SolanaLive, 'step' | 'settleDown'>;
  /** Awaited before each reorg. */
  beforeReorg?(): Promise<unknown>;
}

const REORG_DEPTH_MAX = 6;
const BLOCKS_PER_REGISTRY_ACT = 2;
const SETTLE_BLOCK_EVERY_MS = 100;
/** Blocks that no reorg may undo: the token and the agents' money are in them. */
const FIXED_BLOCKS = 2;

export function createLive(options: LiveOptions): Live {
  const { traffic, world, service, shoppers, errands, identities, solana } = options;
  const floor = world.firstBlock + FIXED_BLOCKS;
  const { random } = traffic;
  const pending = new Set<Promise<void>>();
  const purchases = { made: [] as Hash[], failed: [] as string[] };
  let begun = 0;
  let blocks = 0;

  const beginPurchase = (): void => {
    const errand = errands[begun % errands.length];
    if (errand === undefined) return;
    begun += 1;
    const purchase = random
      .pick(shoppers)
      .buy(service.url, errand)
      .then(
        (transaction) => {
          purchases.made.push(transaction);
        },
        (error: unknown) => {
          purchases.failed.push(error instanceof Error ? error.message : 'unknown');
        },
      )
      .finally(() => pending.delete(purchase));
    pending.add(purchase);
  };
  /** Deep enough to undo a payment: a reader may not have seen the empty blocks above the newest one. 0 for none. */
  const reorgDepth = (): number => {
    const wanted = 1 + random.below(REORG_DEPTH_MAX);
    const newest = traffic.ledger.rows().at(-1)?.blockNumber ?? floor;
    const depth = Math.max(wanted, traffic.head.number - newest + 1);
    return depth <= REORG_DEPTH_MAX ? Math.min(depth, traffic.head.number - floor) : 0;
  };

  const settleDown = async (): Promise<void> => {
    while (pending.size > 0) {
      await traffic.block(0, nowSeconds());
      await Promise.race([...pending, sleep(SETTLE_BLOCK_EVERY_MS)]);
    }
  };

  return {
    async step(settlements) {
      blocks += 1;
      const buys = settlements > 1 && pending.size === 0 && blocks % options.blocksPerPurchase === 0;
      if (buys) beginPurchase();
      if (blocks % BLOCKS_PER_REGISTRY_ACT === 0)
        await traffic.send([identities.live.next(traffic.ledger.rows())]);
      await solana.step();
      await traffic.block(buys ? settlements - 1 : settlements, nowSeconds());
      if (blocks % options.blocksPerReorg !== 0) return;
      // A facilitator that waits for a receipt must not lose it.
      await settleDown();
      await options.beforeReorg?.();
      const depth = reorgDepth();
      if (depth > 0) await traffic.reorg(depth);
    },
    get pending() {
      return pending.size;
    },
    purchases,
    settleDown,
  };
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}
