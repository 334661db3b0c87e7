import type { OwnTable } from '../../policy/own-tables.ts';
import { PUBLIC_COLUMNS } from '../columns.ts';
import { isValues } from '../names.ts';
import { attribute, listIn, type TreeNode, walk } from '../query-tree.ts';
import { ctesInSight, functionName, isTablePlace, namedValues, queryAround } from '../scope.ts';

/**
 * An upper bound, from the tree alone, for the bytes of a value: literals have their length, table columns that of a hash, and a
 * function's result is no longer than its arguments together, except for functions that grow their input. Unknown sizes are infinite.
 * A name stands for everything in the query that has this name, regardless of scope.
 */
export interface ValueSizes {
  bytesOf(node: TreeNode): number;
}

/** Addresses have 42 bytes, transaction hashes 66; texts of agents may be longer. */
const COLUMN_BYTES = 100;
const SCALAR_BYTES = 32;
/** Functions that print bytes in another notation; `bin` has the longest output. */
const ENCODED_TIMES = 8;
/** An eight-byte number prints as up to 25 characters; texts stay as they are. */
const PRINTED_TIMES = 4;
/** A placeholder of two characters stands for up to thirty. */
const FORMATTED_TIMES = 15;
const ENCODERS =
  /^(bin|bitmap\w*|base\d.*encode|encode.*|to_?base64|tojsonstring|formatquery|char|format.*)$/i;
const PRINTERS = /^(tostring|hex)$/i;
/** Functions with the size, or the number of repeats, in an argument. */
const SIZED: ReadonlyMap<string, SizeRule> = new Map<string, SizeRule>([
  ['repeat', ([value, times]) => bytes(value) * count(times)],
  ['space', ([times]) => count(times)],
  ['range', (args) => 8 * Math.max(...args.map(count))],
  ['arrayresize', ([value, times, filler]) => bytes(value) + bytes(filler) * count(times)],
  ['arraywithconstant', ([times, value]) => bytes(value) * count(times)],
  ['replicate', ([value, times]) => bytes(value) * bytes(times)],
  ['formatdatetime', ([, format]) => FORMATTED_TIMES * bytes(format)],
  ['tofixedstring', ([, times]) => count(times)],
  ...['leftpad', 'lpad', 'rightpad', 'rpad', 'leftpadutf8', 'rightpadutf8'].map(
    (name): [string, SizeRule] => [name, ([value, times]) => bytes(value) + 4 * count(times)],
  ),
  // At most one match for each character and one at the end. Each `\1` in the replacement adds at most the whole text.
  ...['replaceall', 'replace', 'replaceregexpall', 'replaceregexpone', 'regexp_replace'].map(
    (name): [string, SizeRule] => [
      name,
      ([value, , replacement]) => (1 + bytes(value)) * (1 + bytes(replacement)),
    ],
  ),
  ...['arraymap', 'arraystringconcat'].map((name): [string, SizeRule] => [
    name,
    (args) => args.reduce((product, arg) => product * (1 + bytes(arg)), 1),
  ]),
]);
/** Functions that accumulate over many rows or rounds: their values have no bound. */
const ENDLESS_BEGINNINGS =
  /^(group_?(array|uniq|concat|bitmap)|array_?agg|array_?concat_?agg|string_?agg|listagg|arrayfold|arrayreduce|arrayshingles|timeslots|h3|s2|geohash|mappopulateseries|topk|approx_top|histogram|sparkbar|quantiles|numericindexed|finalizeaggregation)/i;
/** Of these, functions that keep a value per row, or for a given number of rows. */
const GATHERERS = /^group(Uniq)?Array(Last|Sorted|Sample)?(If|Distinct)*$/;
const TOPS = /^(topK(Weighted)?|approx_top_(k|count|sum))(If|Distinct)*$/;
const TOPS_UNLESS_TOLD = 10;
/** Overhead per array element. */
const GATHERED_OVERHEAD_BYTES = 32;
/** Functions whose value is one number, whatever they are given: also `*`, whose own size is unknown. */
const COUNTS = /^(count|uniq|uniqExact)(If|Distinct)*$/i;
const ENDLESS_ENDINGS = /[a-z](Array|Map|Mapped|Resample|ForEach|State)$/;

interface Sized {
  readonly node: TreeNode;
  readonly bytes: number;
}
type SizeRule = (args: readonly Sized[]) => number;

