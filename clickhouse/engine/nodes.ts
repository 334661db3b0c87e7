import { localDatabaseOf } from './databases.ts';
import type { EngineAccess } from './engine.ts';

/**
 * The nodes of a cluster, each accessed as a single engine: its own rows in its own database, under the same table names. A single
 * engine has no nodes.
 */

/** Every node. */
export function nodesOf(access: EngineAccess): EngineAccess[] {
  return partsOf(access, (replicas) => replicas);
}

/** One node of each shard: together they hold every row once. */
export function shardsOf(access: EngineAccess): EngineAccess[] {
  return partsOf(access, ([first]) => [first]);
}

function partsOf(
  { cluster, ...access }: EngineAccess,
  choose: (replicas: readonly [string, ...string[]]) => readonly string[],
): EngineAccess[] {
  const database = localDatabaseOf(access.database);
  return (cluster?.shards ?? []).flatMap(choose).map((url) => ({ ...access, url, database }));
}

/**
 * Settings with which a cluster answers like a single engine: sent with each statement of the reader and the writer, pinned in the
 * profile of the guest.
 */
export const CLUSTER_SETTINGS: Readonly<Record<string, string | number>> = {
  // Reads the right side of IN and JOIN once, over all nodes, and sends it to each. Otherwise each node would use only its own rows.
  distributed_product_mode: 'global',
  // A node that does not answer fails the statement instead of making the answer partial.
  skip_unavailable_shards: 0,
  // An acknowledged insert is stored on the target nodes, not queued for them.
  distributed_foreground_insert: 1,
  // Otherwise the engine would copy rows within each node, ignoring the target's sharding key.
  parallel_distributed_insert_select: 0,
  // A statement for one wallet goes only to the shard of that wallet.
  optimize_skip_unused_shards: 1,
};
