import type { AddressInfo } from 'node:net';
import type { Client } from '@modelcontextprotocol/client';
import type { AnySchemaObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/catalogue/index.ts';
import { toolName } from '../../src/mcp/tool-name.ts';
import { call, connect, type Headers, SPEAKERS, STREAMABLE, type Told } from '../support/mcp-speakers.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../support/rows.ts';
import { type Customer, type SqlApi, sqlApi } from '../support/sql-api.ts';

/** The MCP surface, called by the protocol's own clients over a real connection, in every protocol that it speaks. */

let world: SqlApi;
let customer: Customer;
let origin: string;

const TOOLS_LIST_MAX_BYTES = 24 * 1024;

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

/** As the customer, in the current protocol. */
const connected = (headers: Headers = customer.headers, path = '/mcp'): Promise<Client> =>
  connect(`${origin}${path}`, headers);

const ARGUMENTS: Readonly<Record<string, Record<string, unknown>>> = {
  list_entity_settlements: { wallet: wallet(0xb2) },
  get_merchant: { address: wallet(0xb2) },
  get_agent: { wallet: wallet(0xb2) },
  get_graph: { window: 10 },
  get_capability: { slug: 'weather' },
  run_sql: { sql: 'SELECT count() AS n FROM settlements' },
};

describe.each(SPEAKERS)('$name', ({ connect: speak }) => {
  test('lists and calls every tool, and finds each answer to be what the tool says of it', async () => {
    const client = await speak(`${origin}/mcp`, customer.headers);
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
      expect(text).toContain('3 flows.');
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
      const { said }: Told = await call(client, next.tool, next.arguments);
      seen.push(...said.flows.map((row: { log_index: number }) => row.log_index));
      next = said.next_call;
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6]);
    await client.close();
  });

  test('says everything in text, too, for models that are handed nothing else', async () => {
    const client = await connected();
    const { content, structuredContent } = await client.callTool({
      name: 'list_flows',
      arguments: { limit: 2 },
    });
    const [words, copy] = content as { text: string }[];
    expect(words?.text).toMatch(/^2 flows\. .*More with next_call\.$/);
    expect(JSON.parse(copy?.text ?? '')).toEqual(structuredContent);
    await client.close();
  });
});

describe('what is paid', () => {
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
});
