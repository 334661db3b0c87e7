import { CATALOGUE_TABLES } from '../../clickhouse/catalogue/tables.ts';
import { nearest } from '../../core/command-text.ts';
import {
  type ColumnDomain,
  PUBLIC_TABLE_NAMES,
  PUBLIC_TABLES,
  type PublicColumn,
  type PublicTableName,
} from '../../core/domain/public-tables.ts';
import type { OwnTables } from '../policy/own-tables.ts';
import type { FunctionCatalogue } from '../policy/policy.ts';
import type { Token } from './parser.ts';
import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';
import {
  argumentNames,
  functionName,
  identifierIn,
  isTablePlace,
  type NamedValues,
  namedValues,
} from './scope.ts';

/**
 * Refuses names that are neither a column of a table that the query reads nor declared anywhere in the query. A name of neither kind cannot
 * resolve, so the refusal comes before the query costs anything, and lists the existing columns. Names that may resolve are left to
 * the engine.
 */
export interface NamesOfQuery {
  readonly root: TreeNode;
  /** Tables that the query reads. */
  readonly tables: readonly string[];
  readonly own?: OwnTables | undefined;
  /** Tokens of the canonical text, and of the original text. */
  readonly tokens: readonly Token[];
  readonly written: readonly Token[];
  readonly functions: FunctionCatalogue;
}

/** Shorter names are similar to too many others. */
const SUGGESTED_FROM_CHARS = 3;
const WORD = /^[A-Za-z_]\w*$/;
/** A double-quoted name that was probably meant as a string, because no column can have that name. */
const TEXT_LIKE = /^(?!\d+$)[^()'`]+$/;
/** Functions that make columns whose names appear nowhere. */
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
  /** Everything that a name may refer to: columns, aliases, lambda arguments. */
  readonly values: ReadonlySet<string>;
  /** Tables by their names in this query. */
  readonly tables: ReadonlyMap<string, string>;
}

/** Undefined if the query makes columns whose names do not appear in its tree. */
function declaredNames(nodes: readonly TreeNode[], query: NamesOfQuery): Declared | undefined {
  const values = new Set(query.tables.flatMap((table) => columnsOf(table, query.own)));
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

/** Undefined if the names are unknown. */
function madeColumns(node: TreeNode): readonly string[] | undefined {
  if (node.kind === 'APPLY COLUMN TRANSFORMER') return undefined;
  if (NAMELESS.test(functionName(node))) return undefined;
  if (node.kind !== 'TABLE_FUNCTION') return [];
  const made = COLUMNS_OF_TABLE_FUNCTIONS[(attribute(node, 'table_function_name') ?? '').toLowerCase()];
  return made === undefined ? undefined : [made];
}

function argumentsOf(node: TreeNode): readonly string[] {
  return node.kind === 'LAMBDA' ? argumentNames(node) : [];
}

/** `FROM (…) AS t(a, b)` and `WITH t(a, b) AS (…)`: the tree does not show these lists. */
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
  // A table's name is followed by a column, a value's name by one of its elements.
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
  const listed = ofTable === undefined ? [] : columnsOf(ofTable, query.own);
  const names = listed.length === 0 ? [...values] : listed;
  const meant = word.length < SUGGESTED_FROM_CHARS ? undefined : nearest(word, names);
  const list = columnsHint(ofTable === undefined ? query.tables : [ofTable], query.own);
  if (meant === undefined) return refuse('unknown_column', { near: name, detail, hint: list });
  return refuse('unknown_column', {
    near: name,
    detail,
    hint: `Did you mean ${meant}? ${list}`,
    meant: withLastPart(name, meant),
  });
}

/** `s.payr` with `payer` as its last part is `s.payer`. */
export function withLastPart(name: string, last: string): string {
  return name.slice(0, name.lastIndexOf('.') + 1) + last;
}

