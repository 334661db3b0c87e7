import type { Writer } from '../../clickhouse/engine.ts';
import { sql } from '../../clickhouse/sql.ts';
import { BackupProblem } from './backup-problem.ts';
import { bytesBelow } from './checksums.ts';
import { onDisk, runBackupStatement } from './engine-statements.ts';
import type { EngineManifest, Manifest } from './manifest.ts';
import { GROUPS, type Group, groupOf } from './table-order.ts';
import { tellBytes } from './told-progress.ts';

const MAX_SECONDS = 60;
const TABLES_MAX = 1_000;

export interface EngineBackupOrder {
  readonly id: string;
  readonly place: EngineManifest['place'];
  readonly disk: string;
  readonly database: string;
  /** Of the tables in `directory`, for progress; null on a server. */
  readonly directory: string | null;
  readonly base: { readonly manifest: Manifest; readonly directory: string } | null;
  readonly signal: AbortSignal;
  readonly isTerminal: boolean;
  say(line: string): void;
}

type TableEntry = EngineManifest['tables'][number];

/**
 * Copies the database with the engine's own BACKUP, group by group (table-order.ts), while others write to it. Throws
 * `BackupProblem` when a regrade was under way, and when the engine refuses.
 */
export async function backUpEngine(writer: Writer, order: EngineBackupOrder): Promise<EngineManifest> {
  const { id, place, disk, database, base, say } = order;
  const before = await quietCatalogue(writer);
  const { tables, bytes } = await listTables(writer);
  say(`copying ${tables.length} tables of ${database}`);
  const told = tellBytes('index', base === null ? bytes : 0, order);
  const onPoll = () => {
    if (order.directory !== null) told.reached(bytesBelow(order.directory));
  };
  const run = (part: string, what: string, settings: readonly string[] = []): Promise<void> =>
    runBackupStatement(writer, {
      id: `${id}-${part}`,
      statement: `BACKUP ${what} TO ${onDisk({ disk, path: `${id}/${part}` })}`,
      settings: [...settings, ...baseSetting(order, part)],
      signal: order.signal,
      onPoll,
    });
  await run('structure', `DATABASE ${database}`, ['structure_only = 1']);
  for (const group of GROUPS) await run(group, namesOf(database, tables, group));
  if ((await quietCatalogue(writer)) !== before) throw regradedMeanwhile();
  return {
    place,
    disk,
    version: await engineVersion(writer),
    database,
    migrations: await appliedMigrations(writer),
    tables,
    base: base === null ? null : { id: base.manifest.id, directory: base.directory },
  };
}

/** `TABLE a.b, TABLE a.c`: the tables of a group. */
export function namesOf(
  database: string,
  tables: readonly Pick<TableEntry, 'name' | 'group'>[],
  group: Group,
): string {
  return tables
    .filter((table) => table.group === group)
    .map(({ name }) => `TABLE ${database}.${name}`)
    .join(', ');
}

function baseSetting({ base, disk }: EngineBackupOrder, part: string): string[] {
  if (base === null || part === 'structure') return [];
  return [`base_backup = ${onDisk({ disk, path: `${base.manifest.id}/${part}` })}`];
}

/**
 * The newest pass of the catalogue. A regrade changes rows under their old version, in the middle of the history: two tables that
 * are copied before and after such a change would differ for good, and nothing would ever repeat it.
 */
async function quietCatalogue(writer: Writer): Promise<string> {
  const { rows } = await writer.rows({
    name: 'backup-catalogue',
    sql: sql`SELECT max(pass), countIf(pass NOT IN (SELECT pass FROM (SELECT * FROM regrade_progress FINAL) WHERE finished = 1))
      FROM catalogue_passes`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  const [newest = 0, unfinished = 0] = rows[0] ?? [];
  if (Number(unfinished) > 0) throw regradedMeanwhile();
  return String(newest);
}

function regradedMeanwhile(): BackupProblem {
  return new BackupProblem(
    'rows are following a change of the catalogue at this moment: try again when the log says `regrade done`',
  );
}

/** Tables of our own with rows of their own; views are in the structure. */
async function listTables(
  writer: Writer,
): Promise<{ readonly tables: TableEntry[]; readonly bytes: number }> {
  const { rows } = await writer.rows({
    name: 'backup-tables',
    sql: sql`SELECT name, ifNull(total_rows, 0), ifNull(total_bytes, 0) FROM system.tables
      WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name`,
    maxSeconds: MAX_SECONDS,
    maxRows: TABLES_MAX,
  });
  const tables = rows.map(([name, count]) => ({
    name: String(name),
    group: groupOf(String(name)),
    rows: Number(count),
  }));
  if (tables.length === 0) throw new BackupProblem('there are no tables: has the service ever run here?');
  return { tables, bytes: rows.reduce((sum, [, , bytes]) => sum + Number(bytes), 0) };
}

export async function engineVersion(writer: Writer): Promise<string> {
  const { rows } = await writer.rows({
    name: 'engine-version',
    sql: sql`SELECT version()`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  return String(rows[0]?.[0]);
}

async function appliedMigrations(writer: Writer): Promise<EngineManifest['migrations']> {
  const { rows } = await writer.rows({
    name: 'backup-migrations',
    sql: sql`SELECT version, checksum FROM schema_migrations FINAL ORDER BY version`,
    maxSeconds: MAX_SECONDS,
    maxRows: TABLES_MAX,
  });
  return rows.map(([version, checksum]) => ({ version: Number(version), checksum: String(checksum) }));
}
