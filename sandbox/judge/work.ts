import {
  GUEST_BLOCK_ROWS,
  GUEST_LITTLE_MEMORY_BYTES,
  GUEST_MEMORY_MAX_BYTES,
  GUEST_SMALL_BLOCK_ROWS,
} from '../../clickhouse/guest/settings.ts';
import type { FunctionCatalogue, FunctionEntry } from '../policy/function-catalogue.ts';
import { type CallRows, callRows } from './call-rows.ts';
import { type NamedValues, namedValues } from './named-values.ts';
import type { Token } from './parser.ts';
import { stepsOf } from './pattern-size.ts';
import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';
import { refuseSorting, sortingWork } from './sorting-work.ts';
import { createValueSizes, type ValueSizes } from './value-size.ts';

/**
 * The engine looks at its clock between blocks of rows and nowhere else: all functions of a SELECT are computed over one block before
 * it does. So the time of one block is bounded before a query runs: for each function by how its time grows with its values
 * (function-work.ts), times the rows of a block and the elements of the arrays whose lambda it stands in, and for all of them
 * together. Where 8,192 rows are too many, 256 are tried (clickhouse/guest/settings.ts), and then a query that may hold less at once.
 */

/** How a query has to be run so that it can be stopped. */
export interface Care {
  readonly needsSmallBlocks: boolean;
  readonly needsLittleMemory: boolean;
}

/** Of one block, in nanoseconds of an idle core; a KILL has five seconds (limits.ts), on a machine that others use too. */
const BLOCK_NS_MAX = 2_000_000_000;
/** Above it a query is run in small blocks, so that it stops soon after its time is over. */
const LARGE_BLOCK_NS_MAX = 500_000_000;
/** The longest value, and all values of a block together, as parts of what a query may hold: results are copied as they are made. */
const VALUE_SHARE = 1 / 4;
const BLOCK_SHARE = 1 / 2;

/** The least that an element takes in memory, with what keeps it apart from the next. */
const ELEMENT_BYTES = 8;

/** Nanoseconds a byte. */
const LINEAR_NS = 1;
const HEAVY_NS = 8;
/** arrayReduce, by the dearest of the aggregate functions: uniqExact. */
const REDUCE_NS = 25;
/** Of what a function makes that is not known to be cheap: h3ToChildren takes 50 ns for a cell. */
const MADE_NS = 16;
const AGGREGATE_NS = 2;
/** Take a step for a row, whatever its value. */
const STEPS_OF_A_ROW =
  /^(count|sum|avg|min|max|any|any_?last|first_value|last_value|arg(min|max))(If|OrNull|OrDefault|State|Merge)*$/i;
/** For a byte of each of two values. */
const SEARCH_NS = 1;
const COMPARE_NS = 1 / 64;
const STEP_NS = 2;
/** A text so short is found as fast as it is read. */
const NEEDLE_BYTES_MAX = 16;
/** A function that is not known may loop, whatever the size of its values. */
const UNKNOWN_NS = 5_000;
/** isProbablePrime(…, rounds) of 256 bits, with the rounds it does by itself. */
const PRIME_NS = 2_000_000;
const PRIME_ROUNDS = 25;
/** arrayFold, for an element. */
const FOLD_NS = 500;
/** What it holds for each: a column of its own. */
const FOLDED_BYTES = 32;
/** What a step may put on what it has gathered. */
const FOLD_GROWTH_BYTES = 16;
/** Steps of a regular expression: the library takes up to about ten times as many. */
const PATTERN_STEPS_MAX = 4_000;
/** With the pattern's steps counted apart: texts that are matched again and again are read again from each match. */
const ONCE = /^(match|regexp_matches|extract|replaceregexpone)$/i;
/** What is repeated without bounds stands last, and there is one way only: every try ends with what it has matched. */
const STEADY_PATTERN = /^\\?'[^*+{}|?]*[*+]?\)?\\?'$/;

interface Known {
  readonly functions: FunctionCatalogue;
  readonly sizes: ValueSizes;
  readonly named: NamedValues;
  readonly rows: CallRows;
  readonly isSameForAllRows: (node: TreeNode) => boolean;
  readonly hasMaps: boolean;
}

interface Level {
  readonly blockRows: number;
  readonly memoryBytes: number;
}

