import {
  GUEST_LITTLE_MEMORY_BYTES,
  GUEST_MEMORY_MAX_BYTES,
  GUEST_STEP_MEMORY_BYTES,
} from '../../../clickhouse/guest/memory.ts';
import {
  GUEST_BLOCK_ROWS,
  GUEST_FULL_BLOCK_ROWS,
  GUEST_QUARTER_BLOCK_ROWS,
  GUEST_SMALL_BLOCK_ROWS,
} from '../../../clickhouse/guest/settings.ts';
import { OWN_TABLE_ROWS_MAX } from '../../../core/domain/own-table.ts';
import type { OwnTable } from '../../policy/own-tables.ts';
import type { FunctionCatalogue } from '../../policy/policy.ts';
import type { Token } from '../parser.ts';
import { attribute, listIn, type TreeNode, walk } from '../query-tree.ts';
import { refuse } from '../refusal.ts';
import { functionName, type NamedValues, namedValues } from '../scope.ts';
import { BLOCK_SHARE, type BlockSize, type Call, functionTime, type Known } from './function-time.ts';
import { stepsOf } from './pattern-size.ts';
import { type CallRows, callRows } from './rows.ts';
import { createValueSizes, type ValueSizes } from './value-size.ts';

/**
 * The engine checks its time limit only between blocks of rows: it first computes all functions of a SELECT over one block. So the
 * time of one block is bounded before a query runs: for each function (function-time.ts), for sorting, and in total. If blocks of
 * the engine's own size take too long, blocks of 16,352, 8,192 and 256 rows are tried (clickhouse/guest/settings.ts), and then a lower
 * memory limit.
 */

/** How a query must run so that it can be stopped. */
export interface Care {
  /** Rows per block at most. */
  readonly blockRows: number;
  /** Its memory at most, whatever its tier has. */
  readonly memoryBytes: number;
}

/** Time limit of one block, in nanoseconds of an idle core; a KILL has five seconds (limits.ts), on a machine that is shared. */
const BLOCK_NS_MAX = 2_000_000_000;
/** Above this a query runs in smaller blocks, so that it stops soon after its deadline. */
const LARGE_BLOCK_NS_MAX = 500_000_000;
/** Of the results of its functions: a block of the engine's own size then has at most 64 MiB of each, as a result may have. */
const FULL_BLOCK_VALUE_MAX_BYTES = 1_024;
/** Limit on the steps of a regular expression; the library itself allows about ten times as many. */
const PATTERN_STEPS_MAX = 4_000;

/** The ways to run a query, the quickest first. With less memory its functions meet shorter values, so that a block takes less time. */
const LEVELS: readonly (BlockSize & { readonly nsMax: number; readonly valueBytesMax?: number })[] = [
  ...[GUEST_MEMORY_MAX_BYTES, GUEST_STEP_MEMORY_BYTES].map((memoryBytes) => ({
    blockRows: GUEST_FULL_BLOCK_ROWS,
    memoryBytes,
    nsMax: LARGE_BLOCK_NS_MAX,
    valueBytesMax: FULL_BLOCK_VALUE_MAX_BYTES,
  })),
  {
    blockRows: GUEST_QUARTER_BLOCK_ROWS,
    memoryBytes: GUEST_STEP_MEMORY_BYTES,
    nsMax: LARGE_BLOCK_NS_MAX,
    valueBytesMax: FULL_BLOCK_VALUE_MAX_BYTES,
  },
  { blockRows: GUEST_BLOCK_ROWS, memoryBytes: GUEST_STEP_MEMORY_BYTES, nsMax: LARGE_BLOCK_NS_MAX },
  { blockRows: GUEST_SMALL_BLOCK_ROWS, memoryBytes: GUEST_STEP_MEMORY_BYTES, nsMax: BLOCK_NS_MAX },
  { blockRows: GUEST_SMALL_BLOCK_ROWS, memoryBytes: GUEST_LITTLE_MEMORY_BYTES, nsMax: BLOCK_NS_MAX },
];

