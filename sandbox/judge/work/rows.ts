import { attribute, listIn, type TreeNode, walk } from '../query-tree.ts';
import { functionName, isTablePlace, queryAround } from '../scope.ts';
import { rowsRead, type ValueSizes } from './value-size.ts';

/**
 * How many times a function is computed per block: for each row, and for each element of the arrays whose lambda contains it. Never
 * an underestimate: unknown counts are infinite.
 */
export interface CallRows {
  /** Infinite for elements of unbounded arrays; only the memory limit bounds those. */
  of(node: TreeNode, blockRows: number): number;
  /** Number of arrays that the function iterates together. */
  elements(arrays: readonly TreeNode[]): number;
}

/** A join produces its own block size: 65,409 rows, plus the matches of the last left row (26.7.2.1). */
const JOINED_BLOCK_ROWS = 100_000;
/** Rows that WITH FILL adds come in one block. */
const FILLED_BLOCK_ROWS = 1_000_000;
/** The shortest array element: a digit and a comma. */
const ELEMENT_BYTES = 2;
const NUMBER_BYTES = 8;

/** `attachedRows`: the rows of the largest block that is sent with the query, whatever the size of its other blocks. */
export function callRows(root: TreeNode, { bytesOf }: ValueSizes, attachedRows = 0): CallRows {
  const nodes = [...walk(root)];
  const largest = Math.max(
    attachedRows,
    nodes.some(isJoin) ? JOINED_BLOCK_ROWS : 0,
    nodes.some(fills) ? FILLED_BLOCK_ROWS : 0,
  );
  const users = usersOf(nodes);
  const queryRows = new Map<TreeNode, number>();

  /** Block sizes of the rows that the query or a subquery reads; a query's names are known in its subqueries too. */
  const rowsOfQuery = (query: TreeNode): number => {
    const before = queryRows.get(query);
    if (before !== undefined) return before;
    const inside = [...walk(query)].filter(({ kind }) => kind === 'QUERY');
    const rows = Math.max(...inside.map((one) => (readsNothing(one) ? 1 : rowsRead(one))));
    queryRows.set(query, rows);
    return rows;
  };
  const elements = (arrays: readonly TreeNode[]): number => {
    const counts = arrays.map((array) => bytesOf(array) / (isRange(array) ? NUMBER_BYTES : ELEMENT_BYTES));
    // The arrays must have the same length.
    return counts.length === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.min(...counts));
  };
  const siblings = (node: TreeNode): readonly TreeNode[] =>
    (node.parent?.children ?? []).filter((one) => one !== node);
  /** How many times a node is computed per row. */
  const times = (node: TreeNode, seen: ReadonlySet<TreeNode>): number => {
    let product = 1;
    for (let at: TreeNode | null = node.parent, below = node; at !== null; below = at, at = at.parent)
      if (at.kind === 'LAMBDA' && below.section === 'EXPRESSION') product *= timesOfLambda(at, seen);
    return product;
  };
  const timesOfLambda = (lambda: TreeNode, seen: ReadonlySet<TreeNode>): number => {
    if (seen.has(lambda)) return Number.POSITIVE_INFINITY;
    const within = new Set([...seen, lambda]);
    const isArgument = lambda.parent?.kind === 'LIST' && lambda.parent.parent?.kind === 'FUNCTION';
    const direct = isArgument ? elements(siblings(lambda)) : 0;
    const named = users.of(attribute(lambda, 'alias')).map((user) => {
      const each = user.kind === 'IDENTIFIER' ? elements(siblings(user)) : 1;
      return each * times(user, within);
    });
    return Math.max(
      1,
      [direct, ...named].reduce((sum, one) => sum + one, 0),
    );
  };
  return {
    elements,
    of(node, blockRows) {
      const query = queryAround(node);
      const rows = query === null ? Number.POSITIVE_INFINITY : rowsOfQuery(query);
      return Math.min(rows, Math.max(blockRows, largest)) * times(node, new Set());
    },
  };
}

/** Calls of a lambda by name, and functions that take it as an argument. */
function usersOf(nodes: readonly TreeNode[]): { of(name: string | undefined): readonly TreeNode[] } {
  const users = new Map<string, TreeNode[]>();
  for (const node of nodes) {
    const isGiven = node.kind === 'IDENTIFIER' && node.parent?.parent?.kind === 'FUNCTION';
    const name = isGiven ? attribute(node, 'identifier') : attribute(node, 'function_name');
    if (name !== undefined) users.set(name, [...(users.get(name) ?? []), node]);
  }
  return { of: (name) => (name === undefined ? [] : (users.get(name) ?? [])) };
}

/** Without FROM the engine reads its one-row table. */
const ONE_ROW = 'system.one';

function readsNothing(query: TreeNode): boolean {
  const isReading = query.children.some(
    (child) => isTablePlace(child) && attribute(child, 'identifier') !== ONE_ROW,
  );
  if (isReading) return false;
  return ![...walk(query)].some((node) => /^(arrayjoin|unnest)$/i.test(functionName(node)));
}

function isJoin({ kind }: TreeNode): boolean {
  return kind === 'JOIN' || kind === 'CROSS JOIN';
}

/** In the outermost query WITH FILL adds rows last. */
function fills(node: TreeNode): boolean {
  if (node.attributes.get('with_fill') !== '1') return false;
  return queryAround(node)?.parent !== null;
}

function isRange(node: TreeNode): boolean {
  return /^range$/i.test(functionName(node)) && listIn(node, 'ARGUMENTS').length > 0;
}
