import type { Writer } from '../../clickhouse/engine/engine.ts';
import { createRateLimit, limitPerUrl } from '../chain/rpc/rate-limit.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';
import { createVersions, highestVersion, type Versions } from '../write/versions.ts';
import { type Coordination, type Held, type LeadContext, ownerName } from './coordination.ts';
import { heldByOthers } from './fence.ts';
import type { JobQueue } from './job-queue.ts';
import { type Lease, type Leases, lead } from './lead.ts';
import { createMemoryQueue } from './memory-queue.ts';

/**
 * Coordination without Redis: one process does everything, with its jobs in memory. Over an engine that other processes could
 * reach it leads each scope by the table `fences`, and a second process stands by. An engine of this process's own needs neither
 * leases nor fences, and its inserts are spared the guards.
 */
export function engineCoordination({ isOwnEngine }: { readonly isOwnEngine: boolean }): Coordination {
  const owner = ownerName();
  const queues = new Map<string, JobQueue>();
  return {
    isShared: false,
    lead: isOwnEngine
      ? leadAlone()
      : (scope, deps, work) =>
          lead({ ...deps, leases: engineLeases(deps.writer, owner), owner }, scope, work),
    queueOf(name) {
      const queue = queues.get(name) ?? createMemoryQueue();
      queues.set(name, queue);
      return queue;
    },
    rateLimitOf: limitPerUrl((_url, perSecond) => createRateLimit(perSecond)),
    close: () => Promise.resolve(),
  };
}

/** Leads every scope at once. Versions are read once: it takes a column of every table, and nothing else writes meanwhile. */
function leadAlone(): Coordination['lead'] {
  let reading: Promise<Versions> | undefined;
  return async (
    _scope: string,
    { writer, log, signal }: LeadContext,
    work: (held: Held) => Promise<void>,
  ) => {
    reading ??= untilAcknowledged(log, signal, () => highestVersion(writer)).then((version) =>
      createVersions(version),
    );
    await work({ guard: null, writer, versions: await reading, signal });
  };
}

/**
 * Leases by the signs of life in table `fences`. A second process gets one when the first has been silent for a while. Two that
 * start in the same moment may both get one; the fence then lets the later one write, and the other ends.
 */
export function engineLeases(writer: Pick<Writer, 'rows'>, owner: string): Leases {
  return {
    async tryAcquire(scope) {
      const others = await heldByOthers(writer, [scope], owner);
      return others.length > 0 ? null : leaseOn(scope);
    },
  };
}

/** It is lost only when another process claims the fence; the next write learns of it. */
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