const bytes = (one: Sized | undefined): number => one?.bytes ?? 0;

/** A literal number, or one bounded by `least`; otherwise infinite. */
function count(one: Sized | undefined): number {
  return one === undefined ? 0 : numberIn(one.node);
}

function numberIn(node: TreeNode): number {
  if (node.kind === 'CONSTANT') {
    const value = /^constant_value: U?Int\d+_(-?\d+)/.exec(node.rest)?.[1];
    return value === undefined ? Number.POSITIVE_INFINITY : Math.abs(Number(value));
  }
  if (!/^least$/i.test(functionName(node))) return Number.POSITIVE_INFINITY;
  return Math.min(...listIn(node, 'ARGUMENTS').map(numberIn));
}

/** Length of the printed constant, including quotes and escapes. */
function constantBytes({ rest }: TreeNode): number {
  return (/^constant_value: (.*), constant_value_type: /s.exec(rest)?.[1] ?? rest).length;
}

function timesOf(name: string): number {
  if (PRINTERS.test(name)) return PRINTED_TIMES;
  return ENCODERS.test(name) ? ENCODED_TIMES : 1;
}

function isEndless(name: string): boolean {
  return ENDLESS_BEGINNINGS.test(name) || ENDLESS_ENDINGS.test(name);
}

/** How many values an aggregation can collect; infinite for every other unbounded function. */
function gatheredBy(node: TreeNode): number {
  const name = functionName(node);
  const isTop = TOPS.test(name);
  if (!isTop && !GATHERERS.test(name)) return ENDLESSLY;
  const [told] = listIn(node, 'PARAMETERS');
  if (told !== undefined) return numberIn(told);
  return isTop ? TOPS_UNLESS_TOLD : rowsReadBy(node);
}

/** Rows that the query of an aggregation reads. */
function rowsReadBy(node: TreeNode): number {
  const query = queryAround(node);
  return query === null ? ENDLESSLY : rowsRead(query);
}

/** `hasHiddenNames`: columns are renamed in a place that the tree does not show. `own`: the own tables that it reads. */
export function createValueSizes(
  root: TreeNode,
  hasHiddenNames: boolean,
  own: readonly OwnTable[] = [],
): ValueSizes {
  const named = namedValues(root);
  const known = new Map<TreeNode, number>();
  const columnBytes = Math.max(COLUMN_BYTES, ...own.map(({ textBytes }) => textBytes));
  const ownColumns = new Set(own.flatMap(({ columns }) => columns.map(({ name }) => name)));
  const unnamed = unnamedBytes(root, { isAllShown: !hasHiddenNames, columnBytes, ownColumns });

  const bytesOf = (node: TreeNode): number => {
    const before = known.get(node);
    if (before !== undefined) return before;
    known.set(node, ENDLESSLY); // for a node that refers back to itself
    const size = computed(node);
    known.set(node, size);
    return size;
  };
  const computed = (node: TreeNode): number => {
    if (node.kind === 'CONSTANT') return constantBytes(node);
    if (node.kind === 'IDENTIFIER') return ofName(attribute(node, 'identifier') ?? '');
    if (node.kind === 'LAMBDA') return sum(node.children.filter(({ section }) => section === 'EXPRESSION'));
    if (node.kind === 'FUNCTION') return ofFunction(node);
    if (node.kind === 'QUERY') return sum(listIn(node, 'PROJECTION'));
    if (node.kind === 'UNION') return Math.max(0, ...listIn(node, 'QUERIES').map(bytesOf));
    return ENDLESSLY; // an asterisk
  };
  const sum = (nodes: readonly TreeNode[]): number => nodes.reduce((total, node) => total + bytesOf(node), 0);
  const ofFunction = (node: TreeNode): number => {
    const name = functionName(node);
    const args = listIn(node, 'ARGUMENTS');
    if (COUNTS.test(name)) return SCALAR_BYTES;
    const sized = SIZED.get(name.toLowerCase());
    if (sized !== undefined)
      return SCALAR_BYTES + sized(args.map((arg) => ({ node: arg, bytes: bytesOf(arg) })));
    if (/^arrayjoin$/i.test(name)) return elementBytes(args[0] ?? node);
    // A function of the query itself is a lambda.
    if (named.has(name)) return ENDLESSLY;
    if (isEndless(name)) return SCALAR_BYTES + gatheredBy(node) * (GATHERED_OVERHEAD_BYTES + sum(args));
    return SCALAR_BYTES + sum(args) * timesOf(name);
  };
  /** Size of an array element: for an array collected by an aggregation, that of an input value; for any other, at most the whole array. */
  const elementBytes = (node: TreeNode): number => {
    const isGathered = /^group(Uniq)?Array$/i.test(functionName(node));
    return isGathered ? sum(listIn(node, 'ARGUMENTS')) : bytesOf(node);
  };
  const ofName = (name: string): number => {
    const own = name.split('.').flatMap((part) => named.get(part) ?? []);
    if (own.length === 0) return unnamed(name);
    const sizes = own.map((one) => {
      if (one === null) return unnamed('');
      return one.isElement ? elementBytes(one.node) : bytesOf(one.node);
    });
    return Math.max(columnBytes, ...sizes);
  };
  return { bytesOf };
}

