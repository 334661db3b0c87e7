import type { EngineAccess, Writer } from '../../clickhouse/engine.ts';
import { createWriter } from '../../clickhouse/http-engine.ts';
import { readMigrations } from '../../clickhouse/migrations.ts';
import { sql, text } from '../../clickhouse/sql.ts';
import { BackupProblem } from './backup-problem.ts';
import { namesOf } from './engine-backup.ts';
import { onDisk, runBackupStatement } from './engine-statements.ts';
import type { EngineManifest } from './manifest.ts';
import { GROUPS } from './table-order.ts';

const MAX_SECONDS = 60;

/** Throws `BackupProblem` when this program cannot read what the backup holds, before anything is changed. */
export async function refuseForeignIndex(engine: EngineManifest, database: string): Promise<void> {
  if (engine.database !== database) {
    throw new BackupProblem(
      `the backup is of the database ${engine.database}, the configuration names ${database}: set clickhouse.database to ${engine.database}`,
    );
  }
  const known = await readMigrations();
  for (const { version, checksum } of engine.migrations) {
    if (known[version - 1]?.checksum === checksum) continue;
    throw new BackupProblem(
      `the tables of the backup have migration ${version} as this program does not know it: restore it with the version that made it`,
    );
  }
}

/** Throws `BackupProblem` when the database has a table already, of whatever kind. */
export async function refuseFilledDatabase(access: EngineAccess): Promise<void> {
  await withSystem(access, async (writer) => {
    const { rows } = await writer.rows({
      name: 'restore-target',
      sql: sql`SELECT count() FROM system.tables WHERE database = ${text(access.database)}`,
      maxSeconds: MAX_SECONDS,
      maxRows: 1,
    });
    if (Number(rows[0]?.[0]) === 0) return;
    throw new BackupProblem(
      `the database ${access.database} has tables already: a backup is put back where nothing is`,
    );
  });
}

/**
 * Puts the tables back: all of the structure, then the rows. Parts are attached as they are, so no view sees them and nothing is
 * computed anew. `id` is that of the backup; the statements have names of their own.
 */
export async function restoreEngine(
  access: EngineAccess,
  engine: EngineManifest,
  run: {
    readonly id: string;
    readonly attempt: string;
    readonly signal: AbortSignal;
    say(line: string): void;
    readonly onPoll: () => void;
  },
): Promise<void> {
  const { disk, database } = engine;
  await withSystem(access, async (writer) => {
    const restore = (part: string, what: string, settings: readonly string[]): Promise<void> =>
      runBackupStatement(writer, {
        id: `${run.attempt}-${part}`,
        statement: `RESTORE ${what} FROM ${onDisk({ disk, path: `${run.id}/${part}` })}`,
        settings,
        signal: run.signal,
        onPoll: run.onPoll,
      });
    await restore('structure', `DATABASE ${database}`, ['structure_only = 1']);
    for (const group of GROUPS) {
      await restore(group, namesOf(database, engine.tables, group), baseSetting(engine, group));
    }
  });
  run.say(`${engine.tables.length} tables are back`);
}

function baseSetting({ base, disk }: EngineManifest, group: string): string[] {
  return base === null ? [] : [`base_backup = ${onDisk({ disk, path: `${base.id}/${group}` })}`];
}

/** A connection that names a missing database fails whatever it asks; `system` is there on every server. */
async function withSystem(access: EngineAccess, work: (writer: Writer) => Promise<void>): Promise<void> {
  const writer = createWriter({ ...access, database: 'system' });
  try {
    await work(writer);
  } finally {
    await writer.close();
  }
}
