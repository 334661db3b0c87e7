import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import { isTablePlace } from './scope.ts';

/**
 * Whether the engine may plan a query for a caller without a key. While it plans, it computes every call whose arguments are
 * constant and every subquery that gives a single value or a set, so a free estimate could be used to compute anything. For such a
 * caller it plans only what is made of these calls, each of which takes the same short time whatever it is given.
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
      const name = attribute(node, 'function_name') ?? '';
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

/** A list of values, and not a subquery or a name that may stand for one. */
function isRightOfInWritten(node: TreeNode): boolean {
  const right = listIn(node, 'ARGUMENTS')[1];
  return right?.kind === 'CONSTANT' || right?.kind === 'FUNCTION';
}

/** The query itself, one in FROM, an arm of a union, or a CTE; a subquery anywhere else is computed. */
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
