import type { FunctionCatalogue, FunctionEntry } from '../../policy/policy.ts';
import { attribute, type TreeNode, walk } from '../query-tree.ts';
import type { NamedValues } from '../scope.ts';
import { stepsOf } from './pattern-size.ts';
import type { CallRows } from './rows.ts';
import type { ValueSizes } from './value-size.ts';

/**
 * How long one call of a function takes for one block: by how the time of the function grows with its values (policy/function-work.ts),
 * times the rows of the block and the elements of the arrays whose lambda it stands in. Measured on 26.7.2.1, on one idle core.
 */

/** The longest value, and all values of a block together, as parts of what a query may hold: results are copied as they are made. */
const VALUE_SHARE = 1 / 4;
export const BLOCK_SHARE = 1 / 2;

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
/** With the pattern's steps counted apart: texts that are matched again and again are read again from each match. */
const ONCE = /^(match|regexp_matches|extract|replaceregexpone)$/i;
/** What is repeated without bounds stands last, and there is one way only: every try ends with what it has matched. */
const STEADY_PATTERN = /^\\?'[^*+{}|?]*[*+]?\)?\\?'$/;

/** What is known of the query as a whole. */
export interface Known {
  readonly functions: FunctionCatalogue;
  readonly sizes: ValueSizes;
  readonly named: NamedValues;
  readonly rows: CallRows;
  readonly isSameForAllRows: (node: TreeNode) => boolean;
  readonly hasMaps: boolean;
}

/** The largest block, and what a query may hold, in one way of running it. */
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

/** Nanoseconds that a call takes for one block. */
export function functionTime(call: Call, level: BlockSize, known: Known): number {
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
