import type { AddressInfo } from 'node:net';
import type { Client } from '@modelcontextprotocol/client';
import type { AnySchemaObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect } from 'vitest';
import { toolName } from '../../../src/operations/define.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { SQL_TIERS } from '../../../src/operations/prices.ts';
import { addKey } from '../../kit/access.ts';
import { test } from '../../kit/fixtures.ts';
import {
  type CommandOutput,
  call,
  connect,
  type Headers,
  SPEAKERS,
  STREAMABLE,
} from '../../kit/mcp-speakers.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../../kit/rows.ts';
import type { Customer, SqlApi } from '../../kit/sql-api.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/**
 * The MCP surface, called by the protocol's own clients over a real connection, in every protocol that it speaks; and what an agent
 * gets when a call was refused or found nothing: what to do next, in words and, where it takes no judgement, as a call.
 */

let world: SqlApi;
let customer: Customer;
let origin: string;

const TOOLS_LIST_MAX_BYTES = 36_000;

test.beforeAll(async ({ sqlService }) => {
  world = sqlService;
  const { writer } = world.engine;
  await reportChain(writer, BASE);
  const rows = Array.from({ length: 7 }, (_, logIndex) =>
    settlement({ logIndex, blockTime: NOON - logIndex }),
  );
  await insertSettlements(writer, rows);
  customer = await world.customer();
  const { app } = world.api;
  await app.listen({ host: '127.0.0.1', port: 0 });
  origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});

/** As the customer, in the current protocol. */
const connected = (headers: Headers = customer.headers, path = '/mcp'): Promise<Client> =>
  connect(`${origin}${path}`, headers);

const ARGUMENTS: Readonly<Record<string, Record<string, unknown>>> = {
  list_entity_settlements: { wallet: wallet(0xb2) },
  get_transaction: { tx_hash: settlement().txHash },
  get_entity_summary: { wallet: wallet(0xb2) },
  list_counterparties: { wallet: wallet(0xb2) },
  get_pair: { payer: wallet(0xa1), payee: wallet(0xb2) },
  get_merchant: { address: wallet(0xb2) },
  get_agent: { wallet: wallet(0xb2) },
  get_graph: { window: 10 },
  get_capability: { slug: 'weather' },
  forget_account_queries: { query: 'all' },
  make_account_key: { label: 'made by a tool' },
  change_account_key: { label: 'changed by a tool' },
  run_sql: { sql: 'SELECT count() AS n FROM settlements' },
  create_sql_job: { sql: 'SELECT count() AS n FROM settlements' },
  claim_handle: { handle: 'tool-callers' },
  save_query: { slug: 'by-a-tool', sql: 'SELECT count() AS n FROM settlements' },
  get_saved_query: { slug: 'by-a-tool' },
  delete_saved_query: { slug: 'by-a-tool' },
  get_owner_open_api: { owner: 'tool-callers' },
};

/** Of nothing that is there: refused, in words. */
const MISSING: Readonly<Record<string, Record<string, unknown>>> = {
  get_sql_job: { job: '2f1e6c1a-7d3b-4a51-9a39-0d8a4c7be111' },
  cancel_sql_job: { job: '2f1e6c1a-7d3b-4a51-9a39-0d8a4c7be111' },
  get_result: { result: '5f'.repeat(32) },
  call_saved_query: { owner: 'unknown-owner', slug: 'unknown-query' },
  get_public_query: { owner: 'unknown-owner', slug: 'unknown-query' },
  list_query_versions: { slug: 'unknown-query' },
  list_query_refreshes: { slug: 'unknown-query' },
  get_bundle_file: { chain: BASE, table: 'settlements', file: 'manifest.json' },
};

