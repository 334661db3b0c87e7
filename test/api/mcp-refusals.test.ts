import type { AddressInfo } from 'node:net';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addKey } from '../support/access.ts';
import { call, connect, type Headers, type Told } from '../support/mcp-speakers.ts';
import { BASE, insertSettlements, reportChain, settlement, wallet } from '../support/rows.ts';
import { type SqlApi, sqlApi } from '../support/sql-api.ts';

/** What an agent is told when a call was refused, or found nothing: what to do next, in words and, where no judgement is needed, as a call. */

let world: SqlApi;
let origin: string;

beforeAll(async () => {
  world = await sqlApi();
  const { writer } = world.engine;
  await reportChain(writer, BASE);
  await insertSettlements(
    writer,
    Array.from({ length: 3 }, (_, logIndex) => settlement({ logIndex })),
  );
  const { app } = world.api;
  await app.listen({ host: '127.0.0.1', port: 0 });
  origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});
afterAll(() => world?.close());

async function ask(headers: Headers, name: string, given: Record<string, unknown> = {}): Promise<Told> {
  const client: Client = await connect(`${origin}/mcp`, headers);
  const told = await call(client, name, given);
  await client.close();
  return told;
}

const PRICED: readonly (readonly [string, Record<string, unknown>])[] = [
  ['list_flows', {}],
  ['get_graph', { window: 10 }],
  ['run_sql', { sql: 'SELECT 1' }],
];
const ACCOUNT = { tool: 'get_account', arguments: {} };

describe('each lane', () => {
  test('no_account without a key: free tools answer, others say whom to ask for one', async () => {
    const { said } = await ask({}, 'get_account');
    expect(said).toMatchObject({ tier: 'anonymous', lane: 'no_account' });
    expect((await ask({}, 'list_capabilities')).isError).toBe(false);
    for (const [name, given] of PRICED) {
      const refused = await ask({}, name, given);
      expect([name, refused.isError, refused.said.accepts]).toEqual([name, true, undefined]);
      expect(refused.said).toMatchObject({ code: 'api_key_required', next_call: ACCOUNT });
      expect(refused.text).toMatch(/X-API-Key/);
      expect(refused.text).toMatch(/mint_trial_key/);
    }
  });

  test('no_account with a trial key: the tools that any key opens, and the reason why not the others', async () => {
    const headers = { 'x-api-key': await addKey(world.api.access.access.store, { kind: 'trial' }) };
    expect((await ask(headers, 'get_account')).said).toMatchObject({ tier: 'trial', lane: 'no_account' });
    expect((await ask(headers, 'list_flows')).isError).toBe(false);
    const { said, text } = await ask(headers, 'get_graph', { window: 10 });
    expect(said).toMatchObject({ code: 'payment_required', next_call: ACCOUNT });
    expect(text).toMatch(/organization with units/);
    expect(text).not.toMatch(/accepts|X-PAYMENT/);
  });

  test('credit without enough units', async () => {
    const { headers } = await world.customer({ units: 0 });
    const { said, text } = await ask(headers, 'run_sql', { sql: 'SELECT 1' });
    expect(said).toMatchObject({ code: 'insufficient_qu', next_call: ACCOUNT });
    expect(text).toMatch(/top_up_url/);
    expect(text).not.toMatch(/accepts/);
    const free = await ask(headers, 'run_sql', { sql: 'SELECT 1', explain_only: true });
    expect(free.isError).toBe(false);
  });

  test('upgrade_required: a tier that the plan does not include', async () => {
    const { headers } = await world.customer({ plan: 'free' });
    const { said, text } = await ask(headers, 'run_sql', { sql: 'SELECT 1', tier: 'deep' });
    expect(said).toMatchObject({ code: 'upgrade_required', next_call: ACCOUNT });
    expect(text).toMatch(/deep is included in: enterprise.*get_account/);
  });

  test('invalid_key: get_account says so, the others refuse', async () => {
    const headers = { authorization: 'Bearer six_live_unknown' };
    expect((await ask(headers, 'get_account')).said).toMatchObject({
      key_recognised: false,
      lane: 'invalid_key',
    });
    const { said, text } = await ask(headers, 'list_flows');
    expect(said).toMatchObject({ code: 'invalid_api_key', status: 401, next_call: ACCOUNT });
    expect(text).toMatch(/valid key/);
  });

  test('what is sold over HTTP only is explained', async () => {
    const { text, isError } = await ask({}, 'mint_trial_key');
    expect(isError).toBe(true);
    expect(text).toMatch(/no(thing)? .*x402|No payment can be sent/i);
  });
});

