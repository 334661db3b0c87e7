import { attribute, listIn, type TreeNode } from './query-tree.ts';

/**
 * Which CTEs and tables of its own a query can name at a node. Narrower than the engine's rules on purpose: a name that is not
 * found here is refused. Nothing here decides whether a word is a column or a function; resolved-tree.ts asks the engine.
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
  const query = queryOf(node);
  if (query === undefined) return false;
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

function queryOf(node: TreeNode): TreeNode | undefined {
  for (let at = node.parent; at !== null; at = at.parent) if (at.kind === 'QUERY') return at;
  return undefined;
}

/** What a query reads from, joins opened. */
function tableExpressions(node: TreeNode): TreeNode[] {
  return node.children
    .filter(isTablePlace)
    .flatMap((table) => (JOINS.has(table.kind) ? tableExpressions(table) : [table]));
}