describe.each(SPEAKERS)('$name', ({ connect: speak }) => {
  test('lists and calls every tool, and finds each answer to be what the tool says of it', async () => {
    const client = await speak(`${origin}/mcp`, customer.headers);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      OPERATIONS.filter(({ tool }) => tool !== null).map(({ id }) => toolName(id)),
    );
    const ajv = new Ajv2020({ strict: false });
    const changing = OPERATIONS.filter(({ changes }) => changes !== undefined).map(({ id }) => toolName(id));
    let made: Record<string, unknown> = {};
    for (const { name, outputSchema, annotations, description } of tools) {
      expect(annotations?.readOnlyHint, name).toBe(!changing.includes(name));
      expect(description?.length, name).toBeGreaterThan(20);
      const { said, isError } = await call(client, name, {
        ...(ARGUMENTS[name] ?? MISSING[name]),
        ...(/^(change|revoke)_/.test(name) ? made : {}),
      });
      if (name === 'make_account_key') made = { key: Object(Object(said)['key'])['id'] };
      expect([name, isError]).toEqual([name, name === 'mint_trial_key' || name in MISSING]);
      if (!isError)
        expect([name, ajv.validate(outputSchema as AnySchemaObject, said), ajv.errors]).toEqual([
          name,
          true,
          null,
        ]);
    }
    expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThan(TOOLS_LIST_MAX_BYTES);
    await client.close();
  });

  test('reads every page of the documentation', async () => {
    const client = await speak(`${origin}/mcp`, customer.headers);
    const { resources } = await client.listResources();
    expect(resources.length).toBeGreaterThan(5);
    for (const { uri } of resources) {
      const { contents } = await client.readResource({ uri });
      expect((contents[0] as { text: string }).text, uri).toMatch(/^# /m);
    }
    await expect(client.readResource({ uri: 'docs://sqll' })).rejects.toThrow(/Did you mean docs:\/\/sql\?/);
    await client.close();
  });
});

test('all tools together stay within what a model can be handed on every turn, as they are sent', async () => {
  const answer = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: { ...STREAMABLE, 'mcp-protocol-version': '2025-11-25' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect(Buffer.byteLength(await answer.text())).toBeLessThan(TOOLS_LIST_MAX_BYTES);
});

describe('a tool', () => {
  test('answers what the route answers, under each base path', async () => {
    const { body } = await world.api.get('/v0/flows?limit=3');
    for (const path of ['/mcp', '/v0/mcp', '/api/v0/mcp']) {
      const client = await connected(customer.headers, path);
      const { said, text } = await call(client, 'list_flows', { limit: 3 });
      expect(said).toMatchObject(body);
      expect(text).toContain('3 flows, from');
      await client.close();
    }
  });

  test('says what to call next until the list has ended', async () => {
    const client = await connected();
    const seen: number[] = [];
    let next: { tool: string; arguments: Record<string, unknown> } | undefined = {
      tool: 'list_flows',
      arguments: { limit: 3 },
    };
    for (let pages = 0; next !== undefined && pages < 10; pages++) {
      const { said }: CommandOutput = await call(client, next.tool, next.arguments);
      seen.push(...said.flows.map((row: { log_index: number }) => row.log_index));
      next = said.next_call;
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6]);
    await client.close();
  });

  test.each(SPEAKERS)(
    '$name: sends its answer once, with a summary of two lines',
    async ({ connect: speak }) => {
      const client = await speak(`${origin}/mcp`, customer.headers);
      await client.listTools();
      for (const [name, given, verdict, then] of [
        [
          'list_flows',
          { limit: 2 },
          /^OK\. 2 flows, from 2026-\S+Z to 2026-\S+Z\. On every indexed chain/,
          /^.*More with next_call\.$/,
        ],
        ['list_flows', {}, /^OK\. 7 flows, from/, /This is all of it/],
        [
          'run_sql',
          { sql: 'SELECT count() AS n, uniq(payee) AS payees FROM settlements' },
          /^OK\. 1 row, of n, payees\. It is n = 7, payees = 1\. 1 QU charged, \d+ left; \d+ rows read in \d+ ms\.$/,
          /This is all of it/,
        ],
        [
          'run_sql',
          { sql: 'SELECT toNullable(payer) AS a, NULL AS b FROM settlements', format: 'json_compact' },
          /^OK\. 7 rows, of a, b\. The first is a = 0x0+a1, b = NULL\. /,
          /This is all of it/,
        ],
        [
          'run_sql',
          { sql: 'SELECT payer FROM settlements WHERE block_time < now() - INTERVAL 50 YEAR' },
          /^OK\. 0 rows, of payer\. 1 QU charged/,
          /No row matches: .*get_telemetry/,
        ],
        [
          'run_sql',
          {
            sql: `SELECT ${Array.from({ length: 60 }, (_, index) => `${index} AS column_${index}`).join(', ')}`,
          },
          /^OK\. 1 row, of 60 columns\. 1 QU charged/,
          /This is all of it/,
        ],
        [
          'run_sql',
          { sql: 'SELECT count() AS n FROM settlements', explain_only: true },
          /^OK\. The query is valid and was not run\. It would read .* and cost 1 to \d QU in tier standard/,
          /the same call without explain_only/,
        ],
        [
          'get_merchant',
          { address: wallet(0xb2) },
          /was paid [\d.e-]+ USD in 7 settlements .* data quality: \w+\. On every indexed chain/,
          /./,
        ],
        [
          'get_entity_summary',
          { wallet: wallet(0xb2) },
          /^OK\. 0x0+b2: \w+\. For: .*\. Against: .*\. It was paid [\d.e-]+ USD in 7 settlements, [\d.e-]+ USD of it proven\. Usually [\d.e-]+ USD at a time\. On every indexed chain: eip155:8453, eip155:137\.$/,
          /./,
        ],
        [
          'get_pair',
          { payer: wallet(0xa1), payee: wallet(0xb2) },
          /^OK\. 0x0+a1 paid 0x0+b2 [\d.e-]+ USD in 7 settlements on 1 day, [\d.e-]+ USD proven, and was paid back 0 USD\. On every indexed chain/,
          /./,
        ],
        ['get_account', {}, /Lane credit: .* \d+ QU available\.$/, /metered_routes/],
        ['get_telemetry', {}, /^OK\. Status \w+\. eip155:8453 is \w+ at block \d+, \d+ s behind/, /./],
        ['get_sql_schema', {}, /^OK\. Tables settlements, wallet_settlements,/, /get_sql_schema with table/],
        ['get_sql_schema', { table: 'agents' }, /^OK\. Table agents\.$/, /Next: run_sql/],
      ] as const) {
        const { content, structuredContent, isError } = await client.callTool({ name, arguments: given });
        expect([name, isError ?? false, Object.keys(Object(structuredContent)).length > 0]).toEqual([
          name,
          false,
          true,
        ]);
        const texts = (content as { type: string; text: string }[]).map(({ text }) => text);
        expect([name, texts.length, texts[0]?.split('\n').length]).toEqual([name, 1, 2]);
        const [first = '', second = ''] = texts[0]?.split('\n') ?? [];
        expect(first).toMatch(verdict);
        expect(second).toMatch(then);
        expect(texts[0]).not.toContain('{');
      }
      await client.close();
    },
  );
});

