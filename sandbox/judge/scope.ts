import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';

/**
 * The CTEs and tables in scope at a node. Narrower than the engine's rules on purpose: a name not found here is refused. Whether a
 * word is a column or a function is not decided here; resolved.ts asks the engine.
 */

const TABLE_SECTIONS: ReadonlySet<string> = new Set([
  'JOIN TREE',
  'TABLE EXPRESSION',
  'LEFT TABLE EXPRESSION',
  'RIGHT TABLE EXPRESSION',
]);
const JOINS: ReadonlySet<string> = new Set(['JOIN', 'CROSS JOIN', 'ARRAY_JOIN']);

/** Whether a node is in a position that only a table can take. */
export function isTablePlace(node: TreeNode): boolean {
  return TABLE_SECTIONS.has(node.section);
}

/** The CTEs that a name in a table's place may refer to: the CTEs of the nearest WITH that declares it. Normally at most one. */
export function ctesInSight(node: TreeNode, name: string): readonly TreeNode[] {
  for (
    let at: TreeNode | null = node, below: TreeNode | null = null;
    at !== null;
    below = at, at = at.parent
  ) {
    const inside = below?.section === 'WITH' ? ancestorsOf(node) : undefined;
    // A CTE is not in scope in its own body, unless it is recursive, which reads nothing new.
    const found = withOf(at).filter((entry) => isCteNamed(entry, name) && inside?.has(entry) !== true);
    if (found.length > 0) return found;
  }
  return [];
}

/** Whether the node's own query has a table or table alias of this name. */
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

/** The sources of a query, with joins flattened. */
function tableExpressions(node: TreeNode): TreeNode[] {
  return node.children
    .filter(isTablePlace)
    .flatMap((table) => (JOINS.has(table.kind) ? tableExpressions(table) : [table]));
}

/** The query that contains a node; null for the outermost query itself. */
export function queryAround(node: TreeNode): TreeNode | null {
  for (let at = node.parent; at !== null; at = at.parent) if (at.kind === 'QUERY') return at;
  return null;
}

/** The function that a node calls; '' for every other node. */
export function functionName(node: TreeNode): string {
  return attribute(node, 'function_name') ?? '';
}

/**
 * Everything that each declared name may refer to, anywhere in the query. A superset of what the engine sees at any one place, so
 * estimates based on it can be too large but never too small.
 */
export interface NamedValue {
  readonly node: TreeNode;
  /** A lambda argument: an element of the arrays that the lambda is applied to. */
  readonly isElement: boolean;
}

/** An argument with unknown values is null. */
export type NamedValues = ReadonlyMap<string, readonly (NamedValue | null)[]>;

export function namedValues(root: TreeNode): NamedValues {
  const named = new Map<string, (NamedValue | null)[]>();
  for (const node of walk(root))
    for (const [name, value] of declaredAt(node)) {
      const values = named.get(name);
      // Not a longer copy each time: a name can be declared thousands of times.
      if (values === undefined) named.set(name, [value]);
      else values.push(value);
    }
  return named;
}

type Declared = readonly [string, NamedValue | null];

function declaredAt(node: TreeNode): Declared[] {
  const alias = attribute(node, 'alias');
  const replaced = /^REPLACEMENT NAME (.*) EXPRESSION$/.exec(node.section)?.[1];
  // A table alias is not a value, and `payer AS payer` declares nothing.
  const isAlias = !isTablePlace(node) && alias !== identifierIn(node);
  const names = [isAlias ? alias : undefined, replaced].filter((name) => name !== undefined);
  return [
    ...names.map((name): Declared => [name, { node, isElement: false }]),
    ...(node.kind === 'UNION' ? unitedValues(node) : []),
    ...(node.kind === 'LAMBDA' ? argumentValues(node) : []),
  ];
}

/** The name that a node reads, without its table. */
export function identifierIn(node: TreeNode): string | undefined {
  return node.kind === 'IDENTIFIER' ? attribute(node, 'identifier')?.split('.').at(-1) : undefined;
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
