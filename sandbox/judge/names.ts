import type { SqlPolicy } from '../policy/policy.ts';
import type { Token } from './parser.ts';
import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';
import { argumentNames, functionName, isTableInSight, isTablePlace } from './scope.ts';

/**
 * The names that a query may use. Allow-lists only: a name on none of them is refused. Names occur in more places than FROM and
 * calls: the right side of IN, APPLY, lambdas, strings of arrayReduce, names without parentheses (docs/design/sandbox.md).
 */

/** The table that the engine inserts for a query without FROM. */
const NO_TABLE = 'system.one';
const IN_FUNCTION = /^(global)?(not)?(null)?in(ignoreset)?$|^(global)?notnullin(ignoreset)?$/i;
const NAMED_IN_STRING = /^(arrayreduce|arrayreduceinranges|initializeaggregation)/i;
/** Scalar functions that are also table functions: on the right of IN a newer engine may take the latter. */
const TABLE_FUNCTION_TOO = new Set(['file', 'format', 'fuzzquery']);
/** Virtual columns, which every table has; views have `_database` and `_table` too (tried on 26.7.2.1). */
export const VIRTUAL_COLUMN =
  /^_(table|database|file|path|size|time|etag|tags|headers|distance|disk_name|shard_num|row_exists|row_number|sample_factor|block_(number|offset)|part(_\w+)?|partition_\w+)$/i;

interface Names {
  readonly ctes: ReadonlySet<string>;
  /** Names that the query itself declares: aliases and lambda arguments. */
  readonly declared: ReadonlySet<string>;
  readonly lambdas: ReadonlySet<string>;
}

/** The input of the rules about names. */
export interface NamedQuery {
  readonly root: TreeNode;
  readonly policy: SqlPolicy;
  /** Tokens of the canonical text, to distinguish `FROM system.one` from a query without FROM. */
  readonly tokens: readonly Token[];
}

/** Checks tables and CTEs, in a table's place or on the right of IN, and returns their names. Throws `Refused` (`unknown_table`). */
export function checkTables(query: NamedQuery): ReadonlySet<string> {
  const { root, policy } = query;
  const names = namesOf(root, policy);
  return new Set(tableNodes(query).map((node) => checkTable(node, names, policy)));
}

/** Checks table functions and returns their names. Throws `Refused` (`table_function`). */
export function checkTableFunctions({ root, policy }: NamedQuery): ReadonlySet<string> {
  const calls = [...walk(root)].filter(({ kind }) => kind === 'TABLE_FUNCTION');
  return new Set(calls.map((node) => checkTableFunction(node, policy)));
}

/** Checks calls, and function names in strings and on the right of IN, and returns them. Throws `Refused` (`function`). */
export function checkFunctions({ root, policy }: NamedQuery): ReadonlySet<string> {
  const names = namesOf(root, policy);
  const calls = [...walk(root)].filter(({ kind }) => kind === 'FUNCTION');
  return new Set(calls.map((node) => checkFunction(node, names, policy)));
}

/** Checks all other words, which the engine may resolve to columns or functions. Throws `Refused` (`function`, `virtual_column`). */
export function checkWords(query: NamedQuery): void {
  const { root, policy } = query;
  const names = namesOf(root, policy);
  const tables = new Set(tableNodes(query));
  for (const node of walk(root)) {
    if (node.kind === 'IDENTIFIER' && !tables.has(node))
      checkWord(attribute(node, 'identifier') ?? '', names, policy);
    if (node.kind === 'MATCHER') checkMatcher(node, names, policy);
  }
}

/** The nodes that name a table: those in a table's place, and those on the right of IN. */
export function tableNodes({ root, tokens }: Pick<NamedQuery, 'root' | 'tokens'>): readonly TreeNode[] {
  const named = [...walk(root)].filter(isTableName);
  // For a text without FROM the tree contains the engine's one-row table.
  const isMade = named.some(isNoTable) && !isWritten(NO_TABLE, tokens);
  return isMade ? named.filter((node) => !isTablePlace(node) || !isNoTable(node)) : named;
}

function isNoTable(node: TreeNode): boolean {
  return attribute(node, 'identifier') === NO_TABLE;
}

