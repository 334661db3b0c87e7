import {
  GUEST_BLOCK_ROWS,
  GUEST_FULL_BLOCK_ROWS,
  GUEST_SMALL_BLOCK_ROWS,
} from '../../../clickhouse/guest/settings.ts';
import { attribute, listIn, type TreeNode, walk } from '../query-tree.ts';
import { refuse } from '../refusal.ts';
import { functionName } from '../scope.ts';

/**
 * A frame with a moving start is recomputed for every row, and the engine checks its limits only between blocks of rows: with a limit
 * of one second, `min(x) OVER (ORDER BY n ROWS BETWEEN 1000000 PRECEDING AND CURRENT ROW)` of texts overran by 19 s in blocks of 8,192
 * rows, and stopped at once in blocks of 256. A frame to UNBOUNDED FOLLOWING is computed in one piece, and so are the rows that a join
 * or arrayJoin makes of one row (tried on 26.7.2.1).
 */

/** How far a frame may reach to either side: in rows, or in units of the ORDER BY value. */
interface Reach {
  /** In blocks of any size. */
  readonly plain: number;
  /** In small blocks. */
  readonly small: number;
}

const DAY_SECONDS = 86_400;
/** Aggregates that process many rows at once: a year of seconds. */
const SUMS: Reach = { plain: 7 * DAY_SECONDS, small: 366 * DAY_SECONDS };
/** Aggregates that process rows one by one. */
const CHEAP: Reach = { plain: 10_000, small: 31 * DAY_SECONDS };
/** Aggregates that may keep all values. */
const OTHERS: Reach = { plain: 1_000, small: 10_000 };
/** Shorter frames cost nothing noticeable in blocks of 8,192 rows; small blocks would only be slower. */
const SHORT_FRAME = 1_000;

const SUM = /^(count|sum|avg)(if)?$/i;
const ONE_BY_ONE = /^(min|max|any|anylast|first_value|last_value)(if)?$/i;
/** Functions that read a position in the frame and not its values. */
const POSITIONAL =
  /^(nth_value|laginframe|leadinframe|lag|lead|row_number|rank|dense_rank|denserank|percent_rank|cume_dist|ntile)$/i;

/** The rows per block with which the query can be stopped in time. Throws `Refused` (`too_complex`). */
export function checkFrames(root: TreeNode): number {
  const nodes = [...walk(root)];
  const windows = nodes.filter(({ kind }) => kind === 'WINDOW');
  if (windows.length === 0) return GUEST_FULL_BLOCK_ROWS;
  const isWhole = nodes.some(multiplies);
  for (const window of windows) checkOffsets(window);
  const frames = windows.map((window) => frameOf(window));
  for (const frame of frames) checkFrame(frame, isWhole);
  const moving = frames.filter(({ isMoving }) => isMoving);
  if (moving.length === 0) return GUEST_FULL_BLOCK_ROWS;
  return moving.some(({ reach }) => reach > SHORT_FRAME) ? GUEST_SMALL_BLOCK_ROWS : GUEST_BLOCK_ROWS;
}

/** Seconds of the units that have a fixed number of them, by the functions that make an INTERVAL. */
const INTERVAL_SECONDS: ReadonlyMap<string, number> = new Map([
  ['tointervalsecond', 1],
  ['tointervalminute', 60],
  ['tointervalhour', 3_600],
  ['tointervalday', DAY_SECONDS],
  ['tointervalweek', 7 * DAY_SECONDS],
]);
const INTERVAL_FUNCTION = /^tointerval[a-z]+$/i;

