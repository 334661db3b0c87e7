import type { ColumnMeanings } from './columns.ts';
import { type TreeNode, walk } from './query-tree.ts';
import { functionName } from './scope.ts';

/** Aggregates that keep every different value of their arguments. */
const KEEPS_VALUES = /^(uniq|countdistinct|grouparray|groupuniqarray|topk)/i;

/**
 * The id columns that could stand in place of addresses by which a query groups, counts different values or joins: in hash tables of
 * millions of entries 8 bytes cost a fraction of 42. By names, for a hint alone.
 */
export function walletKeys(root: TreeNode, meanings: ColumnMeanings): string[] {
  const found = new Set<string>();
  for (const node of walk(root)) {
    const id = isKey(node) ? meanings.walletIdOf(node) : undefined;
    if (id !== undefined) found.add(id);
  }
  return [...found].sort();
}

function isKey({ parent, section }: TreeNode): boolean {
  if (parent?.kind !== 'LIST') return /^JOIN EXPRESSION/.test(section);
  if (parent.section === 'GROUP BY' || /^JOIN EXPRESSION/.test(parent.section)) return true;
  const user = parent.parent;
  if (parent.section !== 'ARGUMENTS' || user?.kind !== 'FUNCTION') return false;
  return KEEPS_VALUES.test(functionName(user)) || /^JOIN EXPRESSION/.test(user.section);
}
