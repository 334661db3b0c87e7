import { PUBLIC_TABLES, type PublicTableName } from '../../core/domain/public-tables.ts';
import { nearest } from '../../core/nearest-name.ts';
import type { FunctionCatalogue } from '../policy/function-catalogue.ts';
import type { Token } from './parser.ts';
import { attribute, type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';
import { argumentNames, isTablePlace } from './scope.ts';

/**
 * Names that are no column of any table that is read and nothing that the query declares, wherever it does: these can mean nothing, so
 * the query is refused before it costs anything, with the names that there are. What may mean something is left to the engine.
 */
export interface NamesOfQuery {
  readonly root: TreeNode;
  /** Public tables that are read. */
  readonly tables: readonly string[];
  /** Of the canonical text, and of the text as it was written. */
  readonly tokens: readonly Token[];
  readonly written: readonly Token[];
  readonly functions: FunctionCatalogue;
}

/** Shorter names are near to too many others. */
const SUGGESTED_FROM_CHARS = 3;
const WORD = /^[A-Za-z_]\w*$/;
/** What a name that was written as a text in double quotes looks like, where no column can be called so. */
const TEXT_LIKE = /^(?!\d+$)[^()'`]+$/;
/** Make columns whose names stand nowhere. */
const NAMELESS = /^(untuple|columns)$/i;
const COLUMNS_OF_TABLE_FUNCTIONS: Readonly<Record<string, string>> = {
  numbers: 'number',
  generateseries: 'generate_series',
  generate_series: 'generate_series',
};

/** Throws `Refused` (`unknown_column`). */
export function checkColumns(query: NamesOfQuery): void {
  const nodes = [...walk(query.root)];
  const declared = declaredNames(nodes, query);
  if (declared === undefined) return;
  for (const node of nodes) {
    if (node.kind !== 'IDENTIFIER' || node.section === 'WINDOW' || isTablePlace(node)) continue;
    const name = attribute(node, 'identifier') ?? '';
    if (isUnknown(name, declared, query)) refuseColumn(name, declared, query);
  }
}

interface Declared {
  /** Everything that a name may mean: columns, aliases, arguments. */
  readonly values: ReadonlySet<string>;
  /** Tables by the names that they have here. */
  readonly tables: ReadonlyMap<string, string>;
}

/** Undefined where a query makes columns whose names cannot be told from its tree. */
function declaredNames(nodes: readonly TreeNode[], query: NamesOfQuery): Declared | undefined {
  const values = new Set(query.tables.flatMap(columnsOf));
  const tables = new Map<string, string>();
  for (const node of nodes) {
    const made = madeColumns(node);
    if (made === undefined) return undefined;
    const identifier = attribute(node, 'identifier') ?? '';
    const table = isTablePlace(node) ? (attribute(node, 'alias') ?? identifier) : attribute(node, 'cte_name');
    if (table !== undefined && table !== '') tables.set(table, identifier);
    const alias = isTablePlace(node) ? undefined : attribute(node, 'alias');
    const own = alias === undefined ? [] : [alias];
    for (const name of [...made, ...own, ...argumentsOf(node)]) values.add(name);
  }
  return hasColumnList(query.tokens) ? undefined : { values, tables };
}

/** Undefined where they cannot be told. */
function madeColumns(node: TreeNode): readonly string[] | undefined {
  if (node.kind === 'APPLY COLUMN TRANSFORMER') return undefined;
  if (NAMELESS.test(attribute(node, 'function_name') ?? '')) return undefined;
  if (node.kind !== 'TABLE_FUNCTION') return [];
  const made = COLUMNS_OF_TABLE_FUNCTIONS[(attribute(node, 'table_function_name') ?? '').toLowerCase()];
  return made === undefined ? undefined : [made];
}

function argumentsOf(node: TreeNode): readonly string[] {
  return node.kind === 'LAMBDA' ? argumentNames(node) : [];
}

/** `FROM (…) AS t(a, b)` and `WITH t(a, b) AS (…)`, of which the tree shows nothing. */
function hasColumnList(tokens: readonly Token[]): boolean {
  return tokens.some(({ text }, at) => {
    if (text !== 'AS') return false;
    const [after, behind] = [tokens[at + 1], tokens[at + 2]];
    const isBehindList = tokens[at - 1]?.text === ')' && after?.text === '(';
    return isBehindList || behind?.text === '(';
  });
}

function isUnknown(name: string, { values, tables }: Declared, query: NamesOfQuery): boolean {
  if (values.has(name) || tables.has(name)) return false;
  const parts = name.split('.');
  if (!parts.every((part) => WORD.test(part))) return isQuotedText(name, query.written);
  const [first = '', last] = parts;
  if (last === undefined) return !query.functions.allows(name);
  // Behind the name of a table stands a column; behind that of a value an element of it.
  return parts.length === 2 && tables.has(first) && !values.has(first) && !values.has(last);
}

function isQuotedText(name: string, written: readonly Token[]): boolean {
  return TEXT_LIKE.test(name) && written.some(({ text }) => text === `"${name}"`);
}

function refuseColumn(name: string, { values, tables }: Declared, query: NamesOfQuery): never {
  const detail = `There is no column ${name} where it is named.`;
  if (query.written.some(({ text }) => text === `"${name}"`))
    return refuse('unknown_column', {
      near: `"${name}"`,
      detail: `"${name}" in double quotes is the name of a column, and there is none.`,
      hint: `Texts stand in single quotes: '${name}'.`,
      meant: `'${name}'`,
    });
  const [first = '', last] = name.split('.');
  const ofTable = last === undefined ? undefined : tables.get(first);
  const word = last ?? first;
  const names = ofTable === undefined || columnsOf(ofTable).length === 0 ? [...values] : columnsOf(ofTable);
  const meant = word.length < SUGGESTED_FROM_CHARS ? undefined : nearest(word, names);
  const list = columnsHint(ofTable === undefined ? query.tables : [ofTable]);
  if (meant === undefined) return refuse('unknown_column', { near: name, detail, hint: list });
  return refuse('unknown_column', {
    near: name,
    detail,
    hint: `Did you mean ${meant}? ${list}`,
    meant: name.replace(/[^.]+$/, meant),
  });
}

export function columnsOf(table: string): readonly string[] {
  return Object.hasOwn(PUBLIC_TABLES, table)
    ? PUBLIC_TABLES[table as PublicTableName].columns.map(({ name }) => name) // by the line above
    : [];
}

export function columnsHint(tables: readonly string[]): string {
  const [table] = tables;
  const names = tables.length === 1 && table !== undefined ? columnsOf(table) : [];
  return names.length > 0
    ? `${table} has ${names.join(', ')}. A subquery gives only the columns that it selects.`
    : 'GET /v0/sql/schema lists the columns of one `table`; a subquery gives only those that it selects.';
}
