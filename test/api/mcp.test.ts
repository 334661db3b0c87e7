import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { AnySchemaObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/catalogue/index.ts';
import { toolName } from '../../src/mcp/tool.ts';
import type { ApiAnswer } from '../support/api.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../support/rows.ts';
import { type Customer, type SqlApi, sqlApi } from '../support/sql-api.ts';

/** The MCP surface, called by the SDK's own client over a real connection, in every protocol that it speaks. */

let world: SqlApi;
let customer: Customer;
let origin: string;

const TOOLS_LIST_MAX_BYTES = 24 * 1024;
const CURRENT = '2026-07-28';
const VERSIONS = [CURRENT, '2025-11-25', '2025-06-18'];

beforeAll(async () => {
  world = await sqlApi();
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
afterAll(() => world?.close());

async function connect(
  headers: Readonly<Record<string, string>> = customer.headers,
  { path = '/mcp', version = CURRENT } = {},
): Promise<Client> {
  const versionNegotiation = { mode: version === CURRENT ? { pin: CURRENT } : ('legacy' as const) };
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation, supportedProtocolVersions: [version] },
  );
  const url = new URL(`${origin}${path}`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { ...headers } } }));
  return client;
}

/** A call's answer, as agents see it. */
interface Told {
  readonly said: ApiAnswer['body'];
  readonly text: string;
  readonly isError: boolean;
}

async function call(client: Client, name: string, given: Record<string, unknown> = {}): Promise<Told> {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: given });
  const [first] = content as { text: string }[];
  return { said: structuredContent, text: first?.text ?? '', isError: isError ?? false };
}

const ARGUMENTS: Readonly<Record<string, Record<string, unknown>>> = {
  list_entity_settlements: { wallet: wallet(0xb2) },
  get_merchant: { address: wallet(0xb2) },
  get_agent: { wallet: wallet(0xb2) },
  get_graph: { window: 10 },
  get_capability: { slug: 'weather' },
  run_sql: { sql: 'SELECT count() AS n FROM settlements' },
};

describe.each(VERSIONS)('in protocol %s', (version) => {
  test('every operation is a tool that answers what its output schema says', async () => {
    const client = await connect(customer.headers, { version });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(OPERATIONS.map(({ id }) => toolName(id)));
    const ajv = new Ajv2020({ strict: false });
    for (const { name, outputSchema, annotations, description } of tools) {
      expect(annotations?.readOnlyHint, name).toBe(true);
      expect(description?.length, name).toBeGreaterThan(20);
      const { said, isError } = await call(client, name, ARGUMENTS[name]);
      expect([name, isError]).toEqual([name, name === 'mint_trial_key']);
      if (!isError)
        expect([name, ajv.validate(outputSchema as AnySchemaObject, said), ajv.errors]).toEqual([
          name,
          true,
          null,
        ]);
    }
    await client.close();
  });

  test('resources are pages of the documentation', async () => {
    const client = await connect(customer.headers, { version });
    const { resources } = await client.listResources();
    expect(resources.length).toBeGreaterThan(5);
    for (const { uri } of resources) {
      const { contents } = await client.readResource({ uri });
      expect((contents[0] as { text: string }).text, uri).toMatch(/^# /m);
    }
    await expect(client.readResource({ uri: 'docs://none' })).rejects.toThrow(/no resource/);
    await client.close();
  });
});

test('all tools together stay within what a model can be handed on every turn', async () => {
  const client = await connect();
  const listed = await client.listTools();
  expect(Buffer.byteLength(JSON.stringify(listed))).toBeLessThan(TOOLS_LIST_MAX_BYTES);
  await client.close();
});

describe('a tool', () => {
  test('answers what the route answers, under each base path', async () => {
    const { body } = await world.api.get('/v0/flows?limit=3');
    for (const path of ['/mcp', '/v0/mcp', '/api/v0/mcp']) {
      const client = await connect(customer.headers, { path });
      const { said, text } = await call(client, 'list_flows', { limit: 3 });
      expect(said).toMatchObject(body);
      expect(text).toContain('3 flows.');
      await client.close();
    }
  });

  test('says what to call next until the list has ended', async () => {
    const client = await connect();
    const seen: number[] = [];
    let next: { tool: string; arguments: Record<string, unknown> } | undefined = {
      tool: 'list_flows',
      arguments: { limit: 3 },
    };
    for (let pages = 0; next !== undefined && pages < 10; pages++) {
      const { said }: Told = await call(client, next.tool, next.arguments);
      seen.push(...said.flows.map((row: { log_index: number }) => row.log_index));
      next = said.next_call;
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6]);
    await client.close();
  });

  test('names a mistyped parameter, and a mistyped column of a query', async () => {
    const client = await connect();
    const misspelt = await call(client, 'list_flows', { limt: 3 });
    expect(misspelt).toMatchObject({ isError: true, said: { code: 'invalid_parameter', parameter: 'limt' } });
    expect(misspelt.text).toContain('Did you mean limit?');
    const query = await call(client, 'run_sql', { sql: 'SELECT payeer FROM settlements' });
    expect(query).toMatchObject({ isError: true, said: { status: 400 } });
    expect(query.text).toContain('payee');
    await client.close();
  });

  test('that is none is told with those that are', async () => {
    const client = await connect();
    await expect(call(client, 'list_flow')).rejects.toThrow(/list_flows/);
    await client.close();
  });
});

