import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';

/** Texts that a query holds as constants, and what it compares them with. */

/** A text, a list or tuple of values, or null for a value of another type. */
type ConstantValue = string | null | readonly ConstantValue[];

/** A constant as the printed tree has it: `'it\'s'`, `Array_['a', 'b']`, `Tuple_('a', UInt64_1)`. */
function valueIn(node: TreeNode): ConstantValue {
  const printed = /^constant_value: (.*)$/s.exec(node.rest)?.[1];
  return printed === undefined ? null : readValue(printed, 0).value;
}

interface Read {
  readonly value: ConstantValue;
  readonly end: number;
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', 0: '\0' };
const TEXT = /'((?:[^'\\]|\\.)*)'/sy;
const OPENING = /(?:Array|Tuple|Map)_[[(]/y;
const SEPARATOR = /,\s*/y;
const OTHER = /[^,()[\]]*/y;

function readValue(printed: string, at: number): Read {
  const text = matchAt(TEXT, printed, at);
  if (text !== null)
    return {
      value: (text[1] ?? '').replace(/\\(.)/gs, (_, letter: string) => ESCAPED[letter] ?? letter),
      end: at + text[0].length,
    };
  const opening = matchAt(OPENING, printed, at);
  if (opening === null) return { value: null, end: at + (matchAt(OTHER, printed, at)?.[0].length ?? 0) };
  const values: ConstantValue[] = [];
  let end = at + opening[0].length;
  while (end < printed.length && !/[\])]/.test(printed[end] ?? '')) {
    const read = readValue(printed, end);
    values.push(read.value);
    const next = read.end + (matchAt(SEPARATOR, printed, read.end)?.[0].length ?? 0);
    if (next === end) return { value: values, end };
    end = next;
  }
  return { value: values, end: end + 1 };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function textsIn(value: ConstantValue): string[] {
  if (value === null) return [];
  return typeof value === 'string' ? [value] : value.flatMap(textsIn);
}

/** Every text in a constant of the tree, as often as it is there. */
export function constantTexts(root: TreeNode): string[] {
  return [...walk(root)].flatMap((node) => (node.kind === 'CONSTANT' ? textsIn(valueIn(node)) : []));
}

export interface Comparison {
  readonly expression: TreeNode;
  /** With each of which it is compared. */
  readonly texts: readonly string[];
}

const EITHER_SIDE =
  /^(equals|notequals|less|greater|lessorequals|greaterorequals|isdistinctfrom|isnotdistinctfrom|nullif)$/i;
const IN = /^(global)?(not)?(null)?in(ignoreset)?$/i;
/** The values that are looked through stand first. */
const ARRAY_FIRST = /^(has|indexof|countequal)$/i;
const TRANSFORM = /^transform$/i;
const CASE = /^casewithexpression$/i;

/** What a query compares with texts that are constants. */
export function comparisons(root: TreeNode): Comparison[] {
  return [...walk(root)].flatMap((node) => (node.kind === 'FUNCTION' ? comparisonsOf(node) : []));
}

function comparisonsOf(node: TreeNode): Comparison[] {
  const name = attribute(node, 'function_name') ?? '';
  const [first, second, ...others] = listIn(node, 'ARGUMENTS');
  if (first === undefined || second === undefined) return [];
  if (EITHER_SIDE.test(name)) return [...compared(first, second, false), ...compared(second, first, false)];
  if (IN.test(name)) return compared(first, second, true);
  if (ARRAY_FIRST.test(name)) return compared(second, first, true);
  if (TRANSFORM.test(name)) return compared(first, second, true);
  if (!CASE.test(name)) return [];
  // CASE x WHEN a THEN b … ELSE c: every second argument is a value, save the last of them all.
  const rest = [second, ...others];
  const values = rest.filter((_, at) => at % 2 === 0 && at < rest.length - 1);
  return values.flatMap((value) => compared(first, value, false));
}

/** `isSet`: the other side is a list of what is compared. */
function compared(expression: TreeNode, other: TreeNode, isSet: boolean): Comparison[] {
  if (isConstant(expression)) return [];
  const value = constantOf(other);
  if (value === undefined) return [];
  return pairs(expression, isSet && Array.isArray(value) ? membersOf(expression, value) : [value]);
}

/** `IN (a, b)` of one tuple is that tuple, and not a list. */
function membersOf(expression: TreeNode, values: readonly ConstantValue[]): readonly ConstantValue[] {
  const isTuple = attribute(expression, 'function_name') === 'tuple';
  return isTuple && !values.some((value) => Array.isArray(value)) ? [values] : values;
}

function pairs(expression: TreeNode, values: readonly ConstantValue[]): Comparison[] {
  if (attribute(expression, 'function_name') !== 'tuple') {
    const texts = values.filter((value) => typeof value === 'string');
    return texts.length === 0 ? [] : [{ expression, texts }];
  }
  return listIn(expression, 'ARGUMENTS').flatMap((part, at) =>
    pairs(
      part,
      values.flatMap((value) => (Array.isArray(value) ? [value[at] ?? null] : [])),
    ),
  );
}

function isConstant(node: TreeNode): boolean {
  return constantOf(node) !== undefined;
}

/** Also of a parameter, which is a constant that is cast, and of a list that holds some constants. */
function constantOf(node: TreeNode): ConstantValue | undefined {
  if (node.kind === 'CONSTANT') return valueIn(node);
  const name = attribute(node, 'function_name') ?? '';
  const args = listIn(node, 'ARGUMENTS');
  if (name === '_CAST' && args[0]?.kind === 'CONSTANT') return valueIn(args[0]);
  if (!/^(array|tuple)$/.test(name)) return undefined;
  const values = args.map((one) => constantOf(one));
  return values.every((value) => value === undefined) ? undefined : values.map((value) => value ?? null);
}
