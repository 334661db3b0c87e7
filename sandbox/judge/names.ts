import type { SqlPolicy } from '../policy/policy.ts';
import type { Token } from './parser.ts';
import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';
import { argumentNames, functionName, isTableInSight, isTablePlace } from './scope.ts';

/**
 * What a query may name. Allow-lists only; a name that is on none is refused. Names hide in more places than FROM and calls: the right
 * side of IN, APPLY, lambdas, strings of arrayReduce, names without parentheses (docs/design/sandbox.md).
 */

/** What the engine writes for a query without FROM. */
const NO_TABLE = 'system.one';
const IN_FUNCTION = /^(global)?(not)?(null)?in(ignoreset)?$|^(global)?notnullin(ignoreset)?$/i;
const NAMED_IN_STRING = /^(arrayreduce|arrayreduceinranges|initializeaggregation)/i;
/** A scalar function on the right of IN whose name is a table function too: a newer engine may take it for that. */
const TABLE_FUNCTION_TOO = new Set(['file', 'format', 'fuzzquery']);
/** Columns that every table has besides its own; `_database` and `_table` are there on views as well (tried on 26.7.2.1). */
export const VIRTUAL_COLUMN =
  /^_(table|database|file|path|size|time|etag|tags|headers|distance|disk_name|shard_num|row_exists|row_number|sample_factor|block_(number|offset)|part(_\w+)?|partition_\w+)$/i;

interface Names {
  readonly ctes: ReadonlySet<string>;
  /** Aliases, and the arguments of lambdas: names that the query itself declares. */
  readonly declared: ReadonlySet<string>;
  readonly lambdas: ReadonlySet<string>;
}

/** A query, as the rules about names see it. */
export interface NamedQuery {
  readonly root: TreeNode;
  readonly policy: SqlPolicy;
  /** Of the canonical text, to tell `FROM system.one` from no FROM at all. */
  readonly tokens: readonly Token[];
}

/** Tables and CTEs, in a table's place or on the right of IN. Gives the names. Throws `Refused` (`unknown_table`). */
export function checkTables(query: NamedQuery): ReadonlySet<string> {
  const { root, policy } = query;
  const names = namesOf(root, policy);
  return new Set(tableNodes(query).map((node) => checkTable(node, names, policy)));
}

/** Gives the names. Throws `Refused` (`table_function`). */
export function checkTableFunctions({ root, policy }: NamedQuery): ReadonlySet<string> {
  const calls = [...walk(root)].filter(({ kind }) => kind === 'TABLE_FUNCTION');
  return new Set(calls.map((node) => checkTableFunction(node, policy)));
}

/** Calls, and the names of functions in strings and on the right of IN. Gives the names. Throws `Refused` (`function`). */
export function checkFunctions({ root, policy }: NamedQuery): ReadonlySet<string> {
  const names = namesOf(root, policy);
  const calls = [...walk(root)].filter(({ kind }) => kind === 'FUNCTION');
  return new Set(calls.map((node) => checkFunction(node, names, policy)));
}

