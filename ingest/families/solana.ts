import type { ChainConfig } from '../../core/config/chains.ts';
import { createSolanaSource } from '../chain/solana/source.ts';
import { watchedRpc } from '../follow/observe-work.ts';
import { createSolanaWindows } from '../follow/solana-windows.ts';
import type { Family, OpenChain, OpenDeps } from './family.ts';

/** Solana: whole finalized blocks over JSON-RPC. */
export const SOLANA: Family = {
  openHead: (deps, chain) => ({ ...open(deps, chain), passes: () => [] }),
  openHistory: open,
};

function open({ log, signal, rateLimitOf, observation }: OpenDeps, chain: ChainConfig): OpenChain {
  const watched = watchedRpc(observation, chain.chain);
  const source = createSolanaSource(chain, { log, signal, rateLimitOf, ...watched });
  return { source, windows: createSolanaWindows({ config: chain, source }) };
}
