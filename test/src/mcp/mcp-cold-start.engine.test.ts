import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { ANONYMOUS } from '../../kit/api.ts';
import { test } from '../../kit/fixtures.ts';
import { STREAMABLE } from '../../kit/mcp-speakers.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../../kit/rows.ts';
import type { Customer, SqlApi } from '../../kit/sql-api.ts';

/**
 * An agent that meets the service for the first time and answers a question with SQL: everything its model is handed on the way, as it
 * is sent. Tokens are counted as a quarter of the bytes.
 */

const COLD_START_MAX_TOKENS = 4_000;
const BYTES_PER_TOKEN = 4;

let world: SqlApi;
let customer: Customer;
let url: string;

test.beforeAll(async ({ sqlService }) => {
  world = sqlService;
  const { writer } = world.engine;
  await reportChain(writer, BASE);
  const rows = Array.from({ length: 30 }, (_, index) =>
    settlement({
      logIndex: index,
      blockTime: NOON - index,
      payee: wallet(0xb0 + (index % 3)),
      amountUsdMicros: BigInt(1_000_000 * (1 + (index % 3))),
    }),
  );
  await insertSettlements(writer, rows);
  customer = await world.customer();
  const { app } = world.api;
  await app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/mcp`;
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function send(method: string, params: Record<string, unknown>): Promise<any> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...STREAMABLE, ...customer.headers, 'mcp-protocol-version': '2025-11-25' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const text = await answer.text();
  const json = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '');
  return JSON.parse(json).result;
}

test('from the first message to a first correct answer takes fewer than 4,000 tokens', async () => {
  const { instructions } = await send('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  const { tools } = await send('tools/list', {});
  const needed = tools.filter(({ name }: { name: string }) => ['run_sql', 'get_sql_schema'].includes(name));
  const list = await send('tools/call', { name: 'get_sql_schema', arguments: {} });
  const table = await send('tools/call', { name: 'get_sql_schema', arguments: { table: 'settlements' } });
  // The example of the instructions, for the time of the rows.
  const example = /Example: (SELECT .*)$/m.exec(instructions)?.[1] ?? '';
  const sql = example.replace('now()', `toDateTime(${NOON}, 'UTC')`);
  expect(sql).not.toBe(example);
  const answer = await send('tools/call', { name: 'run_sql', arguments: { sql } });

  const usd = answer.structuredContent.rows.map((row: { payee: string; n: unknown; usd: unknown }) => [
    row.payee,
    Number(row.n),
    Number(row.usd),
  ]);
  expect(usd).toEqual([
    [wallet(0xb2), 10, 30],
    [wallet(0xb1), 10, 20],
    [wallet(0xb0), 10, 10],
  ]);
  const received = [instructions, needed, list, table, answer].map((part) =>
    Buffer.byteLength(JSON.stringify(part)),
  );
  const tokens = received.reduce((sum, bytes) => sum + bytes, 0) / BYTES_PER_TOKEN;
  expect(needed).toHaveLength(2);
  expect(tokens).toBeLessThan(COLD_START_MAX_TOKENS);
});

test('the calls that the front page suggests answer a caller without a key', async () => {
  const front = await world.api.get('/v0', ANONYMOUS);
  expect(front.body.try).toHaveLength(3);
  for (const { method, url: at, body: payload } of front.body.try) {
    const headers = payload === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await world.api.app.inject({ method, url: at, headers, payload });
    expect([at, answer.statusCode]).toEqual([at, 200]);
  }
});

test('one call is enough for a model that has read the instructions', async () => {
  const { instructions } = await send('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  const [, named = ''] = /Main table: settlements \(([^)]*)\)/.exec(instructions) ?? [];
  const { structuredContent } = await send('tools/call', {
    name: 'run_sql',
    arguments: { sql: `SELECT ${named} FROM settlements LIMIT 1` },
  });
  expect(structuredContent.columns.map(({ name }: { name: string }) => name)).toEqual(named.split(', '));
});
