import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';

/**
 * Which CTEs and tables of its own a query can name at a node. Narrower than the engine's rules on purpose: a name that is not
 * found here is refused. Nothing here decides whether a word is a column or a function; resolved.ts asks the engine.
 */

const TABLE_SECTIONS: ReadonlySet<string> = new Set([
  'JOIN TREE',
  'TABLE EXPRESSION',
  'LEFT TABLE EXPRESSION',
  'RIGHT TABLE EXPRESSION',
]);
const JOINS: ReadonlySet<string> = new Set(['JOIN', 'CROSS JOIN', 'ARRAY_JOIN']);

/** Whether a node stands where only a table can stand. */
export function isTablePlace(node: TreeNode): boolean {
  return TABLE_SECTIONS.has(node.section);
}

/** The CTEs that a name in a table's place may mean: those of the nearest WITH that has it. More than one is an odd query. */
export function ctesInSight(node: TreeNode, name: string): readonly TreeNode[] {
  for (
    let at: TreeNode | null = node, below: TreeNode | null = null;
    at !== null;
    below = at, at = at.parent
  ) {
    const inside = below?.section === 'WITH' ? ancestorsOf(node) : undefined;
    // Its own body does not see a CTE, save a recursive one, which is no new reading.
    const found = withOf(at).filter((entry) => isCteNamed(entry, name) && inside?.has(entry) !== true);
    if (found.length > 0) return found;
  }
  return [];
}

/** Whether a table or an alias of one of the node's own query is called so. */
export function isTableInSight(node: TreeNode, name: string): boolean {
  const query = queryAround(node);
  if (query === null) return false;
  return tableExpressions(query).some(
    (table) => (attribute(table, 'alias') ?? attribute(table, 'identifier')) === name,
  );
}

export function argumentNames(lambda: TreeNode): string[] {
  return listIn(lambda, 'ARGUMENTS').map((argument) => attribute(argument, 'identifier') ?? '');
}

function ancestorsOf(node: TreeNode): ReadonlySet<TreeNode> {
  const found = new Set<TreeNode>();
  for (let at: TreeNode | null = node; at !== null; at = at.parent) found.add(at);
  return found;
}

function withOf(node: TreeNode): readonly TreeNode[] {
  return node.kind === 'QUERY' ? listIn(node, 'WITH') : [];
}

function isCteNamed(node: TreeNode, name: string): boolean {
  return attribute(node, 'is_cte') === '1' && attribute(node, 'cte_name') === name;
}

/** What a query reads from, joins opened. */
function tableExpressions(node: TreeNode): TreeNode[] {
  return node.children
    .filter(isTablePlace)
    .flatMap((table) => (JOINS.has(table.kind) ? tableExpressions(table) : [table]));
}

/** The query that a node stands in; null for the outermost one itself. */
export function queryAround(node: TreeNode): TreeNode | null {
  for (let at = node.parent; at !== null; at = at.parent) if (at.kind === 'QUERY') return at;
  return null;
}

/** The function that a node calls; '' for every other node. */
export function functionName(node: TreeNode): string {
  return attribute(node, 'function_name') ?? '';
}

/**
 * What each name that a query declares may stand for, wherever it stands: more than the engine sees at any one place, so that
 * what is found too large here may be small, and never the other way round.
 */
export interface NamedValue {
  readonly node: TreeNode;
  /** It stands for an element of the arrays that its lambda is given with. */
  readonly isElement: boolean;
}

/** An argument whose values cannot be told is null. */
export type NamedValues = ReadonlyMap<string, readonly (NamedValue | null)[]>;

export function namedValues(root: TreeNode): NamedValues {
  const named = new Map<string, (NamedValue | null)[]>();
  for (const node of walk(root))
    for (const [name, value] of declaredAt(node)) named.set(name, [...(named.get(name) ?? []), value]);
  return named;
}

type Declared = readonly [string, NamedValue | null];

function declaredAt(node: TreeNode): Declared[] {
  const alias = attribute(node, 'alias');
  const replaced = /^REPLACEMENT NAME (.*) EXPRESSION$/.exec(node.section)?.[1];
  // An alias of a table is no value.
  const names = [isTablePlace(node) ? undefined : alias, replaced].filter((name) => name !== undefined);
  return [
    ...names.map((name): Declared => [name, { node, isElement: false }]),
    ...(node.kind === 'UNION' ? unitedValues(node) : []),
    ...(node.kind === 'LAMBDA' ? argumentValues(node) : []),
  ];
}

function argumentValues(lambda: TreeNode): Declared[] {
  const isCalled = lambda.parent?.kind === 'LIST' && lambda.parent.parent?.kind === 'FUNCTION';
  const arrays = isCalled ? (lambda.parent?.children ?? []).filter((one) => one !== lambda) : [];
  return argumentNames(lambda).flatMap((name): Declared[] =>
    arrays.length === 0 ? [[name, null]] : arrays.map((node) => [name, { node, isElement: true }]),
  );
}

/** The first query of a union names the columns of all. */
function unitedValues(union: TreeNode): Declared[] {
  const entries = projectionsOf(union);
  const names = entries.flatMap((one) => attribute(one, 'alias') ?? attribute(one, 'identifier') ?? []);
  return names.flatMap((name) =>
    entries
      .filter((one) => one.kind !== 'IDENTIFIER' || attribute(one, 'identifier') !== name)
      .map((node): Declared => [name.split('.').at(-1) ?? '', { node, isElement: false }]),
  );
}

function projectionsOf(node: TreeNode): TreeNode[] {
  return node.kind === 'UNION'
    ? listIn(node, 'QUERIES').flatMap(projectionsOf)
    : [...listIn(node, 'PROJECTION')];
}
