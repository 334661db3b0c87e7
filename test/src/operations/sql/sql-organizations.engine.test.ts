import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { SqlCallers } from '../../../../core/domain/plan.ts';
import { addKey } from '../../../kit/access.ts';
import { ANONYMOUS } from '../../../kit/api.ts';
import { test } from '../../../kit/fixtures.ts';
import { ask, type SqlApi, sqlApi } from '../../../kit/sql-api.ts';

/** Where nothing but the inspector keeps SQL from files, only organizations may send any. */

let sql: SqlApi;
let openTo: SqlCallers;
let trial: Record<string, string>;

test.beforeAll(async ({ sandbox }) => {
  sql = await sqlApi({ engine: sandbox, openTo: () => openTo });
  trial = { 'x-api-key': await addKey(sql.api.access.access.store, { kind: 'trial' }) };
});
afterAll(() => sql?.close());

const QUERY = 'SELECT count() FROM settlements';

describe('while SQL is for organizations only', () => {
  beforeAll(() => {
    openTo = 'organizations';
  });

  test.each([
    ['a query', { sql: QUERY }],
    ['an estimate', { sql: QUERY, explain_only: true }],
    // The engine is not asked for its opinion either.
    ['a text that is refused', { sql: 'SELECT 1 FROM' }],
  ])(
    '%s of a caller without an organization is refused with the reason, and is not judged',
    async (_what, body) => {
      for (const headers of [ANONYMOUS, trial, { ...ANONYMOUS, 'x-payment': 'signed' }]) {
        const answer = await ask(sql.api, body, headers);
        expect([answer.status, answer.body.code]).toEqual([403, 'upgrade_required']);
        expect(answer.body.detail).toContain('for organizations only');
      }
    },
  );

  test('an organization runs and estimates as ever', async () => {
    const customer = await sql.customer({ units: 10 });
    expect((await customer.ask(QUERY)).status).toBe(200);
    expect((await customer.ask({ sql: QUERY, explain_only: true })).status).toBe(200);
    expect((await customer.units()).spent).toBe(1);
  });

  test('/account offers no tier to others, and says why', async () => {
    const tiersOf = async (headers: Record<string, string>) =>
      (await sql.api.get('/v0/account', headers)).body.sql_tiers as {
        allowed: boolean;
        note: string | null;
      }[];
    for (const headers of [ANONYMOUS, trial])
      for (const { allowed, note } of await tiersOf(headers))
        expect([allowed, note]).toEqual([false, expect.stringContaining('for organizations only')]);
    const { headers } = await sql.customer();
    expect((await tiersOf({ ...headers }))[0]).toMatchObject({ allowed: true, note: null });
  });
});

test('where SQL is open to everyone, a caller without a key gets the price and estimates', async () => {
  openTo = 'everyone';
  expect((await ask(sql.api, QUERY, ANONYMOUS)).body.code).not.toBe('upgrade_required');
  expect((await ask(sql.api, { sql: QUERY, explain_only: true }, ANONYMOUS)).status).toBe(200);
});
