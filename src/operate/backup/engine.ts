import type { EngineAccess, Writer } from '../../../clickhouse/engine/engine.ts';
import { sql, text } from '../../../clickhouse/engine/sql.ts';
import { readMigrations } from '../../../clickhouse/migrate/migrations.ts';
import { ALL_TABLES } from '../../../clickhouse/tables/all-tables.ts';
import type { BackupGroup } from '../../../clickhouse/tables/table.ts';
import { UserError } from '../../../core/user-error.ts';
import {
  type HeldWriter,
  type HeldWriters,
  onDisk,
  onEach,
  runBackupStatement,
  withWriters,
} from './engine-statements.ts';
import { bytesBelow, type EngineManifest, type Manifest } from './manifest.ts';
import { tellBytes } from './progress.ts';

/**
 * The order in which tables are copied while the index is written to. No two tables are copied at the same instant, so each group
 * must be harmless when it is older than the next one:
 *
 * 1. `checkpoints`, alone and first: ranges that were finished later are read from the chain again, which writes the same rows.
 * 2. Tables that record finished work. Copied before the work itself, they can only cause it to be done again.
 * 3. The rows. A row that is in one of two tables and not in the other lies above the checkpoint, or in a range that is not finished:
 *    the next start retracts or repeats it, each table by itself (ingest/write/retract.ts).
 * 4. Marks that something changed, and lists that may harmlessly hold too much. Copied after the rows, they miss no row.
 *
 * A regrade changes rows in the middle of the history, which no checkpoint covers: a copy during one is refused (below).
 */
export const GROUPS = ['checkpoints', 'done', 'rows', 'marks'] as const satisfies readonly BackupGroup[];
export type Group = (typeof GROUPS)[number];

/** The group of a table; one that names none holds rows. Null: its rows are not copied, only its structure. */
export function groupOf(table: string): Group | null {
  const group: BackupGroup = ALL_TABLES.find(({ name }) => name === table)?.backup ?? 'rows';
  return group === 'derived' ? null : group;
}

/** Tables whose place in the order matters, for the test that they exist. */
export const ORDERED_TABLES: readonly string[] = ALL_TABLES.flatMap(({ name, backup }) =>
  backup === undefined ? [] : [name],
);

const MAX_SECONDS = 60;
const TABLES_MAX = 1_000;

export interface EngineBackupOrder {
  readonly id: string;
  readonly place: EngineManifest['place'];
  readonly disk: string;
  /** As the configuration names it; a shard's tables with rows are in another one. */
  readonly database: string;
  /** Where bytes of it appear, for progress; none on a server. */
  readonly directories: readonly string[];
  /** Called after each part: it is whole, and not read again. */
  onPart?(): void;
  readonly base: { readonly manifest: Manifest; readonly directory: string } | null;
  readonly signal: AbortSignal;
  readonly isTerminal: boolean;
  say(line: string): void;
}

type TableEntry = EngineManifest['tables'][number];

/**
 * Copies the tables with the engine's own BACKUP, group by group, of all shards at once, while others write to
 * them. Throws `UserError` when a regrade was under way, and when an engine refuses.
 */
export async function backUpEngine(holders: HeldWriters, order: EngineBackupOrder): Promise<EngineManifest> {
  const { place, disk, database, base, say } = order;
  const [{ writer: first }] = holders;
  const before = await quietCatalogue(first);
  const listed = await Promise.all(holders.map(({ writer }) => listTables(writer)));
  const tables = summedTables(listed.map((one) => one.tables));
  const bytes = listed.reduce((sum, one) => sum + one.bytes, 0);
  say(`copying ${tables.length} tables of ${database}${ofShards(holders)}`);
  const told = tellBytes('index', base === null ? bytes : 0, order);
  const onPoll = () => {
    if (order.directories.length > 0) told.reached(order.directories.map(bytesBelow).reduce(add, 0));
  };
  for (const part of BACKUP_PARTS) {
    await onEach(holders, (holder) => backUpPart(holder, { ...order, tables, part, onPoll }));
    order.onPart?.();
  }
  if ((await quietCatalogue(first)) !== before) throw regradedMeanwhile();
  return {
    place,
    disk,
    version: await engineVersion(first),
    database,
    migrations: await migrationsOfAll(holders),
    tables,
    base: base === null ? null : { id: base.manifest.id, directory: base.directory },
  };
}

const add = (sum: number, one: number): number => sum + one;

/** The part with tables, views and no rows. */
export const STRUCTURE = 'structure';
const BACKUP_PARTS = [STRUCTURE, ...GROUPS] as const;

function backUpPart(
  { writer, database, path }: HeldWriter,
  order: EngineBackupOrder & {
    readonly tables: readonly TableEntry[];
    readonly part: (typeof BACKUP_PARTS)[number];
    readonly onPoll: () => void;
  },
): Promise<void> {
  const { id, part, disk, base, signal, onPoll } = order;
  const isStructure = part === STRUCTURE;
  const what = isStructure ? `DATABASE ${database}` : namesOf(database, order.tables, part);
  const adding =
    base === null ? [] : [`base_backup = ${onDisk({ disk, path: `${base.manifest.id}/${path}${part}` })}`];
  return runBackupStatement(writer, {
    id: `${id}-${path}${part}`,
    statement: `BACKUP ${what} TO ${onDisk({ disk, path: `${id}/${path}${part}` })}`,
    settings: isStructure ? ['structure_only = 1'] : adding,
    signal,
    onPoll,
  });
}

function ofShards(holders: HeldWriters): string {
  return holders.length === 1 ? '' : `, each of ${holders.length} shards`;
}

/** The same tables are on every shard. */
function summedTables(shards: readonly (readonly TableEntry[])[]): TableEntry[] {
  const [first = [], ...others] = shards;
  return first.map((table) => ({
    ...table,
    rows: others
      .flat()
      .filter(({ name }) => name === table.name)
      .reduce((sum, { rows }) => sum + rows, table.rows),
  }));
}

/** What every shard has been brought to. Throws `UserError` when they differ: then one of them misses tables or columns. */
async function migrationsOfAll(holders: HeldWriters): Promise<EngineManifest['migrations']> {
  const [first = [], ...others] = await Promise.all(holders.map(({ writer }) => appliedMigrations(writer)));
  if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first)))
    throw new UserError('the shards are not of one version: run `settlement-index migrate` first');
  return first;
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

/**
 * The newest pass of the catalogue. A regrade changes rows under their old version, in the middle of the history: two tables that
 * are copied before and after a regrade would differ for good, and nothing would ever repeat it.
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

function regradedMeanwhile(): UserError {
  return new UserError(
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
  const tables = rows.flatMap(([name, count]) => {
    const group = groupOf(String(name));
    return group === null ? [] : [{ name: String(name), group, rows: Number(count) }];
  });
  if (tables.length === 0) throw new UserError('there are no tables: has the service ever run here?');
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
