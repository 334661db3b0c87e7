import { expect } from 'vitest';
import { sql } from '../../../../clickhouse/engine/sql.ts';
import { proposalPass } from '../../../../ingest/proposals/pass.ts';
import type { TestApi } from '../../../kit/api.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { NAMED, proposalWorld, RIVAL } from '../../../kit/proposal-world.ts';
import { BASE, insertSettlements, NOON, nameFacilitator, reportChain } from '../../../kit/rows.ts';

let engine: TestEngine;
let api: TestApi;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(async ({ api: fresh }) => {
  api = fresh;
  await emptyTables(engine.writer);
  await reportChain(engine.writer, BASE);
  await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
  await insertSettlements(engine.writer, proposalWorld());
  await proposalPass({ writer: engine.writer, chains: [BASE], clock: { nowMs: () => NOON * 1_000 } });
});

test('status=proposed lists what no catalogue names, with its evidence', async () => {
  const { status, body } = await api.get('/v0/facilitators?status=proposed');
  expect(status).toBe(200);
  expect(body.facilitators).toHaveLength(1);
  expect(body.facilitators[0]).toMatchObject({
    address: RIVAL,
    settlement_count: 108,
    proposal: {
      score: 1,
      settlement_count: 108,
      relayed_count: 108,
      payer_count: 12,
      payer_spread: 12,
      shared_payer_count: 12,
      payee_count: 9,
      shared_payee_count: 9,
      shared_settlement_count: 108,
      shared_with: ['coinbase'],
      supported_by: [],
      funded_with: null,
    },
  });
  expect(body.facilitators[0]).not.toHaveProperty('facilitator');
});

test('status=named is the default and changes nothing', async () => {
  const [byDefault, named] = await Promise.all(
    ['/v0/facilitators', '/v0/facilitators?status=named'].map((url) => api.get(url)),
  );
  expect(named?.body.facilitators).toEqual(byDefault?.body.facilitators);
  const addresses = named?.body.facilitators.map(({ address }: { address: string }) => address);
  expect(addresses).toEqual(expect.arrayContaining([NAMED, RIVAL]));
});

test('another status is refused with what there is', async () => {
  const { status, body } = await api.get('/v0/facilitators?status=accepted');
  expect(status).toBe(400);
  expect(body).toMatchObject({
    code: 'invalid_parameter',
    detail: 'status must be one of named, proposed, not "accepted".',
  });
});

test('a proposal that a catalogue names, or an operator refused, is listed no more', async () => {
  await engine.writer.run({
    name: 'test-refuse',
    maxSeconds: 10,
    sql: sql`INSERT INTO relayer_decisions (chain, address, decision, score, first_seen, decided_at, ver, del)
      SELECT chain, address, 'refused', score, today(), now(), 1, 0 FROM proposed_relayers`,
  });
  expect((await api.get('/v0/facilitators?status=proposed')).body.facilitators).toEqual([]);
});
