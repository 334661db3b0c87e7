import { PUBLIC_COLUMNS } from '../columns.ts';
import { isValues } from '../names.ts';
import { attribute, listIn, type TreeNode, walk } from '../query-tree.ts';
import { ctesInSight, functionName, isTablePlace, namedValues, queryAround } from '../scope.ts';

/**
 * How many bytes a value of a query may have, told from its tree alone: literals have their length, columns of tables that of a
 * hash, and what a function makes is no longer than its arguments together, save for those that grow. Where it cannot be told
 * the answer is infinite. Names are taken for everything in the query that is called so, whatever is in sight.
 */
export interface ValueSizes {
  bytesOf(node: TreeNode): number;
}

/** Addresses have 42 bytes, transaction hashes 66; texts that agents chose may be longer. */
const COLUMN_BYTES = 100;
const SCALAR_BYTES = 32;
/** Texts of bytes in another notation: `bin` is the longest. */
const ENCODED_TIMES = 8;
/** Numbers of eight bytes have up to 25 digits and signs; texts stay as they are. */
const PRINTED_TIMES = 4;
/** A placeholder of two characters stands for up to thirty. */
const FORMATTED_TIMES = 15;
const ENCODERS =
  /^(bin|bitmap\w*|base\d+.*encode|encode.*|to_?base64|tojsonstring|formatquery|char|format.*)$/i;
const PRINTERS = /^(tostring|hex)$/i;
/** The size is in an argument: of the value itself, or how often it is repeated. */
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
  ...['replaceall', 'replace', 'replaceregexpall', 'regexp_replace', 'arraymap', 'arraystringconcat'].map(
    (name): [string, SizeRule] => [
      name,
      (args) => args.reduce((product, arg) => product * (1 + bytes(arg)), 1),
    ],
  ),
]);
/** Values of many rows, or of many rounds: as long as they like. */
const ENDLESS_BEGINNINGS =
  /^(group_?(array|uniq|concat|bitmap)|array_?agg|array_?concat_?agg|string_?agg|listagg|arrayfold|arrayreduce|arrayshingles|timeslots|h3|s2|geohash|mappopulateseries|topk|approx_top|histogram|sparkbar|quantiles|numericindexed|finalizeaggregation)/i;
/** Of these, those that keep a value of each row, or of as many rows as they are told to. */
const GATHERERS = /^group(Uniq)?Array(Last|Sorted|Sample)?(If|Distinct)*$/;
const TOPS = /^(topK(Weighted)?|approx_top_(k|count|sum))(If|Distinct)*$/;
const TOPS_UNLESS_TOLD = 10;
/** What each value of an array takes in addition to its own bytes. */
const GATHERED_OVERHEAD_BYTES = 32;
const ENDLESS_ENDINGS = /[a-z](Array|Map|Mapped|Resample|ForEach|State)$/;

interface Sized {
  readonly node: TreeNode;
  readonly bytes: number;
}
type SizeRule = (args: readonly Sized[]) => number;

const bytes = (one: Sized | undefined): number => one?.bytes ?? 0;

/** Written out, or bounded by `least`; infinite otherwise. */
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

/** What a constant is printed as, its quotes and escapes included. */
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

/** How many values an aggregation can gather; infinite for all others that are endless. */
function gatheredBy(node: TreeNode): number {
  const name = functionName(node);
  const isTop = TOPS.test(name);
  if (!isTop && !GATHERERS.test(name)) return ENDLESSLY;
  const [told] = listIn(node, 'PARAMETERS');
  if (told !== undefined) return numberIn(told);
  return isTop ? TOPS_UNLESS_TOLD : rowsReadBy(node);
}

/** Rows that the query around an aggregation reads. */
function rowsReadBy(node: TreeNode): number {
  const query = queryAround(node);
  return query === null ? ENDLESSLY : rowsRead(query);
}

/** `hasHiddenNames`: columns are called otherwise in a place that the tree does not show. */
export function createValueSizes(root: TreeNode, hasHiddenNames: boolean): ValueSizes {
  const named = namedValues(root);
  const known = new Map<TreeNode, number>();
  const unnamed = unnamedBytes(root, !hasHiddenNames);

  const bytesOf = (node: TreeNode): number => {
    const before = known.get(node);
    if (before !== undefined) return before;
    known.set(node, ENDLESSLY); // for one that leads back to itself
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
    const sized = SIZED.get(name.toLowerCase());
    if (sized !== undefined)
      return SCALAR_BYTES + sized(args.map((arg) => ({ node: arg, bytes: bytesOf(arg) })));
    if (/^arrayjoin$/i.test(name)) return elementBytes(args[0] ?? node);
    // One of its own is a lambda.
    if (named.has(name)) return ENDLESSLY;
    if (isEndless(name)) return SCALAR_BYTES + gatheredBy(node) * (GATHERED_OVERHEAD_BYTES + sum(args));
    return SCALAR_BYTES + sum(args) * timesOf(name);
  };
  /** Of an array that an aggregation has gathered, a value that went in; of any other, no more than all of it. */
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
    return Math.max(COLUMN_BYTES, ...sizes);
  };
  return { bytesOf };
}

const ENDLESSLY = Number.POSITIVE_INFINITY;
/** What `numbers` and `generate_series` call theirs. */
const SERIES = /^(number|generate_series)$/;

/** Of a name that the query does not declare: a column of a table, or something that is written in the text or made by it. */
function unnamedBytes(root: TreeNode, isAllShown: boolean): (name: string) => number {
  let written = COLUMN_BYTES;
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
    if (isPlain && (PUBLIC_COLUMNS.has(column) || SERIES.test(column))) return COLUMN_BYTES;
    // A column that has no name of its own is called like what it is made by.
    if (/[^\w]/.test(column)) return ENDLESSLY;
    return isMade ? ENDLESSLY : written;
  };
}

/** How many rows a query can give, told from its tree alone; infinite where nothing that is written there bounds them. */

const MANY = Number.POSITIVE_INFINITY;

/** Rows of what stands in a table's place: a query, a union, or the name of a CTE. */
function rowsOf(node: TreeNode, seen: ReadonlySet<TreeNode> = new Set()): number {
  if (seen.has(node)) return MANY;
  const within = new Set([...seen, node]);
  if (node.kind === 'QUERY') return Math.min(limitOf(node), rowsRead(node, within));
  if (node.kind !== 'IDENTIFIER') return MANY;
  const ctes = ctesInSight(node, attribute(node, 'identifier') ?? '');
  return ctes.length === 0 ? MANY : Math.max(...ctes.map((cte) => rowsOf(cte, within)));
}

/** Rows that a query reads, where it reads one bounded query and makes none of its own. */
export function rowsRead(query: TreeNode, seen: ReadonlySet<TreeNode> = new Set()): number {
  const [table, ...others] = query.children.filter(isTablePlace);
  if (table === undefined || others.length > 0) return MANY;
  // Rows that are added: one for each element, one for each gap, and those of subtotals.
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

/** `LIMIT 5`, and nothing that adds to it. */
function limitOf(query: TreeNode): number {
  if (query.attributes.has('is_limit_with_ties')) return MANY;
  const limit = query.children.find(({ section }) => section === 'LIMIT');
  const value = /^constant_value: UInt64_(\d+),/.exec(limit?.kind === 'CONSTANT' ? limit.rest : '')?.[1];
  return value === undefined ? MANY : Number(value);
}
