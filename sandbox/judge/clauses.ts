import { type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';

/** Clauses that parse, and do not what they say here. */
export interface ClauseFacts {
  /** Its row is none of the result, and no format of ours has a place for it. */
  readonly hasTotals: boolean;
}

/** Throws `Refused` (`forbidden_clause`). */
export function checkClauses(root: TreeNode): ClauseFacts {
  let hasTotals = false;
  for (const node of walk(root)) {
    if (node.section === 'PREWHERE') {
      refuse('forbidden_clause', {
        near: 'PREWHERE',
        detail: 'PREWHERE does not work on the public tables, which are views.',
        hint: 'Write WHERE: the engine moves conditions forward by itself.',
      });
    }
    // The engine reads every row of a view, whatever SAMPLE says (tried on 26.7.2.1): what is multiplied afterwards is wrong.
    if (node.attributes.has('sample_size')) {
      refuse('forbidden_clause', {
        near: 'SAMPLE',
        detail: 'SAMPLE does not work on the public tables, which are views.',
        hint: 'Sample by a hash: WHERE cityHash64(payer) % 10 = 0 keeps a tenth of the payers.',
      });
    }
    hasTotals ||= node.attributes.has('is_group_by_with_totals');
  }
  return { hasTotals };
}
