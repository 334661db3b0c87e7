import { hasInvisible } from '../../core/domain/display-text.ts';
import type { SqlPolicy } from '../policy/policy.ts';
import { refuseFunction, VIRTUAL_COLUMN } from './names.ts';
import { refuse } from './refusal.ts';

/**
 * The second judgement, of the tree as the engine resolved it: `EXPLAIN QUERY TREE run_passes = 1, passes = 1`. Here every name is
 * resolved: a bare word that became a function is a FUNCTION node, a table has its database. The first judgement (rules.ts) must
 * come before it, because the engine folds constants while it resolves.
 *
 * Each line is judged separately: text that a caller forges into a line can only add a name, never hide one.
 */

/** The pass that resolves names. Later passes only rewrite its result. */
export const RESOLVE_QUESTION = 'EXPLAIN QUERY TREE run_passes = 1, passes = 1';

const NODE_LINE = /^\s*([A-Z][A-Z_]*(?: [A-Z_]+)*) id: \d+(?:, (.*))?$/s;
/** A resolved function prints its name first, or after its alias. */
const FUNCTION_NAME = /^(?:alias: [^,]*, )?function_name: ([^,]+), function_type: /;
const IDENTIFIER = /(?:^|, )identifier: ([^\s,]+)/;
const COLUMN_NAME = /(?:^|, )column_name: ([^\s,]+)/;
const TABLE_NAME = /(?:^|, )table_name: ([^\s,]+)/;
const TABLE_FUNCTION_NAME = /(?:^|, )table_function_name: ([^\s,]+)/;
/** Nodes that name no function, table or column. */
const OTHER_KINDS: ReadonlySet<string> = new Set([
  'QUERY',
  'UNION',
  'LIST',
  'CONSTANT',
  'LAMBDA',
  'JOIN',
  'CROSS JOIN',
  'CROSS_JOIN',
  'ARRAY_JOIN',
  'SORT',
  'WINDOW',
  'INTERPOLATE',
]);
/** The tables that the engine reads for a query without FROM; for a recursive CTE that names itself, and those that were sent with it. */
const NO_TABLE = 'system.one';
const RECURSION = /^_temporary_and_external_tables\./;
/** Names that only the engine generates here, for `json.path` and `variant.Type`; the first judgement refuses them in a text. */
const GIVEN_BY_THE_ENGINE: ReadonlySet<string> = new Set(['getSubcolumn']);

export interface ResolvedPolicy extends SqlPolicy {
  /** Databases of the public tables. */
  readonly databases: ReadonlySet<string>;
}

/** Throws `Refused` (`function`, `unknown_table`, `table_function`, `virtual_column`, `identifier`, `unexplained`). */
export function checkResolved(lines: readonly string[], policy: ResolvedPolicy): void {
  if (lines.length === 0) refuse('unexplained');
  checkResultColumns(lines);
  for (const line of lines) {
    const [, kind, facts = ''] = NODE_LINE.exec(line) ?? [];
    if (kind === undefined || OTHER_KINDS.has(kind)) continue;
    if (kind === 'FUNCTION') checkFunction(FUNCTION_NAME.exec(facts)?.[1], policy);
    else if (kind === 'COLUMN') checkColumn(COLUMN_NAME.exec(facts)?.[1]);
    else if (kind === 'TABLE') checkTable(TABLE_NAME.exec(facts)?.[1], policy);
    else if (kind === 'TABLE_FUNCTION') checkTableFunction(TABLE_FUNCTION_NAME.exec(facts)?.[1], policy);
    // A node of another kind, or a word that the engine resolves only at run time (an argument of a table function).
    else refuse('unexplained', { near: IDENTIFIER.exec(facts)?.[1] ?? kind });
  }
}

function checkFunction(name: string | undefined, policy: ResolvedPolicy): void {
  if (name === undefined) refuse('unexplained', { near: 'FUNCTION' });
  if (!policy.functions.allows(name) && !GIVEN_BY_THE_ENGINE.has(name)) refuseFunction(name, policy);
}

function checkColumn(name: string | undefined): void {
  if (name === undefined) refuse('unexplained', { near: 'COLUMN' });
  if (VIRTUAL_COLUMN.test(name)) refuse('virtual_column', { near: name });
}

function checkTable(name: string | undefined, { databases, tables }: ResolvedPolicy): void {
  if (name === undefined) refuse('unexplained', { near: 'TABLE' });
  if (name === NO_TABLE || RECURSION.test(name)) return;
  const [database = '', table = ''] = name.replaceAll('`', '').split('.');
  if (databases.has(database) && tables.has(table)) return;
  refuse('unknown_table', { near: table });
}

function checkTableFunction(name: string | undefined, { tableFunctions }: ResolvedPolicy): void {
  if (name === undefined) refuse('unexplained', { near: 'TABLE_FUNCTION' });
  // `(VALUES …)` in a table's place, which has another name in the engine but works alike.
  if (tableFunctions.has(name.toLowerCase().replace(/^sqlstandard/, ''))) return;
  refuse('table_function', { near: name });
}

const QUERY_LINE = /^ *QUERY id: /;

/**
 * A column without an alias is named by its expression, texts included, and a type names enums and elements: only here are all of them
 * known. The result has the columns of the queries that are in no other, several where they are united.
 */
function checkResultColumns(lines: readonly string[]): void {
  /** How deep the query stands that the line belongs to; null outside of all. */
  let query: number | null = null;
  let isListed = false;
  for (const line of lines) {
    const depth = line.length - line.trimStart().length;
    if (query !== null && depth <= query) query = null;
    if (query === null) query = QUERY_LINE.test(line) ? depth : null;
    else if (depth <= query + LIST_DEPTH) isListed = line.trimStart() === 'PROJECTION COLUMNS';
    else if (isListed && hasInvisible(line)) refuseColumn();
  }
}

/** Between a query and the headings of its lists. */
const LIST_DEPTH = 2;

function refuseColumn(): never {
  return refuse('identifier', {
    detail: 'The name or the type of a column of the result holds a control or another invisible character.',
    hint: 'Name each column with AS, and write the names in a type without such characters.',
  });
}
