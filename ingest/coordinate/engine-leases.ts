import type { Writer } from '../../clickhouse/engine/engine.ts';
import { heldByOthers } from './fence.ts';
import type { Lease, Leases } from './leases.ts';

/**
 * Leases without Redis, by the signs of life in table `fences`: for a single ingest process over an engine that others could
 * reach as well. A second one stands by until the first has been silent for a while. Two that start in the same moment may
 * both get one; the fence then lets the later one write, and the other ends.
 */
export function engineLeases(writer: Pick<Writer, 'rows'>, owner: string): Leases {
  return {
    async tryAcquire(scope) {
      const others = await heldByOthers(writer, [scope], owner);
      return others.length > 0 ? null : leaseOn(scope);
    },
  };
}

/** It is lost only by being overtaken, which the next write is told. */
function leaseOn(scope: string): Lease {
  const ended = new AbortController();
  return {
    scope,
    token: 0n,
    signal: ended.signal,
    raise: () => Promise.resolve(),
    async release() {
      ended.abort();
    },
  };
}
