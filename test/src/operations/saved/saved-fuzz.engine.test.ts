import fc from 'fast-check';
import { expect } from 'vitest';
import { test } from '../../../kit/fixtures.ts';
import { BASE, reportChain } from '../../../kit/rows.ts';
import { type SavedCalls, savedOf } from '../../../kit/saved.ts';
import type { Customer, SqlApi, SqlReply } from '../../../kit/sql-api.ts';

/** Values, slugs, owners, formats and names that try to become a part of the text. */

let sql: SqlApi;
let author: SavedCalls;

test.beforeAll(async ({ sqlService }) => {
  sql = sqlService;
  await reportChain(sql.engine.writer, BASE);
  author = await savedOf(sql, { units: 100_000 });
  await author.saved('echo', {
    sql: 'SELECT {text:String} AS text, {list:Array(String)} AS list, {n:Int32} AS n',
    parameters: { text: { default: '' }, list: { default: [] }, n: { default: 0 } },
    freshness_seconds: 0,
    visibility: 'public',
  });
});

/** Below the requests a minute of a tier, which each organization has for itself. */
const CALLS_PER_CALLER = 20;
let caller: Customer;
let calls = 0;

/** Calls the query with these values, each score of calls from another organization. */
async function echo(values: Readonly<Record<string, string>>): Promise<SqlReply> {
  if (calls++ % CALLS_PER_CALLER === 0) caller = await sql.customer();
  return author.call('echo', values, caller.headers);
}

const RUNS = 60;
/** Pieces of injections, in any order, with anything between them. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "'",
        "''",
        '\\',
        "\\'",
        '"',
        '`',
        '--',
        '/*',
        '*/',
        ';',
        ')',
        '(',
        '{n:Int32}',
        '{x:Identifier}',
        '\\N',
        '\n',
        '\t',
        '\r',
        '\0',
        '%27',
        '$' + '{n}',
        ' UNION ALL SELECT ',
        'system.users',
        ' FORMAT JSON',
        ' SETTINGS readonly=0',
        '\u2028',
        '\ud83d\ude00',
        '[',
        ']',
        ',',
        'NULL',
      ),
      fc.string({ maxLength: 4 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

test('a text is given back as it was sent, or refused with the name of its parameter', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      const answer = await echo({ text });
      if (answer.status === 200) {
        expect(answer.body.rows).toEqual([{ text, list: [], n: 0 }]);
        return;
      }
      expect([answer.status, answer.body.parameter, text === '\\N' || /\0/.test(text)]).toEqual([
        400,
        'text',
        true,
      ]);
    }),
    { numRuns: RUNS },
  );
});

test('the texts of a list are given back as they were sent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(hostile, { maxLength: 4 }), async (list) => {
      const answer = await echo({ list: JSON.stringify(list) });
      if (answer.status === 200) {
        expect(answer.body.rows).toEqual([{ text: '', list, n: 0 }]);
        return;
      }
      const isOdd = list.some((text) => text === '\\N' || /\0/.test(text));
      expect([answer.status, answer.body.parameter, isOdd]).toEqual([400, 'list', true]);
    }),
    { numRuns: RUNS },
  );
});

test('a value that is no number is refused with its name, and a number arrives as it was sent', async () => {
  const written = fc.oneof(hostile, fc.integer().map(String), fc.double().map(String));
  await fc.assert(
    fc.asyncProperty(written, async (n) => {
      const answer = await echo({ n });
      const isNumber = /^[+-]?\d+$/.test(n) && Number(n) >= -(2 ** 31) && Number(n) < 2 ** 31;
      if (isNumber) {
        expect([answer.status, answer.body.rows[0].n]).toEqual([200, Number(n)]);
        return;
      }
      expect([answer.status, answer.body.code, answer.body.parameter]).toEqual([
        400,
        'invalid_parameter',
        'n',
      ]);
    }),
    { numRuns: RUNS },
  );
});

test('no owner, slug, version, format or name of a parameter gets past its reader', async () => {
  const good = new Set(['json', 'json_compact', 'ndjson', 'csv', 'parquet', 'arrow']);
  await fc.assert(
    fc.asyncProperty(
      hostile,
      fc.constantFrom('owner', 'slug', 'version', 'format', 'name'),
      async (odd, place) => {
        const at = (owner: string, slug: string, query: Record<string, string>) =>
          author.send(
            'GET',
            `/v0/q/${encodeURIComponent(owner)}/${encodeURIComponent(slug)}?${new URLSearchParams(query)}`,
          );
        const answer = await {
          owner: () => at(odd, 'echo', {}),
          slug: () => at(author.owner, odd, {}),
          version: () => at(author.owner, 'echo', { version: odd }),
          format: () => at(author.owner, 'echo', { format: odd }),
          name: () => at(author.owner, 'echo', { [odd]: 'x' }),
        }[place]();
        const isPlain = /^[a-z0-9-]*$/.test(odd) || good.has(odd) || /^\d+$/.test(odd);
        if (isPlain) expect(answer.status).toBeLessThan(500);
        else expect([400, 404, 405, 414]).toContain(answer.status);
      },
    ),
    { numRuns: RUNS },
  );
});

test('no slug, parameter or setting of a save gets past its reader', async () => {
  await fc.assert(
    fc.asyncProperty(
      hostile,
      fc.constantFrom('slug', 'parameter', 'visibility', 'tier'),
      async (odd, place) => {
        const save = (slug: string, body: object) =>
          author.save(encodeURIComponent(slug), { sql: 'SELECT 1 AS x', ...body });
        const answer = await {
          slug: () => save(odd, {}),
          parameter: () => save('fuzzed', { parameters: { [odd]: { default: 1 } } }),
          visibility: () => save('fuzzed', { visibility: odd }),
          tier: () => save('fuzzed', { tier: odd }),
        }[place]();
        const isGood = place === 'slug' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(odd);
        expect(isGood ? [200] : [400, 404, 405]).toContain(answer.status);
      },
    ),
    { numRuns: RUNS },
  );
});
