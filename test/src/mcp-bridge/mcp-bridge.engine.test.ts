import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { toolName } from '../../../src/mcp/tool.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import type { ApiAnswer } from '../../kit/api.ts';
import { type PausableProxy, pausableProxy } from '../../kit/pausable-proxy.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../../kit/rows.ts';
import { watchText } from '../../kit/secrets-watch.ts';
import { type Customer, type SqlApi, sqlApi } from '../../kit/sql-api.ts';
import { strangerServer } from '../../kit/stranger-server.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** `settlement-index mcp` as desktop clients use it: a real process, the protocol's own client over stdio, the real application. */

/** From its sources: it is small. */
const PROGRAM = [
  '--import',
  'tsx',
  fileURLToPath(new URL('../../../src/command.ts', import.meta.url)),
  'mcp',
];
const CURRENT = '2026-07-28';
const LEGACY = '2025-11-25';
/** Half a minute of one core at the least, in small steps. */
const LONG = 'SELECT sum(cityHash64(number, number, number)) AS s FROM numbers(1000000000)';

let world: SqlApi;
let customer: Customer;
/** Between the bridge and the service: it can be away. */
let proxy: PausableProxy;
/** One bridge for all that does not need its own. */
let bridge: Started;
const connected: Client[] = [];

beforeAll(async () => {
  world = await sqlApi();
  const { writer } = world.engine;
  await reportChain(writer, BASE);
  await insertSettlements(
    writer,
    Array.from({ length: 7 }, (_, logIndex) => settlement({ logIndex, blockTime: NOON - logIndex })),
  );
  customer = await world.customer();
  const { app } = world.api;
  await app.listen({ host: '127.0.0.1', port: 0 });
  proxy = await pausableProxy(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
  bridge = await start();
});
afterAll(async () => {
  await Promise.all(connected.map((client) => client.close()));
  await proxy?.stop();
  await world?.close();
});

interface Started {
  readonly client: Client;
  /** What the bridge said to people. */
  readonly said: () => string;
}

async function start({
  version = CURRENT,
  key = customer.headers['x-api-key'],
  url = proxy.url,
} = {}): Promise<Started> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...PROGRAM, '--url', url, '--wait', '1'],
    env: { PATH: process.env['PATH'] ?? '', SETTLEMENT_INDEX_KEY: key ?? '' },
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    watchText('bridge', chunk.toString());
  });
  const client = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode: version === CURRENT ? { pin: CURRENT } : ('legacy' as const) },
      supportedProtocolVersions: [version],
    },
  );
  connected.push(client);
  await client.connect(transport);
  return { client, said: () => said };
}

async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
  const { structuredContent, isError } = await client.callTool({ name, arguments: given });
  return { said: structuredContent as ApiAnswer['body'], isError: isError ?? false };
}

const ARGUMENTS: Readonly<Record<string, Record<string, unknown>>> = {
  list_entity_settlements: { wallet: wallet(0xb2) },
  get_merchant: { address: wallet(0xb2) },
  get_agent: { wallet: wallet(0xb2) },
  get_graph: { window: 10 },
  get_capability: { slug: 'weather' },
  run_sql: { sql: 'SELECT count() AS n FROM settlements' },
};

