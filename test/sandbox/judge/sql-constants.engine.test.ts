import { describe, expect } from 'vitest';
import { warningsOfNamed } from '../../../sandbox/judge/literals/constants.ts';
import { docsQuestions } from '../../kit/docs-questions.ts';
import { test } from '../../kit/fixtures.ts';
import type { Judge } from '../../kit/judge.ts';

/** A constant that no row can have is warned of, wherever it is compared with a column; one that may occur never is. */

let accepted: Judge['accepted'];

test.beforeAll(({ judge }) => {
  ({ accepted } = judge);
});

const LOWER = `0x${'ab'.repeat(20)}`;
const CHECKSUMMED = `0x${'aB'.repeat(20)}`;
const HASH = `0x${'cd'.repeat(32)}`;
const from = (where: string, table = 'settlements') => `SELECT count() FROM ${table} WHERE ${where}`;

/** The text, the constant, and the literal to write instead where one is meant. */
const WARNED: readonly (readonly [string, string, string | undefined])[] = [
  [from(`payer = '${CHECKSUMMED}'`), CHECKSUMMED, `'${LOWER}'`],
  [from(`'${CHECKSUMMED}' != payee`), CHECKSUMMED, `'${LOWER}'`],
  [from(`relayer IN ('${LOWER}', '${CHECKSUMMED}')`), CHECKSUMMED, `'${LOWER}'`],
  [from(`asset NOT IN ['${CHECKSUMMED}']`), CHECKSUMMED, `'${LOWER}'`],
  [from(`has(['${CHECKSUMMED}', '${LOWER}'], payer)`), CHECKSUMMED, `'${LOWER}'`],
  [from(`lower(payer) = '${CHECKSUMMED}'`), CHECKSUMMED, `'${LOWER}'`],
  [from(`payer = '${LOWER.slice(2)}'`), LOWER.slice(2), `'${LOWER}'`],
  [from("payer = 'alice'"), 'alice', undefined],
  [
    from(`tx_hash = '${HASH.toUpperCase().replace('X', 'x')}'`),
    HASH.toUpperCase().replace('X', 'x'),
    `'${HASH}'`,
  ],
  [from("chain = 'base'"), 'base', "'eip155:8453'"],
  [from("chain = 'Base Sepolia'"), 'Base Sepolia', "'eip155:84532'"],
  [from("chain = '8453'"), '8453', "'eip155:8453'"],
  [from("chain IN ('eip155:8453', 'EIP155:137')"), 'EIP155:137', "'eip155:137'"],
  [from("s.chain != 'polygon'", 'settlements AS s'), 'polygon', "'eip155:137'"],
  [from("evidence_tier = 'Proven'"), 'Proven', "'proven'"],
  [from("evidence_tier IN ('proven', 'probabel')"), 'probabel', "'probable'"],
  [from("evidence_tier = 'not-x402'"), 'not-x402', "'not_x402'"],
  [from("evidence_method = 'relay of a facilitator'"), 'relay of a facilitator', undefined],
  [from("role = 'seller'", 'wallet_settlements'), 'seller', undefined],
  [from("finality = 'final'"), 'final', undefined],
  [from("kind = 'Feedback'", 'attestations'), 'Feedback', "'feedback'"],
  [from("facilitator = ''"), '', undefined],
  [from("tag1 != ''", 'attestations'), '', undefined],
  [from("wallet = ''", 'agents'), '', undefined],
  ["SELECT countIf(chain = 'base') FROM settlements", 'base', "'eip155:8453'"],
  [
    "SELECT CASE chain WHEN 'base' THEN 1 WHEN 'eip155:137' THEN 2 ELSE 3 END FROM settlements",
    'base',
    "'eip155:8453'",
  ],
  [
    "WITH t AS (SELECT chain AS c, payer FROM settlements) SELECT count() FROM t WHERE c = 'base'",
    'base',
    "'eip155:8453'",
  ],
  [
    `SELECT count() FROM settlements WHERE (payer, chain) IN (('${LOWER}', 'base'), ('${LOWER}', 'eip155:137'))`,
    'base',
    "'eip155:8453'",
  ],
  ["SELECT any(chain) AS c FROM settlements HAVING c = 'base'", 'base', "'eip155:8453'"],
  [
    "SELECT 1 FROM wallet_settlements AS w JOIN agents AS a ON a.wallet = w.wallet AND a.chain = 'base'",
    'base',
    "'eip155:8453'",
  ],
];

