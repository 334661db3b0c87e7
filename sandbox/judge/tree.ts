import type { FunctionCatalogue } from '../policy/function-catalogue.ts';
import { checkFrames } from './frames.ts';
import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import { checkLambdas, checkReadings } from './readings.ts';
import { refuse } from './refusal.ts';
import { argumentNames, isTableInSight, isTablePlace } from './scope.ts';
import { checkStructure, isValues } from './structure.ts';

/**
 * The policy: what a query may name. Allow-lists only; a name that is on none is refused. Names hide in more places than FROM
 * and calls (sandbox.md B.5): the right side of IN, APPLY, lambdas, strings of arrayReduce, names without parentheses.
 */

export interface SqlPolicy {
  /** Names of the public tables. */
  readonly tables: ReadonlySet<string>;
  /** Names of their columns, which win over functions that are written without parentheses. */
  readonly columns: ReadonlySet<string>;
  readonly functions: FunctionCatalogue;
  /** Lower case. */
  readonly tableFunctions: ReadonlySet<string>;
}

export interface TreeFacts {
  /** Public tables that are read. */
  readonly tables: readonly string[];
  readonly functions: readonly string[];
  /** Whether it can be stopped in time only where it works on few rows at once. */
  readonly needsSmallBlocks: boolean;
  /** Every name that was judged in a table's place, CTEs and table functions among them. */
  readonly named: ReadonlySet<string>;
}

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

/** Throws `Refused`. `words` are the words of the canonical text, to tell `FROM system.one` from no FROM at all. */
export function checkTree(root: TreeNode, policy: SqlPolicy, words: ReadonlySet<string>): TreeFacts {
  const names = namesOf(root, policy);
  const tables = new Set<string>();
  const functions = new Set<string>();
  for (const node of walk(root)) {
    const table = tableNameOf(node, words);
    if (table !== undefined) tables.add(checkTable(node, names, policy));
    if (node.kind === 'TABLE_FUNCTION') tables.add(checkTableFunction(node, policy));
    if (node.kind === 'FUNCTION') functions.add(checkFunction(node, names, policy));
    if (node.kind === 'IDENTIFIER' && table === undefined)
      checkWord(attribute(node, 'identifier') ?? '', names, policy);
    if (node.kind === 'MATCHER') checkMatcher(node, names, policy);
  }
  checkLambdas(root);
  const needsSmallBlocks = checkFrames(root);
  checkReadings(root, (node) => tableNameOf(node, words) !== undefined);
  return {
    tables: [...tables].filter((name) => policy.tables.has(name)),
    functions: [...functions],
    needsSmallBlocks,
    named: tables,
  };
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

/** The name in a table's place, or on the right of IN; undefined for every other node. */
function tableNameOf(node: TreeNode, words: ReadonlySet<string>): string | undefined {
  if (node.kind !== 'IDENTIFIER') return undefined;
  const name = attribute(node, 'identifier') ?? '';
  if (isTablePlace(node)) {
    const isWritten = words.has('system') && words.has('one');
    return name === NO_TABLE && !isWritten ? undefined : name;
  }
  return isRightOfIn(node) ? name : undefined;
}

function isRightOfIn(node: TreeNode): boolean {
  const call = node.parent?.parent;
  if (node.parent?.kind !== 'LIST' || call?.kind !== 'FUNCTION') return false;
  if (!IN_FUNCTION.test(attribute(call, 'function_name') ?? '')) return false;
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
  const name = attribute(node, 'function_name') ?? '';
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
  const name = attribute(right, 'function_name') ?? '';
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
    near: name ?? attribute(node, 'function_name') ?? '',
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

/** `COLUMNS(_database, user)` names columns as well; names hold no comma (check-tokens.ts). */
function checkMatcher(node: TreeNode, names: Names, policy: SqlPolicy): void {
  const listed = /^column_identifiers: (.*)$/s.exec(node.rest)?.[1]?.split(', ') ?? [];
  for (const name of listed) checkWord(name, names, policy);
}

function lastPart(name: string): string {
  return name.split('.').at(-1) ?? '';
}