describe.each([CURRENT, LEGACY])('in protocol %s', (version) => {
  test('every tool of the service is there, and answers', async () => {
    const { client, said } = version === CURRENT ? bridge : await start({ version });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(OPERATIONS.map(({ id }) => toolName(id)));
    const answers = await Promise.all(tools.map(({ name }) => call(client, name, ARGUMENTS[name])));
    expect(tools.filter((_tool, at) => answers[at]?.isError).map(({ name }) => name)).toEqual([
      'mint_trial_key',
    ]);
    const { resources } = await client.listResources();
    const { contents } = await client.readResource({ uri: resources[0]?.uri ?? '' });
    expect((contents[0] as { text: string }).text).toMatch(/^# /m);
    await expect(call(client, 'no_tool')).rejects.toThrow(/list_flows/);
    await waitUntil('it says where it is connected', () => said().includes('connected to'));
  });
});

test('a page says how the list goes on', async () => {
  const { said } = await call(bridge.client, 'list_flows', { limit: 4 });
  const next = await call(bridge.client, said.next_call.tool, said.next_call.arguments);
  expect(next.said.flows.map((row: { log_index: number }) => row.log_index)).toEqual([4, 5, 6]);
});

test('an unknown key is told, by the tools and to people, and never shown', async () => {
  const key = 'six_live_nobody_knows_this_one';
  const { client, said } = await start({ key });
  const refused = await call(client, 'list_flows');
  expect(refused).toMatchObject({ isError: true, said: { code: 'invalid_api_key' } });
  await waitUntil('people are told', () => said().includes('does not know this key'));
  expect(said()).not.toContain(key);
});

test('a service that is started again is waited for; one that stays away is an error, and the bridge stays', async () => {
  const { client, said } = bridge;
  await proxy.stop();
  const waiting = call(client, 'list_flows', { limit: 1 });
  await waitUntil('it was tried', () => said().includes('Waiting for it'));
  await proxy.start();
  expect((await waiting).said.flows).toHaveLength(1);
  await proxy.stop();
  await expect(call(client, 'list_flows')).rejects.toThrow(/does not answer \(ECONNREFUSED\)/);
  await proxy.start();
  expect((await call(client, 'list_flows', { limit: 2 })).said.flows).toHaveLength(2);
});

test('a URL of something else is told', async () => {
  const stranger = await strangerServer((_request, response) => {
    response.writeHead(404, { 'content-type': 'text/html' }).end('<html>');
  });
  const url = `http://127.0.0.1:${stranger.port}`;
  await expect(start({ url, version: LEGACY })).rejects.toThrow(/is not a Settlement Index/);
  await stranger.close();
});

test('a cancelled query stops in the engine', async () => {
  const leaving = new AbortController();
  const running = bridge.client.callTool(
    { name: 'run_sql', arguments: { sql: LONG } },
    { signal: leaving.signal },
  );
  running.catch(() => undefined);
  const queries = async (): Promise<number> => {
    const { rows } = await world.engine.writer.rows({
      name: 'queries-of-guest',
      sql: sql`SELECT count() FROM system.processes WHERE user = 'guest' AND query LIKE 'SELECT sum(%'`,
      maxSeconds: 5,
      maxRows: 1,
    });
    return Number(rows[0]?.[0]);
  };
  await waitUntil('the query runs', async () => (await queries()) > 0);
  leaving.abort();
  await expect(running).rejects.toThrow();
  await waitUntil('the query is gone', async () => (await queries()) === 0, 2_000);
});

describe('as a program', () => {
  async function run(words: readonly string[], input = '') {
    const child = spawn(process.execPath, [...PROGRAM, ...words], {
      env: { PATH: process.env['PATH'] ?? '' },
    });
    let [printed, said] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      // Whoever wants an answer keeps the input open until it came.
      if (printed.endsWith('\n')) child.stdin.end();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    if (input === '') child.stdin.end();
    else child.stdin.write(input);
    const [code] = await once(child, 'close');
    return { code: code as number, printed, said };
  }

  test('standard output holds messages only, and the end of the input ends it', async () => {
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/list', params: {} };
    const { code, printed } = await run(['--url', proxy.url], `${JSON.stringify(message)}\n`);
    expect(code).toBe(0);
    const lines = printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([{ jsonrpc: '2.0', id: 7, result: { tools: expect.any(Array) } }]);
  });

  test('what was asked before the input ended is answered', async () => {
    const asked = [1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/list', params: {} }));
    const child = spawn(process.execPath, [...PROGRAM, '--url', proxy.url], {
      env: { PATH: process.env['PATH'] ?? '' },
    });
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    child.stdin.end(asked.map((message) => `${JSON.stringify(message)}\n`).join(''));
    const [code] = await once(child, 'close');
    const ids = printed
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: number; result?: unknown }).result !== undefined);
    expect({ code, ids }).toEqual({ code: 0, ids: [true, true, true] });
  });

  test('a mistake in the command is said in one line, with exit code 2', async () => {
    const [none, odd, keyed] = await Promise.all([
      run([]),
      run(['--url', 'index.example']),
      run(['--url', 'http://me:secret@index.example']),
    ]);
    expect(none).toMatchObject({ code: 2, said: expect.stringContaining('--url') });
    expect(odd).toMatchObject({
      code: 2,
      printed: '',
      said: expect.stringContaining('https://index.example'),
    });
    expect([keyed.code, keyed.said.includes('secret')]).toEqual([2, false]);
  });
});
