import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, describe, expect } from 'vitest';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { toolName } from '../../../src/operations/define.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import type { ApiAnswer } from '../../kit/api.ts';
import { test } from '../../kit/fixtures.ts';
import { type PausableProxy, pausableProxy } from '../../kit/pausable-proxy.ts';
import { peerFile, peersAreThere } from '../../kit/peers.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../../kit/rows.ts';
import { watchText } from '../../kit/secrets-watch.ts';
import type { Customer, SqlApi } from '../../kit/sql-api.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** Clients that speak stdio only, as docs/mcp.md connects them: mcp-remote as a child process, the real application behind it. */

const IS_ABSENT = !peersAreThere();
const PROGRAM = peerFile('mcp-remote/dist/proxy.js');
const KEY_HEADER = 'X-API-Key:$' + '{SETTLEMENT_INDEX_KEY}';
/** Half a minute of one core at the least, in small steps. */
const LONG = 'SELECT sum(cityHash64(number, number, number)) AS s FROM numbers(1000000000)';

let world: SqlApi;
let customer: Customer;
/** Between mcp-remote and the service: it can be away. */
let proxy: PausableProxy;
let directory: string;
const connected: Client[] = [];

test.beforeAll(async ({ sqlService }) => {
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-mcp-remote-'));
  world = sqlService;
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
});
afterAll(async () => {
  await Promise.all(connected.map((client) => client.close()));
  await proxy?.stop();
  rmSync(directory, { recursive: true, force: true });
});

interface Started {
  readonly client: Client;
  /** What mcp-remote wrote for people. */
  readonly said: () => string;
}

async function start({ key = customer.headers['x-api-key'], protocol = 'auto' } = {}): Promise<Started> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      PROGRAM,
      new URL('mcp', proxy.url).href,
      '--transport',
      'http-only',
      '--protocol',
      protocol,
      '--header',
      KEY_HEADER,
    ],
    env: { PATH: process.env['PATH'] ?? '', HOME: directory, SETTLEMENT_INDEX_KEY: key ?? '' },
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    watchText('mcp-remote', chunk.toString());
  });
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  connected.push(client);
  await client.connect(transport).catch((error: unknown) => {
    throw new Error(`mcp-remote ended: ${said}`, { cause: error });
  });
  return { client, said: () => said };
}

async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
  const { structuredContent, isError } = await client.callTool({ name, arguments: given });
  return { said: structuredContent as ApiAnswer['body'], isError: isError ?? false };
}

const ARGUMENTS: Readonly<Record<string, Record<string, unknown>>> = {
  list_entity_settlements: { wallet: wallet(0xb2) },
  get_transaction: { tx_hash: settlement().txHash },
  get_entity_summary: { wallet: wallet(0xb2) },
  list_counterparties: { wallet: wallet(0xb2) },
  get_pair: { payer: wallet(0xa1), payee: wallet(0xb2) },
  make_account_key: { label: 'made through mcp-remote' },
  get_merchant: { address: wallet(0xb2) },
  get_agent: { wallet: wallet(0xb2) },
  get_graph: { window: 10 },
  get_capability: { slug: 'weather' },
  run_sql: { sql: 'SELECT count() AS n FROM settlements' },
  call_saved_query: { owner: 'unknown-owner', slug: 'unknown-query' },
};

describe.skipIf(IS_ABSENT).each(['auto', 'legacy'])('with --protocol %s', (protocol) => {
  test('every tool of the service is there and answers, with the key of the environment', async () => {
    const { client } = await start({ protocol });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      OPERATIONS.filter(({ tool }) => tool !== null).map(({ id }) => toolName(id)),
    );
    // One after the other: many at once are refused by a service that is busy.
    const answers: Awaited<ReturnType<typeof call>>[] = [];
    for (const { name } of tools) answers.push(await call(client, name, ARGUMENTS[name]));
    // The others name nothing that is there.
    expect(tools.filter((_tool, at) => answers[at]?.isError).map(({ name }) => name)).toEqual([
      'forget_account_queries',
      'change_account_key',
      'revoke_account_key',
      'claim_handle',
      'get_bundle_file',
      'create_sql_job',
      'get_sql_job',
      'cancel_sql_job',
      'get_result',
      'save_query',
      'get_saved_query',
      'delete_saved_query',
      'list_query_versions',
      'list_query_refreshes',
      'call_saved_query',
      'get_public_query',
      'get_owner_open_api',
      'mint_trial_key',
    ]);
    const { resources } = await client.listResources();
    const { contents } = await client.readResource({ uri: resources[0]?.uri ?? '' });
    expect((contents[0] as { text: string }).text).toMatch(/^# /m);
  });
});

test.skipIf(IS_ABSENT)(
  'an unknown key is refused by the tool, opens no sign-in and is never shown',
  async () => {
    const key = 'six_live_nobody_knows_this_one';
    const { client, said } = await start({ key });
    const refused = await call(client, 'list_flows');
    expect(refused).toMatchObject({ isError: true, said: { code: 'invalid_api_key' } });
    expect(said()).not.toContain(key);
    expect(said()).not.toMatch(/authorize|browser/i);
  },
);

test.skipIf(IS_ABSENT)(
  'while the service is away a call is an error, and the next one after it came back answers',
  async () => {
    const { client } = await start();
    expect((await call(client, 'list_flows', { limit: 1 })).said.flows).toHaveLength(1);
    await proxy.stop();
    await expect(call(client, 'list_flows')).rejects.toThrow();
    await proxy.start();
    expect((await call(client, 'list_flows', { limit: 2 })).said.flows).toHaveLength(2);
  },
);

test.skipIf(IS_ABSENT)(
  'a call that the client cancels is waited for no longer, and the next one answers',
  async () => {
    const { client } = await start();
    const leaving = new AbortController();
    const running = client.callTool(
      { name: 'run_sql', arguments: { sql: LONG } },
      { signal: leaving.signal },
    );
    running.catch(() => undefined);
    await waitUntil('the query runs', async () => (await queriesOfGuest()) > 0);
    leaving.abort();
    await expect(running).rejects.toThrow();
    expect((await call(client, 'list_flows', { limit: 1 })).said.flows).toHaveLength(1);
  },
);

async function queriesOfGuest(): Promise<number> {
  const { rows } = await world.engine.writer.rows({
    name: 'queries-of-guest',
    sql: sql`SELECT count() FROM system.processes WHERE user = 'guest' AND query LIKE 'SELECT sum(%'`,
    maxSeconds: 5,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}
