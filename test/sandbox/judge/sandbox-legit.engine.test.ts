import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { type InspectDeps, inspect } from '../../../sandbox/judge/inspect.ts';
import { parametersAsSent } from '../../../sandbox/judge/literals/parameters.ts';
import { createEngineParser } from '../../../sandbox/judge/parser.ts';
import { loadPolicy } from '../../../sandbox/policy/policy.ts';
import { type DocumentedStatement, documentedStatements } from '../../kit/documented-selects.ts';
import { test } from '../../kit/fixtures.ts';
import { lengthOf } from '../../kit/lengths.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  nameFacilitator,
  POLYGON,
  reportChain,
  settlement,
  wallet,
} from '../../kit/rows.ts';
import type { SandboxEngine } from '../../kit/sandbox-engine.ts';

/** What analysts write gets in, and runs as the guest over rows that are there. */

let engine: SandboxEngine;
let deps: InspectDeps;

const ROWS = 600;
const MINUTES_BETWEEN = 17;
/** Of the engine's documentation every so many statements are asked, all of them in the long run. */
const STEP = lengthOf('acceptedStatementStep');
/** A part of the statements need not hold its share of each kind. */
const SPREAD = STEP === 1 ? 0 : 40;

test.beforeAll(async ({ sandbox }) => {
  engine = sandbox;
  deps = { parser: createEngineParser(engine.guest), policy: loadPolicy() };
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
  await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
  await insertSettlements(engine.writer, Array.from({ length: ROWS }, market));
});

/** A week of payments between 23 payers and 11 payees, who sometimes pay each other back. */
function market(_: unknown, at: number) {
  return settlement({
    blockNumber: 100 + at,
    blockTime: NOON - at * MINUTES_BETWEEN * 60,
    logIndex: at % 9,
    chain: at % 5 === 0 ? POLYGON : BASE,
    payer: wallet(1_001 + (at % 23)),
    payee: wallet(at % 13 === 0 ? 1_001 + (at % 23) : 1_001 + (at % 11)),
    amount: 2n ** 200n + BigInt(at),
    amountUsdMicros: BigInt((at % 37) * 130_000 + 1),
    facilitator: at % 3 === 0 ? '' : 'coinbase',
  });
}

interface Case {
  readonly id: string;
  readonly sql: string;
  readonly params?: Readonly<Record<string, string>>;
}

