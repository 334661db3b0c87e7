import { text as readText } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { hasInvisible } from '../../../core/domain/display-text.ts';
import { Refused } from '../../../sandbox/judge/refusal.ts';
import type { OpenSandbox } from '../../../sandbox/open.ts';
import { test } from '../../kit/fixtures.ts';
import { sandboxOver } from '../../kit/judge.ts';

/** A column's name, and the names within its type, hold no character that a reader cannot see, however they come to be. */

let sandbox: OpenSandbox;

test.beforeAll(({ sandbox: engine }) => {
  sandbox = sandboxOver(engine);
});
test.afterAll(() => sandbox.close());

type Parameters = Readonly<Record<string, string>>;

/** The two lines of names and types of the answer, or the code of the refusal. */
async function answered(sql: string, parameters: Parameters = {}, readsLikeServer = false): Promise<string> {
  const verdict = await sandbox.inspect({ text: sql, parameters, caller: 'a', readsLikeServer });
  if ('refused' in verdict) return verdict.refused.code;
  const asked = { tier: 'standard', format: 'rows', maxRows: 10, caller: 'a' } as const;
  try {
    const { accepted } = verdict;
    const { body } = await sandbox.run({ accepted, parameters, ...asked }, new AbortController().signal);
    return (await readText(body)).split('\n').slice(0, 2).join('\n');
  } catch (error) {
    if (error instanceof Refused) return error.refusal.code;
    throw error;
  }
}

const FORMS: readonly (readonly [string, (hidden: string) => string])[] = [
  ['a quoted alias', (c) => `SELECT 1 AS \`a${c}b\``],
  ['an alias in double quotes', (c) => `SELECT 1 AS "a${c}b"`],
  ['an alias of a subquery', (c) => `SELECT * FROM (SELECT 1 AS \`a${c}b\`)`],
  ['an alias of columns', (c) => `SELECT * FROM (SELECT 1) AS t(\`a${c}b\`)`],
  ['a text without an alias', (c) => `SELECT 'a${c}b'`],
  ['a call with a text', (c) => `SELECT concat('a${c}b', toString(number)) FROM numbers(1)`],
  ['a comparison', (c) => `SELECT payer = 'a${c}b' FROM settlements`],
  ['a subquery behind an asterisk', (c) => `SELECT * FROM (SELECT concat('a${c}b', '') FROM numbers(1))`],
  ['the first of a union', (c) => `SELECT 'a${c}b' UNION ALL SELECT 'c'`],
  ['one of a nested union', (c) => `(SELECT 'a${c}b' UNION ALL SELECT 'c') EXCEPT SELECT 'd'`],
  ['an enum', (c) => `SELECT CAST('a${c}b', 'Enum8(\\'a${c}b\\' = 1)') AS x`],
  ['an element of a tuple', (c) => `SELECT CAST(tuple(1), 'Tuple(\`a${c}b\` UInt8)') AS x`],
  ['a value of a parameter', () => 'SELECT {x:String}'],
];

/** One of each kind: controls, directions, joiners, spaces without width, separators, tags, fillers, private and unassigned ones. */
const HIDDEN = [
  ...[0x01, 0x1b, 0x7f, 0x85, 0x9b, 0xad, 0x61c, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f],
  ...[0x2028, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2066, 0x2067, 0x2068, 0x2069],
  ...[0x3164, 0xe000, 0xfe0f, 0xfeff, 0xfff9, 0xe0041, 0xe0100],
].map((code) => String.fromCodePoint(code));

describe('a hidden character in the name of a column', () => {
  test.each(FORMS)(
    'by %s: is refused, or shown escaped',
    async (_name, sqlOf) => {
      for (const hidden of HIDDEN) {
        const said = await answered(sqlOf(hidden), sqlOf(hidden).includes('{x') ? { x: `a${hidden}b` } : {});
        const code = hidden.codePointAt(0)?.toString(16);
        // Some are printed escaped, as they would be in a text.
        if (said.includes('\n')) expect(hasInvisible(said.replace('\n', '')), `${code} ${said}`).toBe(false);
        else expect(said, code).toBe('identifier');
      }
    },
    120_000,
  );

  test.each([
    ["SELECT position(payer, '\u202e') AS at FROM settlements", 'at'],
    ["SELECT count() AS n FROM (SELECT 'a\u202eb')", 'n'],
    ['SELECT 1 AS `Straße in 東京 15 %`', 'Straße in 東京 15 %'],
    ['SELECT 1 AS `❤️ 👩‍🚀`', '❤️ 👩‍🚀'],
  ])('%s is answered', async (sql, name) => {
    expect(JSON.parse((await answered(sql)).split('\n')[0] ?? '')).toEqual([name]);
  });
});
