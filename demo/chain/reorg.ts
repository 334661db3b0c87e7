import type { Hex } from 'viem';
import type { Rpc } from './json-rpc.ts';
import { mine, type Sender } from './sender.ts';

/** One replacement block: send what it shall contain; it is mined right after. */
export type FillBlock = (position: number) => Promise<void>;

/**
 * Undoes the newest `depth` blocks and mines others in their place, one `fill` per new block. With fewer blocks than `depth`
 * the chain is shorter than before, until more are mined: a node that is asked in between sees a lower head. The undone
 * transactions do not return to the pool. New blocks get later timestamps than the old ones had, so that even an empty one
 * has another hash.
 */
export async function reorg(
  chain: { readonly rpc: Rpc; readonly sender: Sender },
  options: { readonly depth: number; readonly blocks: number; readonly fill?: FillBlock },
): Promise<void> {
  const { rpc, sender } = chain;
  const oldHead = await rpc.call<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false);
  await rpc.call('anvil_rollback', options.depth);
  sender.forget();
  for (let position = 0; position < options.blocks; position++) {
    await options.fill?.(position);
    await mine(rpc, Number(oldHead.timestamp) + 1 + position);
  }
}

/** The same in one step on the node's side: `depth` blocks become as many empty ones, and the head never shrinks. */
export async function reorgToEmpty(
  chain: { readonly rpc: Rpc; readonly sender: Sender },
  depth: number,
): Promise<void> {
  await chain.rpc.call('anvil_reorg', depth, []);
  chain.sender.forget();
}
