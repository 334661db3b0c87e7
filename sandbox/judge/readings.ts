import { attribute, type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';
import { ctesInSight } from './scope.ts';

/**
 * A CTE is run, and before that analysed, once for every time it is named; analysis is not covered by the engine's time limit
 * (twenty-two CTEs that each name the one before twice took 3.2 s). These many readings of tables are enough for any question.
 */
const TABLE_READINGS_MAX = 64;

/** Throws `Refused` (`too_complex`). `isTable` says whether a node names a table. */
export function checkReadings(root: TreeNode, isTable: (node: TreeNode) => boolean): void {
  const known = new Map<TreeNode, number>();
  const below = (node: TreeNode): number => {
    let readings = 0;
    for (const child of node.children) {
      // What a WITH declares is counted where it is named.
      if (attribute(child, 'is_cte') === '1') continue;
      readings += below(child) + own(child);
      if (readings > TABLE_READINGS_MAX) return readings;
    }
    return readings;
  };
  const own = (node: TreeNode): number => {
    if (node.kind === 'TABLE_FUNCTION') return 1;
    if (!isTable(node)) return 0;
    const ctes = ctesInSight(node, attribute(node, 'identifier') ?? '');
    return Math.max(1, ...ctes.map(ofCte));
  };
  const ofCte = (cte: TreeNode): number => {
    const before = known.get(cte);
    if (before !== undefined) return before;
    known.set(cte, 1); // for one that names itself through another
    const readings = below(cte);
    known.set(cte, readings);
    return readings;
  };
  if (below(root) <= TABLE_READINGS_MAX) return;
  refuse('too_complex', {
    detail: `The query reads tables more than ${TABLE_READINGS_MAX} times, counting a CTE each time it is named.`,
  });
}

/** Calls that named lambdas become when each is opened; 4,096 took the engine four seconds before it ran anything. */
const LAMBDA_CALLS_MAX = 128;

/** Throws `Refused` (`too_complex`). A named lambda is opened wherever it is called, and so are those that it calls. */
export function checkLambdas(root: TreeNode): void {
  const lambdas = new Map<string, TreeNode[]>();
  for (const node of walk(root)) {
    const alias = node.kind === 'LAMBDA' ? attribute(node, 'alias') : undefined;
    if (alias !== undefined) lambdas.set(alias, [...(lambdas.get(alias) ?? []), node]);
  }
  const known = new Map<string, number>();
  const callsIn = (node: TreeNode): number => {
    let calls = ofName(attribute(node, 'function_name') ?? attribute(node, 'identifier') ?? '');
    for (const child of node.children) {
      const isNamed = child.kind === 'LAMBDA' && attribute(child, 'alias') !== undefined;
      if (!isNamed) calls += callsIn(child);
    }
    return calls;
  };
  const ofName = (name: string): number => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const named = lambdas.get(name) ?? [];
    known.set(name, named.length); // for one that calls itself, which the engine refuses
    const calls = named.reduce((sum, lambda) => sum + 1 + callsIn(lambda), 0);
    known.set(name, calls);
    return calls;
  };
  if (callsIn(root) <= LAMBDA_CALLS_MAX) return;
  refuse('too_complex', {
    detail: `Named lambdas are called more than ${LAMBDA_CALLS_MAX} times, counting those that they call.`,
  });
}
