import { type NamedQuery, tableNodes } from '../names.ts';
import { attribute, listIn, type TreeNode, walk } from '../query-tree.ts';
import { refuse } from '../refusal.ts';
import { ctesInSight, functionName, isTablePlace } from '../scope.ts';

/**
 * A CTE is analysed and run once per mention, and the engine's time limit does not cover analysis (twenty-two CTEs that each mention
 * the previous one twice took 3.2 s). This many table reads are enough for any real query.
 */
const TABLE_READINGS_MAX = 64;

/** Throws `Refused` (`too_complex`). */
export function checkReadings(query: Pick<NamedQuery, 'root' | 'tokens'>): void {
  const tables = new Set(tableNodes(query));
  const known = new Map<TreeNode, number>();
  const below = (node: TreeNode): number => {
    let readings = 0;
    for (const child of node.children) {
      // A CTE is counted where it is mentioned.
      if (attribute(child, 'is_cte') === '1') continue;
      readings += below(child) + own(child);
      if (readings > TABLE_READINGS_MAX) return readings;
    }
    return readings;
  };
  const own = (node: TreeNode): number => {
    if (node.kind === 'TABLE_FUNCTION') return 1;
    if (!tables.has(node)) return 0;
    const ctes = ctesInSight(node, attribute(node, 'identifier') ?? '');
    return Math.max(1, ...ctes.map(ofCte));
  };
  const ofCte = (cte: TreeNode): number => {
    const before = known.get(cte);
    if (before !== undefined) return before;
    known.set(cte, 1); // for a CTE that refers to itself through another
    const readings = below(cte);
    known.set(cte, readings);
    return readings;
  };
  if (below(query.root) <= TABLE_READINGS_MAX) return;
  refuse('too_complex', {
    detail: `The query reads tables more than ${TABLE_READINGS_MAX} times, counting a CTE each time it is named.`,
  });
}

/** Calls after the engine inlines named lambdas; 4,096 took four seconds before anything ran. */
const LAMBDA_CALLS_MAX = 128;

/** Throws `Refused` (`too_complex`). A named lambda is inlined at every call, together with those that it calls. */
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
    known.set(name, named.length); // for a lambda that calls itself, which the engine refuses
    const calls = named.reduce((sum, lambda) => sum + 1 + callsIn(lambda), 0);
    known.set(name, calls);
    return calls;
  };
  if (callsIn(root) <= LAMBDA_CALLS_MAX) return;
  refuse('too_complex', {
    detail: `Named lambdas are called more than ${LAMBDA_CALLS_MAX} times, counting those that they call.`,
  });
}

/**
 * Whether the engine may plan a query for a caller without a key. Planning computes every call with constant arguments and every
 * subquery that gives a scalar or a set, so a free estimate could compute anything. For such callers it plans only queries made of
 * these functions; each of them takes the same short time for any argument.
 */
const CALLS: ReadonlySet<string> = new Set(
  `
  equals notEquals less greater lessOrEquals greaterOrEquals and or not xor isNull isNotNull in notIn tuple
  plus minus multiply negate abs round floor least greatest if multiIf coalesce ifNull lower upper length toString
  now today yesterday toIntervalSecond toIntervalMinute toIntervalHour toIntervalDay toIntervalWeek toIntervalMonth
  toIntervalQuarter toIntervalYear toDate toDateTime toStartOfMinute toStartOfHour toStartOfDay toStartOfWeek toMonday
  toStartOfMonth toStartOfQuarter toStartOfYear toYYYYMM toYear toMonth toDayOfMonth toDayOfWeek toHour
  count countIf sum sumIf min minIf max maxIf avg avgIf any anyIf uniq uniqIf uniqExact uniqExactIf
`
    .trim()
    .split(/\s+/),
);
const IN = /^not_?in$|^in$/i;

export function isSafeToPlan(root: TreeNode): boolean {
  for (const node of walk(root)) if (!isSafe(node)) return false;
  return true;
}

function isSafe(node: TreeNode): boolean {
  switch (node.kind) {
    case 'FUNCTION': {
      const name = functionName(node);
      return CALLS.has(name) && (!IN.test(name) || isRightOfInWritten(node));
    }
    case 'QUERY':
    case 'UNION':
      return isRead(node);
    case 'MATCHER':
      return node.children.length === 0;
    case 'LAMBDA':
    case 'TABLE_FUNCTION':
    case 'WINDOW':
    case 'ARRAY_JOIN':
    case 'INTERPOLATE':
      return false;
    default:
      return true;
  }
}

/** A list of values, not a subquery or a name that may refer to one. */
function isRightOfInWritten(node: TreeNode): boolean {
  const right = listIn(node, 'ARGUMENTS')[1];
  return right?.kind === 'CONSTANT' || right?.kind === 'FUNCTION';
}

/** The query itself, a subquery in FROM, an arm of a union, or a CTE; any other subquery is computed during planning. */
function isRead(node: TreeNode): boolean {
  const { parent } = node;
  if (parent === null || isTablePlace(node)) return true;
  if (parent.kind === 'LIST' && parent.section === 'QUERIES') return true;
  return (
    parent.section === 'WITH' &&
    attribute(node, 'is_cte') === '1' &&
    attribute(node, 'is_recursive_cte') !== '1'
  );
}