const casesOf = (name: string): Case[] =>
  readFileSync(new URL(`../../fixtures/sql/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const clickBench = casesOf('clickbench-shaped');
const more = casesOf('legit-more');

describe.each([
  ['the 43 questions of ClickBench, asked of settlements', clickBench],
  ['every clause of the language', more],
])('%s', (_what, cases) => {
  test.each(cases.map((one) => [one.id, one] as const))(
    '%s is accepted, and runs',
    async (_id, { sql, params = {} }) => {
      const verdict = await inspect(sql, params, deps);
      if (!('accepted' in verdict)) throw new Error(JSON.stringify(verdict));
      const { text } = verdict.accepted;
      const parameters = parametersAsSent(verdict.accepted.parameters, params);
      await engine.guest.explain({ name: 'legit', text, parameters, maxSeconds: 10 });
    },
  );
});

test('the sets are whole', () => {
  expect(clickBench).toHaveLength(43);
  expect(more.length).toBeGreaterThanOrEqual(130);
  for (const cases of [clickBench, more]) expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
});

/** Codes by which the engine itself says that an example cannot run here: no such table, database, right or function; no SQL. */
const NOT_HERE: ReadonlyMap<number, string> = new Map([
  [60, 'no such table'],
  [81, 'no such table'],
  [497, 'no such table'],
  [46, 'no such function'],
  [62, 'not parsed by the engine'],
]);

/** Why an example is no part of the question, judged without the sandbox. */
function outside({ words }: DocumentedStatement): string | undefined {
  const first = words.find((word) => word !== '(')?.toUpperCase() ?? '';
  if (!['SELECT', 'WITH', 'FROM'].includes(first)) return 'no SELECT';
  if (words.some((word) => deps.policy.functions.refusal(word) !== null)) return 'a refused function';
  if (words.some((word) => word.toUpperCase() === 'SETTINGS')) return 'SETTINGS';
  return words.some((word, at) => word === 'system' && words[at + 1] === '.') ? 'no such table' : undefined;
}

async function asGuest(text: string): Promise<number | null> {
  try {
    await engine.guest.explain({ name: 'documented', text, maxSeconds: 10 });
    return null;
  } catch (error) {
    if (error instanceof EngineError) return error.engineCode;
    return null; // an answer that is no JSON, as FORMAT asked: it ran
  }
}

/**
 * Asked is every statement of every example of every function, but for those that begin with no SELECT, that hold a word which is
 * the name of a refused function, SETTINGS or a table of `system`, and those that the engine itself does not run as the guest
 * because it does not parse them or knows no such table or function. The last are only looked for where the sandbox refuses.
 */
test("SELECTs in the engine's documentation that use allowed functions are accepted", async () => {
  const statements = (await documentedStatements(engine.writer)).filter((_, at) => at % STEP === 0);
  const counts: Record<string, number> = {};
  const count = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const refused: string[] = [];
  const judge = async (statement: DocumentedStatement): Promise<void> => {
    const reason = outside(statement);
    if (reason !== undefined) return count(reason);
    const verdict = await inspect(statement.text, {}, deps);
    if ('accepted' in verdict) return count('accepted');
    const notHere = NOT_HERE.get((await asGuest(statement.text)) ?? 0);
    if (notHere !== undefined) return count(notHere);
    count('refused');
    refused.push(`${statement.name}: ${statement.text}\n${JSON.stringify(verdict.refused)}`);
  };
  // Two at a time, as many as a guest may run.
  const queue = [...statements];
  const work = async (): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) await judge(next);
  };
  await Promise.all([work(), work()]);
  const { accepted = 0 } = counts;
  expect(refused.slice(0, 5)).toEqual([]);
  expect(accepted / (accepted + refused.length)).toBeGreaterThanOrEqual(0.98);
  // So that nothing leaves the question unseen: 26.7.2.1 documents 2,429 statements, of which 1,597 are asked here.
  expect(counts).toMatchObject({
    'a refused function': expect.toSatisfy((left: number) => left < 330 / STEP + SPREAD),
  });
  expect(accepted).toBeGreaterThanOrEqual(1_560 / STEP - SPREAD);
}, 120_000);

/** Bytes that a caller chose must not become a state of an aggregate function, which the engine trusts. */
const STATE_TYPE = 'AggregateFunction(sum, UInt64)';
const STATE = '(SELECT sumState(number) AS s FROM numbers(3))';

describe('what stands beside the legitimate and stays out', () => {
  test.each([
    ['a computed type', `SELECT CAST(unhex('00'), concat('Aggregate', 'Function(sum, UInt64)'))`, 'type'],
    ['a type from WITH', `WITH 'Aggregate' || 'Function(sum, UInt64)' AS t SELECT CAST('00', t)`, 'type'],
    ['a type with a comment', `SELECT CAST('00', 'AggregateFunction/**/(sum, UInt64)')`, 'type'],
    ['a type in quotes', "SELECT CAST('00', '`AggregateFunction`(sum, UInt64)')", 'type'],
    ['a type in accurateCast', `SELECT accurateCast('00', '${STATE_TYPE}')`, 'type'],
    ['a type in ::', `SELECT '00'::${STATE_TYPE}`, 'type'],
    ['a text beside a state in transform', `SELECT transform(s, ['00'], [1], 2) FROM ${STATE}`, 'function'],
    ['a text beside a state in CASE', `SELECT CASE s WHEN '00' THEN 1 ELSE 2 END FROM ${STATE}`, 'function'],
    ['a text to the left of states', `SELECT '00' IN (SELECT s FROM ${STATE})`, 'function'],
    [
      'the same with a CTE',
      `WITH a AS ${STATE}, b AS (SELECT s FROM a) SELECT '00' IN (SELECT s FROM b)`,
      'function',
    ],
    [
      'a state made by a name in a text',
      `SELECT transform(arrayReduce('sumState', [1]), ['00'], [1], 2)`,
      'function',
    ],
    ['a bitmap', `SELECT transform(bitmapBuild([1]), ['00'], [1], 2)`, 'function'],
    [
      'a kernel that nothing stops',
      `SELECT jaroSimilarity(payer, payee), kolmogorovSmirnovTest('two-sided', 'exact')(log_index, 1) FROM settlements`,
      'function',
    ],
    ['rows in a format by name', `SELECT groupFormat('CSV')(payer) FROM settlements`, 'function'],
  ])('%s', async (_what, sql, code) => {
    const verdict = await inspect(sql, {}, deps);
    expect(verdict).toMatchObject({ refused: { code } });
    expect(verdict).toHaveProperty('refused.hint');
  });
});
