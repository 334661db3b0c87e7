import type { ChainConfig } from '../../core/config/chains.ts';
import { createSolanaPortal } from '../chain/solana/portal.ts';
import { createSolanaSource, type SolanaSource } from '../chain/solana/source.ts';
import { observedSource, watchedRpc } from '../follow/observe-work.ts';
import { createSolanaWindows } from '../follow/solana-windows.ts';
import type { Family, OpenChain, OpenDeps } from './family.ts';
import { historySource } from './history.ts';

/** Solana: whole finalized blocks over JSON-RPC; history from the Portal where the chain has one. */
export const SOLANA: Family = {
  openHead: (deps, chain) => ({ ...open(chain, rpcSource(deps, chain)), passes: () => [] }),
  openHistory: (deps, chain) =>
    open(chain, historySource(deps, chain, rpcSource(deps, chain), createSolanaPortal)),
};

function rpcSource({ log, signal, rateLimitOf, observation }: OpenDeps, chain: ChainConfig): SolanaSource {
  const watched = watchedRpc(observation, chain.chain);
  const source = createSolanaSource(chain, { log, signal, rateLimitOf, ...watched });
  return observedSource(observation, chain.chain, source);
}

function open(config: ChainConfig, source: SolanaSource): OpenChain {
  return { source, windows: createSolanaWindows({ config, source }) };
}
