import type { EngineAccess } from '../../../clickhouse/engine/engine.ts';
import { sql, text } from '../../../clickhouse/engine/sql.ts';
import { readMigrations } from '../../../clickhouse/migrate/migrations.ts';
import { UserError } from '../../../core/user-error.ts';
import { namesOf, STRUCTURE } from './engine-backup.ts';
import { onDisk, runBackupStatement } from './engine-statements.ts';
import { type HeldWriter, type HeldWriters, onEach, withWriters } from './index-holders.ts';
import type { EngineManifest } from './manifest.ts';
import { GROUPS, type Group } from './table-order.ts';

const MAX_SECONDS = 60;

/** Throws `UserError` when this program cannot read what the backup holds, before anything is changed. */
export async function refuseForeignIndex(engine: EngineManifest, database: string): Promise<void> {
  if (engine.database !== database) {
    throw new UserError(
      `the backup is of the database ${engine.database}, the configuration names ${database}: set clickhouse.database to ${engine.database}`,
    );
  }
  const known = await readMigrations();
  for (const { version, checksum } of engine.migrations) {
    if (known[version - 1]?.checksum === checksum) continue;
    throw new UserError(
      `the tables of the backup have migration ${version} as this program does not know it: restore it with the version that made it`,
    );
  }
}

/** Throws `UserError` when the database has a table already, of whatever kind, on any shard. */
export async function refuseFilledDatabase(access: EngineAccess): Promise<void> {
  await withSystem(access, (holders) =>
    onEach(holders, async ({ writer, database }) => {
      const { rows } = await writer.rows({
        name: 'restore-target',
        sql: sql`SELECT count() FROM system.tables WHERE database IN (${text(access.database)}, ${text(database)})`,
        maxSeconds: MAX_SECONDS,
        maxRows: 1,
      });
      if (Number(rows[0]?.[0]) === 0) return;
      throw new UserError(
        `the database ${access.database} has tables already: a backup is put back where nothing is`,
      );
    }),
  );
}

export interface RestoreRun {
  /** Of the backup; the statements have names of their own. */
  readonly id: string;
  readonly attempt: string;
  readonly signal: AbortSignal;
  say(line: string): void;
  readonly onPoll: () => void;
}

/**
 * Puts the tables back, on all shards at once: all of the structure, then the rows. Parts are attached as they are, so no view sees
 * them and nothing is computed anew. What reaches over all shards is not in a backup: migrations make it.
 */
export async function restoreEngine(
  access: EngineAccess,
  engine: EngineManifest,
  run: RestoreRun,
): Promise<void> {
  await withSystem(access, async (holders) => {
    for (const part of [STRUCTURE, ...GROUPS] as const)
      await onEach(holders, (holder) => restorePart(holder, engine, { ...run, part }));
  });
  run.say(`${engine.tables.length} tables are back`);
}

function restorePart(
  { writer, database, path }: HeldWriter,
  { disk, tables, base }: EngineManifest,
  { id, attempt, part, signal, onPoll }: RestoreRun & { readonly part: typeof STRUCTURE | Group },
): Promise<void> {
  const isStructure = part === STRUCTURE;
  const what = isStructure ? `DATABASE ${database}` : namesOf(database, tables, part);
  const added = base === null ? [] : [`base_backup = ${onDisk({ disk, path: `${base.id}/${path}${part}` })}`];
  return runBackupStatement(writer, {
    id: `${attempt}-${path}${part}`,
    statement: `RESTORE ${what} FROM ${onDisk({ disk, path: `${id}/${path}${part}` })}`,
    settings: isStructure ? ['structure_only = 1'] : added,
    signal,
    onPoll,
  });
}

/** A connection that names a missing database fails whatever it asks; `system` is there on every server. */
function withSystem(access: EngineAccess, work: (holders: HeldWriters) => Promise<void>): Promise<void> {
  return withWriters(access, { database: 'system' }, work);
}
