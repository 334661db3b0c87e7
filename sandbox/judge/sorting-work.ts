import type { CallRows } from './call-rows.ts';
import type { TreeNode } from './query-tree.ts';
import { refuse } from './refusal.ts';
import type { ValueSizes } from './value-size.ts';

/**
 * The time of sorting one block in the order of a language, which the engine compares character by character and looks at no clock:
 * 8,192 texts of 5,000 bytes that begin alike ran on for more than 5 s after a KILL (26.7.2.1). Other orders compare bytes, which is
 * fast enough for whatever can be held.
 */

/** For a byte of each comparison. */
const COLLATED_NS = 13;
/** A sort of n values makes n (log2 n - 1.44) comparisons at best, and hardly more. */
const SAVED_STEPS = 1.44;

interface Sorting {
  readonly rows: CallRows;
  readonly sizes: ValueSizes;
  readonly blockRows: number;
  /** Of all values of a block together. */
  readonly blockBytes: number;
}

/** Nanoseconds for one block. */
export function sortingWork(nodes: readonly TreeNode[], sorting: Sorting): number {
  return nodes.filter(isCollated).reduce((sum, sort) => sum + workOf(sort, sorting), 0);
}

function isCollated({ kind, rest }: TreeNode): boolean {
  return kind === 'SORT' && rest.startsWith('collator: ');
}

function workOf(sort: TreeNode, { rows, sizes, blockRows, blockBytes }: Sorting): number {
  const sorted = rows.of(sort, blockRows);
  const bytes = sort.children.reduce((sum, one) => sum + sizes.bytesOf(one), 0);
  const steps = Math.max(1, Math.log2(sorted) - SAVED_STEPS);
  return COLLATED_NS * Math.min(sorted * bytes, blockBytes) * steps;
}

export function refuseSorting(): never {
  refuse('too_complex', {
    near: 'COLLATE',
    detail: 'ORDER BY … COLLATE cannot be stopped in time where texts may be so long.',
    hint: 'Sort by the first characters, substring(x, 1, 100), or without COLLATE.',
  });
}