/** Names of the columns of a public or own table; none for any other name. */
export function columnsOf(table: string, own?: OwnTables): readonly string[] {
  return columnsIn(table, own).map(({ name }) => name);
}

function columnsIn(table: string, own?: OwnTables): readonly PublicColumn[] {
  const ofCaller = own?.get(table);
  if (ofCaller !== undefined) return ofCaller.columns.map((column) => ({ ...column, meaning: '' }));
  if (Object.hasOwn(PUBLIC_TABLES, table)) return PUBLIC_TABLES[table as PublicTableName].columns; // by the check before it
  return CATALOGUE_COLUMNS.get(table) ?? [];
}

/** Columns of the views of the published catalogue, by view. */
const CATALOGUE_COLUMNS: ReadonlyMap<string, readonly PublicColumn[]> = new Map(
  CATALOGUE_TABLES.map(({ view, columns }) => [view, columns.map((column) => ({ ...column, meaning: '' }))]),
);

/** Names of all columns of all public tables. */
export const PUBLIC_COLUMNS: ReadonlySet<string> = new Set(
  PUBLIC_TABLE_NAMES.flatMap((table) => columnsOf(table)),
);

export function columnsHint(tables: readonly string[], own?: OwnTables): string {
  const [table] = tables;
  const names = tables.length === 1 && table !== undefined ? columnsOf(table, own) : [];
  return names.length > 0
    ? `${table} has ${names.join(', ')}. A subquery gives only the columns that it selects.`
    : 'GET /v0/sql/schema lists the columns of one `table`; a subquery gives only those that it selects.';
}

/**
 * Finds the public column whose value an expression has, judging by names: only for hints about constants, never for security. An
 * ambiguous name resolves to nothing.
 */
export interface ColumnMeanings {
  domainOf(node: TreeNode): ColumnDomain | undefined;
  /** Whether it is a text column that is NULL, never empty, for unknown values. */
  mayBeNull(node: TreeNode): boolean;
  /** Whether its type has NULL, so that it is NULL where there is no row. */
  isNullable(node: TreeNode): boolean;
  timeOf(node: TreeNode): TimeKind | undefined;
  /** The column with the ids of the wallets whose addresses it has. */
  walletIdOf(node: TreeNode): string | undefined;
}

/** A time to the second in UTC, or a day. */
export type TimeKind = 'time' | 'day';

/** Functions that return one of their first argument's values unchanged. */
const SAME_VALUE =
  /^(any|anylast|any_value|first_value|last_value|min|max|argmin|argmax|assumenotnull|tonullable|materialize|identity|laginframe|leadinframe|lag|lead|nth_value)(if|ornull)*$/i;
/** Functions that leave a lower-case text unchanged. */
const AS_TEXT = /^(lower|lcase|lowerutf8|trim|tostring)$/i;
/** Functions from a time in UTC to a time in UTC; a further argument would be a time zone. */
const KEEPS_TIME = /^tostartof(second|minute|fiveminutes|tenminutes|fifteenminutes|hour|day)$/i;
const MAKES_DAY = /^(todate|tomonday|tostartof(week|month|quarter|year)|tolastdayofmonth)$/i;
const PLUS_INTERVAL = /^(plus|minus)$/i;
const INTERVAL = /^tointerval/i;

export function columnMeanings(root: TreeNode, tables: readonly string[], own?: OwnTables): ColumnMeanings {
  const columns = tables.flatMap((table) => columnsIn(table, own));
  const named = namedValues(root);
  const idColumn = ({ name }: PublicColumn) => columns.find(({ idOf }) => idOf === name)?.name;
  const asking = <Meaning>(
    of: Question<Meaning>['of'],
    through: Question<Meaning>['through'],
  ): ((node: TreeNode) => Meaning | undefined) => {
    const question = { columns, named, of, through, known: new Map() };
    return (node) => meaningOf(node, question);
  };
  const isUnknownText = asking(nullableText, sameText);
  const isNullable = asking(nullableType, nullableThrough);
  return {
    domainOf: asking(({ domain }) => domain, sameText),
    mayBeNull: (node) => isUnknownText(node) === true,
    isNullable: (node) => MAKES_NULL.test(functionName(node)) || isNullable(node) === true,
    timeOf: asking(timeKind, timeThrough),
    walletIdOf: asking(idColumn, sameText),
  };
}

