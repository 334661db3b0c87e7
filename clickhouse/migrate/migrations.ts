import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { Log } from '../../core/log.ts';
import { UserError } from '../../core/user-error.ts';
import { type EngineAccess, EngineError, type Writer } from '../engine/engine.ts';
import { createWriter } from '../engine/http-engine.ts';
import { type Sql, sql, text, trustedText, uint32 } from '../engine/sql.ts';

/**
 * Applies the numbered `.sql` files. ClickHouse has no transactional DDL and no lock without Keeper, so safety comes from
 * idempotence alone: every statement may run again (`IF NOT EXISTS`, `IF EXISTS`; a test reads the files for it). Two processes
 * that start at once, or a run killed half-way, therefore end in the same schema; the version is recorded after its last
 * statement.
 */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly statements: readonly string[];
}

export interface Migrated {
  readonly applied: readonly string[];
  readonly already: readonly string[];
}

/** Copying a table of billions of rows takes that long. */
const STATEMENT_SECONDS_MAX = 3_000;
/** UNKNOWN_TABLE. */
const TABLE_IS_GONE = 60;
/** Each further process that starts at once can drop a table under a statement of this one. */
const RUNS_MAX = 4;
const MIGRATIONS_MAX = 10_000;
const FILE_NAME = /^(\d{4})-([a-z0-9-]+)\.sql$/;
export const MIGRATIONS_DIRECTORY = new URL('../migrations/', import.meta.url);

/**
 * Runs the migrations that the writer's database lacks; `runStatement` runs a statement of a file. Throws `UserError` when the database
 * is of an unreleased version or an applied file has changed since, `EngineError` when the engine fails.
 */
export async function applyMigrations(
  writer: Writer,
  migrations: readonly Migration[],
  log: Log,
  runStatement: (name: string, statement: string) => Promise<void> = (name, statement) =>
    runDdl(writer, name, trustedText(statement)),
): Promise<Migrated> {
  await runDdl(writer, 'create-schema-migrations', CREATE_HISTORY);
  const history = await readHistory(writer);
  refuseOlder(migrations, history);
  refuseChanged(migrations, history);
  const applied: string[] = [];
  for (const migration of migrations.filter(({ version }) => !history.has(version))) {
    await runMigration(migration, runStatement);
    await record(writer, migration);
    log.debug({ migration: fullName(migration) }, 'migration applied');
    applied.push(fullName(migration));
  }
  const already = migrations.filter(({ version }) => history.has(version)).map(fullName);
  return { applied, already };
}

/**
 * Another process that is further in the same file may have dropped a table that a statement needs: then the file is run again from its
 * first statement, which makes that table again.
 */
async function runMigration(
  migration: Migration,
  runStatement: (name: string, statement: string) => Promise<void>,
): Promise<void> {
  for (let runs = 1; ; runs++) {
    try {
      for (const statement of migration.statements) {
        await runStatement(`migration-${fullName(migration)}`, statement);
      }
      return;
    } catch (error) {
      if (runs >= RUNS_MAX || !(error instanceof EngineError) || error.engineCode !== TABLE_IS_GONE)
        throw error;
    }
  }
}

/** Reads and checks the files: numbered without gaps or repeats, each with at least one statement. */
export async function readMigrations(directory: URL = MIGRATIONS_DIRECTORY): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  if (names.length === 0) throw new UserError('The installation has no migration files.');
  return Promise.all(
    names.map(async (file, index) => {
      const [, number, name] = FILE_NAME.exec(file) ?? [];
      if (number === undefined || name === undefined || Number(number) !== index + 1) {
        throw new UserError(`Migration ${file} must be named ${numbered(index + 1)}-some-name.sql`);
      }
      const script = await readFile(new URL(file, directory), 'utf8');
      const statements = splitStatements(script);
      return { version: Number(number), name, checksum: checksumOf(statements), statements };
    }),
  );
}

const CREATE_HISTORY = sql`
CREATE TABLE IF NOT EXISTS schema_migrations
(
    version UInt32,
    name String,
    checksum String,
    applied_at DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree(applied_at)
ORDER BY version`;

