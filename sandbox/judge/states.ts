import { PUBLIC_COLUMNS } from './columns.ts';
import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';
import {
  argumentNames,
  ctesInSight,
  functionName,
  isTablePlace,
  type NamedValues,
  namedValues,
  queryAround,
} from './scope.ts';

/**
 * A caller's bytes must never become a state of an aggregate function, because the engine trusts states (docs/design/sandbox.md).
 * Bytes become a state through a cast, or where the engine converts a text to the state type of the same expression. Tried on
 * 26.7.2.1: a type may be computed, or contain comments and quotes; `transform` and CASE convert the texts that they compare with; IN
 * converts its left side to the type of its subquery; INTERPOLATE converts the filled values. Everywhere else the engine reports
 * incompatible types, as long as the guest's profile prevents a Variant of the two (clickhouse/guest/settings.ts).
 */

/** Functions that take the name of a type, and the position of that argument. JSONExtract refuses states itself. */
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
  const name = functionName(node);
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

/** A type in any other string, for example the structure of `values`. */
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
  const name = functionName(node);
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
      detail: 'INTERPOLATE is not available together with -State functions and bitmaps.',
      hint: 'Finish the aggregation in a subquery, and fill its rows outside.',
    });
  }
  if (node.kind !== 'FUNCTION') return;
  const name = functionName(node);
  if (CONVERTS_TEXTS.test(name)) {
    refuse('function', {
      near: /^transform$/i.test(name) ? name : 'CASE',
      detail: 'transform and CASE x WHEN … are not available together with -State functions and bitmaps.',
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

/** Also true if it names a CTE that does. */
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

/**
 * If a join, an arrayJoin, a lambda or a constant repeats an aggregate state, the engine keeps one state with many pointers to it, so
 * memory does not bound how often a block merges it: `uniqExactMerge(s)` of a million values joined to three hundred rows ran for
 * more than 5 s after its KILL (26.7.2.1). States that always merge in a few steps may be repeated.
 */

const STATE = /State/;
const REDUCES = /^arrayreduce/i;
/** States of a few bytes; -SimpleState returns the value itself. */
const SMALL_STATE =
  /SimpleState|^(count|sum|avg|min|max|any|any_?last|first_value|last_value|arg(min|max))(If|OrNull|OrDefault|State)*$/i;
const BITMAP = /^(bitmap|subbitmap|numericindexedvector)/i;
const VALUE_OF_BITMAP =
  /cardinality$|^bitmap(contains|hasall|hasany|min|max|toarray)$|^numericindexedvector(getvalue|allvaluesum|shortdebugstring|tomap)$/i;
/** Functions that finalize a state, or only count their input. */
const ENDS = /merge|^finalizeaggregation$|^(count|uniq)|^groupbitmap/i;
const MERGES = /merge|^groupbitmap(and|or|xor)/i;
const JOINS = /^arrayjoin$|^unnest$/i;
const COPIES = /^(replicate|arraywithconstant|arrayresize)$/i;

/** Throws `Refused` (`too_complex`). */
export function checkRepeatedStates(root: TreeNode): void {
  const nodes = [...walk(root)];
  if (!nodes.some((node) => makesState(node))) return;
  const states = statesOf(namedValues(root));
  const repeated = nodes.find((node) => repeats(node, states, nodes));
  if (repeated === undefined) return;
  refuse('too_complex', {
    near: attribute(repeated, 'function_name') ?? repeated.kind.replace('_', ' '),
    detail:
      'A join, an arrayJoin, a lambda or a subquery of one value repeats states of an aggregate function here, and merging those cannot be stopped in time.',
    hint: 'Finish the aggregation first, or join the rows before they are aggregated; over ordered rows, uniqMerge(s) OVER (ORDER BY day ROWS 6 PRECEDING) merges the states of a week.',
  });
}

function repeats(node: TreeNode, states: States, nodes: readonly TreeNode[]): boolean {
  switch (node.kind) {
    case 'JOIN':
    case 'CROSS JOIN':
    case 'ARRAY_JOIN':
      return node.children.some((child) => isTablePlace(child) && states.givenBy(child));
    case 'LAMBDA':
      return [...walk(node)].some((part) => part.kind === 'IDENTIFIER' && states.givenBy(part));
    case 'QUERY':
    case 'UNION':
      return isOneValue(node) && states.givenBy(node) && nodes.some((one) => MERGES.test(functionName(one)));
    case 'FUNCTION':
      if (COPIES.test(functionName(node)) || isMergeOfArray(node))
        return listIn(node, 'ARGUMENTS').some(states.givenBy);
      return JOINS.test(functionName(node)) && holdsStates(queryAround(node), states);
    default:
      return false;
  }
}

/** `arrayReduce('uniqMerge', [s, s, s])`. */
function isMergeOfArray(node: TreeNode): boolean {
  const [first] = listIn(node, 'ARGUMENTS');
  return REDUCES.test(functionName(node)) && /merge|groupbitmap(and|or|xor)/i.test(first?.rest ?? '');
}

interface States {
  /** Whether the value of an expression, or a column of a table, may be a state that is slow to merge. */
  givenBy(node: TreeNode): boolean;
}

function statesOf(named: NamedValues): States {
  const known = new Map<TreeNode, boolean>();
  const givenBy = (node: TreeNode): boolean => {
    const before = known.get(node);
    if (before !== undefined) return before;
    known.set(node, false); // for a node that refers back to itself
    const given = judged(node);
    known.set(node, given);
    return given;
  };
  const judged = (node: TreeNode): boolean => {
    switch (node.kind) {
      case 'QUERY':
        return listIn(node, 'PROJECTION').some(givenBy);
      case 'UNION':
        return listIn(node, 'QUERIES').some(givenBy);
      case 'FUNCTION':
        if (makesState(node)) return true;
        return !endsState(functionName(node)) && listIn(node, 'ARGUMENTS').some(givenBy);
      case 'LAMBDA':
        return node.children.some((child) => child.section === 'EXPRESSION' && givenBy(child));
      case 'MATCHER':
        return tablesOf(node).some(givenBy);
      case 'IDENTIFIER':
        return ofName(node, attribute(node, 'identifier') ?? '');
      default:
        return node.children.some((child) => isTablePlace(child) && givenBy(child));
    }
  };
  const ofName = (node: TreeNode, name: string): boolean => {
    if (isTablePlace(node)) return ctesInSight(node, name).some(givenBy);
    const meant = name.split('.').flatMap((part) => named.get(part) ?? []);
    if (meant.length > 0) return meant.some((one) => one !== null && givenBy(one.node));
    // A column that is renamed by a list, or named after the expression that makes it.
    if (PUBLIC_COLUMNS.has(name.split('.').at(-1) ?? '') || isArgument(node, name)) return false;
    return tablesOf(node).some(givenBy);
  };
  return { givenBy };
}

function makesState(node: TreeNode): boolean {
  const name = functionName(node);
  if (node.kind !== 'FUNCTION' || SMALL_STATE.test(name)) return false;
  if (BITMAP.test(name)) return !VALUE_OF_BITMAP.test(name);
  const [first] = REDUCES.test(name) ? listIn(node, 'ARGUMENTS') : [];
  return STATE.test(name) || STATE.test(first?.rest ?? '');
}

function endsState(name: string): boolean {
  return ENDS.test(name) || VALUE_OF_BITMAP.test(name);
}

function holdsStates(query: TreeNode | null, states: States): boolean {
  if (query === null) return false;
  const sections = query.children.filter(({ section }) => section !== 'WITH' && section !== '');
  return sections.some((child) =>
    isTablePlace(child)
      ? states.givenBy(child)
      : [...walk(child)].some((part) => makesState(part) && queryAround(part) === query),
  );
}

function isArgument(node: TreeNode, name: string): boolean {
  for (let at = node.parent; at !== null; at = at.parent)
    if (at.kind === 'LAMBDA' && argumentNames(at).includes(name)) return true;
  return false;
}

/** The sources of the enclosing query. */
function tablesOf(node: TreeNode): readonly TreeNode[] {
  return queryAround(node)?.children.filter(isTablePlace) ?? [];
}

/** A scalar subquery. */
function isOneValue(node: TreeNode): boolean {
  if (node.parent === null || isTablePlace(node) || attribute(node, 'is_cte') === '1') return false;
  return node.section !== 'QUERIES' && node.parent.section !== 'QUERIES';
}
