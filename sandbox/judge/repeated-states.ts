import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES } from '../../core/domain/public-tables.ts';
import { type NamedValues, namedValues } from './named-values.ts';
import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';
import { argumentNames, ctesInSight, isTablePlace } from './scope.ts';

/**
 * A state of an aggregate function that a join, an arrayJoin, a lambda or a constant repeats is one state with many pointers to it, so
 * memory does not bound how often a block merges it: `uniqExactMerge(s)` of a million values beside three hundred rows ran on for
 * more than 5 s after its KILL (26.7.2.1). States that are merged in a few steps, whatever they have seen, may be repeated.
 */

const STATE = /State/;
const REDUCES = /^arrayreduce/i;
/** Of a fixed size of a few bytes; -SimpleState gives the value itself. */
const SMALL_STATE =
  /SimpleState|^(count|sum|avg|min|max|any|any_?last|first_value|last_value|arg(min|max))(If|OrNull|OrDefault|State)*$/i;
const BITMAP = /^(bitmap|subbitmap|numericindexedvector)/i;
const VALUE_OF_BITMAP =
  /cardinality$|^bitmap(contains|hasall|hasany|min|max|toarray)$|^numericindexedvector(getvalue|allvaluesum|shortdebugstring|tomap)$/i;
/** End an aggregation, or count what they are given. */
const ENDS = /merge|^finalizeaggregation$|^(count|uniq)|^groupbitmap/i;
const MERGES = /merge|^groupbitmap(and|or|xor)/i;
const JOINS = /^arrayjoin$|^unnest$/i;
const COPIES = /^(replicate|arraywithconstant|arrayresize)$/i;
const PUBLIC_COLUMNS: ReadonlySet<string> = new Set(
  PUBLIC_TABLE_NAMES.flatMap((name) => PUBLIC_TABLES[name].columns.map((column) => column.name)),
);

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
      return isOneValue(node) && states.givenBy(node) && nodes.some((one) => MERGES.test(functionOf(one)));
    case 'FUNCTION':
      if (COPIES.test(functionOf(node)) || isMergeOfArray(node))
        return listIn(node, 'ARGUMENTS').some(states.givenBy);
      return JOINS.test(functionOf(node)) && holdsStates(queryAround(node), states);
    default:
      return false;
  }
}

/** `arrayReduce('uniqMerge', [s, s, s])`. */
function isMergeOfArray(node: TreeNode): boolean {
  const [first] = listIn(node, 'ARGUMENTS');
  return REDUCES.test(functionOf(node)) && /merge|groupbitmap(and|or|xor)/i.test(first?.rest ?? '');
}

interface States {
  /** Whether the value of an expression, or a column of a table, may be a state that is long to merge. */
  givenBy(node: TreeNode): boolean;
}

function statesOf(named: NamedValues): States {
  const known = new Map<TreeNode, boolean>();
  const givenBy = (node: TreeNode): boolean => {
    const before = known.get(node);
    if (before !== undefined) return before;
    known.set(node, false); // for one that leads back to itself
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
        return !endsState(functionOf(node)) && listIn(node, 'ARGUMENTS').some(givenBy);
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
    // A column that a list of names calls otherwise, or that is called like what it is made by.
    if (PUBLIC_COLUMNS.has(name.split('.').at(-1) ?? '') || isArgument(node, name)) return false;
    return tablesOf(node).some(givenBy);
  };
  return { givenBy };
}

function makesState(node: TreeNode): boolean {
  const name = functionOf(node);
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

function functionOf(node: TreeNode): string {
  return attribute(node, 'function_name') ?? '';
}

function isArgument(node: TreeNode, name: string): boolean {
  for (let at = node.parent; at !== null; at = at.parent)
    if (at.kind === 'LAMBDA' && argumentNames(at).includes(name)) return true;
  return false;
}

/** What the query around reads. */
function tablesOf(node: TreeNode): readonly TreeNode[] {
  return queryAround(node)?.children.filter(isTablePlace) ?? [];
}

function queryAround(node: TreeNode): TreeNode | null {
  for (let at = node.parent; at !== null; at = at.parent) if (at.kind === 'QUERY') return at;
  return null;
}

/** A subquery that stands for its one value. */
function isOneValue(node: TreeNode): boolean {
  if (node.parent === null || isTablePlace(node) || attribute(node, 'is_cte') === '1') return false;
  return node.section !== 'QUERIES' && node.parent.section !== 'QUERIES';
}