/** Whether all parts of a name are words of the text, with or without quotes. */
function isWritten(name: string, tokens: readonly Token[]): boolean {
  const words = new Set(tokens.map(({ text }) => text.replace(/[`"]/g, '')));
  return name.split('.').every((part) => words.has(part));
}

function namesOf(root: TreeNode, policy: SqlPolicy): Names {
  const ctes = new Set<string>();
  const declared = new Set<string>();
  const lambdas = new Set<string>();
  for (const node of walk(root)) {
    const cte = attribute(node, 'cte_name');
    if (cte !== undefined && attribute(node, 'is_cte') === '1') ctes.add(cte);
    const alias = attribute(node, 'alias');
    if (alias !== undefined) declared.add(alias);
    if (node.kind !== 'LAMBDA') continue;
    for (const argument of argumentNames(node)) declared.add(argument);
    // A lambda with the name of a real function would hide it.
    if (alias !== undefined && !policy.functions.allows(alias) && policy.functions.refusal(alias) === null)
      lambdas.add(alias);
  }
  return { ctes, declared, lambdas };
}

function isTableName(node: TreeNode): boolean {
  return node.kind === 'IDENTIFIER' && (isTablePlace(node) || isRightOfIn(node));
}

function isRightOfIn(node: TreeNode): boolean {
  const call = node.parent?.parent;
  if (node.parent?.kind !== 'LIST' || call?.kind !== 'FUNCTION') return false;
  if (!IN_FUNCTION.test(functionName(call))) return false;
  return node.parent.children[1] === node;
}

function checkTable(node: TreeNode, names: Names, { tables, columns, own }: SqlPolicy): string {
  const name = attribute(node, 'identifier') ?? '';
  const [first = '', ...others] = name.split('.');
  // A CTE's name may contain a dot; out of the CTE's scope the name would refer to a database.
  if (tables.has(name) || own?.has(name) === true || (others.length === 0 && names.ctes.has(name)))
    return name;
  // The right of IN can also be a column or an alias; a table’s place can be neither.
  const isValue =
    others.length === 0 ? columns.has(name) || names.declared.has(name) : isTableInSight(node, first);
  if (isValue && !isTablePlace(node)) return name;
  return refuse('unknown_table', {
    near: name,
    ...(others.length === 0 ? {} : { hint: 'Public tables are named without a database.' }),
  });
}

function checkTableFunction(node: TreeNode, { tableFunctions }: SqlPolicy): string {
  const name = attribute(node, 'table_function_name') ?? '';
  if (tableFunctions.has(isValues(node) ? 'values' : name.toLowerCase())) {
    checkStructure(node);
    return name;
  }
  return refuse('table_function', { near: name, hint: `Available: ${[...tableFunctions].join(', ')}.` });
}

function checkFunction(node: TreeNode, names: Names, policy: SqlPolicy): string {
  const name = functionName(node);
  if (!policy.functions.allows(name) && !names.lambdas.has(name)) refuseFunction(name, policy);
  if (IN_FUNCTION.test(name)) checkRightOfIn(node, policy);
  if (NAMED_IN_STRING.test(name)) checkNameInString(node, policy);
  return name;
}

export function refuseFunction(name: string, { functions }: Pick<SqlPolicy, 'functions'>): never {
  const refusal = functions.refusal(name);
  if (refusal === null)
    return refuse('function', { near: name, detail: `There is no function ${name} here.` });
  return refuse('function', {
    near: name,
    detail: `The function ${name} is not available: it ${refusal.why}.`,
    ...(refusal.hint === undefined ? {} : { hint: refusal.hint }),
  });
}

/** `IN f(…)`: if a name is both a function and a table function, the engine takes the latter. */
function checkRightOfIn(node: TreeNode, { functions, tableFunctions }: SqlPolicy): void {
  const right = listIn(node, 'ARGUMENTS')[1];
  if (right?.kind !== 'FUNCTION') return;
  const name = functionName(right);
  if (tableFunctions.has(name.toLowerCase())) return;
  if (functions.allows(name) && !TABLE_FUNCTION_TOO.has(name.toLowerCase())) return;
  refuse('table_function', { near: name });
}

/** `arrayReduce('name', …)`: the first argument is the name of an aggregate function and must be written out. */
function checkNameInString(node: TreeNode, { functions }: SqlPolicy): void {
  const [first] = listIn(node, 'ARGUMENTS');
  const name = /^constant_value: \\?'([A-Za-z0-9_]+)(\([^']*\))?\\?'/.exec(first?.rest ?? '')?.[1];
  if (first?.kind === 'CONSTANT' && name !== undefined && functions.allows(name)) return;
  refuse('function', {
    near: name ?? functionName(node),
    detail: 'The aggregate function must be written as a constant text and be available itself.',
  });
}

function checkWord(
  name: string,
  names: Names,
  { columns, functions, columnsBeforeFunctions }: SqlPolicy,
): void {
  const last = lastPart(name);
  if (VIRTUAL_COLUMN.test(last)) refuse('virtual_column', { near: name });
  // The engine resolves a bare word to a function if it finds no column of that name: `SELECT user`, `arrayMap(file, …)`. That
  // depends on its scope rules, so the word is refused even if it looks like a column.
  const isColumnFirst = columnsBeforeFunctions?.has(name) === true;
  if (!name.includes('.') && functions.refusal(name) !== null && !isColumnFirst) {
    refuse('function', {
      near: name,
      detail: `${name} is the name of a function that is not available here, so it cannot stand alone.`,
      hint: 'If it is a column of yours, write the name of its table before it, or give it another name.',
    });
  }
  if (names.declared.has(name) || names.declared.has(last) || columns.has(last)) return;
  if (last.startsWith('_')) refuse('virtual_column', { near: name });
}

/** `COLUMNS(_database, user)` names columns too; no name contains a comma (checkQuotedNames). */
function checkMatcher(node: TreeNode, names: Names, policy: SqlPolicy): void {
  const listed = /^column_identifiers: (.*)$/s.exec(node.rest)?.[1]?.split(', ') ?? [];
  for (const name of listed) checkWord(name, names, policy);
}

function lastPart(name: string): string {
  return name.split('.').at(-1) ?? '';
}

/**
 * The first argument of `values` is SQL in a string: the engine accepts whole column declarations there, and
 * `values('x UInt8, y String ALIAS file(''/etc/passwd'')', 1)` read files of the host as the guest (tried on 26.7.2.1). Only names
 * and types are allowed there.
 */

/** The tokens of a list of names and types: no comment, no quoted name, no operator. */
const PIECE = /\s+|[A-Za-z_]\w*|-?\d+|'[^'\\]*'|[(),=]/y;
/** A text that cannot be a declaration, which needs a name followed by something else. */
const SINGLE_WORD = /^[\w.:-]*$/;
const DECLARATION = /^(alias|default|materialized|ephemeral)$/i;
const WORD = /^[A-Za-z_]/;
const TEXT_CONSTANT = /^constant_value: '(.*)', constant_value_type: String$/s;

/** `values(…)`, and `(VALUES …)` in a table's place, which has another name in the engine but works alike. */
export function isValues(node: TreeNode): boolean {
  return /^(sqlstandard)?values$/i.test(attribute(node, 'table_function_name') ?? '');
}

/** Throws `Refused` (`table_function`). */
export function checkStructure(node: TreeNode): void {
  if (!isValues(node)) return;
  const [first] = listIn(node, 'ARGUMENTS');
  if (first === undefined || isPlain(first)) return;
  refuse('table_function', {
    near: 'values',
    detail: 'values begins with names and types in one text, or with a row.',
    hint: "Write values('name String, amount UInt64', ('a', 1), ('b', 2)).",
  });
}

/** Whether an argument is a row, or a text that declares only names and types. */
function isPlain(argument: TreeNode): boolean {
  // A name could refer to a text that is declared elsewhere.
  if (argument.kind !== 'CONSTANT') return attribute(argument, 'function_name') === 'tuple';
  if (!argument.rest.startsWith("constant_value: '")) return true;
  const printed = TEXT_CONSTANT.exec(argument.rest)?.[1];
  const text = printed?.replaceAll("\\'", "'");
  if (text === undefined || text.includes('\\')) return false;
  return SINGLE_WORD.test(text) || isNamesAndTypes(text);
}

/** `name Type, name Type(…)`: exactly two words per column; parentheses belong to the type. */
function isNamesAndTypes(text: string): boolean {
  const pieces = piecesOf(text);
  if (pieces === undefined || pieces.some((piece) => DECLARATION.test(piece))) return false;
  let depth = 0;
  let column: string[] = [];
  const columns = [column];
  for (const piece of pieces) {
    if (piece === ')') depth -= 1;
    if (depth === 0 && piece === ',') {
      column = [];
      columns.push(column);
    } else if (depth === 0) column.push(piece);
    if (piece === '(') depth += 1;
  }
  return (
    depth === 0 &&
    columns.every((words) => /^\w+ \w+( \( \))?$/.test(words.join(' ')) && words.every(isWordOrBracket))
  );
}

function isWordOrBracket(piece: string): boolean {
  return WORD.test(piece) || piece === '(' || piece === ')';
}

function piecesOf(text: string): string[] | undefined {
  const pieces: string[] = [];
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < text.length) {
    const piece = PIECE.exec(text)?.[0];
    if (piece === undefined) return undefined;
    if (piece.trim() !== '') pieces.push(piece);
  }
  return pieces;
}

/**
 * The self-check: `EXPLAIN AST` prints the same text through another code path of the engine. Every table and function in it must
 * have been judged in the tree. A name that appears only here escaped the rules above, so the query is refused.
 */

const TABLE_LINE = /^ *TableIdentifier (.+)$/;
const ALIAS = ' (alias ';
const FUNCTION_LINE = /^ *Function (\S+)(?: \(.*\))?$/;
/** Syntax that `EXPLAIN AST` prints as functions but the tree as nodes of other kinds. */
const SYNTAX = new Set(['lambda', 'tuple', 'array', 'exists', 'view', 'map']);

export interface JudgedNames {
  /** In a table's place: public tables, CTEs and table functions. */
  readonly tableNames: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
}

/** The table of a line, without the alias that may follow it. */
function tableOf(line: string): string | undefined {
  const named = TABLE_LINE.exec(line)?.[1];
  const alias = named?.endsWith(')') ? named.indexOf(ALIAS, 1) : -1;
  return alias < 0 ? named : named?.slice(0, alias);
}

/** `lines` of `EXPLAIN AST`. Throws `Refused` (`unexplained`). */
export function checkSecondView(lines: readonly string[], { tableNames, functions }: JudgedNames): void {
  const judged = new Set([...functions].map((name) => name.toLowerCase()));
  for (const line of lines) {
    const table = tableOf(line);
    if (table !== undefined && !tableNames.has(table)) refuse('unexplained', { near: table });
    const name = FUNCTION_LINE.exec(line)?.[1];
    if (name === undefined || judged.has(name.toLowerCase()) || SYNTAX.has(name) || tableNames.has(name))
      continue;
    refuse('unexplained', { near: name });
  }
}
