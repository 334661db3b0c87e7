import type { EngineAccess } from '../engine/engine.ts';
import { localDatabaseOf } from '../guest/public-database.ts';

/**
 * The parts of a cluster, each as an engine by itself: its own rows in its own database, under the names of the tables. An engine
 * by itself has no parts.
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
 * What every statement needs on a cluster, so that its answer is that of one engine: sent with each statement of the reader and
 * the writer, pinned in the profile of the guest.
 */
export const CLUSTER_SETTINGS: Readonly<Record<string, string | number>> = {
  // The right side of IN and JOIN is read once, over all nodes, and sent to each. Without it a node would look at its own part.
  distributed_product_mode: 'global',
  // A node that does not answer fails the statement: a part of the answer is no answer.
  skip_unavailable_shards: 0,
  // Acknowledged means stored by the nodes that the rows belong to, not queued for them.
  distributed_foreground_insert: 1,
  // The engine would copy between the parts of one node, past the sharding key of the target.
  parallel_distributed_insert_select: 0,
  // A statement that names a wallet asks the node of that wallet alone.
  optimize_skip_unused_shards: 1,
};
