import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { UserError } from '../../../core/user-error.ts';
import { bytesBelow } from './checksums.ts';
import { onDisk, runBackupStatement } from './engine-statements.ts';
import { type HeldWriter, type HeldWriters, onEach } from './index-holders.ts';
import type { EngineManifest, Manifest } from './manifest.ts';
import { GROUPS, type Group, groupOf } from './table-order.ts';
import { tellBytes } from './told-progress.ts';

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
 * Copies the tables with the engine's own BACKUP, group by group (table-order.ts), of all shards at once, while others write to
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
  const tables = rows.map(([name, count]) => ({
    name: String(name),
    group: groupOf(String(name)),
    rows: Number(count),
  }));
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
