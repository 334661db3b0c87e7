import type { Call, Rule, RuleFunction, Rules } from '../call.ts';
import { isNode, type Node, nodesOf, numberOf, textOf } from '../nodes.ts';
import { constantText } from './texts.ts';

/** Aggregates, their order, their conditions, and window functions. */

/** The values of the group as an array, in the order that the call asks for. NULLs are left out. Null for an order by other values. */
function arrayOf(call: Call): string | null {
  const { args, distinct, order, print } = call;
  const value = args[0] === undefined ? '' : print(args[0]);
  const array = `${distinct ? 'groupUniqArray' : 'groupArray'}${ifOf(call)}(${value}${conditionOf(call)})`;
  const [first] = order;
  if (first === undefined) return array;
  const keys = order.map(({ by }) => print(by));
  if (keys.length === 1 && keys[0] === value)
    return `${first.descending ? 'arrayReverseSort' : 'arraySort'}(${array})`;
  if (distinct) return null;
  const pairs = `groupArray${ifOf(call)}((${[...keys, value].join(', ')})${conditionOf(call)})`;
  const sort = first.descending ? 'arrayReverseSort' : 'arraySort';
  return `arrayMap(pair -> pair.${keys.length + 1}, ${sort}(${pairs}))`;
}

const ifOf = ({ filter }: Call): string => (filter === null ? '' : 'If');
const conditionOf = ({ filter, print }: Call): string => (filter === null ? '' : `, ${print(filter)}`);

function limited(array: string | null, { limit, print }: Call): string | null {
  return limit === null || array === null ? array : `arraySlice(${array}, 1, ${print(limit)})`;
}

const arrayAgg: Rule = (call) => limited(arrayOf(call), call);

/** `string_agg(x, ',')` and its names in the other dialects. */
const joinedTexts: Rule = (call) => {
  const [, separator] = call.args;
  const between = separator === undefined ? ',' : textOf(separator);
  const array = limited(arrayOf(call), call);
  return between === null || array === null ? null : `arrayStringConcat(${array}, ${constantText(between)})`;
};

/** `percentile_cont(0.5) WITHIN GROUP (ORDER BY x)`; of BigQuery and Trino `percentile_cont(x, 0.5)`. */
const percentile =
  (quantile: string): Rule =>
  (call) => {
    const [first, second] = call.args;
    const [order] = call.order;
    const level = order === undefined ? second : first;
    const value = order === undefined ? first : order.by;
    const share = level === undefined ? null : numberOf(level);
    const several = level === undefined || order?.descending === true ? null : sharesOf(level);
    if (value !== undefined && several !== null)
      return `${MANY[quantile] ?? ''}${ifOf(call)}(${several.join(', ')})(toFloat64(${call.print(value)})${conditionOf(call)})`;
    if (value === undefined || share === null || share < 0 || share > 1) return null;
    const at = order?.descending === true ? 1 - share : share;
    return `${quantile}${ifOf(call)}(${at})(toFloat64(${call.print(value)})${conditionOf(call)})`;
  };

/** `ARRAY[0.5, 0.9]`. */
function sharesOf(level: Node): readonly number[] | null {
  const listed = isNode(level['expr_list']) ? nodesOf(level['expr_list']['value']) : [];
  const items = listed.length > 0 ? listed : nodesOf(level['array_path']).map((item) => item['expr']);
  const shares = items.map(numberOf);
  return shares.length > 0 &&
    shares.every((share): share is number => share !== null && share >= 0 && share <= 1)
    ? shares
    : null;
}

const MANY: Readonly<Record<string, string>> = {
  quantile: 'quantiles',
  quantileExactInclusive: 'quantilesExactInclusive',
  quantileExactLow: 'quantilesExactLow',
};

/** Of no rows the least of the four dialects is NULL, and ClickHouse's is zero. */
const NULL_OF_NONE = new Set(['min', 'max', 'avg']);

