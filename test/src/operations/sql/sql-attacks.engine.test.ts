import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect } from 'vitest';
import { trustedText } from '../../../../clickhouse/engine/sql.ts';
import { type AttackCase, attackCases } from '../../../kit/attack-cases.ts';
import { test } from '../../../kit/fixtures.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import { BASE, insertSettlements, reportChain, settlement, tombstone } from '../../../kit/rows.ts';
import { type Customer, type SqlApi, type SqlReply, sqlApi } from '../../../kit/sql-api.ts';

/**
 * Attacks as a caller would try them: through the API, with a key and units. A few of each family, because test/sandbox/judge/sandbox-attacks
 * runs every one of them against the sandbox itself; the long run takes all.
 */

const SECRETS = ['canary-in-a-row', 'canary-in-a-hidden-row', 'canary-in-a-file'] as const;
const [SECRET_ROW, SECRET_HIDDEN, SECRET_FILE] = SECRETS;
/** What no answer may show: names of ours, of the engine's places and versions. */
const INSIDE = /index_of_test|_public\b|wallet_rows|DB::|26\.\d+\.\d|unhex\(|__table|\/dev\/shm|127\.0\.0\.1/;

const directory = mkdtempSync(join(tmpdir(), 'settlement-index-attacks-'));
const secretFile = join(directory, 'secret.txt');
const outFile = join(directory, 'written-by-an-attack');
/** Bombs that end by the time and by the memory that a query may use, and one that is answered. */
const BOMBS = ['resource bombs/10', 'resource bombs/16', 'resource bombs/37', 'planning bombs/52'];
const CASES = fewOfEach(attackCases({ secretFile, outFile, database: 'index_of_test' }));
const isBomb = ({ expect: wanted }: AttackCase): boolean => wanted.outcome === 'bounded';
/** Seconds that a bomb may run: of a tier for tests, so that two hundred of them end within minutes. */
const SECONDS = 1;
const OVER_MS = 30_000;
/** As many at once as there are places. */
const AT_ONCE = 2;
const ANSWER_MAX_BYTES = 80 * 1024 * 1024;
/** Below the 30 a minute of a tier. */
const CALLS_PER_CUSTOMER = 25;

/** The first attacks of each family that end the same way, and those bombs. */
function fewOfEach(attacks: readonly AttackCase[]): AttackCase[] {
  const taken = new Map<string, number>();
  return attacks.filter(({ id, family, expect: { outcome } }) => {
    const kind = `${family} ${outcome}`;
    const before = taken.get(kind) ?? 0;
    taken.set(kind, before + 1);
    return before < lengthOf('attacksThroughApi') || BOMBS.includes(id);
  });
}

let sql: SqlApi;
let customer: Customer;
let calls = 0;

test.beforeAll(async ({ sandbox }) => {
  writeFileSync(secretFile, SECRET_FILE);
  sql = await sqlApi({ engine: sandbox, secondsOf: () => SECONDS });
  const run = (text: string) =>
    sql.engine.writer.run({ name: 'plant', sql: trustedText(text), maxSeconds: 20 });
  await run('CREATE DATABASE vault');
  await run('CREATE TABLE vault.secrets (s String) ENGINE = MergeTree ORDER BY s');
  await run(`INSERT INTO vault.secrets VALUES ('${SECRET_ROW}')`);
  await reportChain(sql.engine.writer, BASE, { finalized_block: '1000' });
  const hidden = settlement({ blockNumber: 5, facilitator: SECRET_HIDDEN });
  await insertSettlements(sql.engine.writer, [settlement({ blockNumber: 1 }), hidden]);
  await tombstone(sql.engine.writer, [hidden]);
});
afterAll(async () => {
  await sql?.engine.writer.run({
    name: 'uproot',
    sql: trustedText('DROP DATABASE vault SYNC'),
    maxSeconds: 20,
  });
  await sql?.close();
  rmSync(directory, { recursive: true, force: true });
});

async function attack({ sql: text, params }: AttackCase): Promise<SqlReply> {
  if (calls++ % CALLS_PER_CUSTOMER === 0) customer = await sql.customer();
  return customer.ask({ sql: text, params, format: 'ndjson' });
}

function expectNothingInside({ text }: SqlReply, sent: string): void {
  for (const secret of SECRETS) expect(text.includes(secret), secret).toBe(false);
  const inside = INSIDE.exec(text)?.[0];
  // What the caller wrote may be said back.
  if (inside !== undefined) expect(sent).toContain(inside);
}

describe('what must not run', () => {
  const refused = CASES.filter(({ expect: wanted }) => wanted.outcome === 'refused');

  test.each(refused.map((one) => [one.id, one.what, one] as const))('%s: %s', async (_id, _what, one) => {
    const reply = await attack(one);
    expect(reply.status, reply.text.slice(0, 300)).toBe(400);
    expect(reply.body.code).toMatch(/^invalid_(query|parameter)$/);
    expect(reply.body.detail.length).toBeGreaterThan(10);
    expect((await customer.units()).held).toBe(0);
    expectNothingInside(reply, `${one.sql} ${JSON.stringify(one.params)}`);
  });
});

describe('what does no harm', () => {
  const harmless = CASES.filter(({ expect: wanted }) => wanted.outcome === 'harmless');

  test.each(harmless.map((one) => [one.id, one.what, one] as const))('%s: %s', async (_id, _what, one) => {
    const reply = await attack(one);
    expect([200, 400]).toContain(reply.status);
    // What is wrong with its names or types is found before it runs.
    if (reply.status === 400) expect(reply.body.code).toMatch(/^(query_failed|invalid_query)$/);
    expectNothingInside(reply, `${one.sql} ${JSON.stringify(one.params)}`);
  });
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

test('a bomb ends by its limits with a typed answer, is charged for its time, and leaves a service that answers', async () => {
  const bombs = CASES.filter(isBomb);
  const queue = [...bombs];
  const own = await Promise.all(Array.from({ length: AT_ONCE }, () => sql.customer({ units: 100_000 })));
  const outcomes: string[] = [];
  await Promise.all(
    own.map(async (mine, at) => {
      let asking = mine;
      for (let turn = 0, one = queue.shift(); one !== undefined; one = queue.shift(), turn++) {
        if (turn > 0 && turn % CALLS_PER_CUSTOMER === 0) asking = await sql.customer({ units: 100_000 });
        const reply = await askPatiently(asking, one);
        const what = `${one.id} (${at}): ${reply.status} ${reply.text.slice(0, 200)}`;
        expect([200, 400], what).toContain(reply.status);
        expect(reply.bytes.length, what).toBeLessThan(ANSWER_MAX_BYTES);
        // One that takes too long while it is planned is not run.
        if (reply.status === 400) expect(reply.body.code, what).toMatch(/^(query_failed|invalid_query)$/);
        expectNothingInside(reply, `${one.sql} ${JSON.stringify(one.params)}`);
        outcomes.push(reply.status === 200 ? 'answered' : (reply.body.reason ?? reply.body.code));
      }
    }),
  );
  expect(outcomes.length).toBe(bombs.length);
  // The limits were really reached. Which of them comes first for a bomb depends on how busy the machine is.
  expect(outcomes).toContain('answered');
  expect(outcomes.filter((outcome) => outcome === 'timeout' || outcome === 'memory').length).toBeGreaterThan(
    1,
  );
  const after = await sql.customer();
  expect((await after.ask('SELECT count() AS n FROM settlements')).body.rows).toEqual([{ n: '1' }]);
}, 400_000);

test('nothing was written by any of it', () => {
  expect(existsSync(outFile)).toBe(false);
});
