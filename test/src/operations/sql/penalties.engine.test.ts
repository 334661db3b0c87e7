import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadPolicy } from '../../../../sandbox/policy/policy.ts';
import { BUSY_REASONS } from '../../../../sandbox/sandbox.ts';
import { type SqlApi, sqlApi } from '../../../kit/sql-api.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

/** One step that looks at no clock. The pinned policy refuses its function; here both judgements let it pass. */
const UNSTOPPABLE =
  "SELECT sum(editDistance(repeat('a', 60000 + number % 2), repeat('b', 60000))) FROM numbers(1000)";
const pinned = loadPolicy();
const LENIENT = {
  ...pinned,
  functions: { ...pinned.functions, allows: () => true, costOf: () => ({ name: '', work: 'flat' as const }) },
};

let sql: SqlApi;

beforeAll(async () => {
  sql = await sqlApi({ restarts: true, secondsOf: () => 1, killObeyedMaxMs: 500, policy: LENIENT });
});
afterAll(() => sql?.close());

test('a caller whose query could not be stopped learns that while the engine is started anew', async () => {
  const customer = await sql.customer();
  const before = sql.engine.pid();
  expect((await customer.ask(UNSTOPPABLE)).status).toBe(503);
  // The engine is down: nothing can be judged now.
  const { status, body, headers } = await customer.ask('SELECT 1');
  expect([status, body.code, body.detail]).toEqual([429, 'rate_limited', BUSY_REASONS.penalty]);
  expect(Number(headers['retry-after'])).toBeGreaterThan(500);
  await waitUntil('a new engine', () => ![before, undefined].includes(sql.engine.pid()));
}, 30_000);
