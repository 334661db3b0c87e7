import { attribute, type TreeNode, walk } from './query-tree.ts';
import { ctesInSight, isTablePlace } from './scope.ts';

/** How many rows a query can give, told from its tree alone; infinite where nothing that is written there bounds them. */

const MANY = Number.POSITIVE_INFINITY;

/** Rows of what stands in a table's place: a query, a union, or the name of a CTE. */
export function rowsOf(node: TreeNode, seen: ReadonlySet<TreeNode> = new Set()): number {
  if (seen.has(node)) return MANY;
  const within = new Set([...seen, node]);
  if (node.kind === 'QUERY') return Math.min(limitOf(node), rowsRead(node, within));
  if (node.kind !== 'IDENTIFIER') return MANY;
  const ctes = ctesInSight(node, attribute(node, 'identifier') ?? '');
  return ctes.length === 0 ? MANY : Math.max(...ctes.map((cte) => rowsOf(cte, within)));
}

/** Rows that a query reads, where it reads one bounded query and makes none of its own. */
export function rowsRead(query: TreeNode, seen: ReadonlySet<TreeNode> = new Set()): number {
  const [table, ...others] = query.children.filter(isTablePlace);
  if (table === undefined || others.length > 0) return MANY;
  // Rows that are added: one for each element, one for each gap, and those of subtotals.
  if ([...walk(query)].some(addsRows)) return MANY;
  return rowsOf(table, seen);
}

function addsRows({ kind, section, attributes }: TreeNode): boolean {
  if (kind === 'ARRAY_JOIN' || section.startsWith('FILL ')) return true;
  if (/^(arrayjoin|unnest)$/i.test(attributes.get('function_name') ?? '')) return true;
  return (
    attributes.get('with_fill') === '1' ||
    [...attributes.keys()].some((name) => name.startsWith('is_group_by_with'))
  );
}

/** `LIMIT 5`, and nothing that adds to it. */
function limitOf(query: TreeNode): number {
  if (query.attributes.has('is_limit_with_ties')) return MANY;
  const limit = query.children.find(({ section }) => section === 'LIMIT');
  const value = /^constant_value: UInt64_(\d+),/.exec(limit?.kind === 'CONSTANT' ? limit.rest : '')?.[1];
  return value === undefined ? MANY : Number(value);
}
