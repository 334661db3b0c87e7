import { type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';

/** Clauses that parse and mean nothing on views. */
export interface ClauseFacts {
  /** The engine reads every row of a view, whatever SAMPLE says (tried on 26.7.2.1). */
  readonly hasSample: boolean;
}

/** Throws `Refused` (`forbidden_clause`). */
export function checkClauses(root: TreeNode): ClauseFacts {
  let hasSample = false;
  for (const node of walk(root)) {
    if (node.section === 'PREWHERE') {
      refuse('forbidden_clause', {
        near: 'PREWHERE',
        detail: 'PREWHERE does not work on the public tables, which are views.',
        hint: 'Write WHERE: the engine moves conditions forward by itself.',
      });
    }
    hasSample ||= node.attributes.has('sample_size');
  }
  return { hasSample };
}
