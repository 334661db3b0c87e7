import { type Attack, bounded, harmless, refused } from './attack.ts';

/** Memory and time. Whatever passes must end by the guest's limits; what would not stop when it is told to is refused. */

const frame = (what: string, text: string) => refused('too_complex', what, text, 'bounded');

const kernel = (what: string, text: string) => refused('function', what, text, 'bounded');

export const resourceBombs: readonly Attack[] = [
  bounded(
    'a count of 10^12 numbers',
    'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1',
  ),
  bounded('10^12 groups', 'SELECT number, count() FROM numbers(1000000000000) GROUP BY number'),
  bounded('10^9 groups', 'SELECT count() FROM (SELECT number FROM numbers(999999999) GROUP BY number)'),
  bounded('10^12 distinct values', 'SELECT uniqExact(number) FROM numbers(1000000000000)'),
  bounded('10^9 distinct rows', 'SELECT count() FROM (SELECT DISTINCT number FROM numbers(999999999))'),
  bounded('an array of 10^9', 'SELECT length(groupArray(number)) FROM numbers(999999999)'),
  bounded('every value kept for a quantile', 'SELECT quantilesExact(0.5)(number) FROM numbers(999999999)'),
  bounded(
    'a sort of 10^9',
    'SELECT sum(n) FROM (SELECT sipHash64(number) AS n FROM numbers(999999999) ORDER BY n)',
  ),
  bounded(
    'a window over 10^9',
    'SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY sipHash64(number)) AS r FROM numbers(999999999))',
  ),
  bounded('a cartesian product', 'SELECT count() FROM numbers(1000000) AS a, numbers(1000000) AS b'),
  bounded(
    'a cartesian product by a condition',
    'SELECT count() FROM numbers(100000) AS a JOIN numbers(100000) AS b ON a.number < b.number',
  ),
  bounded(
    'a join whose right side is too large',
    'SELECT count() FROM numbers(10) AS a JOIN numbers(999999999) AS b ON a.number = b.number',
  ),
  bounded(
    'a set that is too large',
    'SELECT count() FROM numbers(10) WHERE number IN (SELECT number FROM numbers(999999999))',
  ),
  bounded(
    'an EXCEPT that is too large',
    'SELECT count() FROM (SELECT number FROM numbers(999999999) EXCEPT SELECT number FROM numbers(999999999))',
  ),
  bounded('one row for each of each', 'SELECT number FROM numbers(999999999) LIMIT 1 BY number'),
  bounded(
    'a fan of arrayJoins',
    'SELECT count() FROM (SELECT arrayJoin(range(10000)), arrayJoin(range(1000)) + arrayJoin(range(10001)) FROM numbers(1000))',
  ),
  bounded('range() of 4 · 10^8', 'SELECT length(range(400000000))'),
  bounded('range() of 10^9', 'SELECT range(1000000000)'),
  bounded('ranges of ranges', 'SELECT arrayMap(x -> arrayMap(y -> range(1000), range(1000)), range(100))'),
  bounded('repeat() of 10^12', "SELECT repeat('x', 1000000000000)"),
  bounded('repeat() of repeat()', "SELECT length(repeat(repeat('x', 1000000), 1000000))"),
  bounded('repeat() for each row', "SELECT max(length(repeat('x', number))) FROM numbers(1000000)"),
  bounded('arrayResize() of 2 · 10^7', "SELECT length(arrayResize(['x'], 20000000))"),
  bounded('arrayWithConstant() of 10^9', 'SELECT arrayWithConstant(1000000000, 1)'),
  bounded('replicate() of 10^7', "SELECT length(replicate('0123456789', range(10000000)))"),
  bounded('leftPad() of 10^9', "SELECT leftPad('x', 1000000000, 'y')"),
  bounded('space() of 10^12', 'SELECT space(1000000000000)'),
  bounded('a fixed text of 10^9', "SELECT toFixedString('a', 1000000000)"),
  kernel('printf() with a width', "SELECT length(printf('%1000000d', 1))"),
  bounded(
    'a text that doubles sixty times',
    "SELECT length(arrayFold((a, x) -> concat(a, a), range(60), 'x'))",
  ),
  bounded(
    'an array that doubles sixty times',
    'SELECT length(arrayFold((a, x) -> arrayConcat(a, a), range(60), [1]))',
  ),
  bounded(
    'a text that is replaced by itself',
    "WITH replaceAll(repeat('a', 1000), 'a', repeat('a', 1000)) AS b SELECT length(replaceAll(b, 'a', b))",
  ),
  bounded(
    'a replacement by patterns that grows',
    "SELECT length(replaceRegexpAll(repeat('a', 1000000), 'a', repeat('b', 1000)))",
  ),
  bounded('numbers as texts', 'SELECT max(length(toString(range(number)))) FROM numbers(1000000)'),
  bounded(
    'distinct texts that grow',
    "SELECT length(groupUniqArray(repeat('x', number))) FROM numbers(1000000)",
  ),
  bounded('10^9 states', 'SELECT sumResample(0, 1000000000, 1)(number, number) FROM numbers(10)'),
  bounded(
    '10^6 states of arrays',
    'SELECT length(groupArrayResample(0, 1000000, 1)(number, number)) FROM numbers(10)',
  ),
  bounded('a histogram of 10^9 bins', 'SELECT histogram(1000000000)(number) FROM numbers(1000)'),
  bounded('a sample of 10^9', 'SELECT length(groupArraySample(1000000000)(number)) FROM numbers(10)'),
  bounded('the top 10^9', 'SELECT topK(1000000000)(number) FROM numbers(1000)'),
  bounded('a chart of 10^9 bars', 'SELECT sparkbar(1000000000)(number, number) FROM numbers(10)'),
  bounded('a map filled to 10^9', 'SELECT length(mapPopulateSeries(map(1, 1), 1000000000))'),
  bounded('slots of a second', 'SELECT length(timeSlots(toDateTime(0), toUInt32(1000000000), 1))'),
  bounded('cells of the whole Earth', 'SELECT length(geohashesInBox(-180., -90., 180., 90., 12))'),
  bounded('children of a cell', 'SELECT length(h3ToChildren(577023702256844799, 15))'),
  bounded(
    'rows that fill a gap of 10^12',
    'SELECT count() FROM (SELECT 1 AS x ORDER BY x WITH FILL FROM 1 TO 1000000000000)',
  ),
  bounded('a series of all numbers', 'SELECT * FROM generateSeries(0, 18446744073709551615)'),
  bounded('an offset of 10^12', 'SELECT number FROM numbers(999999999) LIMIT 1 OFFSET 999999998'),
  bounded('more rows than a result holds', 'SELECT number FROM numbers(5000000)'),
  bounded('more bytes than a result holds', "SELECT repeat('x', 1000000) FROM numbers(100000)"),
  bounded('a pattern that a naive engine never ends', "SELECT match(repeat('a', 1000000), '(a+)+$')"),
  frame(
    'a pattern with repetitions of repetitions',
    "SELECT match(materialize(repeat('a', 1000000)), '(((a{1,100}){1,100}){1,100}){1,100}')",
  ),
  frame(
    'a set of patterns that is costly to compile',
    "SELECT multiMatchAny(materialize('x'), ['((a{1,1000}){1,1000}){1,100}', '(.{0,200}){200}'])",
  ),
  frame('fuzzy patterns', "SELECT multiFuzzyMatchAny(materialize('x'), 100, [repeat('a', 60)])"),
  bounded(
    'a chain of events with many ways',
    "SELECT sequenceCount('(?1).*(?1).*(?1).*(?1).*(?2)')(toDateTime(number), number % 2 = 0, number = 99999999) FROM numbers(100000)",
  ),
  bounded('JSON that is deep', "SELECT JSONExtractRaw(concat(repeat('[', 100000), repeat(']', 100000)))"),
  bounded(
    'a recursive CTE that grows',
    'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT r.n + t.number FROM r JOIN numbers(100) AS t ON 1 = 1) SELECT count() FROM r',
  ),
  bounded(
    'a product of the public tables',
    'SELECT count() FROM facilitators AS a, facilitators AS b, facilitators AS c, facilitators AS d',
  ),
  kernel('an edit distance', "SELECT editDistance(repeat('a', 1000), repeat('b', 1000))"),
  kernel(
    'an edit distance under its other name',
    "SELECT levenshteinDistance(repeat('a', 100), repeat('b', 100))",
  ),
  kernel('an edit distance of arrays', 'SELECT arrayLevenshteinDistance(range(1000), range(1000))'),
  kernel('a similarity of texts', "SELECT jaroSimilarity(repeat('a', 1000), repeat('b', 1000))"),
  kernel(
    'polygons',
    'SELECT polygonsIntersectionCartesian([[[(0., 0.), (0., 1.), (1., 1.)]]], [[[(0., 0.), (0., 2.), (2., 2.)]]])',
  ),
  kernel('a random text of any length', 'SELECT length(randomString(1000))'),
  harmless('a few numbers', 'it is small', 'SELECT sum(number) FROM numbers(1000)'),
  frame(
    'a frame that moves over everything before',
    'SELECT uniqExact(number) OVER (ORDER BY number ROWS BETWEEN 10001 PRECEDING AND CURRENT ROW) FROM numbers(2000)',
  ),
  frame(
    'a frame that moves over everything behind',
    'SELECT max(number) OVER (ORDER BY number ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM numbers(2000)',
  ),
  frame(
    'a cheap frame that reaches too far',
    'SELECT max(number) OVER (ORDER BY number ROWS BETWEEN 2678401 PRECEDING AND CURRENT ROW) FROM numbers(2000)',
  ),
  frame(
    'a frame that looks ahead too far',
    'SELECT max(number) OVER (ORDER BY number ROWS BETWEEN 1 PRECEDING AND 3000000 FOLLOWING) FROM numbers(2000)',
  ),
  frame(
    'a named window of which no function is seen',
    'SELECT count() FROM numbers(2000) WINDOW w AS (ORDER BY number ROWS BETWEEN 100000 PRECEDING AND CURRENT ROW)',
  ),
  frame(
    'a window that goes on from another',
    'SELECT min(toString(number)) OVER (w ROWS BETWEEN 5000000 PRECEDING AND CURRENT ROW) FROM numbers(2000) WINDOW w AS (ORDER BY number)',
  ),
  frame(
    'a frame over one block of a million rows',
    'SELECT min(x) OVER (ORDER BY x ROWS BETWEEN 100000 PRECEDING AND CURRENT ROW) FROM (SELECT arrayJoin(range(2000)) AS x)',
  ),
  frame(
    'a frame over one block that ARRAY JOIN makes',
    'SELECT min(x) OVER (ORDER BY x ROWS BETWEEN 100000 PRECEDING AND CURRENT ROW) FROM (SELECT x FROM numbers(1) ARRAY JOIN range(2000) AS x)',
  ),
  frame(
    'a frame over one block that a join makes',
    'SELECT groupArray(b.number) OVER (ORDER BY b.number ROWS BETWEEN 1001 PRECEDING AND CURRENT ROW) FROM numbers(1) AS a JOIN numbers(2000) AS b ON a.number = b.number % 1',
  ),
  frame(
    'a named window that moves',
    'SELECT groupArray(number) OVER w FROM numbers(2000) WINDOW w AS (ORDER BY number RANGE BETWEEN 100000 PRECEDING AND CURRENT ROW)',
  ),
  frame(
    'a frame of a computed size',
    'SELECT max(number) OVER (ORDER BY number ROWS BETWEEN pow(10, 6) PRECEDING AND CURRENT ROW) FROM numbers(2000)',
  ),
  harmless(
    'a moving average',
    'its frame is small',
    'SELECT avg(number) OVER (ORDER BY number ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM numbers(10)',
  ),
  harmless(
    'a week that moves',
    'a sum takes a row in a nanosecond',
    'SELECT sum(number) OVER (ORDER BY number RANGE BETWEEN 604800 PRECEDING AND CURRENT ROW) FROM numbers(10)',
  ),
  harmless(
    'a month that moves',
    'its blocks are small',
    'SELECT max(number) OVER (ORDER BY number RANGE BETWEEN 2592000 PRECEDING AND CURRENT ROW) FROM numbers(10)',
  ),
  harmless(
    'the next row of all that follow',
    'it looks at one place, whatever the frame holds',
    'SELECT leadInFrame(number) OVER (ORDER BY number ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM numbers(10)',
  ),
  harmless(
    'a running total',
    'its frame does not move',
    'SELECT sum(number) OVER (ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM numbers(10)',
  ),
];
