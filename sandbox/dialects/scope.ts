import { PUBLIC_TABLES, type PublicTableName } from '../../core/domain/public-tables.ts';
import type { FoundTable } from './foreign-names.ts';
import { type ColumnName, columnOf, type Node } from './nodes.ts';

/**
 * What the names of one SELECT mean. ClickHouse reads a name as an alias of the same SELECT first, the four dialects as a column: a name
 * that is both is written with its table.
 */

export interface Source {
  /** As columns are qualified; '' where the query gives no name. */
  readonly name: string;
  readonly foreign: FoundTable | null;
  /** The public table, if it is one. */
  readonly table: PublicTableName | null;
}

/** The clause that is printed: SELECT and WHERE read columns, the later ones aliases first. */
export type Clause = 'columns' | 'aliases';

export interface Scope {
  readonly sources: readonly Source[];
  /** Aliases that are not just the name of their column. */
  readonly aliases: ReadonlySet<string>;
  /** Names of unnested arrays, which ARRAY JOIN makes plain columns. */
  readonly unnested: ReadonlyMap<string, string>;
  readonly clause: Clause;
  readonly outer: Scope | null;
}

export const NO_SCOPE: Scope = {
  sources: [],
  aliases: new Set(),
  unnested: new Map(),
  clause: 'columns',
  outer: null,
};

/** Ours for a column of the query. */
export interface FoundColumn {
  /** As it is written: a name, with its table where needed, or an expression. */
  readonly text: string;
  /** Our column, where it is one. */
  readonly ours: string | null;
  /** Whether it had another name in the query. */
  readonly renamed: boolean;
}

export function findColumn(column: ColumnName, scope: Scope): FoundColumn {
  const { table, name } = column;
  if (table !== '' && scope.unnested.has(table))
    return plain(scope.unnested.get(table) === name ? name : table, '');
  const source = sourceOf(column, scope);
  const foreign = foreignColumn(name, source);
  if (foreign !== undefined && !isAliasHere(column, scope)) return renamed(foreign, table, source);
  return plain(name, table === '' ? shadowed(name, scope) : table);
}

function plain(name: string, table: string): FoundColumn {
  const text = table === '' ? nameText(name) : `${nameText(table)}.${nameText(name)}`;
  return { text, ours: name.toLowerCase(), renamed: false };
}

function renamed(foreign: string, table: string, source: Source | null): FoundColumn {
  if (foreign.startsWith('=')) return { text: foreign.slice(1), ours: null, renamed: true };
  if (foreign.startsWith('@')) return { text: foreign.slice(1), ours: null, renamed: true };
  const qualifier = table === '' ? '' : (source?.name ?? table);
  return {
    text: qualifier === '' ? foreign : `${nameText(qualifier)}.${foreign}`,
    ours: foreign,
    renamed: true,
  };
}

/** Whether a bare name means an alias of this SELECT. */
function isAliasHere({ table, name }: ColumnName, scope: Scope): boolean {
  return table === '' && scope.clause === 'aliases' && scope.aliases.has(name);
}

function sourceOf({ table, name }: ColumnName, scope: Scope): Source | null {
  for (let at: Scope | null = scope; at !== null; at = at.outer) {
    const found = at.sources.find((source) =>
      table === '' ? foreignColumn(name, source) !== undefined : sameName(source.name, table),
    );
    if (found !== undefined) return found;
    // A name without a table is looked for further out only if nothing here can have it.
    if (table === '' && at.sources.length > 0 && at.sources.some(({ table: ours }) => ours === null))
      return null;
  }
  return null;
}

function foreignColumn(name: string, source: Source | null): string | undefined {
  const columns = source?.foreign?.columns;
  const lower = name.toLowerCase();
  return columns !== undefined && Object.hasOwn(columns, lower) ? columns[lower] : undefined;
}

/** The table to write before a column that an alias of the same name would hide; '' for none. */
function shadowed(name: string, scope: Scope): string {
  if (scope.clause !== 'columns' || !scope.aliases.has(name)) return '';
  const holding = scope.sources.filter((source) => source.name !== '' && mayHold(source, name));
  return holding.length === 1 ? (holding[0]?.name ?? '') : '';
}

function mayHold({ table }: Source, name: string): boolean {
  return table === null || PUBLIC_TABLES[table].columns.some((column) => column.name === name);
}

function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** The aliases of a SELECT, without those that only repeat their column's name. */
export function aliasesOf(columns: readonly Node[]): ReadonlySet<string> {
  const named = columns.flatMap((item) => {
    const alias = item['as'];
    const column = columnOf(item['expr']);
    return typeof alias === 'string' && column?.name !== alias ? [alias] : [];
  });
  return new Set(named);
}

/** Words that ClickHouse would read as a clause. */
const CLAUSE_WORDS =
  /^(all|and|anti|any|array|as|asc|asof|between|by|case|cross|desc|distinct|else|end|except|final|format|from|full|global|group|having|if|in|inner|intersect|interval|into|is|join|left|like|limit|not|null|offset|on|or|order|outer|prewhere|qualify|right|sample|select|semi|settings|then|to|union|using|when|where|window|with)$/i;

export function nameText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && !CLAUSE_WORDS.test(name) ? name : `\`${name.replaceAll('`', '')}\``;
}
