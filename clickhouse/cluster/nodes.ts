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
