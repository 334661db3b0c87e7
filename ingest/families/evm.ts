import type { ChainConfig } from '../../core/config/chains.ts';
import type { BlockSource } from '../chain/block-source.ts';
import { createPortalSource } from '../chain/portal/source.ts';
import { createRpcSource } from '../chain/source.ts';
import { decodeContextOf } from '../decode/context.ts';
import { createReceiptComparison } from '../fees/compare-receipts.ts';
import { readFees } from '../fees/read.ts';
import { enrichRelayers } from '../follow/enrich-relayers.ts';
import { createEvmWindows } from '../follow/evm-windows.ts';
import { observedSource, watchedRpc } from '../follow/observe-work.ts';
import type { Family, OpenDeps } from './family.ts';
import { historySource } from './history.ts';

/** EVM chains: logs over JSON-RPC, final blocks from the Portal where the chain has one, and receipts for the fees. */
export const EVM: Family = {
  openHead(deps, chain) {
    const { catalogues, log, signal } = deps;
    const source = rpcSource(deps, chain);
    const context = decodeContextOf(chain, catalogues.current());
    return {
      source,
      windows: createEvmWindows({ ...deps, source, context }),
      passes(own) {
        const running = { ...own, config: chain, source, log, signal };
        const comparison = createReceiptComparison({ ...running, context });
        return [
          enrichRelayers(running),
          ...(chain.relayerFees ? [readFees({ ...running, comparison })] : []),
        ];
      },
    };
  },
  openHistory(deps, chain) {
    const source = historySource(deps, chain, rpcSource(deps, chain), createPortalSource);
    const context = decodeContextOf(chain, deps.catalogues.current());
    return { source, windows: createEvmWindows({ ...deps, source, context }) };
  },
};

function rpcSource({ log, signal, rateLimitOf, observation }: OpenDeps, chain: ChainConfig): BlockSource {
  const watched = watchedRpc(observation, chain.chain);
  const source = createRpcSource(chain, { log, signal, rateLimitOf, ...watched });
  return observedSource(observation, chain.chain, source);
}
