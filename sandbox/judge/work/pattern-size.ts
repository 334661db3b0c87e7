import { attribute, listIn, type TreeNode } from '../query-tree.ts';
import { functionName, type NamedValues } from '../scope.ts';

/**
 * The size of a regular expression with its counted repeats expanded: the library keeps an automaton step for each, and falls back to
 * trying all of them at every byte (26.7.2.1: `A.{900}Z` takes 3 µs per byte of a text of hexadecimal digits).
 */

/** A repeat without an upper bound is a loop: one step more than its lower bound. */
const COUNTED = /^\{(\d+)(?:,(\d*))?\}/;
/** Non-ASCII letters, and the wildcard, take several byte steps. */
const WIDE_STEPS = 4;
/** The largest expansion per byte of pattern: `a{1000}` has seven bytes. */
const STEPS_OF_A_BYTE_MAX = 150;

/** Steps of the automaton. An invalid pattern counts by its length; the engine refuses it. */
export function patternSteps(pattern: string): number {
  // Text between \\Q and \\E is literal and could hide the end of a group.
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

/** Reads up to the closing bracket of the group, or the end. */
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

/** `{2,5}`, also stacked: `a{9}{9}`. Without a repeat: 1. */
function repeatAt(text: string, from: number): Read {
  let steps = 1;
  let at = from;
  for (
    let next = COUNTED.exec(text.slice(at, at + 16));
    next !== null;
    next = COUNTED.exec(text.slice(at, at + 16))
  ) {
    const least = Number(next[1]);
    // Without an upper bound it is a loop after the lower bound; Number('') is 0.
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

/** The first character of a class may be the closing bracket itself. */
function classEnd(text: string, at: number): number {
  const end = /^\[\^?\]?(?:\\.|\[:\^?\w*:\]|[^\]\\])*\]/s.exec(text.slice(at))?.[0].length;
  return end === undefined ? text.length : at + end;
}

/** Every possible text of a pattern argument, or null if it depends on values known only at run time. */
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
/** Functions that return a text unchanged. */
const PLAIN = /^(_cast|cast|tostring|materialize|lower|upper|identity)$/i;

function all(found: readonly (readonly string[] | null)[]): readonly string[] | null {
  return found.every((texts) => texts !== null) ? found.flatMap((texts) => texts ?? []) : null;
}

/** The printed texts, one or the elements of an array, without quotes and escapes. */
function constantTexts({ rest }: TreeNode): readonly string[] {
  const printed = /^constant_value: (.*), constant_value_type: /s.exec(rest)?.[1] ?? rest;
  return [...printed.matchAll(/'((?:\\.|[^'\\])*)'?/gs)].map(([, text]) =>
    (text ?? '').replace(/\\(.)/gs, '$1'),
  );
}

/** The largest step count of a pattern argument; for one known only at run time, the maximum for its length. */
export function stepsOf(pattern: TreeNode, bytes: number, named: NamedValues): number {
  const texts = patternTexts(pattern, named);
  if (texts === null) return bytes * STEPS_OF_A_BYTE_MAX;
  return texts.reduce((sum, text) => sum + patternSteps(text), 0);
}
