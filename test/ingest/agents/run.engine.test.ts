import { expect } from 'vitest';
import { sql, trustedText } from '../../../clickhouse/engine/sql.ts';
import { ATTESTATIONS } from '../../../clickhouse/tables/registries.ts';
import { insertRows } from '../../../clickhouse/tables/table.ts';
import { runIdentities } from '../../../ingest/agents/derive.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { type TestEngine, testLog } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';
import { dataUri, emptyIdentityTables, identitiesConfig } from '../../kit/identities.ts';
import { attestation, insertAgentEvents, registration } from '../../kit/registry-rows.ts';
import { hash, wallet } from '../../kit/rows.ts';
import { waitUntil } from '../../kit/wait-until.ts';

const versions = createVersions(0n);

test.beforeEach(({ engine }) => emptyIdentityTables(engine.writer));

async function count(engine: TestEngine, from: string): Promise<number> {
  const statement = sql`SELECT count() FROM ${trustedText(from)}`;
  const { rows } = await engine.reader.rows({
    name: 'test-count',
    sql: statement,
    maxSeconds: 10,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}

/** An agent with a card and a rating with a file, all of it in the logs themselves. */
async function logs(engine: TestEngine): Promise<void> {
  await insertAgentEvents(engine.writer, registration({ agentId: 7n, text: dataUri({ name: 'Seven' }) }));
  const proof = { fromAddress: wallet(1), toAddress: wallet(2), chainId: 8453, txHash: hash(3) };
  const rating = attestation({ agentId: 7n, uri: dataUri({ proofOfPayment: proof }) });
  await insertRows(engine.writer, {
    name: 'test-feedback',
    table: ATTESTATIONS,
    rows: [rating],
    fixed: { ver: versions.next(), del: 0 },
  });
}

test('from logs alone an agent gets its card and its rating the payment, and a stop ends all of it', async ({
  engine,
}) => {
  const ending = new AbortController();
  const deps = {
    config: identitiesConfig(),
    writer: engine.writer,
    versions,
    log: testLog,
    signal: ending.signal,
  };
  const running = runIdentities(deps);
  await logs(engine);
  await waitUntil(
    'the agent is named and its rating is read',
    async () =>
      (await count(
        engine,
        "agents FINAL WHERE name = 'Seven' AND card_status = 'good' AND feedback_count = 1",
      )) === 1 &&
      (await count(engine, "feedback_files FINAL WHERE status = 'good' AND proof_chain = 'eip155:8453'")) ===
        1,
  );
  ending.abort();
  await running;
});

test('where nothing is to be fetched, agents are derived all the same', async ({ engine }) => {
  const ending = new AbortController();
  const config = identitiesConfig({ fetch: false });
  const running = runIdentities({
    config,
    writer: engine.writer,
    versions,
    log: testLog,
    signal: ending.signal,
  });
  await logs(engine);
  await waitUntil(
    'the agent is derived',
    async () => (await count(engine, 'agents FINAL WHERE feedback_count = 1')) === 1,
  );
  ending.abort();
  await running;
  expect(await count(engine, 'agent_cards')).toBe(0);
  expect(await count(engine, "feedback_files FINAL WHERE status != 'new'")).toBe(0);
});