describe('paid calls', () => {
  test('a constant that no row can have is said in words, with the literal to write', async () => {
    const { headers } = await world.customer({ units: 10 });
    const { text } = await ask(headers, 'run_sql', {
      sql: "SELECT count() AS n FROM settlements WHERE chain = 'base'",
    });
    expect(text).toContain("'base' matches nothing");
    expect(text).toContain("Write 'eip155:8453'.");
  });

  test('units are drawn for a query, and files are for the other surface', async () => {
    const client = await connected();
    const before = await customer.units();
    const { said } = await call(client, 'run_sql', { sql: 'SELECT 1 AS one' });
    expect(said).toMatchObject({ rows: [{ one: 1 }], usage: { units_charged: 1 } });
    const file = await call(client, 'run_sql', { sql: 'SELECT 1', format: 'parquet' });
    expect(file).toMatchObject({ isError: true, said: { code: 'invalid_parameter', parameter: 'format' } });
    const after = await customer.units();
    expect(before.balance - after.balance).toBe(1);
    await client.close();
  });

  test('a query holds the units of its budget, and the refusal of a budget out of range names the range', async () => {
    const client = await connected();
    const { said } = await call(client, 'run_sql', { sql: 'SELECT 1 AS one', max_qu: 1 });
    expect(said).toMatchObject({ usage: { units_held: 1, units_charged: 1 } });
    const over = await call(client, 'run_sql', { sql: 'SELECT 1', max_qu: 4 });
    expect(over).toMatchObject({
      isError: true,
      said: {
        code: 'invalid_parameter',
        parameter: 'max_qu',
        detail: expect.stringContaining('from 1 to 3 in the tier standard'),
      },
    });
    await client.close();
  });
});