/** An aggregate with FILTER as a combinator. */
export const filtered: RuleFunction = (call) => {
  const { name, args, distinct, filter, print } = call;
  if (filter === null) return null;
  const condition = print(filter);
  const values = args.map(print);
  if (name === 'count' && values.length === 0) return `countIf(${condition})`;
  if (name === 'count' && distinct) return `uniqExactIf(${[...values, condition].join(', ')})`;
  const ours = FILTERED_NAMES[name] ?? name;
  const combinators = NULL_OF_NONE.has(name) ? 'OrNullIf' : 'If';
  return distinct || call.order.length > 0
    ? null
    : `${ours}${combinators}(${[...values, condition].join(', ')})`;
};

const FILTERED_NAMES: Readonly<Record<string, string>> = {
  map_agg: 'mapFromArrays(groupArray($1), groupArray($2))',
  approx_distinct: 'uniq',
  max_by: 'argMax',
  min_by: 'argMin',
  stddev: 'stddevSamp',
  variance: 'varSamp',
};

/** The first row's value without a row before it is NULL, which a column without NULLs cannot say. */
const neighbour =
  (name: string): Rule =>
  ({ args, print }) => {
    const [value, ...others] = args.map(print);
    if (value === undefined) return null;
    return others.length > 1
      ? `${name}(${[value, ...others].join(', ')})`
      : `${name}(toNullable(${[`${value})`, ...others].join(', ')})`;
  };

/** `APPROX_QUANTILES(x, 100)[OFFSET(50)]` is read with its index by the printer. */
const approxQuantiles: Rule = ({ args, print }) => {
  const [value, buckets] = args;
  const count = buckets === undefined ? null : numberOf(buckets);
  if (value === undefined || count === null || count < 1 || count > 100) return null;
  const levels = Array.from({ length: count + 1 }, (_, nth) => nth / count);
  return `quantiles(${levels.join(', ')})(${print(value)})`;
};

export const AGGREGATES: Rules = {
  string_agg: joinedTexts,
  listagg: joinedTexts,
  group_concat: joinedTexts,
  array_agg: arrayAgg,
  percentile_cont: percentile('quantileExactInclusive'),
  percentile_disc: percentile('quantileExactLow'),
  approx_percentile: percentile('quantile'),
  approx_quantiles: approxQuantiles,
  median: percentileOfMiddle,
  mode: ({ args, order, print }) => {
    const value = order[0]?.by ?? args[0];
    return value === undefined ? null : `topK(1)(${print(value)})[1]`;
  },
  approx_distinct: ({ args, print }) => (args[0] === undefined ? null : `uniq(${print(args[0])})`),
  approx_count_distinct: 'uniq($1)',
  approx_top_count: ({ args, print }) => {
    const [value, count] = args;
    return value === undefined || count === undefined ? null : `topK(${print(count)})(${print(value)})`;
  },
  any_value: (call) =>
    call.args[0] === undefined ? null : `any${ifOf(call)}(${call.print(call.args[0])}${conditionOf(call)})`,
  arbitrary: 'any($1)',
  max_by: 'argMax($1, $2)',
  min_by: 'argMin($1, $2)',
  count_if: 'countIf($1)',
  countif: 'countIf($1)',
  bool_and: 'min($1)',
  bool_or: 'max($1)',
  every: 'min($1)',
  logical_and: 'min($1)',
  logical_or: 'max($1)',
  stddev: ({ args, dialect, print }) =>
    args[0] === undefined ? null : `${dialect === 'mysql' ? 'stddevPop' : 'stddevSamp'}(${print(args[0])})`,
  std: 'stddevPop($1)',
  stddev_samp: 'stddevSamp($1)',
  stddev_pop: 'stddevPop($1)',
  variance: ({ args, dialect, print }) =>
    args[0] === undefined ? null : `${dialect === 'mysql' ? 'varPop' : 'varSamp'}(${print(args[0])})`,
  var_samp: 'varSamp($1)',
  var_pop: 'varPop($1)',
  geometric_mean: 'exp(avg(log($1)))',
  lag: neighbour('lag'),
  lead: neighbour('lead'),
};

function percentileOfMiddle({ args, print }: Call): string | null {
  return args[0] === undefined ? null : `quantileExactInclusive(0.5)(toFloat64(${print(args[0])}))`;
}
