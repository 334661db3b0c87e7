import { type Attack, refused } from './attack.ts';

/**
 * Functions whose work is the product of sizes, of the elements of arrays, of the rows of a block or of the repeats of a pattern. Each
 * keeps to the limits of the engine, and looks at no clock for longer than a KILL waits.
 */
const CASES: readonly (readonly ['too_complex' | 'function', string])[] = [
  [
    'too_complex',
    "SELECT regexpInstr(repeat(hex(SHA512(toString(number))), 100), 'A.{900}Z') FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT regexp_instr(repeat(hex(SHA512(toString(number))), 100), 'A.{900}Z') FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT regexpPosition(repeat(hex(SHA512(toString(number))), 1000), 'A.{400}Z') FROM numbers(8192)",
  ],
  ['too_complex', "SELECT REGEXP_INSTR(repeat('a', 1000000), '(a{1,500}b){1,2}')"],
  [
    'too_complex',
    "SELECT max(match(concat(repeat('a', 1000), toString(number)), '(a?){500}a{500}')) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT count() FROM numbers(100000) WHERE match(repeat(toString(number), 200), '(a?){500}a{500}')",
  ],
  ['too_complex', "SELECT match(repeat('a', 1000000), concat('(a?){50', '0}a{500}'))"],
  [
    'too_complex',
    "WITH 'A.{900}Z' AS p SELECT sum(match(repeat(hex(SHA512(toString(number))), 100), p)) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "WITH concat('A.{9','00}Z') AS p SELECT sum(match(repeat(hex(SHA512(toString(number))), 100), p)) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(match(repeat(hex(SHA512(toString(number))), 100), materialize('A.{900}Z'))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(match(repeat(hex(SHA512(toString(number))), 100), if(number % 2 = 0, 'A.{900}Z', 'B.{900}Z'))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(match(repeat(hex(SHA512(toString(number))), 100), concat('A.{', toString(900 + number % 50), '}Z'))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(length(extract(repeat(hex(SHA512(toString(number))), 100), 'A.{900}Z'))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(length(extractAll(repeat(hex(SHA512(toString(number))), 100), 'A.{300}Z'))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(length(extractGroups(repeat(hex(SHA512(toString(number))), 100), '(A.{900}Z)'))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(countMatches(repeat(hex(SHA512(toString(number))), 100), 'A.{900}Z')) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(countMatchesCaseInsensitive(repeat(hex(SHA512(toString(number))), 100), 'A.{900}Z')) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(length(replaceRegexpOne(repeat(hex(SHA512(toString(number))), 100), 'A.{900}Z', ''))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(length(REGEXP_REPLACE(repeat(hex(SHA512(toString(number))), 100), 'A.{900}Z', ''))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(length(regexpExtract(repeat(hex(SHA512(toString(number))), 100), '(A.{900}Z)', 1))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(length(REGEXP_SUBSTR(repeat(hex(SHA512(toString(number))), 100), '(A.{900}Z)', 1))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(length(splitByRegexp('A.{900}Z', repeat(hex(SHA512(toString(number))), 100)))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(multiMatchAny(repeat(hex(SHA512(toString(number))), 100), ['A.{90}Z', 'B.{90}Y'])) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(arraySum(arrayMap(x -> match(hex(SHA512(toString(x))), 'A.{100}Z'), range(1000000))))",
  ],
  [
    'too_complex',
    "SELECT arraySum(arrayMap(x -> match(hex(SHA512(toString(x))), 'A.{100}Z'), range(1000000)))",
  ],
  [
    'too_complex',
    "SELECT sum(repeat('ab', 100000 + number % 2) LIKE concat('%', repeat('a_', 30), 'c%')) FROM numbers(8192)",
  ],
  ['function', 'SELECT h3PolygonToCells([(0., 0.), (0., 1.), (1., 1.), (1., 0.)], 12)'],
  ['function', 'SELECT length(h3PolygonToCells([(0., 0.), (0., 20.), (20., 20.), (20., 0.)], 8))'],
  [
    'too_complex',
    "SELECT sum(isProbablePrime(toUInt256('57896044618658097711785492504343953926634992332820282019728792003956564819949') + number % 2 * 2, 256)) FROM numbers(1000000)",
  ],
  [
    'too_complex',
    "SELECT max(isProbablePrime(toUInt256(arrayJoin(range(1000000))) % 2 + toUInt256('57896044618658097711785492504343953926634992332820282019728792003956564819948')))",
  ],
  [
    'too_complex',
    "SELECT arraySum(arrayMap(x -> isProbablePrime(toUInt256('57896044618658097711785492504343953926634992332820282019728792003956564819949') + x % 2), range(100000)))",
  ],
  ['too_complex', 'SELECT arraySum(x -> isPrime(18446744073709551557 - x % 2 * 0), range(10000000))'],
  ['too_complex', 'SELECT sum(length(arrayAutocorrelation(range(9000 + number % 2)))) FROM numbers(8192)'],
  [
    'too_complex',
    'SELECT sum(length(arrayAutocorrelation(arrayMap(x -> x % 7, range(9000 + number % 2))))) FROM numbers(100)',
  ],
  ['too_complex', 'SELECT arrayMap(y -> arrayAutocorrelation(range(5000 + y))[1], range(1000))'],
  [
    'too_complex',
    'SELECT sum(hasAny(xs, [number + 1000000])) FROM (SELECT range(1000000) AS xs) AS t CROSS JOIN numbers(1000000) AS n',
  ],
  ['too_complex', 'SELECT sum(hasAny(range(1000000), [number + 1000000])) FROM numbers(1000000)'],
  [
    'too_complex',
    'SELECT sum(hasAll(range(1000000), [number + 1000000, 3, 4, 5, 6, 7, 8, 9])) FROM numbers(1000000)',
  ],
  ['too_complex', 'SELECT sum(hasSubstr(range(1000000), [number + 1000000, 3])) FROM numbers(1000000)'],
  ['too_complex', 'SELECT sum(hasAny([number + 1000000], range(1000000))) FROM numbers(1000000)'],
  ['too_complex', 'SELECT arraySum(arrayMap(y -> hasAny(range(10000), [y + 100000]), range(100000)))'],
  [
    'too_complex',
    'WITH range(1000000) AS xs SELECT sum(hasAny(xs, [number + 1000001])) FROM numbers(100000)',
  ],
  [
    'too_complex',
    'WITH (SELECT groupArray(number) FROM numbers(1000000)) AS xs SELECT sum(hasAny(xs, [number + 1000001])) FROM numbers(100000)',
  ],
  [
    'too_complex',
    'SELECT sum(bitmapCardinality(bitmapAnd(bitmapBuild(range(1000000)), bitmapBuild([number])))) FROM numbers(100000)',
  ],
  [
    'too_complex',
    'SELECT sum(bitmapContains(bitmapBuild(range(1000000)), toUInt64(number))) FROM numbers(100000)',
  ],
  [
    'too_complex',
    'SELECT length(arrayFold((a, x) -> arrayPushBack(a, x), range(100000), emptyArrayUInt64()))',
  ],
  ['too_complex', "SELECT length(arrayFold((a, x) -> concat(a, toString(x)), range(100000), ''))"],
  ['too_complex', 'SELECT length(arrayShingles(range(100000), 5000))'],
  [
    'too_complex',
    'SELECT arraySort(x -> sipHash64(x), range(20000000))[1], arraySort(x -> sipHash64(x + 1), range(20000000))[1], arraySort(x -> sipHash64(x + 2), range(20000000))[1], arraySort(x -> sipHash64(x + 3), range(20000000))[1]',
  ],
  [
    'too_complex',
    'SELECT arraySort(x -> sipHash64(x, toString(x), 1), groupArray(number))[1], arraySort(x -> sipHash64(x, toString(x), 2), groupArray(number))[1], arraySort(x -> sipHash64(x, toString(x), 3), groupArray(number))[1], arraySort(x -> sipHash64(x, toString(x), 4), groupArray(number))[1], arraySort(x -> sipHash64(x, toString(x), 5), groupArray(number))[1], arraySort(x -> sipHash64(x, toString(x), 6), groupArray(number))[1], arraySort(x -> sipHash64(x, toString(x), 7), groupArray(number))[1] FROM numbers(5000000)',
  ],
  ['too_complex', "SELECT sum(length(base58Encode(repeat('a', 9000 + number % 2)))) FROM numbers(8192)"],
  ['too_complex', "SELECT sum(length(tryBase58Decode(repeat('a', 9000 + number % 2)))) FROM numbers(8192)"],
  [
    'too_complex',
    'SELECT sum(ngramDistance(repeat(toString(number), 5000), repeat(toString(number + 1), 5000))) FROM numbers(8192)',
  ],
  [
    'too_complex',
    'SELECT sum(length(sparseGrams(repeat(toString(number), 1000), 3, 1000))) FROM numbers(8192)',
  ],
  ['too_complex', "SELECT length(sparseGrams(repeat(hex(SHA512('a')), 5000), 3, 100000))"],
  [
    'too_complex',
    'SELECT sum(stringJaccardIndex(repeat(toString(number), 3000), repeat(toString(number + 1), 3000))) FROM numbers(100000)',
  ],
  [
    'too_complex',
    "SELECT sum(length(normalizeUTF8NFD(repeat(unhex('CC81CC8DCCA7'), 3000 + number % 2)))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(length(extractTextFromHTML(repeat('<!--', 3000 + number % 2)))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(hasSubsequence(repeat('a', 100000), concat(repeat('a', 50000), toString(number)))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(position(repeat('a', 10000 + number % 2), concat(repeat('a', 5000), 'b'))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(multiSearchAny(repeat('ab', 10000 + number % 2), arrayMap(x -> concat(repeat('ab', 100), toString(x)), range(200)))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(multiSearchFirstPosition(repeat('ab', 1000 + number % 2), arrayMap(x -> concat('ab', toString(x)), range(200)))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(length(replaceAll(repeat('ab', 10000 + number % 2), repeat('ab', 1000), 'x'))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(length(splitByString(repeat('ab', 1000), repeat('ab', 10000 + number % 2)))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(length(JSON_QUERY(concat('[', repeat('[1],', 3000 + number % 2), '1]'), '$[*][*]'))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    "SELECT sum(length(JSON_VALUE(concat('[', repeat('[1],', 3000 + number % 2), '1]'), '$[0 to 2999][0]'))) FROM numbers(8192)",
  ],
  [
    'too_complex',
    'SELECT sum(mapFromArrays(range(100000), range(100000))[number + 200000]) FROM numbers(100000)',
  ],
  [
    'too_complex',
    'SELECT sum(pointInPolygon((number / 1e5, 0.5), arrayMap(x -> (cos(x / 2e3), sin(x / 2e3)), range(8000)))) FROM numbers(100000)',
  ],
  [
    'too_complex',
    'SELECT sum(pointInPolygon((0.1, 0.1), arrayMap(x -> (cos(x / 2e2 + number), sin(x / 2e2)), range(1200)))) FROM numbers(100000)',
  ],
  [
    'too_complex',
    'SELECT sum(financialInternalRateOfReturn(arrayMap(x -> if(x = 0, -100, x % 7 + number % 2), range(3000)))) FROM numbers(8192)',
  ],
  [
    'too_complex',
    "SELECT sum(isProbablePrime(toUInt256('57896044618658097711785492504343953926634992332820282019728792003956564819949') + x % 2)) FROM (SELECT number AS x FROM (SELECT 1 AS number ORDER BY number WITH FILL FROM 1 TO 1000000))",
  ],
  [
    'too_complex',
    "SELECT sum(isProbablePrime(toUInt256('57896044618658097711785492504343953926634992332820282019728792003956564819949') + b.number % 2)) FROM numbers(1) AS a JOIN (SELECT number, number % 1 AS k FROM numbers(50000)) AS b ON a.number = b.k",
  ],
  [
    'too_complex',
    "SELECT isProbablePrime(toUInt256('57896044618658097711785492504343953926634992332820282019728792003956564819949') + number % 2) AS p, isProbablePrime(toUInt256('57896044618658097711785492504343953926634992332820282019728792003956564819947') + number % 2) AS q, isProbablePrime(toUInt256('57896044618658097711785492504343953926634992332820282019728792003956564819945') + number % 2) AS r, isProbablePrime(toUInt256('57896044618658097711785492504343953926634992332820282019728792003956564819943') + number % 2) AS s FROM numbers(100000)",
  ],
  [
    'too_complex',
    "WITH x -> isProbablePrime(toUInt256('57896044618658097711785492504343953926634992332820282019728792003956564819949') + x % 2) AS f SELECT arrayMap(y -> f(y) + f(y + 1), range(10000))",
  ],
  [
    'too_complex',
    "SELECT arrayMap(y -> arrayMap(x -> isProbablePrime(toUInt256('57896044618658097711785492504343953926634992332820282019728792003956564819949') + x % 2 + y % 2), range(200)), range(200))",
  ],
];

export const unstoppableSizes: readonly Attack[] = CASES.map(([code, text]) =>
  refused(code, text.slice('SELECT '.length, 60), text, 'unstoppable'),
);
