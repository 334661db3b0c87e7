import { type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';

/** Clauses that parse, and do not what they say here. */
export interface ClauseFacts {
  /** The engine reads every row of a view, whatever SAMPLE says (tried on 26.7.2.1). */
  readonly hasSample: boolean;
  /** Its row is none of the result, and no format of ours has a place for it. */
  readonly hasTotals: boolean;
}

/** Throws `Refused` (`forbidden_clause`). */
export function checkClauses(root: TreeNode): ClauseFacts {
  let hasSample = false;
  let hasTotals = false;
  for (const node of walk(root)) {
    if (node.section === 'PREWHERE') {
      refuse('forbidden_clause', {
        near: 'PREWHERE',
        detail: 'PREWHERE does not work on the public tables, which are views.',
        hint: 'Write WHERE: the engine moves conditions forward by itself.',
      });
    }
    hasSample ||= node.attributes.has('sample_size');
    hasTotals ||= node.attributes.has('is_group_by_with_totals');
  }
  return { hasSample, hasTotals };
}