describe('a mistake', () => {
  test('in the name of a tool is answered with the one that was meant, and with all there are', async () => {
    const { headers } = await world.customer();
    await expect(ask(headers, 'list_flow')).rejects.toThrow(/Did you mean list_flows\?.*get_account/);
    await expect(ask(headers, 'what_is_this')).rejects.toThrow(
      /There is no tool of that name\. Tools: get_account/,
    );
  });

  test('in the name of an argument is mended', async () => {
    const { headers } = await world.customer();
    const { said, text, isError } = await ask(headers, 'list_flows', { limt: 2 });
    expect(isError).toBe(true);
    expect(said).toMatchObject({ code: 'invalid_parameter', parameter: 'limt' });
    expect(text).toMatch(/Did you mean limit\?/);
    expect(said.next_call).toEqual({ tool: 'list_flows', arguments: { limit: 2 } });
    expect((await ask(headers, said.next_call.tool, said.next_call.arguments)).said.flows).toHaveLength(2);
  });

  test('in the name of a column, a table or a function is mended in the query, and nowhere else in it', async () => {
    const { headers } = await world.customer();
    const queries = [
      ["SELECT payeer FROM settlements WHERE payer != 'payeer'", 'payer'],
      ["SELECT payer FROM setlements WHERE payer != 'setlements'", 'settlements'],
      ["SELECT s.payeer FROM settlements AS s WHERE s.payer != 's.payeer'", 's.payer'],
    ] as const;
    for (const [sql, meant] of queries) {
      const { said, text } = await ask(headers, 'run_sql', { sql, max_rows: 5 });
      expect([sql, said.status]).toEqual([sql, 400]);
      expect(text).toContain(`Did you mean ${meant.split('.').at(-1)}?`);
      const mended = await ask(headers, said.next_call.tool, said.next_call.arguments);
      expect([mended.isError, mended.said.rows.length, mended.said.sql]).toEqual([
        false,
        3,
        expect.stringContaining(sql.slice(-9)),
      ]);
    }
  });

  test('in a query speaks of tools, not of routes', async () => {
    const { headers } = await world.customer();
    const { text } = await ask(headers, 'run_sql', {
      sql: 'SELECT nothing_alike FROM settlements, endpoints',
    });
    expect(text).not.toMatch(/\/v0|GET /);
    expect((await ask(headers, 'run_sql', { sql: 'DESCRIBE settlements' })).text).toMatch(/get_sql_schema/);
  });

  test('in a cursor sends back to the first page', async () => {
    const { headers } = await world.customer();
    const { said } = await ask(headers, 'list_flows', { limit: 2 });
    const before = `${said.next_call.arguments.before.slice(0, -2)}AA`;
    const refused = await ask(headers, 'list_flows', { limit: 2, before });
    expect(refused.said).toMatchObject({ code: 'invalid_parameter', parameter: 'before' });
    expect(refused.said.next_call).toEqual({ tool: 'list_flows', arguments: { limit: 2 } });
  });
});

describe('an answer', () => {
  test('that was cut says so and how to have the rest', async () => {
    const { headers } = await world.customer();
    const sql = 'SELECT number FROM numbers(300)';
    const cut = await ask(headers, 'run_sql', { sql });
    expect(cut.said).toMatchObject({ truncated: true, row_count: 200 });
    expect(cut.text).toMatch(/Rows were cut\. .*charged again/);
    const whole = await ask(headers, cut.said.next_call.tool, cut.said.next_call.arguments);
    expect(whole.said).toMatchObject({ truncated: false, row_count: 300 });
    expect(whole.said.next_call).toBeUndefined();
  });

  test('about a wallet that nobody knows says what that can mean', async () => {
    const { headers } = await world.customer();
    const unknown = wallet(0xdead);
    for (const [name, given] of [
      ['get_merchant', { address: unknown }],
      ['list_entity_settlements', { wallet: unknown }],
    ] as const) {
      const { text, isError } = await ask(headers, name, given);
      expect([name, isError]).toEqual([name, false]);
      expect(text).toMatch(/no failure.*not indexed yet.*get_telemetry/);
    }
  });

  test('is given to whoever fills in null for what they have nothing to say about', async () => {
    const { headers } = await world.customer();
    const { said } = await ask(headers, 'list_transactions', {
      limit: 2,
      min_probability: null,
      exclude_self_payments: true,
    });
    expect(said.transactions).toHaveLength(2);
  });
});

test('a caller over the limit is told when to make the same call again', async () => {
  const { headers } = await world.customer();
  let told = await ask(headers, 'run_sql', { sql: 'SELECT 1' });
  // The tier allows 30 in a minute; the clock of the service stands.
  for (let calls = 1; calls <= 30 && !told.isError; calls++)
    told = await ask(headers, 'run_sql', { sql: 'SELECT 1' });
  expect(told.said).toMatchObject({ code: 'rate_limited', status: 429 });
  expect(told.text).toMatch(/Retry in \d+ seconds\. Wait, then make the same call again\./);
  const { next_call: next, retry_after: seconds } = told.said;
  expect(next).toEqual({ tool: 'run_sql', arguments: { sql: 'SELECT 1' }, after_seconds: seconds });
});
