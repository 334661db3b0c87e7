import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ORGANIZATIONS_ONLY_AFTER,
  ORGANIZATIONS_ONLY_MS,
  UNSTOPPABLE_WINDOW_MS,
} from '../../../../sandbox/limits.ts';
import type { SqlPolicy } from '../../../../sandbox/policy/policy.ts';
import { loadPolicy } from '../../../../sandbox/policy/policy.ts';
import { BUSY_REASONS } from '../../../../sandbox/sandbox.ts';
import { addKey } from '../../../kit/access.ts';
import { ANONYMOUS } from '../../../kit/api.ts';
import { attackCases } from '../../../kit/attack-cases.ts';
import { BASE, insertSettlements, reportChain, settlement, wallet } from '../../../kit/rows.ts';
import { ask, type Customer, type SqlApi, type SqlReply, sqlApi } from '../../../kit/sql-api.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

/** Callers whose texts cannot be stopped, and callers who only read, of one service. */

/** The pinned policy but for one function, which it refuses because it looks at no clock. All other texts are judged as ever. */
const UNSTOPPABLE = 'editDistance';
const unstoppable = (n: number): string =>
  `SELECT sum(${UNSTOPPABLE}(repeat('a', 60000 + number % 2), repeat('b', 60000))) FROM numbers(${1_000 + n})`;

function policyThatAllowsIt(): SqlPolicy {
  const pinned = loadPolicy();
  const { functions } = pinned;
  return {
    ...pinned,
    functions: {
      ...functions,
      allows: (name) => name === UNSTOPPABLE || functions.allows(name),
      refusal: (name) => (name === UNSTOPPABLE ? null : functions.refusal(name)),
      costOf: (name) => (name === UNSTOPPABLE ? { name, work: 'flat' } : functions.costOf(name)),
    },
  };
}

const REFUSED = attackCases({ secretFile: '', outFile: '', database: '' })
  .filter(({ family, outcome }) => family.startsWith('unstoppable') && outcome === 'refused')
  .map(({ sql: text }) => text);
/** Below the 30 a minute of a tier. */
const CALLS_PER_CUSTOMER = 25;
/** As many as there are places for queries. */
const ATTACKERS = 2;
const READERS = 3;
/** Rounds whose texts meet an engine that is being started anew count as nothing; on a busy machine several do. */
const ROUNDS_MAX = 10 * ORGANIZATIONS_ONLY_AFTER;
const SECONDS = 1;

const PATHS = ['/v0/flows', `/v0/entities/${wallet(0xb2)}/settlements`, '/v0/telemetry'];

let sql: SqlApi;

beforeAll(async () => {
  sql = await sqlApi({
    restarts: true,
    secondsOf: () => SECONDS,
    killObeyedMaxMs: 500,
    policy: policyThatAllowsIt(),
  });
  await reportChain(sql.engine.writer, BASE, { finalized_block: '1000' });
  await insertSettlements(sql.engine.writer, [settlement({ blockNumber: 1, payee: wallet(0xb2) })]);
});
afterAll(() => sql?.close());

/** Callers that send one request after another, each on its own, until `work` has ended. */
async function meanwhile(steps: readonly ((time: number) => Promise<void>)[], work: () => Promise<void>) {
  let isOver = false;
  const going = Promise.all(
    steps.map(async (step) => {
      for (let time = 0; !isOver; time += 1) await step(time);
    }),
  );
  try {
    await work();
  } finally {
    isOver = true;
    await going;
  }
}

/** What became of the reads of all readers. */
const failed: string[] = [];
const answered = new Map<string, number>();

/** A caller who reads with a key of its own. */
async function reader(first: number) {
  const { headers } = await sql.customer();
  return async (time: number): Promise<void> => {
    const path = PATHS[(first + time) % PATHS.length] ?? '';
    // Cached answers age, so that the engine is asked.
    sql.api.clock.advanceSeconds(1);
    const { status, text } = await sql.api.get(path, { ...headers });
    if (status === 200) answered.set(path, (answered.get(path) ?? 0) + 1);
    else failed.push(`${path}: ${status} ${text.slice(0, 200)}`);
  };
}