describe('is warned of', () => {
  test.each(WARNED)('%s', async (sql, near, replacement) => {
    const { warnings } = await accepted(sql);
    const from = sql.indexOf(`'${near}'`);
    const to = from + `'${near}'`.length;
    expect(warnings).toEqual([
      {
        code: 'constant_matches_nothing',
        message: expect.stringMatching(/\S.*\.$/),
        near,
        position: { line: 1, column: from + 1 },
        ...(replacement === undefined ? {} : { replacement, edits: [{ from, to, text: replacement }] }),
      },
    ]);
  });

  test('what a parameter holds, which has no place in the text', async () => {
    const { warnings } = await accepted(from('chain = {c:String} AND payer IN {p:Array(String)}'), {
      c: 'base',
      p: `['${CHECKSUMMED}']`,
    });
    expect(
      warnings.map(({ near, position, replacement, edits }) => [near, position, replacement, edits]),
    ).toEqual([
      ['base', undefined, "'eip155:8453'", undefined],
      [CHECKSUMMED, undefined, `'${LOWER}'`, undefined],
    ]);
  });

  test('ten at most, and the others are counted', async () => {
    const texts = Array.from({ length: 30 }, (_, at) => `'x${at}'`).join(', ');
    const { warnings } = await accepted(from(`chain IN (${texts}) OR chain IN (${texts})`));
    expect(warnings.filter(({ position }) => position !== undefined)).toHaveLength(10);
    expect(warnings.slice(10)).toEqual([
      { code: 'constant_matches_nothing', message: '20 more like these.' },
    ]);
  });
});

describe('nothing is said of', () => {
  test.each([
    from(`payer = '${LOWER}' AND tx_hash = '${HASH}' AND chain = 'eip155:8453'`),
    from("chain = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'"),
    from("evidence_tier IN ('proven', 'probable', 'unproven', 'not_x402', 'ungraded')"),
    from("asset_symbol = 'usdc' OR payer LIKE '0xAB%' OR upper(payer) = '0XAB'"),
    from("resource = '' OR method = 'get' OR pay_to = 'Abc'", 'endpoints'),
    from('payer = lower({p:String})'),
    // A name of the query's own.
    "SELECT if(chain = 'eip155:8453', 'base', 'other') AS network FROM settlements WHERE network = 'base'",
    "SELECT count() FROM (SELECT substring(chain, 8) AS chain FROM settlements) WHERE chain = '8453'",
    "WITH t AS (SELECT 'base' AS chain) SELECT * FROM t WHERE chain = 'base'",
    "SELECT arrayFilter(chain -> chain = 'base', ['base']) FROM settlements",
    "SELECT 'base' AS label, chain FROM settlements",
    "SELECT coalesce(facilitator, '') = '' FROM settlements",
  ])('%s', async (sql) => {
    const params: Record<string, string> = sql.includes('{p') ? { p: CHECKSUMMED } : {};
    expect((await accepted(sql, params)).warnings).toEqual([]);
  });
});

test('the examples of analysts and of the documentation have no such constant', async () => {
  const found: unknown[] = [];
  // Of a sum, shown with an answer that has a 0 in its place (differences.engine.test.ts).
  for (const { sql, params } of docsQuestions())
    for (const { code, near } of (await accepted(sql, params)).warnings)
      if (code !== 'empty_is_not_null') found.push([sql, code, near]);
  expect(found).toEqual([]);
});

describe('of indexed chains and facilitators', () => {
  const known = { chains: ['eip155:8453', 'eip155:137'], facilitators: ['coinbase', 'payai'] };
  const warned = async (sql: string) => warningsOfNamed((await accepted(sql)).namedConstants, known);

  test('an unknown facilitator is warned of, with the one that was meant', async () => {
    const sql = from("facilitator IN ('coinbase', 'Coinbase')");
    expect(await warned(sql)).toMatchObject([
      {
        near: 'Coinbase',
        replacement: "'coinbase'",
        position: { line: 1, column: sql.indexOf("'Coinbase'") + 1 },
      },
    ]);
    expect(await warned(from("facilitator = 'unheard-of'"))).toEqual([
      expect.not.objectContaining({ replacement: expect.anything() }),
    ]);
  });

  test('a chain that is not indexed is warned of, with those that are', async () => {
    expect(await warned(from("chain = 'eip155:10'"))).toMatchObject([
      { near: 'eip155:10', message: expect.stringContaining('eip155:8453, eip155:137') },
    ]);
    expect(await warned(from("chain = 'eip155:137' AND facilitator = 'payai'"))).toEqual([]);
  });
});
