/** Texts that make a slow reader slow: one unit repeated up to a size, in front of it what opens, and nothing that closes. */

const HEAD: readonly string[] = [
  '',
  'SELECT ',
  "SELECT '",
  'SELECT {a:',
  '{"name":"',
  '{"accepts":',
  'SELECT count() FROM settlements WHERE payer = ',
];

const UNITS: readonly string[] = [
  '/**/',
  '/* ',
  '*/',
  ' ',
  '\t\n',
  '\u00a0',
  '-- x\n',
  '--',
  '# x\n',
  '{',
  '{a:UInt8} ',
  '{ a : ',
  '[',
  '(',
  '()',
  '\\',
  '\\\n',
  "'",
  "''",
  "' ",
  '"',
  '"a" ',
  '= "',
  '`',
  'a',
  'a.',
  'a,',
  'a AS a,',
  "'0xAB',",
  "payer = 'x' OR ",
  '1+',
  '%',
  '::',
  'interval ',
  'date_add(',
  '{"a":',
  '[{"x":1},',
  'é',
  ';',
  '=',
  'q=0.1,',
  'not ',
];

/** Queries that the engine reads, so that what comes after it meets them too. */
const QUERIES: readonly (readonly [head: string, unit: string, tail: string])[] = [
  ['SELECT ', '/* x */ ', '1'],
  ['SELECT ', '-- x\n', '1'],
  ['SELECT ', ' ', '1'],
  ['SELECT ', '{a:UInt8} + ', '1'],
  ['SELECT ', '{a:Array(Tuple(UInt8, String))}, ', '1'],
  ['SELECT ', "'x', ", '1'],
  ['SELECT [', "'0xAB', ", "'']"],
  ['SELECT ', '1 AS a, ', '1'],
  ['SELECT ', 'payer AS payer, ', '1 FROM settlements'],
  ['SELECT ', 'nosuchcolumn, ', '1 FROM settlements'],
  ['SELECT ', 'nosuchfunction(1), ', '1'],
  ["SELECT '", '\\\n', "' FROM settlements WHERE payr = 1"],
  ["SELECT '", "''", "' FROM settlements WHERE payr = 1"],
  ['SELECT a', 'a', ' FROM settlements'],
  ['SELECT 1 FROM settlements WHERE ', "payer = '0xAB' OR ", '1'],
  ['SELECT 1 FROM settlements WHERE ', "chain = 'eip155:8453' OR ", '1'],
  ['SELECT 1 FROM settlements WHERE payer IN (', "'0xAB', ", "'')"],
  ['SELECT 1 FROM settlements WHERE ', "block_time > '2026-11-20T00:00:00Z' OR ", '1'],
  ['SELECT 1 SETTINGS ', 'max_threads = 1, ', 'max_threads = 1'],
  ['', 'SELECT 1 UNION ALL ', 'SELECT 1'],
  ['WITH ', '1 AS a, ', '1 AS b SELECT a'],
  ['SELECT ', '(', '1'],
];

type Make = (chars: number, nonce: number) => string;

/**
 * By name: the text of about so many characters. The nonce is in it, so that no cache knows it, behind a sign: a pattern that searches a
 * word would find it, and be done before it is slow.
 */
export const TEXTS: ReadonlyMap<string, Make> = new Map([
  ...HEAD.flatMap((head) =>
    UNITS.map((unit): [string, Make] => [
      `${head}${unit}…`,
      (chars, nonce) => `${`${head}${unit.repeat(Math.ceil(chars / unit.length))}`.slice(0, chars)};${nonce}`,
    ]),
  ),
  ...QUERIES.map(([head, unit, tail]): [string, Make] => [
    `${head}${unit}…${tail}`,
    (chars, nonce) => {
      const room = chars - head.length - tail.length - NONCE_CHARS;
      return `${head}${unit.repeat(Math.floor(room / unit.length))}${tail} /*${nonce}*/`;
    },
  ]),
]);

const NONCE_CHARS = 20;
