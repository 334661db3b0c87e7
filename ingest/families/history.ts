import type { ChainConfig } from '../../core/config/chains.ts';
import type { ChainTip, RangeReader } from '../chain/block-source.ts';
import { createHistorySource, type HistoryBatch, type HistoryPortal } from '../chain/history-source.ts';
import type { PortalAt, PortalSourceDeps } from '../chain/portal/open.ts';
import { watchedRpc } from '../follow/observe-work.ts';
import type { OpenDeps } from './family.ts';

/** Final blocks from the Portal where the chain has one, and all others from `rpc`. */
export function historySource<
  Filter,
  Batch extends HistoryBatch,
  Source extends ChainTip & RangeReader<Filter, Batch>,
>(
  { log, signal, rateLimitOf, observation }: OpenDeps,
  chain: ChainConfig,
  rpc: Source,
  createPortal: (config: ChainConfig & PortalAt, deps: PortalSourceDeps) => HistoryPortal<Filter, Batch>,
): Source {
  if (chain.portal === null) return rpc;
  const { url: portalUrl, ...portal } = chain.portal;
  const own = { log: log.child({ chain: chain.chain }), signal, rateLimitOf };
  return createHistorySource<Filter, Batch, Source>({
    rpc,
    portal: createPortal(
      { ...chain, ...portal, portalUrl },
      { ...own, ...watchedRpc(observation, chain.chain) },
    ),
    log: own.log,
  });
}
