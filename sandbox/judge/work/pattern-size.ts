import { attribute, listIn, type TreeNode } from '../query-tree.ts';
import { functionName, type NamedValues } from '../scope.ts';

/**
 * How large a regular expression is once its counted repeats are written out: the library keeps a step of its automaton for each, and
 * falls back to trying all of them at each byte (26.7.2.1: `A.{900}Z` takes 3 µs for each byte of a text of hexadecimal digits).
 */

/** A repeat without an upper bound is a loop: one step more than its lower bound. */
const COUNTED = /^\{(\d+)(?:,(\d*))?\}/;
/** Letters of other scripts, or any sign at all, take several steps of bytes. */
const WIDE_STEPS = 4;
/** The longest that few bytes can become: `a{1000}` has seven. */
const STEPS_OF_A_BYTE_MAX = 150;

/** Steps of the automaton. A pattern that does not parse counts as long as it is: the engine refuses it. */
export function patternSteps(pattern: string): number {
  // What stands between \\Q and \\E has no signs, and can hide where a group ends.
  if (pattern.includes('\\Q')) return pattern.length * STEPS_OF_A_BYTE_MAX;
  let steps = 0;
  for (let at = 0; at < pattern.length; ) {
    const read = sequence(pattern, at);
    steps += read.steps + 1;
    at = read.end + 1;
  }
  return Math.max(1, steps);
}

interface Read {
  readonly steps: number;
  readonly end: number;
}

/** Up to the closing bracket of its group, or the end. */
function sequence(text: string, from: number): Read {
  let steps = 0;
  let at = from;
  while (at < text.length && text[at] !== ')') {
    const atom = atomAt(text, at);
    const repeat = repeatAt(text, atom.end);
    steps += atom.steps * repeat.steps;
    at = repeat.end;
  }
  return { steps, end: at };
}

/** `{2,5}`, and one after another: `a{9}{9}`. Without one: once. */
function repeatAt(text: string, from: number): Read {
  let steps = 1;
  let at = from;
  for (
    let next = COUNTED.exec(text.slice(at, at + 16));
    next !== null;
    next = COUNTED.exec(text.slice(at, at + 16))
  ) {
    const least = Number(next[1]);
    // Without an upper bound it is a loop behind the lower one; Number('') is 0.
    steps *= Math.max(1, least + 1, Number(next[2] ?? least));
    at += next[0].length;
  }
  return { steps, end: at };
}

function atomAt(text: string, at: number): Read {
  const sign = text[at];
  if (sign === '(') {
    const inside = sequence(text, at + 1);
    return { steps: inside.steps + 1, end: inside.end + 1 };
  }
  if (sign === '[') return { steps: WIDE_STEPS, end: classEnd(text, at) };
  if (sign === '\\') return { steps: WIDE_STEPS, end: at + escapeLength(text, at) };
  if (sign === '.') return { steps: WIDE_STEPS, end: at + 1 };
  return { steps: 1, end: at + 1 };
}

function escapeLength(text: string, at: number): number {
  return /^\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|.)/s.exec(text.slice(at, at + 64))?.[0].length ?? 1;
}

/** The first sign of a class may be the bracket itself. */
function classEnd(text: string, at: number): number {
  const end = /^\[\^?\]?(?:\\.|\[:\^?\w*:\]|[^\]\\])*\]/s.exec(text.slice(at))?.[0].length;
  return end === undefined ? text.length : at + end;
}

/** Every text that a pattern's argument may be, or null where it is made of values that only the run knows. */
export function patternTexts(node: TreeNode, named: NamedValues, depth = 0): readonly string[] | null {
  if (depth > NESTED_MAX) return null;
  if (node.kind === 'CONSTANT') return constantTexts(node);
  if (node.kind === 'IDENTIFIER') {
    const meant = named.get(attribute(node, 'identifier') ?? '') ?? [];
    return meant.length === 0
      ? null
      : all(meant.map((one) => (one === null ? null : patternTexts(one.node, named, depth + 1))));
  }
  if (node.kind !== 'FUNCTION') return null;
  const name = functionName(node);
  const args = listIn(node, 'ARGUMENTS');
  if (PLAIN.test(name)) return args[0] === undefined ? null : patternTexts(args[0], named, depth + 1);
  if (/^array$/i.test(name)) return all(args.map((arg) => patternTexts(arg, named, depth + 1)));
  if (!/^concat$/i.test(name)) return null;
  const parts = args.map((arg) => patternTexts(arg, named, depth + 1));
  if (!parts.every((part) => part?.length === 1)) return null;
  return [parts.map((part) => part?.[0] ?? '').join('')];
}

const NESTED_MAX = 20;
/** Give a text as it is. */
const PLAIN = /^(_cast|cast|tostring|materialize|lower|upper|identity)$/i;

function all(found: readonly (readonly string[] | null)[]): readonly string[] | null {
  return found.every((texts) => texts !== null) ? found.flatMap((texts) => texts ?? []) : null;
}

/** As they are printed, quotes and escapes taken off: one, or those of an array. */
function constantTexts({ rest }: TreeNode): readonly string[] {
  const printed = /^constant_value: (.*), constant_value_type: /s.exec(rest)?.[1] ?? rest;
  return [...printed.matchAll(/'((?:\\.|[^'\\])*)'/gs)].map(([, text]) =>
    (text ?? '').replace(/\\(.)/gs, '$1'),
  );
}

/** Steps of whatever a pattern's argument may be; of one that only the run knows, the most that so many bytes can become. */
export function stepsOf(pattern: TreeNode, bytes: number, named: NamedValues): number {
  const texts = patternTexts(pattern, named);
  if (texts === null) return bytes * STEPS_OF_A_BYTE_MAX;
  return texts.reduce((sum, text) => sum + patternSteps(text), 0);
}