/** The engine accepts a number as the reach of a frame, but no INTERVAL. */
function checkOffsets(window: TreeNode): void {
  for (const side of ['BEGIN', 'END']) {
    const offset = window.children.find(({ section }) => section === `FRAME ${side} OFFSET`);
    const name = offset === undefined ? '' : functionName(offset);
    if (offset === undefined || !INTERVAL_FUNCTION.test(name)) continue;
    const isRange = attribute(window, 'frame_type') === 'RANGE';
    const many = INTERVAL_SECONDS.get(name.toLowerCase()) ?? 30 * DAY_SECONDS;
    const seconds = many * (numberOf(listIn(offset, 'ARGUMENTS')[0]) ?? 1);
    refuse('forbidden_clause', {
      near: isRange ? 'RANGE' : 'ROWS',
      detail: 'The reach of a window frame is a number here, not an INTERVAL.',
      hint: isRange
        ? `Write the seconds: RANGE BETWEEN ${seconds} PRECEDING. Ordered by a Date, the number is of days.`
        : 'ROWS counts rows: write how many. RANGE over block_time counts seconds.',
    });
  }
}

/** Whether one row may become many rows in one block. */
function multiplies(node: TreeNode): boolean {
  if (node.kind === 'JOIN' || node.kind === 'CROSS JOIN' || node.kind === 'ARRAY_JOIN') return true;
  return /^arrayjoin$/i.test(functionName(node));
}

interface Frame {
  readonly isMoving: boolean;
  /** The larger reach of the two sides; infinite if it is not a literal number. */
  readonly reach: number;
  readonly functions: readonly string[];
}

function frameOf(window: TreeNode): Frame {
  const begin = attribute(window, 'frame_begin_type');
  const functions = callsOver(window).map((call) => functionName(call));
  const isMoving = begin !== undefined && begin !== 'unbounded preceding' && !areAll(functions, POSITIONAL);
  const isOpen = attribute(window, 'frame_end_type') === 'unbounded following';
  const offsets = [offsetIn(window, 'FRAME BEGIN OFFSET'), offsetIn(window, 'FRAME END OFFSET')];
  return { isMoving, reach: isOpen ? Number.POSITIVE_INFINITY : Math.max(...offsets), functions };
}

/** The functions over a window: the one that contains it, or all in its query that refer to it by name. */
function callsOver(window: TreeNode): readonly TreeNode[] {
  const name = attribute(window, 'alias');
  const query = window.parent?.parent;
  if (name === undefined || query?.kind !== 'QUERY') return window.parent === null ? [] : [window.parent];
  return [...walk(query)].filter(({ children }) =>
    children.some((child) => child.section === 'WINDOW' && attribute(child, 'identifier') === name),
  );
}

function checkFrame({ isMoving, reach, functions }: Frame, isWhole: boolean): void {
  if (!isMoving) return;
  const { plain, small } = reachOf(functions);
  const max = isWhole ? plain : small;
  if (reach <= max) return;
  const why = isWhole ? ' in a query with a join or arrayJoin' : '';
  refuse('too_complex', {
    near: 'OVER',
    detail: `A frame of ${functions[0] ?? 'a function'} that begins at a row of its own reaches at most ${max} to either side${why}, and not to UNBOUNDED FOLLOWING: it is computed anew for every row.`,
    hint: 'Begin it with UNBOUNDED PRECEDING: the rows after a row precede it in the other order (ORDER BY … DESC). Or aggregate by hour or day first.',
  });
}

function reachOf(functions: readonly string[]): Reach {
  if (areAll(functions, SUM, POSITIONAL)) return SUMS;
  return areAll(functions, SUM, ONE_BY_ONE, POSITIONAL) ? CHEAP : OTHERS;
}

/** If no function was found for a window, assume the most expensive. */
function areAll(functions: readonly string[], ...kinds: readonly RegExp[]): boolean {
  return functions.length > 0 && functions.every((name) => kinds.some((kind) => kind.test(name)));
}

/** Infinite if it is not a literal number. */
function offsetIn(window: TreeNode, section: string): number {
  const offset = window.children.find((child) => child.section === section);
  if (offset === undefined) return 0;
  return numberOf(offset) ?? Number.POSITIVE_INFINITY;
}

function numberOf(node: TreeNode | undefined): number | undefined {
  if (node?.kind !== 'CONSTANT') return undefined;
  const value = /^constant_value: (?:UInt64|Int64|Float64)_(-?[\d.]+),/.exec(node.rest)?.[1];
  return value === undefined ? undefined : Number(value);
}
