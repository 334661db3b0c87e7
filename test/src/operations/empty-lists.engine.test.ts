import { expect } from 'vitest';
import { loadConfig } from '../../../core/config/load.ts';
import { offerTokens } from '../../../ingest/endpoints/item.ts';
import { deriveList, WHOLE } from '../../../ingest/endpoints/list.ts';
import { syncSource } from '../../../ingest/endpoints/sync.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { deriveAll, registerAgent } from '../../kit/agents.ts';
import type { TestApi } from '../../kit/api.ts';
import { listedItem } from '../../kit/bazaar.ts';
import { type TestEngine, testLog } from '../../kit/engine.ts';
import { test } from '../../kit/fixtures.ts';
import { attestation, insertAttestations } from '../../kit/registry-rows.ts';
import { BASE, insertSettlements, NOON, POLYGON, reportChain, settlement, wallet } from '../../kit/rows.ts';

/** An empty list tells about its own table, on the chain that was asked, and about nothing else. */

let engine: TestEngine;
let api: TestApi;
const WRITTEN = { base: NOON - 60, polygon: NOON - 3_600 } as const;
/** Rows by table and chain; no two sums of them are the same. */
const ROWS = {
  settlements: { base: 1, polygon: 2 },
  relayers: { base: 1, polygon: 2 },
  agents: { base: 3, polygon: 5 },
  attestations: { base: 4, polygon: 7 },
  endpoints: { base: 6, polygon: 9 },
} as const;
const NAMED = [
  ['base', BASE],
  ['polygon', POLYGON],
] as const;

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  await reportChain(engine.writer, BASE, { last_written_at: `toDateTime(${WRITTEN.base}, 'UTC')` });
  await reportChain(engine.writer, POLYGON, {
    last_written_at: `toDateTime(${WRITTEN.polygon}, 'UTC')`,
    indexed_time: `toDateTime(${NOON - 7_200}, 'UTC')`,
    indexed_block: '1',
  });
  for (const [name, chain] of NAMED) {
    const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
    await insertSettlements(
      engine.writer,
      numbers(ROWS.settlements[name]).map((at) =>
        settlement({ chain, logIndex: at, relayer: wallet(900 + at) }),
      ),
    );
    for (const at of numbers(ROWS.agents[name]))
      await registerAgent(engine.writer, { chain, agentId: BigInt(at) });
    await insertAttestations(
      engine.writer,
      numbers(ROWS.attestations[name]).map((at) => attestation({ chain, blockNumber: 3_000 + at })),
    );
  }
  await deriveAll(engine.writer);
  await listEndpoints();
});

async function listEndpoints(): Promise<void> {
  const versions = createVersions(0n);
  const items = NAMED.flatMap(([name, network]) =>
    Array.from({ length: ROWS.endpoints[name] }, (_, at) =>
      listedItem(`https://${network.replace(':', '-')}.example/${at}`, { network }),
    ),
  );
  const tokens = offerTokens(loadConfig({ env: {} }));
  const { signal } = new AbortController();
  await syncSource(
    { writer: engine.writer, versions, tokens, nowMs: () => NOON * 1_000, log: testLog, signal },
    { id: 'file', kind: 'file', host: '', mark: '', read: (take) => take(items).then(() => WHOLE) },
  );
  await deriveList(engine.writer, () => versions.next());
}

/** A question of each list that finds nothing on any chain. */
const UNSEEN = '0x00000000000000000000000000000000000000ff';
const SETTLEMENTS = '/v0/transactions?facilitator=unknown';
const EMPTY = [
  ['settlements', SETTLEMENTS],
  ['settlements', `/v0/entities/${UNSEEN}/settlements?role=any`],
  ['settlements', `/v0/graph?window=10&wallet=${UNSEEN}`],
  ['relayers', '/v0/facilitators?facilitator=unknown'],
  ['agents', '/v0/agents?q=unknown'],
  ['agents', '/v0/leaderboard?offset=1000'],
  ['settlements', '/v0/leaderboard?of=payers&offset=1000'],
  ['settlements', '/v0/merchants?offset=1000'],
  ['endpoints', '/v0/leaderboard?of=endpoints'],
  ['attestations', '/v0/attestations?tag=unknown'],
  ['endpoints', '/v0/endpoints?q=unknown'],
] as const;

const countOf = (table: keyof typeof ROWS, chain: string): number => {
  const { base, polygon } = ROWS[table];
  if (chain === BASE) return base;
  return chain === POLYGON ? polygon : base + polygon;
};

test.each(EMPTY)('%s: %s counts the rows of that table on the asked chain alone', async (table, question) => {
  for (const chain of [BASE, POLYGON, 'all']) {
    const { status, body } = await api.get(`${question}&chain=${chain}`);
    expect([status, chain, body.meta?.dataset_row_count]).toEqual([200, chain, countOf(table, chain)]);
    expect(body.meta.warnings.includes('index_lagging')).toBe(chain !== BASE);
    expect(body.meta.warnings.includes('other_chains_left_out')).toBe(chain !== 'all');
  }
});

const timeText = (seconds: number): string => `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;

test('settlements were written when their chain was, whichever other chain was written since', async () => {
  for (const [chain, time] of [
    [BASE, WRITTEN.base],
    [POLYGON, WRITTEN.polygon],
    ['all', WRITTEN.base],
  ] as const) {
    const { body } = await api.get(`${SETTLEMENTS}&chain=${chain}`);
    expect([chain, body.meta.dataset_last_written_at]).toEqual([chain, timeText(time)]);
  }
});

test.each(['/v0/agents?q=unknown', '/v0/endpoints?q=unknown'])(
  '%s was written when its rows were, not when settlements were',
  async (question) => {
    const { body } = await api.get(`${question}&chain=${POLYGON}`);
    const time = Date.parse(body.meta.dataset_last_written_at) / 1_000;
    expect(Math.abs(time - Date.now() / 1_000)).toBeLessThan(600);
  },
);

test('a table without a row of the asked chain was never written', async ({ spareEngine, spareApi }) => {
  await registerAgent(spareEngine.writer, { chain: BASE });
  await deriveAll(spareEngine.writer);
  const { body } = await spareApi.get(`/v0/agents?q=unknown&chain=${POLYGON}`);
  expect(body.meta).toMatchObject({ dataset_row_count: 0, dataset_last_written_at: null });
});