const ENDLESSLY = Number.POSITIVE_INFINITY;
/** The columns of `numbers` and `generate_series`. */
const SERIES = /^(number|generate_series)$/;

/** Size of a name that the query does not declare: a table column, or a value that the text contains or computes. */
function unnamedBytes(
  root: TreeNode,
  {
    isAllShown,
    columnBytes,
    ownColumns,
  }: {
    readonly isAllShown: boolean;
    readonly columnBytes: number;
    readonly ownColumns: ReadonlySet<string>;
  },
): (name: string) => number {
  const isColumn = (name: string): boolean =>
    PUBLIC_COLUMNS.has(name) || SERIES.test(name) || ownColumns.has(name);
  let written = columnBytes;
  let isMade = false;
  let isPlain = isAllShown;
  for (const node of walk(root)) {
    if (node.kind === 'CONSTANT') written += constantBytes(node);
    const made = functionName(node);
    if (node.kind === 'APPLY COLUMN TRANSFORMER' || isValues(node)) isPlain = false;
    if (SIZED.has(made.toLowerCase()) || isEndless(made)) isMade = true;
  }
  return (name) => {
    const column = name.split('.').at(-1) ?? '';
    if (isPlain && isColumn(column)) return columnBytes;
    // A column without an alias is named after its expression.
    if (/[^\w]/.test(column)) return ENDLESSLY;
    return isMade ? ENDLESSLY : written;
  };
}

/** An upper bound, from the tree alone, for the rows of a query; infinite if nothing in the text bounds them. */

const MANY = Number.POSITIVE_INFINITY;

/** Rows of a source: a query, a union, or the name of a CTE. */
function rowsOf(node: TreeNode, seen: ReadonlySet<TreeNode> = new Set()): number {
  if (seen.has(node)) return MANY;
  const within = new Set([...seen, node]);
  if (node.kind === 'QUERY') return Math.min(limitOf(node), rowsRead(node, within));
  if (node.kind !== 'IDENTIFIER') return MANY;
  const ctes = ctesInSight(node, attribute(node, 'identifier') ?? '');
  return ctes.length === 0 ? MANY : Math.max(...ctes.map((cte) => rowsOf(cte, within)));
}

/** Rows that a query reads, if it reads one bounded query and adds no rows itself. */
export function rowsRead(query: TreeNode, seen: ReadonlySet<TreeNode> = new Set()): number {
  const [table, ...others] = query.children.filter(isTablePlace);
  if (table === undefined || others.length > 0) return MANY;
  // Clauses that add rows: per array element, per gap, and subtotals.
  if ([...walk(query)].some(addsRows)) return MANY;
  return rowsOf(table, seen);
}

function addsRows({ kind, section, attributes }: TreeNode): boolean {
  if (kind === 'ARRAY_JOIN' || section.startsWith('FILL ')) return true;
  if (/^(arrayjoin|unnest)$/i.test(attributes.get('function_name') ?? '')) return true;
  return (
    attributes.get('with_fill') === '1' ||
    [...attributes.keys()].some((name) => name.startsWith('is_group_by_with'))
  );
}

/** `LIMIT 5`, without a clause that extends it. */
function limitOf(query: TreeNode): number {
  if (query.attributes.has('is_limit_with_ties')) return MANY;
  const limit = query.children.find(({ section }) => section === 'LIMIT');
  const value = /^constant_value: UInt64_(\d+),/.exec(limit?.kind === 'CONSTANT' ? limit.rest : '')?.[1];
  return value === undefined ? MANY : Number(value);
}