/** All other words, which the engine may take for columns or for functions. Throws `Refused` (`function`, `virtual_column`). */
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
  const words = new Set(tokens.map(({ text }) => text.replace(/[`"]/g, '')));
  return [...walk(root)].filter((node) => isTableName(node, words));
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
    // A lambda that is named like a real function would hide it.
    if (alias !== undefined && !policy.functions.allows(alias) && policy.functions.refusal(alias) === null)
      lambdas.add(alias);
  }
  return { ctes, declared, lambdas };
}

function isTableName(node: TreeNode, words: ReadonlySet<string>): boolean {
  if (node.kind !== 'IDENTIFIER') return false;
  if (!isTablePlace(node)) return isRightOfIn(node);
  // The engine's tree has its table of one row where the text has no FROM.
  const isWritten = words.has('system') && words.has('one');
  return attribute(node, 'identifier') !== NO_TABLE || isWritten;
}

function isRightOfIn(node: TreeNode): boolean {
  const call = node.parent?.parent;
  if (node.parent?.kind !== 'LIST' || call?.kind !== 'FUNCTION') return false;
  if (!IN_FUNCTION.test(functionName(call))) return false;
  return node.parent.children[1] === node;
}

function checkTable(node: TreeNode, names: Names, { tables, columns }: SqlPolicy): string {
  const name = attribute(node, 'identifier') ?? '';
  const [first = '', ...others] = name.split('.');
  // A CTE may have a dot in its name; out of its sight the name would be one of a database.
  if (tables.has(name) || (others.length === 0 && names.ctes.has(name))) return name;
  // On the right of IN a column or an alias may stand too; in a table’s place the engine knows neither.
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

/** `IN f(…)`: some names are a function and a table function, and the engine takes the latter. */
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

function checkWord(name: string, names: Names, { columns, functions }: SqlPolicy): void {
  const last = lastPart(name);
  if (VIRTUAL_COLUMN.test(last)) refuse('virtual_column', { near: name });
  // The engine takes a bare word for a function wherever it finds no column of that name: `SELECT user`, `arrayMap(file, …)`.
  // Which of the two it will be depends on its rules of scope, so the word is refused even where it looks like a column.
  if (!name.includes('.') && functions.refusal(name) !== null) {
    refuse('function', {
      near: name,
      detail: `${name} is the name of a function that is not available here, so it cannot stand alone.`,
      hint: 'If it is a column of yours, write the name of its table before it, or give it another name.',
    });
  }
  if (names.declared.has(name) || names.declared.has(last) || columns.has(last)) return;
  if (last.startsWith('_')) refuse('virtual_column', { near: name });
}

/** `COLUMNS(_database, user)` names columns as well; names hold no comma (checkQuotedNames). */
function checkMatcher(node: TreeNode, names: Names, policy: SqlPolicy): void {
  const listed = /^column_identifiers: (.*)$/s.exec(node.rest)?.[1]?.split(', ') ?? [];
  for (const name of listed) checkWord(name, names, policy);
}

function lastPart(name: string): string {
  return name.split('.').at(-1) ?? '';
}

/**
 * The first argument of `values` is SQL in a text: the engine takes whole column declarations there, and
 * `values('x UInt8, y String ALIAS file(''/etc/passwd'')', 1)` read files of the host as the guest (tried on 26.7.2.1). Names and
 * types may stand there, nothing else.
 */

/** What a list of names and types is made of: no comment, no quoted name, no operator. */
const PIECE = /\s+|[A-Za-z_]\w*|-?\d+|'[^'\\]*'|[(),=]/y;
/** A text that no engine can take for a declaration, which is a name and something behind it. */
const SINGLE_WORD = /^[\w.:-]*$/;
const DECLARATION = /^(alias|default|materialized|ephemeral)$/i;
const WORD = /^[A-Za-z_]/;
const TEXT_CONSTANT = /^constant_value: '(.*)', constant_value_type: String$/s;

/** `values(…)`, and `(VALUES …)` in a table's place, which the engine calls otherwise and reads alike. */
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

/** Whether an argument is a row, or a text that declares no more than names and types. */
function isPlain(argument: TreeNode): boolean {
  // A name could stand for a text that is declared elsewhere.
  if (argument.kind !== 'CONSTANT') return attribute(argument, 'function_name') === 'tuple';
  if (!argument.rest.startsWith("constant_value: '")) return true;
  const printed = TEXT_CONSTANT.exec(argument.rest)?.[1];
  const text = printed?.replaceAll("\\'", "'");
  if (text === undefined || text.includes('\\')) return false;
  return SINGLE_WORD.test(text) || isNamesAndTypes(text);
}

/** `name Type, name Type(…)`: exactly two words for each column, what is in parentheses belonging to the type. */
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
 * The self-check: `EXPLAIN AST` prints the same text through another path of the engine. Every table and function that it shows must
 * have been judged in the tree; a name that only it shows is one that the rules above did not see, so the query is refused.
 */

const TABLE_LINE = /^ *TableIdentifier (.+?)(?: \(alias .*\))?$/;
const FUNCTION_LINE = /^ *Function (\S+)(?: \(.*\))?$/;
/** Syntax that this view prints as functions and the tree as nodes of its own. */
const SYNTAX = new Set(['lambda', 'tuple', 'array', 'exists', 'view', 'map']);

export interface JudgedNames {
  /** In a table's place: public tables, CTEs and table functions. */
  readonly tableNames: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
}

/** `lines` of `EXPLAIN AST`. Throws `Refused` (`unexplained`). */
export function checkSecondView(lines: readonly string[], { tableNames, functions }: JudgedNames): void {
  const judged = new Set([...functions].map((name) => name.toLowerCase()));
  for (const line of lines) {
    const table = TABLE_LINE.exec(line)?.[1];
    if (table !== undefined && !tableNames.has(table)) refuse('unexplained', { near: table });
    const name = FUNCTION_LINE.exec(line)?.[1];
    if (name === undefined || judged.has(name.toLowerCase()) || SYNTAX.has(name) || tableNames.has(name))
      continue;
    refuse('unexplained', { near: name });
  }
}
