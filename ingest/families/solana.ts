import type { CatalogueSource } from '../../clickhouse/tables/catalogues.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import type { Address } from '../../core/domain/account.ts';
import { createSolanaPortal } from '../chain/solana/portal.ts';
import { createSolanaSource, type SolanaSource } from '../chain/solana/source.ts';
import { observedSource, watchedRpc } from '../follow/observe-work.ts';
import { createSolanaWindows } from '../follow/solana-windows.ts';
import type { Catalogue } from '../grading/catalogue.ts';
import type { Family, OpenChain, OpenDeps } from './family.ts';
import { historySource } from './history.ts';

/** Solana: finalized blocks over JSON-RPC, whole or of named fee payers alone; history from the Portal where the chain has one. */
export const SOLANA: Family = {
  openHead: (deps, chain) => ({ ...open(deps, chain, rpcSource(deps, chain)), passes: () => [] }),
  openHistory: (deps, chain) =>
    open(deps, chain, historySource(deps, chain, rpcSource(deps, chain), createSolanaPortal)),
};

function rpcSource({ log, signal, rateLimitOf, observation }: OpenDeps, chain: ChainConfig): SolanaSource {
  const watched = watchedRpc(observation, chain.chain);
  const source = createSolanaSource(chain, { log, signal, rateLimitOf, ...watched });
  return observedSource(observation, chain.chain, source);
}

function open({ catalogues, log }: OpenDeps, config: ChainConfig, source: SolanaSource): OpenChain {
  if (config.completeness !== 'fee-payers')
    return { source, windows: createSolanaWindows({ config, source }) };
  const feePayers = namedFrom(catalogues.current(), config);
  if (feePayers.length === 0)
    log.warn({ chain: config.chain }, 'no fee payer is named: catalogue.facilitators has to name some');
  return { source, windows: createSolanaWindows({ config, source, feePayers }) };
}

/** What every process of a deployment names alike when it starts: ranges of blocks are recorded by them. */
const NAMED_FROM_THE_START: ReadonlySet<CatalogueSource> = new Set(['built-in', 'file', 'configured']);

function namedFrom({ relayers }: Catalogue, { chain }: ChainConfig): Address[] {
  return relayers
    .filter((relayer) => relayer.chain === chain && NAMED_FROM_THE_START.has(relayer.source))
    .map(({ address }) => address);
}