const LEVELS: readonly (Level & Care & { readonly nsMax: number })[] = [
  {
    blockRows: GUEST_BLOCK_ROWS,
    memoryBytes: GUEST_MEMORY_MAX_BYTES,
    nsMax: LARGE_BLOCK_NS_MAX,
    needsSmallBlocks: false,
    needsLittleMemory: false,
  },
  {
    blockRows: GUEST_SMALL_BLOCK_ROWS,
    memoryBytes: GUEST_MEMORY_MAX_BYTES,
    nsMax: BLOCK_NS_MAX,
    needsSmallBlocks: true,
    needsLittleMemory: false,
  },
  {
    blockRows: GUEST_SMALL_BLOCK_ROWS,
    memoryBytes: GUEST_LITTLE_MEMORY_BYTES,
    nsMax: BLOCK_NS_MAX,
    needsSmallBlocks: true,
    needsLittleMemory: true,
  },
];

/** Throws `Refused` (`too_complex`). `tokens` of the canonical text. */
export function checkWork(root: TreeNode, tokens: readonly Token[], functions: FunctionCatalogue): Care {
  const nodes = [...walk(root)];
  const named = namedValues(root);
  const sizes = createValueSizes(root, renamesColumns(tokens));
  const known: Known = {
    functions,
    sizes,
    named,
    rows: callRows(root, sizes),
    isSameForAllRows: samenessOf(named, functions),
    hasMaps: nodes.some(makesMap),
  };
  for (const node of nodes) if (node.kind === 'IDENTIFIER') checkName(node, known);
  const calls = nodes.flatMap((node) => callOf(node, known));
  for (const call of calls) checkPattern(call, known);
  // Large blocks are left for small ones only where that helps.
  const works = LEVELS.map((level) => calls.map((call) => workOf(call, level, known)));
  const sorting = LEVELS.map(({ blockRows, memoryBytes }) =>
    sortingWork(nodes, { ...known, blockRows, blockBytes: memoryBytes * BLOCK_SHARE }),
  );
  const totals = works.map((of, index) => of.reduce((sum, ns) => sum + ns, sorting[index] ?? 0));
  const at = LEVELS.findIndex((level, index) => (totals[index] ?? 0) <= level.nsMax);
  const level = LEVELS[at];
  if (level !== undefined) return level;
  if ((sorting.at(-1) ?? 0) > BLOCK_NS_MAX) refuseSorting();
  return refuseLongest(calls, works.at(-1) ?? []);
}

interface Call {
  readonly node: TreeNode;
  readonly name: string;
  readonly entry: FunctionEntry | null;
  readonly args: readonly TreeNode[];
}

/** A name that the query declares is a lambda, whose body stands in the tree by itself. */
function callOf(node: TreeNode, { functions, named }: Known): Call[] {
  const name = attribute(node, 'function_name');
  if (node.kind !== 'FUNCTION' || name === undefined) return [];
  const entry = functions.costOf(name);
  if (entry === null && named.has(name)) return [];
  return [{ node, name, entry, args: listIn(node, 'ARGUMENTS') }];
}

/** Nanoseconds for one block. */
function workOf(call: Call, level: Level, known: Known): number {
  const { entry, args, node } = call;
  const blockBytes = level.memoryBytes * BLOCK_SHARE;
  const valueBytes = level.memoryBytes * VALUE_SHARE;
  // Elements of arrays are held as a column of their own.
  const rows = Math.min(known.rows.of(node, level.blockRows), blockBytes / ELEMENT_BYTES);
  const bytes = args.map((arg) =>
    arg.kind === 'LAMBDA' ? 0 : Math.min(known.sizes.bytesOf(arg), valueBytes),
  );
  /** Of an argument in a block: what differs from row to row has to be held, what is the same has not, save in an aggregation. */
  const held = args.map((arg, at) => {
    const all = rows * (bytes[at] ?? 0);
    const isHeld = entry?.aggregate === true || !known.isSameForAllRows(arg);
    return isHeld ? Math.min(all, blockBytes) : all;
  });
  const made = Math.min(known.sizes.bytesOf(node), valueBytes);
  const total = (of: readonly number[]): number => of.reduce((sum, one) => sum + one, 0);
  if (entry?.aggregate === true) return STEPS_OF_A_ROW.test(call.name) ? 0 : AGGREGATE_NS * total(held);
  if (entry?.regexp !== undefined) return workOfPattern(call, { bytes, held, at: entry.regexp }, known);
  if (entry?.needle !== undefined) return workOfSearch({ bytes, held, at: needleAt(call, entry.needle) });
  if (args.every(({ kind }) => kind === 'CONSTANT')) return 0;
  switch (entry?.work) {
    case 'flat':
      return 0;
    case 'element':
      return known.hasMaps ? LINEAR_NS * (held[0] ?? 0) : 0;
    case 'linear':
      return LINEAR_NS * total(held);
    case 'heavy':
      return HEAVY_NS * total(held);
    case 'reduces':
      return REDUCE_NS * total(held);
    case 'compares':
      return COMPARE_NS * (held[0] ?? 0) * (bytes[1] ?? 0);
    case 'prime':
      return rows * PRIME_NS * Math.max(1, roundsOf(args[1]) / PRIME_ROUNDS);
    case 'folds':
      return workOfFold(call, { rows, valueBytes, blockBytes }, known);
    default:
      return (
        rows * UNKNOWN_NS +
        LINEAR_NS * total(held) * total(bytes) +
        MADE_NS * Math.min(rows * made, blockBytes)
      );
  }
}