async function ask(
  headers: Headers,
  name: string,
  given: Record<string, unknown> = {},
): Promise<CommandOutput> {
  const client = await connected(headers);
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

describe('the words for a caller on each lane', () => {
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
    expect(text).toMatch(/deep is included in: enterprise.*\n.*get_account/);
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

  test('a tool that is sold over HTTP only is explained', async () => {
    const { text, isError, said } = await ask({}, 'mint_trial_key');
    expect([isError, said.code]).toEqual([true, 'not_found']);
    expect(text).toMatch(/^Refused, not_found: This deployment sells nothing over x402\./);
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

  test('that is another dialect of SQL is answered with a query that the caller has to send', async () => {
    const sql = 'SELECT "from" FROM tokens.transfers';
    // The first text of a dialect loads its grammar, for which a busy machine may need longer than a suggestion may take.
    await waitUntil('there is a suggestion', async () => {
      const first = await world.customer();
      return (await ask(first.headers, 'run_sql', { sql })).said.suggested_sql !== undefined;
    });
    const { headers } = await world.customer();
    const { said, text, isError } = await ask(headers, 'run_sql', { sql });
    expect({ isError, code: said.code, next: said.next_call }).toEqual({
      isError: true,
      code: 'invalid_query',
      next: undefined,
    });
    expect(text).toContain('call run_sql with it');
    const run = await ask(headers, 'run_sql', { sql: said.suggested_sql, max_rows: 5 });
    expect([run.isError, run.said.rows.length]).toEqual([false, 5]);
  });

  test('in the name of a column, a table or a function is mended in the query, and nowhere else in it', async () => {
    const { headers } = await world.customer();
    const queries = [
      ["SELECT payeer FROM settlements WHERE payer != 'payeer'", 'payer'],
      ["SELECT payer FROM setlements WHERE payer != 'setlements'", 'settlements'],
      ["SELECT s.payeer FROM settlements AS s WHERE s.payer != 's.payeer'", 's.payer'],
      ["SELECT lowwer(payer) FROM settlements WHERE payer != 'lowwer'", 'lower'],
    ] as const;
    for (const [sql, meant] of queries) {
      const { said, text } = await ask(headers, 'run_sql', { sql, max_rows: 5 });
      expect([sql, said.status]).toEqual([sql, 400]);
      expect(text).toContain(`Did you mean ${meant.split('.').at(-1)}?`);
      const mended = await ask(headers, said.next_call.tool, said.next_call.arguments);
      expect([mended.isError, mended.said.rows.length, mended.said.sql]).toEqual([
        false,
        5,
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

  test('in the number of rows is said, and nothing is run or charged', async () => {
    const { headers } = await world.customer();
    for (const max_rows of [0, -1]) {
      const { said, isError } = await ask(headers, 'run_sql', { sql: 'SELECT 1', max_rows });
      expect([isError, said.code, said.parameter]).toEqual([true, 'invalid_parameter', 'max_rows']);
      expect(said.detail).toContain('at least 1');
    }
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

  test('about an unknown wallet says what that can mean', async () => {
    const { headers } = await world.customer();
    const unknown = wallet(0xdead);
    for (const [name, given] of [
      ['get_merchant', { address: unknown }],
      ['list_entity_settlements', { wallet: unknown }],
    ] as const) {
      const { text, isError } = await ask(headers, name, given);
      expect([name, isError]).toEqual([name, false]);
      expect(text).toMatch(
        /^OK, but nothing was found\. .*\n.*not a failure.*not indexed yet.*get_telemetry/,
      );
    }
  });

  test('is given to a model that fills in null for values that it lacks', async () => {
    const { headers } = await world.customer();
    const { said } = await ask(headers, 'list_transactions', {
      limit: 2,
      min_probability: null,
      exclude_self_payments: true,
    });
    expect(said.transactions).toHaveLength(2);
  });
});

test('the refusal over the limit says when to make the same call again', async () => {
  const { headers } = await world.customer();
  let told = await ask(headers, 'run_sql', { sql: 'SELECT 1' });
  // The clock of the service stands.
  const { requestsPerMinute } = SQL_TIERS[0];
  for (let calls = 1; calls <= requestsPerMinute && !told.isError; calls++)
    told = await ask(headers, 'run_sql', { sql: 'SELECT 1' });
  expect(told.said).toMatchObject({ code: 'rate_limited', status: 429 });
  expect(told.text).toMatch(/Retry in \d+ seconds\. Wait, then make the same call again\./);
  const { next_call: next, retry_after: seconds } = told.said;
  expect(next).toEqual({ tool: 'run_sql', arguments: { sql: 'SELECT 1' }, after_seconds: seconds });
});
