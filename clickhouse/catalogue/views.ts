import { publicDatabaseOf } from '../engine/databases.ts';
import { type CatalogueRow, quoted, rowsOf } from './rows.ts';
import { CATALOGUE_TABLES, type CatalogueColumn, type CatalogueTable } from './tables.ts';

/**
 * The published catalogue as views over constant rows in the database of the public tables, so that the engine itself evaluates any
 * condition, join and format over our rows, and the guest needs no further grant. On a cluster every node has them. Every start
 * creates them again, like the public views.
 *
 * The rows are one JSON text: as literals of SQL the functions alone would have more syntax nodes than the engine allows a statement.
 */
export function catalogueViewStatements(database: string): string[] {
  return CATALOGUE_TABLES.map((table) => viewStatement(publicDatabaseOf(database), table));
}

function viewStatement(into: string, table: CatalogueTable): string {
  const { view, columns } = table;
  const type = `Array(Tuple(${columns.map((column) => `\`${column.name}\` ${storedType(column)}`).join(', ')}))`;
  const json = JSON.stringify(rowsOf(table).map((row) => valuesOf(row, columns)));
  const shown = columns.map(
    (column, at) => `CAST(row.${at + 1}, ${quoted(column.type)}) AS \`${column.name}\``,
  );
  return `CREATE OR REPLACE VIEW ${into}.${view} DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT ${shown.join(', ')} FROM (SELECT arrayJoin(JSONExtract(${quoted(json)}, ${quoted(type)})) AS row)`;
}

/** JSONExtract reads no UUID and no time. */
function storedType({ type }: CatalogueColumn): string {
  return type === 'UUID' || type.startsWith('DateTime') ? 'String' : type;
}

function valuesOf(row: CatalogueRow, columns: readonly CatalogueColumn[]): readonly unknown[] {
  return columns.map(({ name, type }) => row[name] ?? defaultOf(type));
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

function defaultOf(type: string): unknown {
  if (type.startsWith('Nullable')) return null;
  if (type.startsWith('Array')) return [];
  if (type === 'UUID') return NO_ID;
  if (type.startsWith('DateTime')) return '2026-01-01 00:00:00';
  return type === 'String' ? '' : 0;
}