/** Throws `Refused` (`too_complex`). `tokens` come from the canonical text. */
export function checkWork(
  root: TreeNode,
  tokens: readonly Token[],
  { functions, own = [] }: { readonly functions: FunctionCatalogue; readonly own?: readonly OwnTable[] },
): Care {
  const nodes = [...walk(root)];
  const named = namedValues(root);
  const sizes = createValueSizes(root, renamesColumns(tokens), own);
  const known: Known = {
    functions,
    sizes,
    named,
    // An attached table is one block.
    rows: callRows(root, sizes, own.length === 0 ? 0 : OWN_TABLE_ROWS_MAX),
    isSameForAllRows: samenessOf(named, functions),
    hasMaps: nodes.some(makesMap),
  };
  for (const node of nodes) if (node.kind === 'IDENTIFIER') checkName(node, known);
  const calls = nodes.flatMap((node) => callOf(node, known));
  for (const call of calls) checkPattern(call, known);
  // Use smaller blocks only if they help.
  const works = LEVELS.map((level) => calls.map((call) => functionTime(call, level, known)));
  const sorting = LEVELS.map(({ blockRows, memoryBytes }) =>
    sortingTime(nodes, { ...known, blockRows, blockBytes: memoryBytes * BLOCK_SHARE }),
  );
  const totals = works.map((of, index) => of.reduce((sum, ns) => sum + ns, sorting[index] ?? 0));
  const longest = Math.max(0, ...calls.map(({ node }) => sizes.bytesOf(node)));
  const at = LEVELS.findIndex(
    ({ nsMax, valueBytesMax = Number.POSITIVE_INFINITY }, index) =>
      (totals[index] ?? 0) <= nsMax && longest <= valueBytesMax,
  );
  const level = LEVELS[at];
  if (level !== undefined) return level;
  if ((sorting.at(-1) ?? 0) > BLOCK_NS_MAX) refuseSorting();
  return refuseLongest(calls, works.at(-1) ?? []);
}

/** A name that the query declares is a lambda, whose body is a node of its own. */
function callOf(node: TreeNode, { functions, named }: Known): Call[] {
  const name = attribute(node, 'function_name');
  if (node.kind !== 'FUNCTION' || name === undefined) return [];
  const entry = functions.costOf(name);
  if (entry === null && named.has(name)) return [];
  return [{ node, name, entry, args: listIn(node, 'ARGUMENTS') }];
}

function checkPattern({ name, entry, args }: Call, { sizes, named }: Known): void {
  const pattern = entry?.regexp === undefined ? undefined : args[entry.regexp];
  if (pattern === undefined) return;
  if (stepsOf(pattern, Math.min(sizes.bytesOf(pattern), PATTERN_STEPS_MAX), named) <= PATTERN_STEPS_MAX)
    return;
  refuse('too_complex', {
    near: name,
    detail: `The pattern of ${name} is too large, with its counted repeats written out, or is made of values that only the run knows.`,
    hint: 'Write the pattern out, and repeat with * or + instead of {1,1000}.',
  });
}

function refuseLongest(calls: readonly Call[], works: readonly number[]): never {
  const longest = works.indexOf(Math.max(...works));
  const name = calls[longest]?.name ?? 'A function';
  refuse('too_complex', {
    near: name,
    detail: `${name} cannot be stopped in time: one block of this query may take longer than ${BLOCK_NS_MAX / 1e9} s, by the sizes of its values, the elements of its arrays and the rows of the block.`,
    hint: 'Give it columns and short texts; write out how long a value is with LIMIT inside a subquery; join large lists as tables, or use x IN (SELECT …).',
  });
}