type History = ReadonlyMap<number, Pick<Migration, 'name' | 'checksum'>>;

async function readHistory(writer: Writer): Promise<History> {
  const { rows } = await writer.rows({
    name: 'applied-migrations',
    sql: sql`SELECT version, name, checksum FROM schema_migrations FINAL ORDER BY version`,
    maxSeconds: 30,
    maxRows: MIGRATIONS_MAX,
  });
  return new Map(
    rows.map(([version, name, checksum]) => [
      Number(version),
      { name: String(name), checksum: String(checksum) },
    ]),
  );
}

/** The first migration is everything that a release begins with. A database with another one is of a version that was never released. */
function refuseOlder([baseline]: readonly Migration[], history: History): void {
  const first = history.get(1);
  if (baseline === undefined || first === undefined || first.checksum === baseline.checksum) return;
  throw new UserError(
    `The tables in this database were made by an unreleased version (its first migration is ${fullName({ version: 1, name: first.name })}), which this version cannot read: set clickhouse.database to a new name, or start with another data directory (accounts are in control.db of this one), and the history is read anew.`,
  );
}

function refuseChanged(migrations: readonly Migration[], history: History): void {
  const unknown = [...history.keys()].filter((version) => version > migrations.length);
  if (unknown.length > 0) {
    throw new UserError(
      `The database has migration ${numbered(Math.max(...unknown))}, which this version of the program does not know. Run the newer version.`,
    );
  }
  for (const migration of migrations) {
    const recorded = history.get(migration.version)?.checksum;
    if (recorded !== undefined && recorded !== migration.checksum) {
      throw new UserError(
        `Migration ${fullName(migration)} was applied to this database with other contents. Restore the file and put the change into a new migration.`,
      );
    }
  }
}

async function record(writer: Writer, { version, name, checksum }: Migration): Promise<void> {
  await runDdl(
    writer,
    'record-migration',
    sql`INSERT INTO schema_migrations (version, name, checksum) SELECT ${uint32(version)}, ${text(name)}, ${text(checksum)}`,
  );
}

/** Runs one of our statements with a long time limit, as DDL needs. */
export function runDdl(writer: Writer, name: string, statement: Sql): Promise<void> {
  return writer.run({ name, sql: statement, maxSeconds: STATEMENT_SECONDS_MAX });
}

/** Covers the statements, not the file, so that comments can still be improved. */
function checksumOf(statements: readonly string[]): string {
  return createHash('sha256').update(statements.join(';\n')).digest('hex');
}

function fullName({ version, name }: Pick<Migration, 'version' | 'name'>): string {
  return `${numbered(version)}-${name}`;
}

function numbered(version: number): string {
  return String(version).padStart(4, '0');
}

/** Matches, in this order: a comment, a quoted text or identifier, a semicolon, or anything else up to the next of those. */
const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\]|\\[\s\S]|'')*'|`(?:[^`\\]|\\[\s\S])*`|"(?:[^"\\]|\\[\s\S])*"|;|[^;'`"/-]+|[\s\S]/g;

/** Splits a migration into statements without comments; a semicolon inside quotes or a comment does not end one. */
export function splitStatements(script: string): string[] {
  const statements: string[] = [];
  let current = '';
  for (const [token] of script.matchAll(TOKEN)) {
    if (token.startsWith('--') || token.startsWith('/*')) current += ' ';
    else if (token === ';') {
      statements.push(current.trim());
      current = '';
    } else current += token;
  }
  statements.push(current.trim());
  return statements.filter((statement) => statement !== '');
}

/** Always Atomic: the embedded engine's `default` database is an Overlay, which refuses some DDL. */
export async function createDatabases(access: EngineAccess, names: readonly string[]): Promise<void> {
  // A connection to a missing database fails every statement; `system` exists on every server.
  const writer = createWriter({ ...access, database: 'system' });
  try {
    for (const name of names) {
      await runDdl(
        writer,
        'create-database',
        sql`CREATE DATABASE IF NOT EXISTS ${trustedText(name)} ENGINE = Atomic`,
      );
    }
  } finally {
    await writer.close();
  }
}
