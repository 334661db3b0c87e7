import { attribute, listIn, type TreeNode } from './query-tree.ts';

/**
 * Which names of its own a query has in sight at a node. Narrower than the engine's rules on purpose: where nothing of the query's
 * own is in sight the engine falls back to a function or a table of that name, so a name that this misses is refused, and a name
 * that this finds can never mean the engine's (tried on 26.7.2.1; test/attacks/scopes.ts).
 */

const TABLE_SECTIONS: ReadonlySet<string> = new Set([
  'JOIN TREE',
  'TABLE EXPRESSION',
  'LEFT TABLE EXPRESSION',
  'RIGHT TABLE EXPRESSION',
]);
const JOINS: ReadonlySet<string> = new Set(['JOIN', 'CROSS JOIN', 'ARRAY_JOIN']);
/** Nodes whose alias is a value. One of a lambda is a function, and that of a subquery may name a table. */
const VALUES: ReadonlySet<string> = new Set(['IDENTIFIER', 'CONSTANT', 'FUNCTION']);

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

/**
 * Whether a single word means a value that the query itself declares: an argument of a lambda around it, a column of a subquery
 * that its query reads, or an alias of its query. An alias that leads back to the word does not count: the engine then gives the
 * word its other meaning (`SELECT user AS user` is the engine's user).
 */
export function isValueInSight(node: TreeNode, name: string): boolean {
  let isAliased = false;
  for (let at = node; at.parent !== null; at = at.parent) {
    if (attribute(at, 'alias') !== undefined) isAliased = true;
    if (at.kind === 'LAMBDA' && argumentNames(at).includes(name)) return true;
    if (at.parent.kind !== 'QUERY') continue;
    if (at.section === 'JOIN TREE') return isJoinedBy(node, name);
    if (at.section === 'WINDOW') return false;
    const query = at.parent;
    if (tableExpressions(query).some((table) => projects(table, name))) return true;
    return !isAliased && valueAliases(query).includes(name);
  }
  return false;
}

/** `JOIN … USING (name)`: of what the nearest join joins, both sides have a column of that name. */
function isJoinedBy(node: TreeNode, name: string): boolean {
  const list = node.parent;
  const join = list?.parent;
  if (list?.section !== 'JOIN EXPRESSION' || list.kind !== 'LIST' || join?.kind !== 'JOIN') return false;
  return ['LEFT TABLE EXPRESSION', 'RIGHT TABLE EXPRESSION'].every((side) => {
    const joined = join.children.filter(({ section }) => section === side);
    return joined
      .flatMap((one) => (JOINS.has(one.kind) ? tableExpressions(one) : [one]))
      .some((table) => projects(table, name));
  });
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

/** Aliases at the top of SELECT, WITH and ARRAY JOIN; the engine knows deeper ones too. */
function valueAliases(query: TreeNode): string[] {
  const joined = (node: TreeNode): TreeNode[] =>
    node.children
      .filter((table) => isTablePlace(table) && JOINS.has(table.kind))
      .flatMap((join) => [
        ...(join.kind === 'ARRAY_JOIN' ? listIn(join, 'JOIN EXPRESSIONS') : []),
        ...joined(join),
      ]);
  return [...listIn(query, 'PROJECTION'), ...listIn(query, 'WITH'), ...joined(query)]
    .filter(({ kind }) => VALUES.has(kind))
    .flatMap((entry) => attribute(entry, 'alias') ?? []);
}

/** `*` of all tables, with nothing taken out, replaced or renamed. */
function isPlainAsterisk({ kind, children, attributes }: TreeNode): boolean {
  if (kind !== 'MATCHER' || children.length > 0) return false;
  return attributes.get('matcher_type') === 'ASTERISK' && !attributes.has('qualified_identifier');
}

/** Whether a table expression gives a column of this name: one that was written out there, or where its plain asterisks lead. */
function projects(table: TreeNode, name: string): boolean {
  if (table.kind === 'IDENTIFIER') {
    const ctes = ctesInSight(table, attribute(table, 'identifier') ?? '');
    return ctes.length > 0 && ctes.every((cte) => projects(cte, name));
  }
  // The first query of a union names its columns.
  if (table.kind === 'UNION')
    return listIn(table, 'QUERIES')
      .slice(0, 1)
      .some((query) => projects(query, name));
  if (table.kind !== 'QUERY') return false;
  const inner = tableExpressions(table);
  return listIn(table, 'PROJECTION').some((entry) =>
    isPlainAsterisk(entry)
      ? // Of two tables the engine may call what both have by the names of the tables too.
        inner.length === 1 && inner.every((one) => projects(one, name))
      : (attribute(entry, 'alias') ?? attribute(entry, 'identifier')?.split('.').at(-1)) === name,
  );
}