const refusals = new Map<number, number>();

/** A caller whose texts are all refused, with a new key before its rate is used up. */
function refusedCaller(first: number) {
  let customer: Customer;
  return async (time: number): Promise<void> => {
    if (time % CALLS_PER_CUSTOMER === 0) customer = await sql.customer();
    const { status } = await customer.ask(REFUSED[(first + time * ATTACKERS) % REFUSED.length] ?? '');
    refusals.set(status, (refusals.get(status) ?? 0) + 1);
  };
}

const openTo = async (): Promise<string> => (await sql.api.get('/v0/telemetry')).body.sql.open_to;

/** Each time from organizations that have done nothing yet, until SQL is for organizations only. */
async function sendUnstoppable(): Promise<SqlReply[]> {
  const replies: SqlReply[] = [];
  for (let round = 0; round < ROUNDS_MAX && (await openTo()) === 'everyone'; round += 1) {
    // A text that meets an engine which is being started anew is refused, and counts as nothing.
    await sqlIsServed();
    replies.push(
      ...(await Promise.all(
        Array.from({ length: ATTACKERS }, async (_, caller) =>
          (await sql.customer()).ask(unstoppable(round * ATTACKERS + caller)),
        ),
      )),
    );
  }
  return replies;
}

const ESTIMATE = { sql: 'SELECT count() FROM settlements', explain_only: true };

async function sqlIsServed(): Promise<void> {
  const customer = await sql.customer();
  await waitUntil(
    'the engine serves the SQL of organizations',
    async () => (await customer.ask(ESTIMATE)).status === 200,
  );
}

test('every read is answered while texts run that cannot be stopped and while the engine restarts after them', async () => {
  const before = sql.engine.pid();
  const readers = await Promise.all(Array.from({ length: READERS }, (_, n) => reader(n)));
  const refused = Array.from({ length: ATTACKERS }, (_, n) => refusedCaller(n));
  await meanwhile([...readers, ...refused], async () => {
    const replies = await sendUnstoppable();
    const unstopped = replies.filter(({ status }) => status === 503);
    expect(unstopped.length).toBeGreaterThanOrEqual(ORGANIZATIONS_ONLY_AFTER);
    // On a busy machine a text's time may be over before its function has begun: that one is stopped as any other.
    const stopped = replies.filter((reply) => reply.body.reason === 'timeout');
    expect(unstopped.length + stopped.length).toBe(replies.length);
    await expectForOrganizationsOnly();
  });
  expect(failed).toEqual([]);
  // While the engine is started anew they are refused with 503; none is run.
  expect([...refusals.keys()].filter((status) => status !== 400 && status !== 503)).toEqual([]);
  expect(refusals.get(400)).toBeGreaterThan(10);
  expect([...answered.keys()].sort()).toEqual([...PATHS].sort());
  for (const times of answered.values()) expect(times).toBeGreaterThan(10);
  expect(sql.engine.pid()).not.toBe(before);
}, 180_000);

/** While all others go on. */
async function expectForOrganizationsOnly(): Promise<void> {
  expect(await openTo()).toBe('organizations');
  await sqlIsServed();
  expect((await (await sql.customer()).ask('SELECT count() FROM settlements')).status).toBe(200);
  const trial = { 'x-api-key': await addKey(sql.api.access.access.store, { kind: 'trial' }) };
  for (const headers of [ANONYMOUS, trial]) {
    const { status, body, headers: answered } = await ask(sql.api, ESTIMATE, headers);
    expect([status, body.code, body.detail]).toEqual([429, 'rate_limited', BUSY_REASONS.organizations_only]);
    const seconds = Number(answered['retry-after']);
    expect(seconds).toBeGreaterThan(UNSTOPPABLE_WINDOW_MS / 1_000);
    expect(seconds).toBeLessThanOrEqual(ORGANIZATIONS_ONLY_MS / 1_000);
  }
}
