import { shardsOf } from '../../../clickhouse/cluster/nodes.ts';
import type { EngineAccess, Writer } from '../../../clickhouse/engine/engine.ts';
import { createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { localDatabaseOf } from '../../../clickhouse/guest/public-database.ts';
import type { Log } from '../../../core/log.ts';
import { UserError } from '../../../core/user-error.ts';

/** An engine with rows of the index, each copied by itself: the one there is, or a shard of a cluster. */
export interface IndexHolder {
  readonly access: EngineAccess;
  /** Where its tables with rows are. */
  readonly database: string;
  /** Below the directory of the backup on its disk: '' or `shard-<n>/`, because shards may share a disk. */
  readonly path: string;
}

/** Throws `UserError` for shards with replicas, which ClickHouse has to copy and put back by itself, over its Keeper. */
function holdersOf(access: EngineAccess): readonly [IndexHolder, ...IndexHolder[]] {
  const { cluster } = access;
  if (cluster === undefined) return [{ access, database: access.database, path: '' }];
  if (cluster.isReplicated || cluster.shards.some((replicas) => replicas.length > 1))
    throw new UserError(
      'the index of a cluster with replicas is copied by ClickHouse itself (docs/upkeep.md): take --only accounts here',
    );
  const [first, ...others] = shardsOf(access).map((shard, index) => ({
    access: shard,
    database: localDatabaseOf(access.database),
    path: `shard-${index + 1}/`,
  }));
  if (first === undefined) throw new UserError('the configuration names no shard: set clickhouse.shards');
  return [first, ...others];
}

export interface HeldWriter extends IndexHolder {
  readonly writer: Writer;
}

/** All of what holds the index: at least one. */
export type HeldWriters = readonly [HeldWriter, ...HeldWriter[]];

/** Does something with a connection to each holder, to `database` or to that of its tables; they are closed at the end. */
export async function withWriters<Result>(
  access: EngineAccess,
  { log, database }: { readonly log?: Log; readonly database?: string },
  work: (holders: HeldWriters) => Promise<Result>,
): Promise<Result> {
  const [first, ...others] = holdersOf(access);
  const open = (holder: IndexHolder): HeldWriter => ({
    ...holder,
    writer: createWriter({ ...holder.access, database: database ?? holder.database }, log),
  });
  const holders: HeldWriters = [open(first), ...others.map(open)];
  try {
    return await work(holders);
  } finally {
    await Promise.all(holders.map(({ writer }) => writer.close()));
  }
}

/** Waits for all of them, also when one fails: what goes on in an engine must not outlive its connection. */
export async function onEach(
  holders: HeldWriters,
  work: (holder: HeldWriter) => Promise<void>,
): Promise<void> {
  const ended = await Promise.allSettled(holders.map(work));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}
