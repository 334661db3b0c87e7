import type { FunctionCatalogue } from './function-catalogue.ts';
import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';

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
  /** Every name that was judged in a table's place, CTEs and table functions among them. */
  readonly named: ReadonlySet<string>;
}

const TABLE_SECTIONS = new Set([
  'JOIN TREE',
  'TABLE EXPRESSION',
  'LEFT TABLE EXPRESSION',
  'RIGHT TABLE EXPRESSION',
]);
/** What the engine writes for a query without FROM. */
const NO_TABLE = 'system.one';
/** A CTE is run once for every time it is named; these many readings of a table are enough for any question. */
const TABLE_READINGS_MAX = 64;
const IN_FUNCTION = /^(global)?(not)?(null)?in(ignoreset)?$|^(global)?notnullin(ignoreset)?$/i;
const NAMED_IN_STRING = /^(arrayreduce|arrayreduceinranges|initializeaggregation)/i;
const NAMES_THE_ENGINE = /^(current_?(database|user|schemas|roles)|session_user|database|schema)$/i;
const NAMESPACES = new Set(['system', 'information_schema', 'default']);

interface Names {
  readonly ctes: ReadonlyMap<string, TreeNode>;
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
    if (table !== undefined) tables.add(checkTable(table, names, policy));
    if (node.kind === 'TABLE_FUNCTION') tables.add(checkTableFunction(node, policy));
    if (node.kind === 'FUNCTION') functions.add(checkFunction(node, names, policy));
    if (node.kind === 'IDENTIFIER' && table === undefined) checkIdentifier(node, names, policy);
  }
  checkReadings(root, names);
  return {
    tables: [...tables].filter((name) => policy.tables.has(name)),
    functions: [...functions],
    named: tables,
  };
}

function namesOf(root: TreeNode, policy: SqlPolicy): Names {
  const ctes = new Map<string, TreeNode>();
  const declared = new Set<string>();
  const lambdas = new Set<string>();
  for (const node of walk(root)) {
    const cte = attribute(node, 'cte_name');
    if (cte !== undefined && attribute(node, 'is_cte') === '1' && !ctes.has(cte)) ctes.set(cte, node);
    const alias = attribute(node, 'alias');
    if (alias !== undefined) declared.add(alias);
    if (node.kind !== 'LAMBDA') continue;
    for (const argument of listIn(node, 'ARGUMENTS')) declared.add(attribute(argument, 'identifier') ?? '');
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
  if (TABLE_SECTIONS.has(node.section)) {
    return name === NO_TABLE && !words.has('one') ? undefined : name;
  }
  return isRightOfIn(node) ? name : undefined;
}

function isRightOfIn(node: TreeNode): boolean {
  const call = node.parent?.parent;
  if (node.parent?.kind !== 'LIST' || call?.kind !== 'FUNCTION') return false;
  if (!IN_FUNCTION.test(attribute(call, 'function_name') ?? '')) return false;
  return node.parent.children[1] === node;
}

function checkTable(name: string, names: Names, { tables, columns }: SqlPolicy): string {
  if (!name.includes('.')) {
    if (tables.has(name) || names.ctes.has(name)) return name;
    // On the right of IN a column or an alias may stand too; in a table’s place the engine knows neither.
    if (columns.has(name) || names.declared.has(name)) return name;
    return refuse('unknown_table', { near: name });
  }
  const [first = ''] = name.split('.');
  const isOurs = (tables.has(first) || names.declared.has(first)) && !NAMESPACES.has(first.toLowerCase());
  if (isOurs) return name;
  return refuse('unknown_table', { near: name, hint: 'Public tables are named without a database.' });
}

function checkTableFunction(node: TreeNode, { tableFunctions }: SqlPolicy): string {
  const name = attribute(node, 'table_function_name') ?? '';
  if (tableFunctions.has(name.toLowerCase())) return name;
  return refuse('table_function', { near: name, hint: `Available: ${[...tableFunctions].join(', ')}.` });
}

function checkFunction(node: TreeNode, names: Names, policy: SqlPolicy): string {
  const name = attribute(node, 'function_name') ?? '';
  if (!policy.functions.allows(name) && !names.lambdas.has(name)) refuseFunction(name, policy);
  if (IN_FUNCTION.test(name)) checkRightOfIn(node, policy);
  if (NAMED_IN_STRING.test(name)) checkNameInString(node, policy);
  return name;
}

function refuseFunction(name: string, { functions }: SqlPolicy): never {
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
  if (functions.allows(name) || tableFunctions.has(name.toLowerCase())) return;
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

function checkIdentifier(node: TreeNode, names: Names, { columns, functions }: SqlPolicy): void {
  const name = attribute(node, 'identifier') ?? '';
  const parts = name.split('.');
  const last = parts.at(-1) ?? '';
  // Aliases have scopes that are not followed here: these would name the engine's user or database where one ends.
  const isNaming = parts.length === 1 && NAMES_THE_ENGINE.test(name);
  if (!isNaming && (names.declared.has(name) || names.declared.has(last) || columns.has(last))) return;
  if (last.startsWith('_')) refuse('virtual_column', { near: name });
  // now, today, user …: functions that the engine also takes without parentheses.
  if (parts.length === 1 && functions.refusal(name) !== null) {
    refuse('function', { near: name, detail: `${name} is not available here.` });
  }
}

/** Counts how often tables are read when every CTE is opened where it is named. */
function checkReadings(root: TreeNode, { ctes }: Names): void {
  const known = new Map<string, number>();
  const readingsOf = (node: TreeNode, path: ReadonlySet<string>): number => {
    let readings = 0;
    for (const child of node.children) {
      if (ctes.get(attribute(child, 'cte_name') ?? '') === child) continue;
      readings += readingsOf(child, path);
      if (readings > TABLE_READINGS_MAX) return readings;
    }
    return readings + own(node, path);
  };
  const own = (node: TreeNode, path: ReadonlySet<string>): number => {
    if (node.kind !== 'IDENTIFIER') return 0;
    const name = attribute(node, 'identifier') ?? '';
    const isTable = TABLE_SECTIONS.has(node.section) || isRightOfIn(node);
    if (!isTable) return 0;
    const cte = ctes.get(name);
    if (cte === undefined || path.has(name)) return 1;
    const before = known.get(name);
    if (before !== undefined) return before;
    const readings = Math.max(1, readingsOf(cte, new Set([...path, name])));
    known.set(name, readings);
    return readings;
  };
  if (readingsOf(root, new Set()) <= TABLE_READINGS_MAX) return;
  refuse('too_complex', {
    detail: `The query reads tables more than ${TABLE_READINGS_MAX} times, counting a CTE each time it is named.`,
  });
}
