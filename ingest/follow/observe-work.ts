import { type Meter, secondsSince, type Tracer } from '../../core/meter.ts';
import { type RangeReader, ReadAbandoned, type ReadOptions } from '../chain/block-source.ts';
import type { RpcSourceDeps } from '../chain/source.ts';
import type { DocumentFetcher } from '../fetch/document.ts';

/** Metrics and traces of what a worker does outside of the engine, put around its parts. */

export interface WorkObservation {
  readonly meter: Meter | null;
  readonly tracer: Tracer | null;
}

/** Nothing is counted or traced. */
export const UNOBSERVED: WorkObservation = { meter: null, tracer: null };

/** Counts requests to nodes, by the host of their URL. */
export function watchedRpc(
  { meter }: WorkObservation,
  chain: string,
): Pick<RpcSourceDeps, 'onRetry' | 'onExchange'> {
  if (meter === null) return {};
  return {
    onRetry: ({ kind }, provider) => meter.count('rpc_failures_total', { chain, provider, kind }),
    onExchange(provider, calls, startedMs) {
      meter.count('rpc_calls_total', { chain, provider }, calls);
      meter.observe('rpc_seconds', { chain, provider }, secondsSince(startedMs));
    },
  };
}

/** Counts the windows that are read, and puts each into a span. */
export function observedSource<Filter, Batch, Source extends RangeReader<Filter, Batch>>(
  { meter, tracer }: WorkObservation,
  chain: string,
  source: Source & RangeReader<Filter, Batch>,
): Source {
  if (meter === null && tracer === null) return source;
  const read: RangeReader<Filter, Batch>['read'] = async (from, to, filter, options) => {
    let outcome = 'failed';
    try {
      const batch = await source.read(from, to, filter, options);
      outcome = 'read';
      return batch;
    } catch (error) {
      if (error instanceof ReadAbandoned) outcome = 'abandoned';
      throw error;
    } finally {
      meter?.count('ingest_windows_total', { chain, outcome });
    }
  };
  if (tracer === null) return { ...source, read };
  return {
    ...source,
    read: (from: number, to: number, filter: Filter, options?: ReadOptions) =>
      tracer.span('ingest read', { chain, block_from: from, block_to: to }, () =>
        read(from, to, filter, options),
      ),
  };
}

/** Counts fetches of third-party files, by outcome. */
export function observedFetcher({ meter }: WorkObservation, fetcher: DocumentFetcher): DocumentFetcher {
  if (meter === null) return fetcher;
  return {
    async fetch(uri, options) {
      const document = await fetcher.fetch(uri, options);
      meter.count('documents_total', { outcome: document.ok ? 'ok' : document.problem });
      return document;
    },
  };
}
