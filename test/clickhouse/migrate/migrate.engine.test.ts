import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EngineAccess, Writer } from '../../../clickhouse/engine/engine.ts';
import { createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { sql, trustedText } from '../../../clickhouse/engine/sql.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import {
  applyMigrations,
  createDatabases,
  readMigrations,
  runDdl,
} from '../../../clickhouse/migrate/migrations.ts';
import { ALL_TABLES } from '../../../clickhouse/tables/all-tables.ts';
import { dropDatabase, freshDatabase, testLog } from '../../kit/engine.ts';
import { IS_PUSH } from '../../kit/lengths.ts';

const bounds = { name: 'test', maxSeconds: 10, maxRows: 1000 };

let access: EngineAccess;
let writer: Writer;
let directory: string;
beforeEach(() => {
  access = freshDatabase();
  writer = createWriter(access);
  directory = mkdtempSync(join(tmpdir(), 'migrations-'));
});
afterEach(async () => {
  // Not with `writer`: where a test made no database, naming it in the request fails.
  const outside = createWriter({ ...access, database: 'system' });
  await dropDatabase(outside, access.database);
  await Promise.all([outside.close(), writer.close()]);
  rmSync(directory, { recursive: true, force: true });
});

const file = (name: string, script: string) => writeFileSync(join(directory, name), script);
const run = () => migrate(access, testLog, { directory: pathToFileURL(`${directory}/`) });

async function column(query: string): Promise<unknown[]> {
  return (await writer.rows({ ...bounds, sql: trustedText(query) })).rows.map(([first]) => first);
}

const tables = () =>
  column('SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name');

describe('the migrations of this program', () => {
  test('make every table, in an Atomic database, next to the one of the public views', async () => {
    const names = (await readMigrations()).map(
      ({ version, name }) => `${String(version).padStart(4, '0')}-${name}`,
    );
    expect(await migrate(access, testLog)).toEqual({ applied: names, already: [] });
    expect(await tables()).toEqual(
      expect.arrayContaining([...ALL_TABLES.map(({ name }) => name), 'schema_migrations']),
    );
    const engines = await column(
      `SELECT engine FROM system.databases WHERE name IN ('${access.database}', '${access.database}_public')`,
    );
    expect(engines).toEqual(['Atomic', 'Atomic']);
  });

  test.skipIf(IS_PUSH)('are applied once', async () => {
    const { applied } = await migrate(access, testLog);
    expect(await migrate(access, testLog)).toEqual({ applied: [], already: applied });
    expect(await column('SELECT count() FROM schema_migrations')).toEqual([String(applied.length)]);
  });

  test.skipIf(IS_PUSH)('can all be repeated over their own result', async () => {
    await migrate(access, testLog);
    await writer.run({ ...bounds, sql: sql`TRUNCATE TABLE schema_migrations` });
    const before = await column(
      'SELECT create_table_query FROM system.tables WHERE database = currentDatabase() ORDER BY name',
    );
    expect((await migrate(access, testLog)).already).toEqual([]);
    expect(
      await column(
        'SELECT create_table_query FROM system.tables WHERE database = currentDatabase() ORDER BY name',
      ),
    ).toEqual(before);
  });

  test.skipIf(IS_PUSH)('end in the same schema when three processes start at once', async () => {
    const results = await Promise.all([1, 2, 3].map(() => migrate(access, testLog)));
    const all = (await readMigrations()).length;
    for (const { applied, already } of results) expect(applied.length + already.length).toBe(all);
    expect(await column('SELECT version FROM schema_migrations FINAL')).toHaveLength(all);
  });
});

describe('a database of an unreleased version', () => {
  // The names of the first and the last of the migrations that there were before the baseline.
  test.each([
    { what: 'with the migrations of before the baseline', first: 'settlements', last: 42 },
    { what: 'with a baseline of other contents', first: 'baseline', last: 1 },
  ])('$what is refused in a sentence that says what to do, and left as it is', async ({ first, last }) => {
    file(
      '0001-settlements.sql',
      'CREATE TABLE IF NOT EXISTS settlements (n UInt8) ENGINE = MergeTree ORDER BY n;',
    );
    await run();
    await writer.run({
      ...bounds,
      sql: trustedText(
        `INSERT INTO schema_migrations (version, name, checksum, applied_at) SELECT 1 + number, if(number = 0, '${first}', 'later'), 'of then', now() + 1 FROM numbers(${last})`,
      ),
    });
    await expect(migrate(access, testLog)).rejects.toThrow(
      `The tables in this database were made by an unreleased version (its first migration is 0001-${first}), which this version cannot read: set clickhouse.database to a new name, or start with another data directory (accounts are in control.db of this one), and the history is read anew.`,
    );
    expect(await tables()).toEqual(['schema_migrations', 'settlements']);
  });
});

