import { expect } from 'vitest';
import type { Reader } from '../../../../clickhouse/engine/engine.ts';
import { trustedText } from '../../../../clickhouse/engine/sql.ts';
import {
  type AgentFilter,
  type AgentListQuery,
  readAgentList,
} from '../../../../src/operations/agents/read-list.ts';
import { readLastSettled } from '../../../../src/operations/settlements/feed.ts';
import { readWalletAgents } from '../../../../src/operations/wallets/owners.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { BASE, POLYGON, wallet } from '../../../kit/rows.ts';

/**
 * How many of 60,000 agents a page reads: rows, not time, so that a search that stops using its index, or a page that reads to
 * the end of the table, is noticed. Every fifth agent has two versions, in a part of its own, every fiftieth is gone.
 */

const AGENTS = 60_000;
/** 256 rows; a page touches one in each part, and one more where it begins. */
const GRANULE = 256;

let engine: TestEngine;
let readRows = 0;
let reader: Reader;

const run = (statement: string): Promise<void> =>
  engine.writer.run({ name: 'test-seed', sql: trustedText(statement), maxSeconds: 60 });

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
  await run(`INSERT INTO agents (chain, agent_id, owner, wallet, name, description, capabilities, x402_support, card_status, card_at, ver, del)
    SELECT if(number % 3 = 0, '${POLYGON}', '${BASE}'), number, unhex(leftPad(hex(number % 5000), 40, '0')), unhex(leftPad(hex(number), 40, '0')),
      concat('Agent ', toString(number)), concat('Weather for zone', toString(number % 997), if(number % 20000 = 77, ' Raritätenkabinett', '')),
      if(number % 4000 = 8, ['weather'], ['maps']), number % 2, 'good', now('UTC'), 1, 0
    FROM numbers(${AGENTS}) SETTINGS max_insert_block_size = 1000000, min_insert_block_size_rows = 1000000`);
  await run('INSERT INTO agents SELECT * REPLACE (2 AS ver) FROM agents WHERE agent_id % 5 = 1');
  await run(
    'INSERT INTO agents SELECT * REPLACE (3 AS ver, 1 AS del) FROM agents FINAL WHERE agent_id % 50 = 2',
  );
  await run(
    `INSERT INTO wallet_seen SELECT unhex(leftPad(hex(number), 40, '0')), now('UTC') FROM numbers(${AGENTS})`,
  );
  reader = {
    ...engine.reader,
    rows: async (statement) => {
      const found = await engine.reader.rows(statement);
      readRows += found.readRows;
      return found;
    },
  };
}, 120_000);

async function cost(ask: () => Promise<unknown>): Promise<number> {
  readRows = 0;
  await ask();
  return readRows;
}

const page = (filter: AgentFilter, query: Partial<AgentListQuery> = {}) =>
  readAgentList(reader, { limit: 50, before: undefined, chains: [BASE, POLYGON], filter, ...query });

test.each([
  ['the first page', {}, {}],
  ['a page in the middle', {}, { before: { chain: BASE, agentId: 30_000n } }],
  ['a page across the border of two chains', {}, { before: { chain: BASE, agentId: 40n } }],
  ['a page of one chain', {}, { chains: [POLYGON] }],
  ['a page of a common word', { phrase: 'weather' }, { before: { chain: BASE, agentId: 30_000n } }],
  ['a page of every second agent', { x402Support: true }, {}],
  ['one agent', { agentId: 12_345n }, {}],
])('%s reads a few granules', async (_, filter, query) => {
  expect(await cost(() => page(filter, query))).toBeLessThanOrEqual(16 * GRANULE);
});

test.each([
  ['a rare word', { phrase: 'raritätenkabinett' }, 3],
  ['two words that seldom meet', { phrase: 'zone996 Raritätenkabinett' }, 0],
  ['a capability that few offer', { capability: 'weather' }, 15],
  ['the agents of an owner', { owner: wallet(1_234) }, 12],
] as const)('%s is found by its index', async (_, filter, found) => {
  let rows = 0;
  const read = await cost(async () => {
    rows = (await page(filter)).rows.length;
  });
  expect(rows).toBe(found);
  // A granule of each part for every match, and as much again to merge.
  expect(read).toBeLessThanOrEqual((found + 2) * 6 * GRANULE);
  expect(read).toBeLessThan(AGENTS / 2);
});

test('a word of no agent reads nothing', async () => {
  expect(await cost(() => page({ phrase: 'nonesuch' }))).toBeLessThanOrEqual(GRANULE);
});

test('the agents of a wallet, and when a hundred wallets settled last, are a granule each', async () => {
  expect(
    await cost(() => readWalletAgents(reader, { wallet: wallet(1_001), chain: undefined })),
  ).toBeLessThanOrEqual(24 * GRANULE);
  const wallets = Array.from({ length: 100 }, (_, index) => wallet(index * 600));
  expect(await cost(() => readLastSettled(reader, wallets))).toBeLessThanOrEqual(104 * GRANULE);
});
