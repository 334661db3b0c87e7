import { readFileSync } from 'node:fs';
import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES } from '../../../core/domain/public-tables.ts';

/** Every word that a text may be made of, as the engine that judges it knows them. Sorted, so that a seed means one text. */
export interface Vocabulary {
  /** Reviewed names (sandbox/policy/functions.json, read as data). */
  readonly allowed: readonly string[];
  readonly allowedAggregates: readonly string[];
  /** Names that the engine knows and callers may not use. */
  readonly forbidden: readonly string[];
  readonly combinators: readonly string[];
  readonly tableFunctions: readonly string[];
  readonly settings: readonly string[];
  /** `database.table` of everything that is not public. */
  readonly foreignTables: readonly string[];
  /** SELECT statements of the engine's own documentation. */
  readonly documented: readonly string[];
  readonly publicTables: readonly PublicTable[];
  /** Of the physical tables. */
  readonly database: string;
  /** A file of the host whose content no caller may see. */
  readonly secretFile: string;
}

export interface PublicTable {
  readonly name: string;
  readonly columns: readonly Column[];
}

/** What an expression gives, as far as the grammar has to know to write one that the engine can type. */
export type Kind = 'text' | 'number' | 'time' | 'flag' | 'list';

export interface Column {
  readonly name: string;
  readonly kind: Kind;
}

interface ReviewedFunctions {
  readonly allowed: readonly { readonly name: string; readonly aggregate?: true }[];
  readonly combinators: readonly string[];
}

const ROWS_MAX = 10_000;

export async function readVocabulary(
  writer: Writer,
  { database, secretFile }: Pick<Vocabulary, 'database' | 'secretFile'>,
): Promise<Vocabulary> {
  const ask = async (statement: ReturnType<typeof sql>): Promise<string[]> => {
    const { rows } = await writer.rows({
      name: 'fuzz-vocabulary',
      sql: statement,
      maxSeconds: 10,
      maxRows: ROWS_MAX,
    });
    return rows.map(([first]) => String(first));
  };
  const reviewed = reviewedFunctions();
  const names = new Set(reviewed.allowed.map(({ name }) => name));
  const known = await ask(sql`SELECT DISTINCT name FROM system.functions ORDER BY name`);
  return {
    allowed: reviewed.allowed.filter(({ aggregate }) => aggregate !== true).map(({ name }) => name),
    allowedAggregates: reviewed.allowed.filter(({ aggregate }) => aggregate).map(({ name }) => name),
    forbidden: known.filter((name) => !names.has(name)),
    combinators: reviewed.combinators,
    tableFunctions: await ask(sql`SELECT name FROM system.table_functions ORDER BY name`),
    settings: await ask(sql`SELECT name FROM system.settings ORDER BY name`),
    foreignTables: await ask(
      sql`SELECT concat(database, '.', name) AS full FROM system.tables WHERE NOT endsWith(database, '_public') ORDER BY full`,
    ),
    documented: (await ask(sql`SELECT examples FROM system.functions ORDER BY name`)).flatMap(selectsOf),
    publicTables: PUBLIC_TABLE_NAMES.map((name) => ({
      name,
      columns: PUBLIC_TABLES[name].columns.map((column) => ({
        name: column.name,
        kind: kindOf(column.type),
      })),
    })),
    database,
    secretFile,
  };
}

/** The reviewed list as data, not through the code that judges by it. */
export function reviewedFunctions(): ReviewedFunctions {
  const file = new URL('../../../sandbox/policy/functions.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as ReviewedFunctions; // our own file
}

function kindOf(type: string): Kind {
  if (/^Array/.test(type)) return 'list';
  if (/Date/.test(type)) return 'time';
  if (/Int|Float|Decimal/.test(type)) return 'number';
  return type === 'Bool' ? 'flag' : 'text';
}

/** The SELECTs of a page of documentation: fenced, ended by a semicolon or the fence. */
function selectsOf(page: string): string[] {
  const fences = page.matchAll(/```sql[^\n]*\n([\s\S]*?)```/g);
  return [...fences]
    .flatMap(([, code = '']) => code.split(/;\s*$/m))
    .map((text) => text.trim())
    .filter((text) => /^(SELECT|WITH)\b/i.test(text));
}
