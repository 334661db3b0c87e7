import { ALL_TABLES } from '../tables/all-tables.ts';
import { allDefinitions, type Storage, type Table, type View } from '../tables/table.ts';

/** The schema as the tables are declared (clickhouse/tables), in the statements of a migration. */

/** The first migration. */
export const BASELINE_FILE = '0001-baseline.sql';

/** Tables first, because a view may read any of them; then what fills them, and the views that are only read. */
export function baselineStatements(tables: readonly Table[] = ALL_TABLES): string[] {
  return [
    ...tables.flatMap(({ storage, ...table }) =>
      'query' in storage ? [] : [createTable({ ...table, storage })],
    ),
    ...tables.flatMap(({ name, filledBy = {} }) =>
      Object.entries(filledBy).map(
        ([view, query]) => `CREATE MATERIALIZED VIEW IF NOT EXISTS ${view} TO ${name} AS\n${query}`,
      ),
    ),
    ...tables.flatMap(({ name, storage }) => ('query' in storage ? [createView(name, storage)] : [])),
  ];
}

/** The file of the first migration, which `npm run gen` writes as long as there is no second one. */
export function baselineFile(): string {
  const statements = baselineStatements().map((statement) => `${statement};\n`);
  return `-- Written by npm run gen from the declarations in clickhouse/tables, as long as it is the only migration.\n\n${statements.join('\n')}`;
}

function createTable(table: Table & { readonly storage: Storage }): string {
  const { engine, partition, order, ttl, indexes = {}, settings = {} } = table.storage;
  const lines = [
    ...Object.entries(allDefinitions(table)).map(([name, definition]) => `\`${name}\` ${definition}`),
    ...Object.entries(indexes).map(([name, definition]) => `INDEX ${name} ${definition}`),
  ];
  const set = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return [
    `CREATE TABLE IF NOT EXISTS ${table.name}\n(\n    ${lines.join(',\n    ')}\n)`,
    `ENGINE = ${engine}`,
    ...(partition === undefined ? [] : [`PARTITION BY ${partition}`]),
    `ORDER BY ${order}`,
    ...(ttl === undefined ? [] : [`TTL ${ttl}`]),
    ...(set.length === 0 ? [] : [`SETTINGS ${set.join(', ')}`]),
  ].join('\n');
}

function createView(name: string, { query }: View): string {
  return `CREATE OR REPLACE VIEW ${name} AS\n${query}`;
}
