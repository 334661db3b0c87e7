import { setTimeout as sleep } from 'node:timers/promises';
import { localDatabaseOf } from '../../../clickhouse/engine/databases.ts';
import type { EngineAccess, Writer } from '../../../clickhouse/engine/engine.ts';
import { createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { shardsOf } from '../../../clickhouse/engine/nodes.ts';
import { sql, text, trustedText } from '../../../clickhouse/engine/sql.ts';
import type { Log } from '../../../core/log.ts';
import { UserError } from '../../../core/user-error.ts';

/** BACKUP and RESTORE of ClickHouse: started, then polled until they have ended, because a large one outlives any connection. */

const BEGIN_MAX_SECONDS = 60;
const ASK_MAX_SECONDS = 30;
const POLL_MS = 200;
/** Words of the engine before its stack. */
const REASON_CHARS_MAX = 300;

/** Where a part of a backup lies. All of it is of our own making or checked by the manifest's shape. */
export interface DiskPlace {
  readonly disk: string;
  readonly path: string;
}

export function onDisk({ disk, path }: DiskPlace): string {
  if (!/^\w+$/.test(disk) || !/^[0-9a-z/-]+$/.test(path)) throw new TypeError('not a place on a disk');
  return `Disk('${disk}', '${path}')`;
}

/**
 * Begins a statement and waits until the engine has carried it out. `statement` ends before its settings. Throws `UserError`
 * with the engine's reason. An abort ends it in the engine too.
 */
export async function runBackupStatement(
  writer: Writer,
  given: {
    readonly id: string;
    readonly statement: string;
    readonly settings?: readonly string[];
    readonly signal: AbortSignal;
    readonly onPoll?: () => void;
  },
): Promise<void> {
  const { id, statement, settings = [], signal, onPoll } = given;
  const all = [`id = '${id}'`, ...settings].join(', ');
  await writer.run({
    name: 'backup-begin',
    sql: trustedText(`${statement} SETTINGS ${all} ASYNC`),
    maxSeconds: BEGIN_MAX_SECONDS,
  });
  try {
    while (!(await hasEnded(writer, id))) {
      onPoll?.();
      await sleep(POLL_MS, undefined, { signal });
    }
  } catch (error) {
    if (signal.aborted) await cancel(writer, id);
    throw error;
  }
}

async function hasEnded(writer: Writer, id: string): Promise<boolean> {
  const { rows } = await writer.rows({
    name: 'backup-status',
    sql: sql`SELECT status, error FROM system.backups WHERE id = ${text(id)}`,
    maxSeconds: ASK_MAX_SECONDS,
    maxRows: 1,
  });
  const [row] = rows;
  if (row === undefined) throw new UserError('the engine was restarted meanwhile: begin again');
  const [status, error] = row.map(String);
  if (status === 'BACKUP_CREATED' || status === 'RESTORED') return true;
  if (status === 'CREATING_BACKUP' || status === 'RESTORING') return false;
  throw new UserError(
    `the engine did not do it: ${(error ?? '').split('Stack trace')[0]?.slice(0, REASON_CHARS_MAX)}`,
  );
}

async function cancel(writer: Writer, id: string): Promise<void> {
  const kill = sql`KILL QUERY WHERE query_id IN (SELECT query_id FROM system.backups WHERE id = ${text(id)}) ASYNC`;
  await writer.run({ name: 'backup-cancel', sql: kill, maxSeconds: ASK_MAX_SECONDS });
}

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

/** Waits for all of them, also when one fails: a statement must not outlive its connection. */
export async function onEach(
  holders: HeldWriters,
  work: (holder: HeldWriter) => Promise<void>,
): Promise<void> {
  const ended = await Promise.allSettled(holders.map(work));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}