function timeKind({ type }: PublicColumn): TimeKind | undefined {
  if (/\bDateTime\('UTC'\)/.test(type)) return 'time';
  return /\bDate\b/.test(type) ? 'day' : undefined;
}

function nullableText({ type }: PublicColumn): boolean {
  return type.includes('Nullable(String)');
}

/** A question about the values of a query. Each name is looked into once, however often it is used. */
interface Question<Meaning> {
  readonly columns: readonly PublicColumn[];
  readonly named: NamedValues;
  readonly of: (column: PublicColumn) => Meaning | undefined;
  /** The meaning of a call, from the meaning of its first argument. */
  readonly through: (call: TreeNode, meaning: Meaning) => Meaning | undefined;
  /** Answers by name. Until a name has one it stands for the columns of that name: `lower(payer) AS payer` asks for itself. */
  readonly known: Map<string, Meaning | undefined>;
}

function meaningOf<Meaning>(node: TreeNode, question: Question<Meaning>): Meaning | undefined {
  if (node.kind === 'IDENTIFIER') return meaningOfName(identifierIn(node) ?? '', question);
  const [first] = node.kind === 'FUNCTION' ? listIn(node, 'ARGUMENTS') : [];
  const meaning = first === undefined ? undefined : meaningOf(first, question);
  return meaning === undefined ? undefined : question.through(node, meaning);
}

function meaningOfName<Meaning>(name: string, question: Question<Meaning>): Meaning | undefined {
  if (question.known.has(name)) return question.known.get(name);
  const meanings = new Set(question.columns.filter((column) => column.name === name).map(question.of));
  question.known.set(name, onlyOne(meanings));
  for (const value of question.named.get(name) ?? []) {
    const isElement = value === null || value.isElement;
    meanings.add(isElement ? undefined : meaningOf(value.node, question));
  }
  question.known.set(name, onlyOne(meanings));
  return onlyOne(meanings);
}

function onlyOne<Value>(values: ReadonlySet<Value>): Value | undefined {
  const [one] = values;
  return values.size === 1 ? one : undefined;
}

function nullableType({ type }: PublicColumn): boolean {
  return type.includes('Nullable(');
}

const MAKES_NULL = /(^tonullable|^nullif|ornull)$/i;
const NEVER_NULL = /^(ifnull|coalesce|assumenotnull|isnull|isnotnull|count|uniq)/i;

function nullableThrough(call: TreeNode, isNullable: boolean): boolean {
  if (MAKES_NULL.test(functionName(call))) return true;
  return isNullable && !NEVER_NULL.test(functionName(call));
}

function sameValue<Meaning>(call: TreeNode, meaning: Meaning): Meaning | undefined {
  return SAME_VALUE.test(functionName(call)) ? meaning : undefined;
}

function sameText<Meaning>(call: TreeNode, meaning: Meaning): Meaning | undefined {
  return AS_TEXT.test(functionName(call)) ? meaning : sameValue(call, meaning);
}

function timeThrough(call: TreeNode, kind: TimeKind): TimeKind | undefined {
  const name = functionName(call);
  const [, second] = listIn(call, 'ARGUMENTS');
  if (second === undefined && MAKES_DAY.test(name)) return 'day';
  if (second === undefined && kind === 'time' && KEEPS_TIME.test(name)) return 'time';
  const isMoved = PLUS_INTERVAL.test(name) && INTERVAL.test(functionName(second ?? call));
  return isMoved && kind === 'time' ? 'time' : sameValue(call, kind);
}