function makesMap(node: TreeNode): boolean {
  if (node.kind === 'CONSTANT') return /Map\(|Map_/.test(node.rest);
  const name = functionName(node);
  return /map/i.test(name) && !/^arraymap$/i.test(name);
}

/** `WITH t (a, b) AS (…)` and `(…) AS t(a, b)`, which no form of the tree shows. */
function renamesColumns(tokens: readonly Token[]): boolean {
  return tokens.some((token, at) => {
    if (token.text !== 'AS' || tokens[at - 1]?.kind !== 'ClosingRoundBracket') return false;
    return [tokens[at + 1], tokens[at + 2]].some((next) => next?.kind === 'OpeningRoundBracket');
  });
}

/** `arrayMap(hasAny, xs, ys)`: a function that is passed by name has no arguments to check. */
function checkName(node: TreeNode, { named, functions }: Known): void {
  const name = attribute(node, 'identifier') ?? '';
  const isArgument = node.parent?.kind === 'LIST' && node.parent.section === 'ARGUMENTS';
  if (!isArgument || named.has(name)) return;
  const entry = functions.costOf(name);
  if (entry === null || entry.aggregate === true || entry.work === 'flat') return;
  refuse('too_complex', {
    near: name,
    detail: `${name} is not available as the name of a function in an argument.`,
    hint: `Write it as a lambda: (x, y) -> ${name}(x, y).`,
  });
}

/**
 * Whether a value consists of constants and scalar subqueries, so that it is not stored per row. A name that refers back to itself
 * is a column.
 */
function samenessOf(named: NamedValues, functions: FunctionCatalogue): (node: TreeNode) => boolean {
  const known = new Map<TreeNode, boolean>();
  const judged = (node: TreeNode): boolean => {
    if (node.kind === 'CONSTANT' || node.kind === 'QUERY' || node.kind === 'UNION') return true;
    // An aggregation has a value per group.
    if (functions.costOf(functionName(node))?.aggregate === true) return false;
    if (node.kind !== 'IDENTIFIER') return listIn(node, 'ARGUMENTS').every(isSame);
    const meant = named.get(attribute(node, 'identifier') ?? '') ?? [];
    // The elements passed to a lambda are stored as a column.
    return meant.some((one) => one !== null && !one.isElement && isSame(one.node));
  };
  const isSame = (node: TreeNode): boolean => {
    const before = known.get(node);
    if (before !== undefined) return before;
    known.set(node, false);
    const same = judged(node);
    known.set(node, same);
    return same;
  };
  return isSame;
}

/**
 * COLLATE: the time of sorting one block in the order of a language. The engine compares character by character without checking its
 * time limit: 8,192 texts of 5,000 bytes with a common prefix ran for more than 5 s after a KILL (26.7.2.1). Other orders compare
 * bytes, which is fast enough for anything that fits in memory.
 */

/** Nanoseconds per byte of each comparison. */
const COLLATED_NS = 13;
/** A sort of n values needs at least n (log2 n - 1.44) comparisons, and hardly more. */
const SAVED_STEPS = 1.44;

interface Sorting {
  readonly rows: CallRows;
  readonly sizes: ValueSizes;
  readonly blockRows: number;
  /** Total size of the block's values. */
  readonly blockBytes: number;
}

/** Nanoseconds for one block. */
function sortingTime(nodes: readonly TreeNode[], sorting: Sorting): number {
  return nodes.filter(isCollated).reduce((sum, sort) => sum + sortTime(sort, sorting), 0);
}

function isCollated({ kind, rest }: TreeNode): boolean {
  return kind === 'SORT' && rest.startsWith('collator: ');
}

function sortTime(sort: TreeNode, { rows, sizes, blockRows, blockBytes }: Sorting): number {
  const sorted = rows.of(sort, blockRows);
  const bytes = sort.children.reduce((sum, one) => sum + sizes.bytesOf(one), 0);
  const steps = Math.max(1, Math.log2(sorted) - SAVED_STEPS);
  return COLLATED_NS * Math.min(sorted * bytes, blockBytes) * steps;
}

function refuseSorting(): never {
  refuse('too_complex', {
    near: 'COLLATE',
    detail: 'ORDER BY … COLLATE cannot be stopped in time where texts may be so long.',
    hint: 'Sort by the first characters, substring(x, 1, 100), or without COLLATE.',
  });
}
