import type { FunctionCatalogue, FunctionEntry } from '../../policy/policy.ts';
import { attribute, type TreeNode, walk } from '../query-tree.ts';
import type { NamedValues } from '../scope.ts';
import { stepsOf } from './pattern-size.ts';
import type { CallRows } from './rows.ts';
import type { ValueSizes } from './value-size.ts';

/**
 * The time of one function call per block: the function's growth class (policy/function-work.ts) times the rows of the block and the
 * elements of the arrays whose lambda contains it. Measured on 26.7.2.1, on one idle core.
 */

/** The longest value, and all values of a block, as shares of the query's memory: results are copied while they are built. */
const VALUE_SHARE = 1 / 4;
export const BLOCK_SHARE = 1 / 2;

/** The minimum size of an element in memory, including its offset. */
const ELEMENT_BYTES = 8;

/** Nanoseconds per byte. */
const LINEAR_NS = 1;
const HEAVY_NS = 8;
/** arrayReduce, with the most expensive aggregate function: uniqExact. */
const REDUCE_NS = 25;
/** Per byte of output, for functions not known to be cheap: h3ToChildren takes 50 ns per cell. */
const MADE_NS = 16;
const AGGREGATE_NS = 2;
/** Functions with a fixed time per row, regardless of the value. */
export const STEPS_OF_A_ROW =
  /^(count|sum|avg|min|max|any|any_?last|first_value|last_value|arg(min|max))(If|OrNull|OrDefault|State|Merge)*$/i;
/** Per pair of bytes of two values. */
const SEARCH_NS = 1;
const COMPARE_NS = 1 / 64;
const STEP_NS = 2;
/** A search for a text this short is as fast as reading. */
const NEEDLE_BYTES_MAX = 16;
/** An unknown function may loop regardless of the size of its values. */
const UNKNOWN_NS = 5_000;
/** isProbablePrime(…, rounds) for 256 bits, with its default rounds. */
const PRIME_NS = 2_000_000;
const PRIME_ROUNDS = 25;
/** arrayFold, per element. */
const FOLD_NS = 500;
/** arrayFold keeps a column per element. */
const FOLDED_BYTES = 32;
/** How much a step may append to the accumulator. */
const FOLD_GROWTH_BYTES = 16;
/** Not counting the pattern's steps: repeated matching re-reads the text from each match. */
const ONCE = /^(match|regexp_matches|extract|replaceregexpone)$/i;
/** Patterns without alternatives whose unbounded repeat comes last: every attempt ends with its match. */
const STEADY_PATTERN = /^\\?'[^*+{}|?]*[*+]?\)?\\?'$/;

/** Facts about the query as a whole. */
export interface Known {
  readonly functions: FunctionCatalogue;
  readonly sizes: ValueSizes;
  readonly named: NamedValues;
  readonly rows: CallRows;
  readonly isSameForAllRows: (node: TreeNode) => boolean;
  readonly hasMaps: boolean;
}

/** The block size and memory limit of one way to run a query. */
export interface BlockSize {
  readonly blockRows: number;
  readonly memoryBytes: number;
}

export interface Call {
  readonly node: TreeNode;
  readonly name: string;
  readonly entry: FunctionEntry | null;
  readonly args: readonly TreeNode[];
}

/** Nanoseconds of a call for one block. */
export function functionTime(call: Call, level: BlockSize, known: Known): number {
  const { entry, args, node } = call;
  const blockBytes = level.memoryBytes * BLOCK_SHARE;
  const valueBytes = level.memoryBytes * VALUE_SHARE;
  // Array elements are stored as a column of their own.
  const rows = Math.min(known.rows.of(node, level.blockRows), blockBytes / ELEMENT_BYTES);
  const bytes = args.map((arg) =>
    arg.kind === 'LAMBDA' ? 0 : Math.min(known.sizes.bytesOf(arg), valueBytes),
  );
  /** Size of an argument in a block: values that differ per row must be stored, constants need not, except in an aggregation. */
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
  /** Size of the needle. */
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

/** The engine documents MySQL's argument order for locate, which a setting can reverse. */
function needleAt({ name }: Call, documented: number): number {
  return /^locate$/i.test(name) ? 0 : documented;
}

/** Anything but a literal number counts as the maximum. */
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
