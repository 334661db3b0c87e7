import { type Attack, harmless, refused } from './attack.ts';

/**
 * Functions that look at no clock while they compute one block, given values of which two are large. Raw, as the guest under a
 * limit of one second, nearly all ran on for 5 s or were still running after 7 s (26.7.2.1, two idle cores).
 */

const unstoppable = (what: string, text: string) => refused('too_complex', what, text, 'unstoppable');
const A_LOT = "repeat('a', 1000000)";
const NEARLY = "concat(repeat('a', 500000), 'b')";
const search = (call: string, what = call.split('(')[0] ?? call) => unstoppable(what, `SELECT ${call}`);
const small = (what: string, text: string) => harmless(what, 'one of its values is small', `SELECT ${text}`);

export const unstoppableKernels: readonly Attack[] = [
  search(`position(${A_LOT}, ${NEARLY})`),
  search(`POSITION(${NEARLY} IN ${A_LOT})`, 'POSITION … IN'),
  search(`positionUTF8(${A_LOT}, ${NEARLY})`),
  search(`positionCaseInsensitive(${A_LOT}, ${NEARLY})`),
  search(`positionCaseInsensitiveUTF8(${A_LOT}, ${NEARLY})`),
  search(`locate(${NEARLY}, ${A_LOT})`),
  search(`INSTR(${A_LOT}, ${NEARLY})`),
  search(`countSubstrings(materialize(${A_LOT}), materialize(${NEARLY}))`),
  search(`countSubstringsCaseInsensitiveUTF8(${A_LOT}, ${NEARLY})`),
  search(`length(replaceAll(${A_LOT}, materialize(${NEARLY}), 'x'))`, 'replaceAll'),
  search(`multiSearchAny(${A_LOT}, [${NEARLY}])`),
  search(`${A_LOT} ILIKE concat('%', repeat('a', 500000), 'b%')`, 'ILIKE'),
  unstoppable('behind aliases', `WITH ${A_LOT} AS h, ${NEARLY} AS n SELECT position(h, n)`),
  unstoppable(
    'behind a lambda with a name',
    `WITH (h, n) -> position(h, n) AS f SELECT f(${A_LOT}, ${NEARLY})`,
  ),
  unstoppable('as the name of a function', `SELECT arrayMap(position, [${A_LOT}], [${NEARLY}])`),
  unstoppable(
    'in the elements of arrays',
    `SELECT arrayMap((h, n) -> position(h, n), [${A_LOT}], [${NEARLY}])`,
  ),
  unstoppable(
    'in columns that are named behind a CTE',
    `WITH t (payer, payee) AS (SELECT ${A_LOT}, ${NEARLY}) SELECT position(payer, payee) FROM t`,
  ),
  unstoppable(
    'in columns that are named behind a table',
    `SELECT position(payer, payee) FROM (SELECT ${A_LOT}, ${NEARLY}) AS t (payer, payee)`,
  ),
  unstoppable(
    'in rows that are written out',
    `SELECT position(payer, payee) FROM values('payer String, payee String', (${A_LOT}, ${NEARLY}))`,
  ),
  unstoppable(
    'in a column that a union names',
    `SELECT position(payer, concat(substring(payer, 2), 'b')) FROM (SELECT payer FROM settlements LIMIT 0 UNION ALL SELECT ${A_LOT})`,
  ),
  unstoppable(
    'in a column that is replaced',
    `SELECT position(payer, concat(substring(payer, 2), 'b')) FROM (SELECT * REPLACE (${A_LOT} AS payer) FROM settlements LIMIT 1)`,
  ),
  unstoppable(
    'in a text that rows were gathered into',
    "WITH (SELECT groupConcat('')('a') FROM numbers(1000000)) AS h SELECT position(h, concat(substring(h, 1, 500000), 'b'))",
  ),
  unstoppable(
    'in a text that doubles',
    "WITH RECURSIVE r AS (SELECT 1 AS n, 'aa' AS x UNION ALL SELECT n + 1, concat(x, x) FROM r WHERE n < 20) SELECT max(position(x, concat(substring(x, 2), 'b'))) FROM r",
  ),
  search("length(extractAll(materialize(repeat('a', 300000)), 'a*b|a'))", 'extractAll'),
  search("length(replaceRegexpAll(materialize(repeat('a', 300000)), 'a*b|a', 'x'))", 'replaceRegexpAll'),
  search("countMatches(materialize(repeat('a', 300000)), 'a*b|a')"),
  search("length(splitByRegexp('a*b|a', materialize(repeat('a', 300000))))", 'splitByRegexp'),
  search("length(extractAllGroupsVertical(materialize(repeat('a', 300000)), '(a*b|a)'))", 'extractAllGroups'),
  unstoppable(
    'patterns over shorter texts in many rows',
    "SELECT sum(length(extractAll(repeat('a', 10000 + number % 2), 'a*b|a'))) FROM numbers(8192)",
  ),
  search('hasAny(range(300000), range(300000, 600000))'),
  search('hasAll(range(300000), range(600000))'),
  unstoppable(
    'two arrays that were gathered',
    'SELECT hasAny(xs, ys) FROM (SELECT groupArray(number) AS xs, groupArray(number + 1000000) AS ys FROM numbers(1000000))',
  ),
  unstoppable(
    'a constant that is looked through for each row',
    "WITH (SELECT groupArray(toString(number)) FROM numbers(1000000)) AS xs SELECT sum(has(xs, concat('x', toString(number)))) FROM numbers(8192)",
  ),
  ...[
    'SELECT groupArray(toString(number)) FROM (SELECT number FROM numbers(1000000) LIMIT 900000)',
    'SELECT groupArray(arrayJoin(range(1000000))) FROM (SELECT 1 LIMIT 1)',
    'SELECT groupArray(number) FROM (SELECT number FROM numbers(1000000) ORDER BY number % 1 LIMIT 1 WITH TIES)',
    'SELECT groupArray(number) FROM (SELECT number FROM numbers(1) ORDER BY number WITH FILL FROM 0 TO 1000000 LIMIT 1000000)',
    'SELECT groupArray(a.number) FROM (SELECT number FROM numbers(1) LIMIT 1) AS a CROSS JOIN numbers(1000000) AS b',
    "SELECT groupArray(x) FROM (SELECT repeat('a', 1000000) AS x FROM numbers(9) LIMIT 9)",
    'SELECT topK(60000)(number) FROM numbers(1000000)',
    'SELECT groupArrayArray(10)(range(1000000))',
  ].map((list) =>
    unstoppable(
      `a constant that is looked through for each row: ${list}`,
      `WITH (${list}) AS xs SELECT sum(has(xs, toString(number))) FROM numbers(8192)`,
    ),
  ),
  small(
    'the payees of a short list',
    'count() FROM settlements WHERE has((SELECT groupArray(payee) FROM (SELECT payee FROM settlements GROUP BY payee ORDER BY sum(amount_usd) DESC LIMIT 100)), payee)',
  ),
  small(
    'the payees that occur most often',
    'count() FROM settlements WHERE has((SELECT topK(10)(payee) FROM settlements), payee)',
  ),
  unstoppable(
    'a constant that is looked through for each element',
    'SELECT arraySum(arrayMap(x -> has(range(300000), x + 300000), range(300000)))',
  ),
  unstoppable(
    'a map that is looked through for each row',
    'SELECT sum(mapFromArrays(range(1000000), range(1000000))[number + 2000000]) FROM numbers(8192)',
  ),
  unstoppable(
    'keys of a map that are looked through for each row',
    'SELECT sum(mapContains(mapFromArrays(range(1000000), range(1000000)), number + 2000000)) FROM numbers(8192)',
  ),
  unstoppable(
    'an object that is looked through for each row',
    "WITH concat('{', repeat('\"a\":1,', 1000000), '\"b\":1}') AS j SELECT sum(JSONHas(j, toString(number))) FROM numbers(8192)",
  ),
  search("length(extractTextFromHTML(repeat('<!--', 250000)))", 'extractTextFromHTML'),
  search(
    "length(JSON_QUERY(concat('[', repeat('[1,2,3,4,5,6,7,8],', 50000), '1]'), '$[*][*]'))",
    'a path of JSON that names many values',
  ),
  small('a path of JSON that names one', "JSON_VALUE(base64Decode(agent_uri), '$.name') FROM agents"),
  small('a column in a column', 'position(agent_uri, owner) FROM agents'),
  small(
    'an address in a gathered text',
    "position(groupConcat(',')(payer), '0x00000000beef') FROM settlements",
  ),
  small('addresses in gathered ones', "hasAny(groupArray(payer), ['0x1', '0x2']) FROM settlements"),
  small('a pattern over a column', "extractAll(agent_uri, '[a-z]+@[a-z]+') FROM agents"),
  small(
    'a steady pattern over a long text',
    "length(replaceRegexpAll(groupConcat(',')(payer), '0+', '0')) FROM settlements",
  ),
  small('a map of few keys', 'map(1, 2)[log_index] FROM settlements'),
  small(
    'an element of a gathered array',
    'xs[number] FROM (SELECT groupArray(payer) AS xs FROM settlements) CROSS JOIN numbers(3)',
  ),
  small('a bar', "repeat('█', toUInt32(count())) FROM settlements"),
  refused(
    'function',
    'a large ring of cells',
    'SELECT length(h3kRing(599686042433355775, 1910))',
    'unstoppable',
  ),
  unstoppable(
    'long texts that begin alike, in the order of a language',
    "SELECT length(a) FROM (SELECT concat(repeat('a', 500000), toString(cityHash64(number))) AS a FROM numbers(8192)) ORDER BY a COLLATE 'en' LIMIT 8000",
  ),
  unstoppable(
    'gathered texts, in the order of a language',
    "SELECT count() OVER (ORDER BY x COLLATE 'en') FROM (SELECT groupConcat(payer) AS x FROM settlements GROUP BY payee)",
  ),
  small(
    'names in the order of a language',
    "facilitator FROM facilitators ORDER BY facilitator COLLATE 'en', toString(first_seen) COLLATE 'de'",
  ),
  small(
    'addresses beside a join, in the order of a language',
    "s.payer FROM settlements AS s LEFT JOIN facilitators AS f ON f.facilitator = s.facilitator ORDER BY s.payer COLLATE 'en'",
  ),
  unstoppable(
    'marks in the wrong order',
    "SELECT length(normalizeUTF8NFD(repeat(unhex('CC81CC8DCCA7'), 200001)))",
  ),
  refused(
    'function',
    'a long series that is decomposed',
    'SELECT seriesDecomposeSTL(arrayMap(x -> x % 1000 + 1., range(3000000)), 1000)[1][1]',
    'unstoppable',
  ),
  unstoppable(
    'a shape of a million corners',
    'SELECT pointInPolygon((0.1, 0.1), arrayMap(x -> (cos(x / 2e5), sin(x / 2e5)), range(1200000)))',
  ),
  small(
    'a shape of three corners',
    'pointInPolygon((log_index, 1), [(0, 0), (8, 0), (8, 8)]) FROM settlements',
  ),
  small('a name in its normal form', 'normalizeUTF8NFC(agent_uri) FROM agents'),
  small('digits of a number', "replaceRegexpAll(toString(amount_usd), '0+$', '') FROM settlements"),
  small(
    'digits in groups',
    "replaceRegexpAll(toString(amount), '(\\\\d)(\\\\d{3})$', '\\\\1,\\\\2') FROM settlements",
  ),
  small(
    'parts of a date',
    "extractAll(formatDateTime(block_time, '%Y-%m-%d'), '\\\\d{2,4}') FROM settlements",
  ),
];