describe('what is paid', () => {
  test('units are drawn for a query, and files are for the other surface', async () => {
    const client = await connect();
    const before = await customer.units();
    const { said } = await call(client, 'run_sql', { sql: 'SELECT 1 AS one' });
    expect(said).toMatchObject({ rows: [{ one: 1 }], usage: { units_charged: 1 } });
    const file = await call(client, 'run_sql', { sql: 'SELECT 1', format: 'parquet' });
    expect(file).toMatchObject({ isError: true, said: { code: 'invalid_parameter', parameter: 'format' } });
    const after = await customer.units();
    expect(before.balance - after.balance).toBe(1);
    await client.close();
  });

  test('without a key free tools answer, others ask for one, and no payment is offered', async () => {
    const client = await connect({});
    expect((await call(client, 'get_account')).said).toMatchObject({ tier: 'anonymous', lane: 'no_account' });
    expect((await call(client, 'list_capabilities')).isError).toBe(false);
    for (const name of ['list_flows', 'get_graph', 'run_sql', 'mint_trial_key']) {
      const { said, isError } = await call(client, name, ARGUMENTS[name]);
      expect([name, isError, said.accepts]).toEqual([name, true, undefined]);
    }
    await client.close();
  });

  test('an unknown key is told so by get_account and refused by the others', async () => {
    const client = await connect({ authorization: 'Bearer six_live_unknown' });
    expect((await call(client, 'get_account')).said).toMatchObject({
      key_recognised: false,
      lane: 'invalid_key',
    });
    expect((await call(client, 'list_flows')).said).toMatchObject({ code: 'invalid_api_key', status: 401 });
    await client.close();
  });
});

describe('the door', () => {
  const post = (headers: Record<string, string>) =>
    world.api.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });

  test('is closed to pages of other sites and to names that somebody else gave this machine', async () => {
    expect((await post({ host: '127.0.0.1' })).statusCode).toBe(200);
    expect((await post({ host: 'localhost:8402', origin: 'http://localhost:3000' })).statusCode).toBe(200);
    const foreign = await post({ host: '127.0.0.1', origin: 'https://evil.example' });
    expect(foreign.statusCode).toBe(403);
    expect(foreign.json().code).toBe('forbidden_origin');
    expect((await post({ host: 'rebound.example' })).statusCode).toBe(403);
    expect((await post({ host: '127.0.0.1', origin: 'null' })).statusCode).toBe(403);
  });

  test('takes POST alone, and JSON alone', async () => {
    const { app } = world.api;
    expect((await app.inject({ method: 'GET', url: '/mcp' })).statusCode).toBe(405);
    expect((await app.inject({ method: 'DELETE', url: '/mcp' })).statusCode).toBe(405);
    const text = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { 'content-type': 'text/plain' },
      payload: 'x',
    });
    expect(text.statusCode).toBe(415);
    const broken = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { 'content-type': 'application/json' },
      payload: '{',
    });
    expect(broken.statusCode).toBe(400);
  });
});
