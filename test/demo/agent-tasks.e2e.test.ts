import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { visitorAccount } from '../../demo/actors.ts';
import { type DemoRun, type DemoRuns, demoRuns, printed } from '../kit/demo-run.ts';
import { connect } from '../kit/mcp-speakers.ts';
import { watchSecret } from '../kit/secrets-watch.ts';
import { waitUntil } from '../kit/wait-until.ts';

/**
 * Ten tasks that people give an agent, done with the tools of the service alone, over the official client of MCP, against the demo with its
 * chain and its shops. None may end without an answer. What the model is handed is counted as a quarter of its bytes, without the definitions of
 * the tools, which a client hands over once.
 */

const ALL_TASKS_MAX_TOKENS = 15_000;
const BYTES_PER_TOKEN = 4;
const READY_TIMEOUT_MS = 120_000;
const JOB_MAX_MS = 60_000;

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Said = any;

let runs: DemoRuns;
let run: DemoRun;
let client: Awaited<ReturnType<typeof connect>>;
let handedBytes = 0;

beforeAll(async () => {
  runs = demoRuns();
  run = runs.compiled('--port', '0', '--seed', '5');
  await run.says('its key');
  const key = printed(run, 'API key');
  watchSecret(key);
  client = await connect(`${printed(run, 'console').replace(/\/console.*$/, '')}/mcp`, { 'x-api-key': key });
  // Rankings are made by a pass of the worker, soon after the start.
  await waitUntil(
    'merchants are ranked',
    async () => (await use('list_merchants', { limit: 1 })).merchants.length > 0,
    READY_TIMEOUT_MS,
  );
  handedBytes = 0;
}, 600_000);
afterAll(async () => {
  await client?.close();
  await runs?.close();
});

/** What a tool answers; a refusal is a dead end. */
async function use(name: string, given: Record<string, unknown> = {}): Promise<Said> {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: given });
  const handed = structuredContent ?? content;
  handedBytes += Buffer.byteLength(JSON.stringify(handed));
  if (isError === true) throw new Error(`${name} was refused: ${JSON.stringify(handed)}`);
  return structuredContent;
}

/** The tokens that a task was handed, for the report of a failure. */
const spent: Record<string, number> = {};
function task(name: string, does: () => Promise<void>): void {
  test(name, async () => {
    const before = handedBytes;
    await does();
    spent[name] = Math.round((handedBytes - before) / BYTES_PER_TOKEN);
  });
}

task('who was paid most this week, and can I trust it', async () => {
  const { merchants } = await use('list_merchants', { window: '7d', limit: 1 });
  const summary = await use('get_entity_summary', { wallet: merchants[0].wallet });
  expect(['clean', 'mixed', 'suspect', 'insufficient']).toContain(summary.verdict);
  expect(summary.received.settlement_count).toBeGreaterThan(0);
});

task('find a cheap API, check its payee, pay and use it', async () => {
  // What it wants in the words of its user.
  const { endpoints } = await use('list_endpoints', {
    q: 'random number dice',
    max_price_usd: 0.05,
    limit: 1,
  });
  const [{ resource, pay_to: payTo, price_usd: price }] = endpoints;
  const { reasons_against: against } = await use('get_entity_summary', { pay_to: payTo });
  expect(Array.isArray(against)).toBe(true);
  const signer = privateKeyToAccount(visitorAccount().privateKey);
  const answer = await wrapFetchWithPayment(
    fetch,
    registerExactEvmScheme(new x402Client(), { signer }),
  )(resource);
  expect(answer.status).toBe(200);
  expect(price).toBeLessThanOrEqual(0.05);
});

task('what did a wallet spend by day', async () => {
  const { rows } = await use('run_sql', {
    sql: `SELECT day, sum(settled_usd) AS usd FROM payer_days WHERE payer = (SELECT payer FROM payer_days GROUP BY payer ORDER BY sum(settled_usd) DESC LIMIT 1)
      GROUP BY day ORDER BY day DESC LIMIT 7`,
  });
  expect(rows.length).toBeGreaterThan(0);
});

task('is this the real one, or an impostor of the same name', async () => {
  const { agents } = await use('list_agents', { limit: 1 });
  const { agents: same } = await use('list_agents', { q: agents[0].name, limit: 3 });
  expect(same.map(({ name }: { name: string }) => name)).toContain(agents[0].name);
  const { identity } = await use('get_entity_summary', { wallet: same[0].wallet });
  expect(identity).not.toBeUndefined();
});

task('watch a seller: what came in since I last looked', async () => {
  const { flows } = await use('list_flows', { limit: 1 });
  const { payee } = flows[0];
  const first = await use('list_entity_settlements', { payee, limit: 1 });
  const since = first.settlements[0].block_time;
  const later = await use('list_entity_settlements', { payee, since, limit: 3 });
  expect(later.settlements.length).toBeGreaterThan(0);
});

task('export a month', async () => {
  const job = await use('create_sql_job', {
    sql: 'SELECT block_time, payer, payee, amount_usd FROM settlements WHERE block_time >= now() - INTERVAL 30 DAY LIMIT 1000',
  });
  let state = job;
  await waitUntil(
    'the job has ended',
    async () => {
      state = await use('get_sql_job', { job: job.job });
      return state.state === 'succeeded';
    },
    JOB_MAX_MS,
  );
  const file = await fetch(new URL(state.result.signed_url, printed(run, 'API')));
  expect([file.status, (await file.text()).length > 0]).toEqual([200, true]);
});

task('compare two sellers', async () => {
  const { merchants } = await use('list_merchants', { limit: 2 });
  const [one, other] = [
    await use('get_entity_summary', { wallet: merchants[0].wallet }),
    await use('get_entity_summary', { wallet: merchants[1].wallet }),
  ];
  expect(one.received.usd).toBeGreaterThan(0);
  expect(other.received.usd).toBeGreaterThan(0);
});

task('save a query and sell it', async () => {
  const { organisation } = await use('get_account');
  const saved = await use('save_query', {
    slug: 'payments-by-hour',
    sql: 'SELECT toStartOfHour(block_time) AS hour, count() AS payments FROM settlements GROUP BY hour ORDER BY hour DESC LIMIT 24',
    title: 'Payments by hour',
    visibility: 'public',
    price_qu: 2,
  });
  expect(saved.query.price_qu).toBe(2);
  const called = await use('call_saved_query', {
    owner: organisation.handle ?? saved.query.owner,
    slug: 'payments-by-hour',
  });
  expect(called.rows.length).toBeGreaterThan(0);
});

task('wait for a payment', async () => {
  const { flows } = await use('list_flows', { limit: 1 });
  const { transaction } = await use('get_transaction', { tx_hash: flows[0].tx_hash });
  expect(JSON.stringify(transaction ?? flows)).toContain(flows[0].tx_hash);
});

task('which listing changed its price last', async () => {
  const { rows } = await use('run_sql', {
    sql: 'SELECT resource, price_usd, terms_since FROM endpoints ORDER BY terms_since DESC LIMIT 3',
  });
  expect(rows).toHaveLength(3);
});

test('all ten take no more than 15,000 tokens', () => {
  const total = Object.values(spent).reduce((sum, tokens) => sum + tokens, 0);
  process.stdout.write(`tokens of the tasks: ${total}, ${JSON.stringify(spent)}\n`);
  expect(Object.keys(spent)).toHaveLength(10);
  expect(total, JSON.stringify(spent)).toBeLessThan(ALL_TASKS_MAX_TOKENS);
});