interface Sizes {
  readonly bytes: readonly number[];
  readonly held: readonly number[];
  /** Of what is looked for. */
  readonly at: number;
}

function workOfSearch({ bytes, held, at }: Sizes): number {
  const needle = bytes[at] ?? 0;
  const texts = held.reduce((sum, one, index) => (index === at ? sum : sum + one), 0);
  return SEARCH_NS * texts * (needle <= NEEDLE_BYTES_MAX ? 1 : needle);
}

function workOfPattern({ name, args }: Call, { bytes, held, at }: Sizes, { named }: Known): number {
  const pattern = args[at];
  if (pattern === undefined) return 0;
  const textAt = at === 0 ? 1 : 0;
  const steps = stepsOf(pattern, bytes[at] ?? 0, named);
  const again = ONCE.test(name) || isSteady(pattern) ? 0 : (bytes[textAt] ?? 0);
  return STEP_NS * (held[textAt] ?? 0) * (steps + again);
}

function isSteady(pattern: TreeNode): boolean {
  const written = /^constant_value: (.*), constant_value_type: String$/s.exec(pattern.rest)?.[1];
  return pattern.kind === 'CONSTANT' && written !== undefined && STEADY_PATTERN.test(written);
}

/** The engine's documentation gives the order of MySQL for locate, which a setting of the engine can turn around. */
function needleAt({ name }: Call, documented: number): number {
  return /^locate$/i.test(name) ? 0 : documented;
}

/** Anything else than a written number may be the most that there can be. */
function roundsOf(rounds: TreeNode | undefined): number {
  if (rounds === undefined) return PRIME_ROUNDS;
  const written = /^constant_value: UInt64_(\d+),/.exec(rounds.rest)?.[1];
  return written === undefined ? 256 : Number(written);
}

function workOfFold(
  { args }: Call,
  { rows, valueBytes, blockBytes }: Record<'rows' | 'valueBytes' | 'blockBytes', number>,
  { rows: callsRows, functions }: Known,
): number {
  const elements = Math.min(callsRows.elements(args.slice(1, -1)), valueBytes / FOLDED_BYTES);
  const steps = Math.min(rows * elements, blockBytes / FOLDED_BYTES);
  const [lambda] = args;
  const isOfNumbers = lambda !== undefined && [...walk(lambda)].every((part) => isFlat(part, functions));
  return steps * FOLD_NS + (isOfNumbers ? 0 : steps * elements * FOLD_GROWTH_BYTES * LINEAR_NS);
}

function isFlat(node: TreeNode, functions: FunctionCatalogue): boolean {
  const name = attribute(node, 'function_name');
  if (name === undefined) return true;
  return functions.costOf(name)?.work === 'flat';
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
  const name = attribute(node, 'function_name') ?? '';
  return /map/i.test(name) && !/^arraymap$/i.test(name);
}

/** `WITH t (a, b) AS (…)` and `(…) AS t(a, b)`, which no view of the tree shows. */
function renamesColumns(tokens: readonly Token[]): boolean {
  return tokens.some((token, at) => {
    if (token.text !== 'AS' || tokens[at - 1]?.kind !== 'ClosingRoundBracket') return false;
    return [tokens[at + 1], tokens[at + 2]].some((next) => next?.kind === 'OpeningRoundBracket');
  });
}

/** `arrayMap(hasAny, xs, ys)`: a function that is named as a value has no arguments to look at. */
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
 * Whether a value is made of constants and of subqueries that give one value, so that it is not held for each row. A name that leads
 * back to itself is a column.
 */
function samenessOf(named: NamedValues, functions: FunctionCatalogue): (node: TreeNode) => boolean {
  const known = new Map<TreeNode, boolean>();
  const judged = (node: TreeNode): boolean => {
    if (node.kind === 'CONSTANT' || node.kind === 'QUERY' || node.kind === 'UNION') return true;
    // An aggregation has a value for each group.
    if (functions.costOf(attribute(node, 'function_name') ?? '')?.aggregate === true) return false;
    if (node.kind !== 'IDENTIFIER') return listIn(node, 'ARGUMENTS').every(isSame);
    const meant = named.get(attribute(node, 'identifier') ?? '') ?? [];
    // Elements that a lambda is given are held as a column of their own.
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
