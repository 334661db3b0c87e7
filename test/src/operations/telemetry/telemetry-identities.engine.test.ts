import { expect } from 'vitest';
import { trustedText } from '../../../../clickhouse/engine/sql.ts';
import { deriveAll, registerAgent } from '../../../kit/agents.ts';
import { ANONYMOUS, type TestApi } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import {
  attestation,
  insertAgentEvents,
  insertAttestations,
  registration,
} from '../../../kit/registry-rows.ts';
import { BASE, NOON, nextVer, POLYGON, reportChain } from '../../../kit/rows.ts';

let engine: TestEngine;
let api: TestApi;

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  await reportChain(engine.writer, BASE);
});

async function run(statement: string): Promise<void> {
  await engine.writer.run({ name: 'test-write', sql: trustedText(statement), maxSeconds: 10 });
}

function failedFile(logIndex: number, problem: string, nextTryAt: number): Promise<void> {
  return run(`INSERT INTO feedback_files (chain, block_number, log_index, status, problem, next_try_at, ver, del)
    SELECT '${BASE}', 2000, ${logIndex}, 'failed', '${problem}', toDateTime(${nextTryAt}, 'UTC'), ${nextVer()}, 0`);
}

test('telemetry counts indexed registrations, files that were read, and files that are still to read', async () => {
  const { writer } = engine;
  for (const agentId of [1n, 2n]) await registerAgent(writer, { agentId, card: { name: 'Good' } });
  await registerAgent(writer, { agentId: 3n, uri: '' });
  await registerAgent(writer, { agentId: 4n, uri: 'https://slow.example/card.json' });
  await insertAgentEvents(writer, registration({ agentId: 5n, blockNumber: 1_005 }));
  await insertAgentEvents(writer, registration({ agentId: 5n, blockNumber: 1_005 }), 1);
  await run(`INSERT INTO agent_cards (chain, agent_id, uri, status, problem, tried_at, next_try_at, ver, del)
    SELECT '${BASE}', 4, 'https://slow.example/card.json', 'failed', 'timeout', toDateTime(${NOON}, 'UTC'), toDateTime(${NOON - 1}, 'UTC'), 9, 0`);
  const rated = [0, 1, 2, 3].map((logIndex) =>
    attestation({
      agentId: 1n,
      logIndex,
      feedbackIndex: BigInt(logIndex + 1),
      uri: logIndex < 3 ? 'ipfs://x' : '',
    }),
  );
  await insertAttestations(writer, rated);
  await insertAttestations(writer, [attestation({ agentId: 1n, logIndex: 9 })]);
  await insertAttestations(writer, [attestation({ agentId: 1n, logIndex: 9 })], 1);
  await failedFile(1, 'refused', NOON - 1);
  await failedFile(2, 'refused', NOON + 1);
  await deriveAll(writer);
  await registerAgent(writer, { agentId: 6n });
  await insertAttestations(writer, [attestation({ chain: POLYGON, agentId: 1n })]);
  await run(
    `INSERT INTO endpoint_sources (source, kind, host, tried_at, good_at, problem, items, ver, del) SELECT 'bazaar:one', 'bazaar', 'one.example', toDateTime(${NOON}, 'UTC'), toDateTime(0), 'timeout', 0, 1, 0
      UNION ALL SELECT 'well_known:https://a.example', 'contested', 'a.example', toDateTime(${NOON}, 'UTC'), toDateTime(0), 'timeout', 0, 1, 0`,
  );
  const { body } = await api.get('/v0/telemetry', ANONYMOUS);
  expect(body.identities).toEqual({
    chains: [
      {
        chain: BASE,
        agents: 4,
        agents_due: 1,
        attestations: 4,
        cards: {
          good: 2,
          failed: 1,
          none: 1,
          due: 1,
          problems: [
            { problem: 'empty_uri', count: 1 },
            { problem: 'timeout', count: 1 },
          ],
        },
        feedback_files: { good: 0, failed: 2, new: 1, due: 2, problems: [{ problem: 'refused', count: 2 }] },
      },
      {
        chain: POLYGON,
        agents: 0,
        agents_due: 1,
        attestations: 1,
        cards: { good: 0, failed: 0, none: 0, due: 0, problems: [] },
        feedback_files: { good: 0, failed: 0, new: 0, due: 0, problems: [] },
      },
    ],
    endpoint_sources: [
      {
        source: 'bazaar:one',
        kind: 'bazaar',
        host: 'one.example',
        not_read: [],
        offers: 0,
        tried_at: '2026-11-20T12:00:00Z',
        good_at: null,
        problem: 'timeout',
        stale: true,
      },
    ],
    counted_at: '2026-11-20T12:00:00Z',
  });
});

test('telemetry counts again after half a minute, not before', async () => {
  const agents = async (): Promise<unknown> =>
    (await api.get('/v0/telemetry', ANONYMOUS)).body.identities.chains[0].agents_due;
  await deriveAll(engine.writer);
  api.clock.advanceSeconds(29);
  expect(await agents()).toBe(1);
  api.clock.advanceSeconds(2);
  expect(await agents()).toBe(0);
});
