import { afterAll, describe, expect } from 'vitest';
import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES } from '../../../core/domain/public-tables.ts';
import { Refused } from '../../../sandbox/judge/refusal.ts';
import { QueryFailed } from '../../../sandbox/sandbox.ts';
import { test } from '../../kit/fixtures.ts';
import { type AskedCatalogue, askedCatalogue } from '../../kit/introspection.ts';
import { sqlLines } from '../../kit/judge.ts';
import { insertSettlements, settlement } from '../../kit/rows.ts';

let catalogue: AskedCatalogue;
test.beforeAll(async ({ sandbox }) => {
  catalogue = askedCatalogue(sandbox);
  await insertSettlements(sandbox.writer, [settlement({ blockNumber: 1 })]);
});
afterAll(() => catalogue?.close());

type Other = Parameters<AskedCatalogue['ask']>[1];
const said = async (text: string, other?: Other): Promise<string | undefined> =>
  (await catalogue.ask(text, other))?.toString('utf8');
const lines = async (text: string, other?: Other): Promise<string[]> =>
  (await said(text, other))?.split('\n').filter(Boolean) ?? [];

const refusal = async (text: string, other?: Other): Promise<string> => {
  try {
    const answer = await said(text, other);
    return `answered: ${answer}`;
  } catch (error) {
    if (error instanceof Refused) return `${error.refusal.code}: ${error.refusal.detail}`;
    if (error instanceof QueryFailed) return `failed: ${error.detail}`;
    throw error;
  }
};

const TABLES = [...PUBLIC_TABLE_NAMES].sort();

