import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect } from 'vitest';
import { type AttackCase, attackCases, BOMB_IDS, fewAttacks } from '../../../kit/attack-cases.ts';
import { type PlantedSecrets, plantSecrets } from '../../../kit/attack-stage.ts';
import { test } from '../../../kit/fixtures.ts';
import { type Customer, type SqlApi, type SqlReply, sqlApi } from '../../../kit/sql-api.ts';

/**
 * Attacks as a caller would try them: through the API, with a key and units. A few of each kind, because test/sandbox/judge/sandbox-attacks
 * runs every one of them against the sandbox itself; the long run takes all.
 */

/** What no answer may show: names of ours, of the engine's places and versions. */
const INSIDE = /index_of_test|_public\b|wallet_rows|DB::|26\.\d+\.\d|unhex\(|__table|\/dev\/shm|127\.0\.0\.1/;
/** Seconds that a bomb may run: of a tier for tests, so that two hundred of them end within minutes. */
const SECONDS = 1;
const OVER_MS = 30_000;
/** As many at once as there are places. */
const AT_ONCE = 2;
const ANSWER_MAX_BYTES = 80 * 1024 * 1024;
/** Below the 30 a minute of a tier. */
const CALLS_PER_CUSTOMER = 25;

let sql: SqlApi;
let planted: PlantedSecrets;

test.beforeAll(async ({ sandbox }) => {
  sql = await sqlApi({ engine: sandbox, secondsOf: () => SECONDS });
  planted = await plantSecrets(sandbox.writer, sandbox.access.database);
});
afterAll(async () => {
  await planted?.uproot();
  await sql?.close();
});

/** An engine that has just been bombed may not come to a text in time, on a busy machine; no text makes it so for ever. */
const REFUSED_BY_LOAD_MAX = 5;

/** Does what the answer says where the service says that it is its engine, and not the query, that has to be waited for. */
async function askPatiently(asking: Customer, { sql: text, params }: AttackCase): Promise<SqlReply> {
  for (let refusals = 0; ; refusals++) {
    const began = performance.now();
    const reply = await asking.ask({ sql: text, params, format: 'ndjson' });
    expect(performance.now() - began, reply.text.slice(0, 200)).toBeLessThan(OVER_MS);
    if (reply.status !== 503 || refusals === REFUSED_BY_LOAD_MAX) return reply;
    expect(reply.body).toMatchObject({ code: 'upstream_unavailable', retry_after: expect.any(Number) });
    await sleep(reply.body.retry_after * 1_000);
  }
}

/** `answered`, or the reason why not. Throws if the answer holds anything that callers may not see. */
function outcomeOf({ id, sql: text, params, outcome }: AttackCase, reply: SqlReply): string {
  const what = `${id}: ${reply.status} ${reply.text.slice(0, 300)}`;
  expect(planted.secretIn(reply.text), what).toBeUndefined();
  const inside = INSIDE.exec(reply.text)?.[0];
  // What the caller wrote may be said back.
  if (inside !== undefined) expect(`${text} ${JSON.stringify(params)}`, what).toContain(inside);
  expect(reply.bytes.length, what).toBeLessThan(ANSWER_MAX_BYTES);
  if (outcome === 'refused') {
    expect([reply.status, reply.body?.code], what).toEqual([
      400,
      expect.stringMatching(/^invalid_(query|parameter)$/),
    ]);
    expect(reply.body.detail.length, what).toBeGreaterThan(10);
    return 'refused';
  }
  expect([200, 400], what).toContain(reply.status);
  if (reply.status === 200) return 'answered';
  // Wrong names and types are found before it runs; a query that takes too long to plan is not run.
  expect(reply.body.code, what).toMatch(/^(query_failed|invalid_query)$/);
  return reply.body.reason ?? reply.body.code;
}

async function outcomesOf(cases: readonly AttackCase[]): Promise<string[]> {
  const queue = [...cases];
  const outcomes: string[] = [];
  const work = async (): Promise<void> => {
    let asking = await sql.customer({ units: 100_000 });
    for (let turn = 1, one = queue.shift(); one !== undefined; one = queue.shift(), turn++) {
      if (turn % CALLS_PER_CUSTOMER === 0) asking = await sql.customer({ units: 100_000 });
      outcomes.push(outcomeOf(one, await askPatiently(asking, one)));
      expect((await asking.units()).held).toBe(0);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  expect(outcomes).toHaveLength(cases.length);
  return outcomes;
}

test('what the first wall refuses is refused with words about it, and nothing is held for it', async () => {
  const refused = fewAttacks(planted).filter(({ outcome }) => outcome === 'refused');
  expect(new Set(await outcomesOf(refused))).toEqual(new Set(['refused']));
}, 400_000);

test('a harmless text is answered, or fails on its names and types', async () => {
  const harmless = fewAttacks(planted).filter(({ outcome }) => outcome === 'harmless');
  expect(await outcomesOf(harmless)).toContain('answered');
}, 400_000);

test('a bomb ends by its limits with a typed answer, is charged for its time, and leaves a service that answers', async () => {
  const few = fewAttacks(planted).map(({ id }) => id);
  const bombs = attackCases(planted).filter(
    ({ id, outcome }) => outcome === 'bounded' && [...few, ...BOMB_IDS].includes(id),
  );
  const outcomes = await outcomesOf(bombs);
  // The limits were really reached. Which of them comes first for a bomb depends on how busy the machine is.
  expect(outcomes).toContain('answered');
  expect(outcomes.filter((one) => one === 'timeout' || one === 'memory').length).toBeGreaterThan(1);
  const after = await sql.customer();
  expect((await after.ask('SELECT count() AS n FROM settlements')).body.rows).toEqual([{ n: '1' }]);
}, 400_000);

test('nothing was written by any of it', () => {
  expect(planted.isWritten()).toBe(false);
});
