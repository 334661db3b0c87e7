import { type Attack, harmless, refused } from './attack.ts';

/**
 * States that are repeated: memory holds one of them and pointers to it, and a block merges it for each. Through the API under a limit of
 * two seconds, those that merge ran on for more than 3 s after their KILL (26.7.2.1).
 */

const A_STATE = '(SELECT uniqExactState(number) AS s FROM numbers(1000000))';
const repeated = (what: string, text: string) => refused('too_complex', what, text, 'unstoppable');
const once = (what: string, text: string) =>
  harmless(what, 'no row repeats a state that is long to merge', text);

export const repeatedStates: readonly Attack[] = [
  repeated('beside the rows of a join', `SELECT uniqExactMerge(s) FROM ${A_STATE} CROSS JOIN numbers(3000)`),
  repeated(
    'for each element of an ARRAY JOIN',
    `SELECT uniqExactMerge(s) FROM ${A_STATE} ARRAY JOIN range(300) AS r`,
  ),
  repeated(
    'for each element of an arrayJoin',
    `SELECT uniqExactMerge(s) FROM (SELECT s, arrayJoin(range(300)) FROM ${A_STATE})`,
  ),
  repeated(
    'by an arrayJoin where it is made',
    'SELECT uniqExactMerge(s) FROM (SELECT uniqExactState(number) AS s, arrayJoin(range(300)) FROM numbers(1000000))',
  ),
  repeated(
    'under a name that only a list gives it',
    'SELECT uniqExactMerge(x) FROM (SELECT uniqExactState(number) FROM numbers(1000000)) AS t(x) CROSS JOIN numbers(3000)',
  ),
  repeated(
    'behind a CTE and an asterisk',
    `WITH c AS (SELECT * FROM ${A_STATE}) SELECT uniqExactMerge(s) FROM c, numbers(3000)`,
  ),
  repeated(
    'in a lambda',
    `SELECT arrayReduce('uniqExactMerge', arrayMap(x -> s, range(3000))) FROM ${A_STATE}`,
  ),
  repeated(
    'as an element of a tuple, in a lambda',
    "SELECT arrayReduce('uniqExactMerge', arrayMap(x -> t.1, range(3000))) FROM (SELECT tuple(uniqExactState(number)) AS t FROM numbers(1000000))",
  ),
  repeated(
    'written out in an array',
    `SELECT arrayReduce('uniqExactMerge', [${'s, '.repeat(300)}s]) FROM ${A_STATE}`,
  ),
  repeated('by replicate', `SELECT arrayReduce('uniqExactMerge', replicate(s, range(3000))) FROM ${A_STATE}`),
  repeated(
    'by arrayWithConstant',
    `SELECT uniqExactMergeArray(a) FROM (SELECT arrayWithConstant(3000, s) AS a FROM ${A_STATE})`,
  ),
  repeated('as the one value of a subquery', `SELECT uniqExactMerge(${A_STATE}) FROM numbers(300)`),
  repeated(
    'as the one value of a subquery with a name',
    `WITH ${A_STATE} AS s SELECT uniqExactMerge(s) FROM numbers(300)`,
  ),
  repeated(
    'of a sketch',
    'SELECT uniqMerge(s) FROM (SELECT uniqState(number) AS s FROM numbers(1000000)) CROSS JOIN numbers(60000)',
  ),
  repeated(
    'of a bitmap',
    'SELECT groupBitmapOr(s) FROM (SELECT groupBitmapState(number * 7) AS s FROM numbers(3000000)) ARRAY JOIN range(5000) AS r',
  ),
  once(
    'states of a day',
    'SELECT day, uniqMerge(s) FROM (SELECT toDate(block_time) AS day, uniqState(payer) AS s FROM settlements GROUP BY day) GROUP BY day',
  ),
  once(
    'states of joined rows',
    'SELECT uniqMerge(s) FROM (SELECT f.first_seen AS day, uniqState(payer) AS s FROM settlements AS t LEFT JOIN facilitators AS f ON f.facilitator = t.facilitator GROUP BY day)',
  ),
  once(
    'a state that ends in a subquery of one value',
    'WITH (SELECT uniqMerge(s) FROM (SELECT uniqState(payer) AS s FROM settlements)) AS n SELECT n, count() FROM settlements',
  ),
  once(
    'sums of days that are joined',
    'SELECT a.d, sumMerge(b.s) FROM (SELECT toDate(block_time) AS d FROM settlements GROUP BY d) AS a JOIN (SELECT toDate(block_time) AS d, sumState(amount_usd) AS s FROM settlements GROUP BY d) AS b ON b.d <= a.d GROUP BY a.d',
  ),
  once(
    'states of a week in a window',
    'SELECT d, uniqMerge(s) OVER (ORDER BY d ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS w FROM (SELECT toDate(block_time) AS d, uniqState(payer) AS s FROM settlements GROUP BY d)',
  ),
  once(
    'bitmaps of short lists',
    'SELECT bitmapToArray(bitmapAnd(bitmapBuild([1, 2, 3]), bitmapBuild([3, 4])))',
  ),
];