describe('the catalogue lists published things alone', () => {
  test('databases, in every way to ask', async () => {
    for (const text of ['SHOW DATABASES', 'show schemas', 'SELECT name FROM system.databases ORDER BY name'])
      expect(await lines(text)).toEqual(['default', 'information_schema', 'system']);
    expect(await lines("SHOW DATABASES LIKE 'def%'")).toEqual(['default']);
    expect(await lines("SHOW DATABASES NOT LIKE '%s%' LIMIT 1")).toEqual(['default']);
  });

  test('tables, in every way to ask', async () => {
    for (const text of [
      'SHOW TABLES',
      'SHOW TABLES FROM default',
      'SHOW TABLES IN `default`',
      'SHOW TABLES;',
      'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
      "SELECT table_name FROM information_schema.tables WHERE table_schema = 'default' ORDER BY 1",
      "SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'default' ORDER BY 1",
      'SELECT "tables"."name" FROM "system"."tables" WHERE "tables"."database" = \'default\' ORDER BY 1',
    ])
      expect(await lines(text), text).toEqual(TABLES);
    expect(await lines("SHOW TABLES LIKE '%settle%'")).toEqual(['settlements', 'wallet_settlements']);
    expect(await lines("SHOW TABLES WHERE name = 'agents'")).toEqual(['agents']);
    expect(await lines('SHOW TABLES LIMIT 2')).toEqual(TABLES.slice(0, 2));
    expect(await lines('SHOW FULL TABLES LIMIT 1')).toEqual(['agents\tVIEW']);
    expect(await lines('SHOW TABLES FROM system')).toContain('columns');
    expect(await lines('SHOW TABLES', { database: 'information_schema' })).toContain('schemata');
    expect(await lines('SHOW TEMPORARY TABLES')).toEqual([]);
  });

  test('columns with types and comments, in every way to ask', async () => {
    const columns = PUBLIC_TABLES.agents.columns;
    const described = await lines('DESCRIBE TABLE default.agents FORMAT JSONCompactEachRow');
    expect(described.map((line) => JSON.parse(line))).toEqual(
      columns.map(({ name, type, meaning }) => [name, type, '', '', meaning, '', '']),
    );
    const listed = columns.map(({ name }) => name);
    for (const text of [
      "SELECT name FROM system.columns WHERE database = 'default' AND table = 'agents' ORDER BY position",
      "SELECT column_name FROM information_schema.columns WHERE table_name = 'agents' ORDER BY ordinal_position",
    ])
      expect(await lines(text), text).toEqual(listed);
    const shown = await lines('SHOW COLUMNS FROM agents FROM default');
    expect(shown.map((line) => line.split('\t')[0])).toEqual(listed);
    expect(shown).toContain('score\tNullable(Float64)\tYES\t\t\\N\t');
    expect(await lines("SHOW FULL COLUMNS IN default.agents LIKE 'sco%'")).toEqual([
      `score\tNullable(Float64)\tYES\t\t\\N\t\t\\N\t${columns.find(({ name }) => name === 'score')?.meaning}\tselect`,
    ]);
    expect(await lines('DESC system.one')).toEqual(['dummy\tUInt8\t\t\t\t\t']);
  });

  test('the types of the catalogue are those that the tables have', async ({ sandbox }) => {
    for (const name of PUBLIC_TABLE_NAMES) {
      const rows = await sandbox.guest.explain({
        name: 'types',
        text: `DESCRIBE TABLE ${name}`,
        maxSeconds: 5,
      });
      // The engine breaks long types into lines.
      const own = rows.map(
        ([column, type]) => `${column}\t${String(type).replace(/\n\s*/g, ' ').replace('( ', '(')}`,
      );
      expect(
        await lines(`SELECT name, type FROM system.columns WHERE table = '${name}' ORDER BY position`, {
          format: 'TSVRaw',
        }),
      ).toEqual(own);
    }
  });

  test('functions, types, formats and settings; lists of other things are empty', async () => {
    expect(await lines("SHOW FUNCTIONS ILIKE 'UNIQEXACT'")).toHaveLength(1);
    expect(
      await lines("SELECT name FROM system.functions WHERE name IN ('file', 'url', 'currentUser', 'sleep')"),
    ).toEqual([]);
    expect(await lines("SHOW SETTINGS LIKE 'max_execution%'")).toEqual(['max_execution_time\tSeconds\t0']);
    expect(await lines('SHOW ENGINES')).toHaveLength(1);
    for (const text of [
      'SHOW PROCESSLIST',
      'SHOW CLUSTERS',
      'SHOW DICTIONARIES',
      'SHOW INDEX FROM agents',
      'SELECT * FROM system.parts',
    ])
      expect(await lines(text), text).toEqual([]);
    expect(await said('SELECT name, value FROM system.build_options')).toBe(
      'VERSION_DESCRIBE\tv25.8.1.1-stable\n',
    );
  });

  test('what exists', async () => {
    const answers = [
      'EXISTS default.agents',
      'EXISTS TABLE agents',
      'EXISTS VIEW agents',
      'EXISTS DATABASE default',
      'EXISTS system.tables',
    ];
    for (const text of answers) expect(await said(text), text).toBe('1\n');
    for (const text of [
      'EXISTS other',
      'EXISTS DATABASE other',
      'EXISTS system.processes',
      'EXISTS DICTIONARY agents',
    ])
      expect(await said(text), text).toBe('0\n');
  });

  test('the statement that creates a table', async () => {
    const shown = await said('SHOW CREATE TABLE facilitators', { format: 'TSVRaw' });
    expect(shown).toMatch(
      /^CREATE TABLE default\.facilitators\n\(\n {4}`chain` LowCardinality\(String\) COMMENT 'CAIP-2/,
    );
    expect(await said('SHOW CREATE DATABASE default', { format: 'TSVRaw' })).toBe(
      'CREATE DATABASE default\nENGINE = Atomic\n',
    );
  });

  test('conditions, joins, aggregates and formats are the engine’s own', async () => {
    const text = `SELECT t.name, count() AS columns, any(d.engine) FROM system.tables AS t
      JOIN system.columns AS c ON c.database = t.database AND c.table = t.name
      JOIN system.databases AS d ON d.name = t.database
      WHERE t.database = 'default' AND c.type ILIKE '%datetime%' GROUP BY t.name HAVING columns > 1 ORDER BY t.name LIMIT 1 FORMAT CSVWithNames`;
    const times = PUBLIC_TABLES.agents.columns.filter(({ type }) => type.includes('DateTime')).length;
    expect(await said(text)).toBe(`"t.name","columns","any(d.engine)"\n"agents",${times},"Atomic"\n`);
    expect(
      await said(
        'SELECT count() > 5 AS many FROM system.columns WHERE table IN (SELECT name FROM system.tables WHERE name = {t:String}) SETTINGS max_threads = 1',
        { parameters: { t: 'agents' }, format: 'JSONEachRow' },
      ),
    ).toBe('{"many":1}\n');
  });
});

describe('the session is the caller’s', () => {
  test('constants have the values that are published, under the names of their calls', async () => {
    expect(
      await said('SELECT version(), timezone(), currentDatabase(), currentUser(), hostName()', {
        format: 'TSVWithNames',
      }),
    ).toBe(
      'version()\ttimezone()\tcurrentDatabase()\tcurrentUser()\thostName()\n25.8.1.1\tUTC\tdefault\tAcme\tsettlement-index\n',
    );
    expect(await said("SELECT concat(VERSION(), '!') AS v, (SELECT user()) AS u")).toBe('25.8.1.1!\tAcme\n');
    expect(await said('SELECT currentUser()', { callerName: 'ip:192.0.2.1', userName: undefined })).toBe(
      'anonymous\n',
    );
    expect(await said('SELECT currentUser()', { userName: "O'Neil \\ `x`\n" })).toBe("O\\'Neil `x`\n");
    expect(await said('SELECT currentDatabase()', { database: 'system' })).toBe('system\n');
    expect(
      await said('SELECT version() UNION ALL SELECT timezone()').then((text) => text?.split('\n').sort()),
    ).toEqual(['', '25.8.1.1', 'UTC']);
  });

  test('SELECT 1 and other constants are free; work and tables are not', async () => {
    expect(await said('SELECT 1')).toBe('1\n');
    expect(
      await said("SELECT 1 AS one, 'a' AS a, now() > toDate('2020-01-01') FORMAT JSONCompactEachRow"),
    ).toBe('[1, "a", 1]\n');
    for (const text of [
      'SELECT count() FROM settlements',
      'SELECT sum(number) FROM numbers(1000000000)',
      'SELECT arraySum(range(10000000))',
      'SELECT arrayJoin(range(1000)), arrayJoin([1, 2]), arrayJoin([3, 4])',
      "SELECT payer FROM settlements WHERE asset_symbol = 'system'",
      'SELECT * FROM default.settlements',
      'INSERT INTO settlements VALUES (1)',
      'EXPLAIN SELECT 1',
      'KILL QUERY WHERE 1',
      'SELECT FROM',
    ])
      expect(await said(text), text).toBeUndefined();
  });

  test('USE and SET are accepted where they change nothing', async () => {
    for (const text of [
      'USE default',
      'USE system',
      'SET readonly = 1',
      'SET max_threads = 4, output_format_json_quote_64bit_integers = 0',
      'SET ROLE NONE',
    ])
      expect(await said(text), text).toBe('');
    expect(await refusal('USE other')).toBe('unknown_table: There is no database other.');
    expect(await refusal("SET additional_table_filters = 'x'")).toContain(
      'settings: The setting additional_table_filters',
    );
    expect(await refusal('SELECT 1 SETTINGS allow_ddl = 1')).toContain('settings: ');
    // Refused by name as a query.
    expect(await catalogue.ask('SELECT 1 FORMAT Protobuf')).toBeNull();
  });

  test('DESCRIBE of a query gives the columns that it would have, and reads nothing', async () => {
    const text =
      'DESCRIBE (SELECT payee, count() AS n, max(block_time) AS last FROM default.settlements WHERE chain = {chain:String} GROUP BY payee)';
    expect(await lines(text, { parameters: { chain: 'eip155:8453' } })).toEqual([
      'payee\tString\t\t\t\t\t',
      'n\tUInt64\t\t\t\t\t',
      "last\tDateTime(\\'UTC\\')\t\t\t\t\t",
    ]);
    expect(await lines('DESC TABLE (SELECT name, version() AS v FROM system.tables) FORMAT TSV')).toEqual([
      'name\tString\t\t\t\t\t',
      'v\tString\t\t\t\t\t',
    ]);
    expect(await refusal("DESCRIBE (SELECT * FROM file('/etc/passwd'))")).toContain('table_function: ');
    expect(await refusal('DESCRIBE (SELECT * FROM system.processes)')).toBe(
      'unknown_table: There is no table system.processes.',
    );
    expect(await refusal("DESCRIBE url('http://localhost/')")).toContain('not_select: ');
  });

  test('a query over the catalogue reads no public table', async () => {
    expect(
      await refusal('SELECT t.name, (SELECT count() FROM settlements) FROM system.tables AS t'),
    ).toContain('unknown_table: A query reads either the catalogue or the public tables');
    expect(await refusal('SELECT 1 FROM system.tables, default.settlements')).toContain(
      'A query reads either',
    );
  });
});

/** Everything of the engine that a text may try to reach through the door of the catalogue. */
const HOSTILE = sqlLines('catalogue-hostile').map(({ sql }) => sql);

/** Words that only the engine behind it could have said. */
const OF_THE_ENGINE =
  /index_of_test\w*|guest|26\.7|writer|127\.0\.0\.1|\/tmp\/|Distributed|MergeTree|sha256/g;

describe('nothing of the engine is visible', () => {
  test('a text that reaches for it is refused, not answered, or answered without a word of it', async () => {
    const told: string[] = [];
    for (const text of HOSTILE) {
      const answer = await refusal(text);
      const words = answer.match(OF_THE_ENGINE) ?? [];
      if (words.some((word) => !text.includes(word))) told.push(`${text} => ${answer.slice(0, 120)}`);
      if (answer.startsWith('answered: ') && answer !== 'answered: undefined')
        told.push(`${text} => ${answer.slice(0, 120)}`);
    }
    expect(told).toEqual([]);
  });

  test('every table of the catalogue is free of its words', async () => {
    for (const schema of ['system', 'information_schema'])
      for (const name of await lines(`SHOW TABLES FROM ${schema}`))
        expect(await said(`SELECT * FROM ${schema}.${name}`), name).not.toMatch(
          /index_of_test|guest|26\.7|127\.0\.0\.1/,
        );
  });

  test('the grants alone keep the guest from the engine’s own tables', async ({ sandbox }) => {
    // `system.settings` and `system.functions` need no grant in ClickHouse: only the judgement keeps those away.
    for (const table of [
      'system.processes',
      'system.users',
      'system.query_log',
      'system.grants',
      'system.clusters',
    ]) {
      const asked = sandbox.guest.explain({
        name: 'wall',
        text: `SELECT count() FROM ${table}`,
        maxSeconds: 5,
      });
      await expect(asked, table).rejects.toThrow();
    }
  });
});
