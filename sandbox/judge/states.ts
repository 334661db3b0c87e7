import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';

/**
 * No bytes of a caller's may become a state of an aggregate function, which the engine trusts as its own (sandbox.md C, 4).
 * Bytes become one by a type, and where the engine converts a text to the type of a state beside it. Tried on 26.7.2.1: a type
 * may be computed, or hold comments and quotes; `transform` and CASE convert the texts that they compare with; IN converts
 * its left side to what its subquery gives; INTERPOLATE converts what it fills in. Everything else answers that the two types do not
 * go together, as long as the guest's profile makes no Variant of them (guest-settings.ts).
 */

/** Functions that take a type by its name, and at which argument. JSONExtract refuses states by itself. */
const TYPE_ARGUMENT: ReadonlyMap<string, number> = new Map([
  ['cast', 1],
  ['_cast', 1],
  ['accuratecast', 1],
  ['accuratecastornull', 1],
  ['accuratecastordefault', 1],
  ['reinterpret', 1],
  ['dynamicelement', 1],
  ['variantelement', 1],
  ['defaultvalueoftypename', 0],
]);
const STATE_TYPE = /AggregateFunction/i;
const STATE_TYPE_IN_TEXT = /AggregateFunction\s*\(/i;
const CONVERTS_TEXTS = /^(transform|casewithexpr(ession)?)$/i;
const HAS_SUBQUERY = /in(ignoreset)?$/i;
/** `uniqState`, `sumIfState`, `sumStateForEach`; bitmaps and indexed vectors are states too. */
const MAKES_STATES = /State|^bitmap|^numericIndexedVector/i;
const NAMED_IN_STRING = /^arrayreduce/i;

/** Throws `Refused` (`type`, `function`). */
export function checkStates(root: TreeNode): void {
  let firstMaker: string | undefined;
  for (const node of walk(root)) {
    if (node.kind === 'CONSTANT') checkConstant(node);
    if (node.kind === 'FUNCTION') checkTypeArgument(node);
    firstMaker ??= makerOf(node);
  }
  if (firstMaker === undefined) return;
  for (const node of walk(root)) checkConversion(node, root);
}

function checkTypeArgument(node: TreeNode): void {
  const name = attribute(node, 'function_name') ?? '';
  const at = TYPE_ARGUMENT.get(name.toLowerCase());
  const type = at === undefined ? undefined : listIn(node, 'ARGUMENTS')[at];
  if (type === undefined) return;
  if (type.kind !== 'CONSTANT') {
    refuse('type', {
      near: name,
      detail: 'The name of a type must be written out, not computed.',
      hint: 'Write CAST(value AS UInt64), or the type as a text.',
    });
  }
  if (STATE_TYPE.test(type.rest)) refuseState();
}

/** A type in a text elsewhere: the structure of `values`, for example. */
function checkConstant(node: TreeNode): void {
  if (node.parent?.kind === 'LIST' && STATE_TYPE_IN_TEXT.test(node.rest)) refuseState();
}

function refuseState(): never {
  refuse('type', {
    near: 'AggregateFunction',
    detail: 'The type AggregateFunction cannot be cast to.',
    hint: 'States cannot be written as literals; build them with -State functions.',
  });
}

function makerOf(node: TreeNode): string | undefined {
  if (node.kind !== 'FUNCTION') return undefined;
  const name = attribute(node, 'function_name') ?? '';
  if (MAKES_STATES.test(name)) return name;
  const [first] = listIn(node, 'ARGUMENTS');
  return NAMED_IN_STRING.test(name) && first?.kind === 'CONSTANT' && MAKES_STATES.test(first.rest)
    ? name
    : undefined;
}

function checkConversion(node: TreeNode, root: TreeNode): void {
  if (node.kind === 'INTERPOLATE') {
    refuse('function', {
      near: 'INTERPOLATE',
      detail: 'INTERPOLATE is not available beside -State functions and bitmaps.',
      hint: 'Finish the aggregation in a subquery, and fill its rows outside.',
    });
  }
  if (node.kind !== 'FUNCTION') return;
  const name = attribute(node, 'function_name') ?? '';
  if (CONVERTS_TEXTS.test(name)) {
    refuse('function', {
      near: /^transform$/i.test(name) ? name : 'CASE',
      detail: 'transform and CASE x WHEN … are not available beside -State functions and bitmaps.',
      hint: 'Write multiIf(x = …, …, …), or aggregate without -State.',
    });
  }
  const right = HAS_SUBQUERY.test(name) ? listIn(node, 'ARGUMENTS')[1] : undefined;
  if (right === undefined || !makesStates(right, root, new Set())) return;
  refuse('function', {
    near: 'IN',
    detail: 'The subquery of an IN cannot use -State functions or bitmaps.',
    hint: 'Finish the aggregation in the subquery: uniq(x) instead of uniqState(x).',
  });
}

/** Also where a CTE does that is named there. */
function makesStates(node: TreeNode, root: TreeNode, seen: Set<string>): boolean {
  for (const part of walk(node)) {
    if (makerOf(part) !== undefined) return true;
    const name = part.kind === 'IDENTIFIER' ? attribute(part, 'identifier') : undefined;
    if (name === undefined || seen.has(name)) continue;
    seen.add(name);
    for (const cte of walk(root)) {
      if (attribute(cte, 'cte_name') === name && makesStates(cte, root, seen)) return true;
    }
  }
  return false;
}