describe('a migration', () => {
  const table = (name: string) =>
    `CREATE TABLE IF NOT EXISTS ${name} (n UInt8) ENGINE = MergeTree ORDER BY n;\n`;

  test('that failed half-way is not recorded and is finished by the next run', async () => {
    file('0001-two.sql', `${table('one')} CREATE TABLE IF NOT EXISTS two (n NoSuchType) ENGINE = Memory;`);
    await expect(run()).rejects.toMatchObject({ name: 'EngineError', problem: 'engine_refused' });
    expect(await tables()).toEqual(['one', 'schema_migrations']);
    file('0001-two.sql', `${table('one')}${table('two')}`);
    expect(await run()).toEqual({ applied: ['0001-two'], already: [] });
    expect(await tables()).toEqual(['one', 'schema_migrations', 'two']);
  });

  test('is run again where another process dropped a table under it, and not for ever', async () => {
    file(
      '0001-copy.sql',
      `${table('one')}${table('two')} INSERT INTO two SELECT n FROM one; DROP TABLE IF EXISTS one;`,
    );
    const [copying] = await readMigrations(pathToFileURL(`${directory}/`));
    if (copying === undefined) throw new Error('no migration was read');
    await createDatabases(access, [access.database]);
    const runs: string[] = [];
    const dropsUnder = (times: number) => async (name: string, statement: string) => {
      runs.push(statement.slice(0, 6));
      if (statement.startsWith('INSERT') && runs.filter((one) => one === 'INSERT').length <= times)
        await writer.run({ ...bounds, sql: sql`DROP TABLE one` });
      await runDdl(writer, name, trustedText(statement));
    };
    await applyMigrations(writer, [copying], testLog, dropsUnder(1));
    expect(runs.filter((one) => one === 'INSERT')).toHaveLength(2);
    expect(await tables()).toEqual(['schema_migrations', 'two']);
    await writer.run({ ...bounds, sql: sql`TRUNCATE TABLE schema_migrations` });
    await expect(applyMigrations(writer, [copying], testLog, dropsUnder(1_000))).rejects.toMatchObject({
      engineCode: 60,
    });
  });

  test('that is added later is applied alone', async () => {
    file('0001-one.sql', table('one'));
    await run();
    file('0002-two.sql', table('two'));
    expect(await run()).toEqual({ applied: ['0002-two'], already: ['0001-one'] });
  });

  test('that was changed after it was applied stops everything', async () => {
    file('0001-one.sql', table('one'));
    file('0002-two.sql', table('two'));
    await run();
    file('0002-two.sql', table('other'));
    file('0003-three.sql', table('three'));
    await expect(run()).rejects.toThrow(
      'Migration 0002-two was applied to this database with other contents. Restore the file and put the change into a new migration.',
    );
    expect(await tables()).toEqual(['one', 'schema_migrations', 'two']);
  });

  test('whose comment alone was changed is the same', async () => {
    file('0001-one.sql', table('one'));
    await run();
    file('0001-one.sql', `-- A better comment; really.\n${table('one')}`);
    expect(await run()).toEqual({ applied: [], already: ['0001-one'] });
  });

  test('that only a newer version of the program knows stops an older one', async () => {
    file('0001-one.sql', table('one'));
    file('0002-two.sql', table('two'));
    await run();
    rmSync(join(directory, '0002-two.sql'));
    await expect(run()).rejects.toThrow('The database has migration 0002');
  });

  test('with a wrong number or name is refused before anything runs', async () => {
    file('0002-late.sql', table('late'));
    await expect(run()).rejects.toThrow('Migration 0002-late.sql must be named 0001-some-name.sql');
  });
});
