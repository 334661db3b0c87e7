import { attribute, type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';

/**
 * A frame whose beginning moves is computed anew for every row, and the engine looks at its limits only between blocks of rows:
 * `uniqExact(x) OVER (ORDER BY x ROWS BETWEEN 10000 PRECEDING AND CURRENT ROW)` over 200,000 rows ran on for 18 s after it was
 * told to stop, and one that ends UNBOUNDED FOLLOWING is computed in one piece (tried on 26.7.2.1).
 */

/** Rows, or what the window is ordered by, that a moving frame may reach back. */
const FRAME_MAX = 1_000;
/** For functions that take a row in a nanosecond: a week of seconds. */
const CHEAP_FRAME_MAX = 604_800;
const FOLLOWING_MAX = 10_000;
const CHEAP =
  /^(count|sum|avg|min|max|any|anylast|first_value|last_value|nth_value|laginframe|leadinframe|lag|lead|row_number|rank|dense_rank|denserank|percent_rank|cume_dist|ntile|(count|sum|avg|min|max)if)$/i;

/** Throws `Refused` (`too_complex`). */
export function checkFrames(root: TreeNode): void {
  for (const node of walk(root)) if (node.kind === 'WINDOW') checkFrame(node, callsOver(node));
}

/** The functions that a window is of: the one it stands in, or all of its query that call it by its name. */
function callsOver(window: TreeNode): readonly TreeNode[] {
  const name = attribute(window, 'alias');
  const query = window.parent?.parent;
  if (name === undefined || query?.kind !== 'QUERY') return window.parent === null ? [] : [window.parent];
  return [...walk(query)].filter(({ children }) =>
    children.some((child) => child.section === 'WINDOW' && attribute(child, 'identifier') === name),
  );
}

function checkFrame(window: TreeNode, calls: readonly TreeNode[]): void {
  const begin = attribute(window, 'frame_begin_type');
  if (begin === undefined || begin === 'unbounded preceding') return;
  const end = attribute(window, 'frame_end_type');
  const isCheap = calls.every((call) => CHEAP.test(attribute(call, 'function_name') ?? ''));
  const back = isCheap ? CHEAP_FRAME_MAX : FRAME_MAX;
  const ahead = isCheap ? FOLLOWING_MAX : FRAME_MAX;
  const reach = (section: string): number => offsetIn(window, section);
  if (
    end !== 'unbounded following' &&
    reach('FRAME BEGIN OFFSET') <= back &&
    reach('FRAME END OFFSET') <= ahead
  )
    return;
  refuse('too_complex', {
    near: 'OVER',
    detail: `A frame that moves reaches back at most ${FRAME_MAX} (for count, sum, avg, min and max ${CHEAP_FRAME_MAX}), and not UNBOUNDED FOLLOWING.`,
    hint: 'Begin the frame with UNBOUNDED PRECEDING, in the other order if need be, or aggregate by day first.',
  });
}

/** Infinite when it is not written out as a number. */
function offsetIn(window: TreeNode, section: string): number {
  const offset = window.children.find((child) => child.section === section);
  if (offset === undefined) return 0;
  const value = /^constant_value: (?:UInt64|Int64|Float64)_(-?[\d.]+),/.exec(offset.rest)?.[1];
  return offset.kind === 'CONSTANT' && value !== undefined ? Number(value) : Number.POSITIVE_INFINITY;
}
