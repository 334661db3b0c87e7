import { expect } from 'vitest';
import { CATALOGUE_TABLES } from '../../../clickhouse/catalogue/tables.ts';
import { publicDatabaseOf } from '../../../clickhouse/engine/databases.ts';
import { trustedText } from '../../../clickhouse/engine/sql.ts';
import { test } from '../../kit/fixtures.ts';

/** What clients read of `information_schema` is what the engine says of the same views itself, NULLs included. */

const PARTS = ['tables', 'columns', 'views', 'schemata'] as const;
/** Names of the deployment, and texts that only a server of views has. */
const OWN: ReadonlySet<string> = new Set([
  ...['table_catalog', 'table_schema', 'catalog_name', 'schema_name', 'schema_owner'],
  ...['view_definition', 'table_comment', 'column_comment'],
  // Of clients of MySQL; the engine's own table has it in upper case alone.
  'column_key',
]);

test.for(PARTS)('information_schema.%s', async (name, { sandbox }) => {
  const views = publicDatabaseOf(sandbox.access.database);
  const table = CATALOGUE_TABLES.find((one) => one.schema === 'information_schema' && one.name === name);
  const columns = (table?.columns ?? [])
    .map((column) => column.name)
    .filter((column) => column === column.toLowerCase() && !OWN.has(column));
  const shown = columns.map((column) => `if(isNull(${column}), 'NULL', toString(${column}))`);
  const ask = async (from: string, database: string) => {
    const where =
      name === 'schemata'
        ? `schema_name = '${database}'`
        : `table_schema = '${database}' AND table_name IN (SELECT table_name FROM ${views}.information_schema_tables WHERE table_schema = 'default')`;
    const order = {
      tables: 'table_name',
      views: 'table_name',
      schemata: 'schema_name',
      columns: 'table_name, ordinal_position',
    };
    const { rows } = await sandbox.writer.rows({
      name: 'test-information-schema',
      sql: trustedText(`SELECT ${shown.join(', ')} FROM ${from} WHERE ${where} ORDER BY ${order[name]}`),
      maxSeconds: 10,
      maxRows: 10_000,
    });
    return rows.map((row) => Object.fromEntries(row.map((value, at) => [columns[at], value])));
  };
  const ours = await ask(`${views}.information_schema_${name}`, 'default');
  expect(ours.length).toBeGreaterThan(0);
  expect(ours).toEqual(await ask(`information_schema.${name}`, views));
});
