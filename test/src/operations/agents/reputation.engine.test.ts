import { describe, expect } from 'vitest';
import type { Attestation } from '../../../../clickhouse/tables/registries.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { recheckProofs } from '../../../../ingest/agents/derive.ts';
import { type FeedbackOutcome, saveFeedback } from '../../../../ingest/agents/feedback/row.ts';
import { createVersions } from '../../../../ingest/write/versions.ts';
import { deriveAll, registerAgent } from '../../../kit/agents.ts';
import type { TestApi } from '../../../kit/api.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import { type TestEngine, testLog } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { emptyIdentityTables } from '../../../kit/identities.ts';
import {
  agentEvent,
  attestation,
  insertAgentEvents,
  insertAttestations,
} from '../../../kit/registry-rows.ts';
import {
  BASE,
  hash,
  insertSettlements,
  nextVer,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';

/** What ratings can make of a score, and what they cannot. */

let engine: TestEngine;
let api: TestApi;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(async ({ api: fresh }) => {
  api = fresh;
  await emptyTables(engine.writer);
  await emptyIdentityTables(engine.writer);
  await reportChain(engine.writer, BASE);
  for (const agentId of [1n, 2n, 3n])
    await registerAgent(engine.writer, { agentId, owner: wallet(0xa0 + Number(agentId)) });
});

let nextLog = 0;

/** Feedback in a log of its own; clients are numbered. */
function rated(agentId: bigint, client: number, fields: Partial<Attestation> = {}): Attestation {
  nextLog += 1;
  return attestation({
    agentId,
    client: wallet(0xc000 + client),
    blockNumber: 2_000 + nextLog,
    feedbackIndex: BigInt(nextLog),
    tag1: 'starred',
    ...fields,
  });
}

const clients = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

async function board(query = ''): Promise<readonly Record<string, unknown>[]> {
  await deriveAll(engine.writer);
  api.clock.advanceSeconds(60);
  const { status, body } = await api.get(`/v0/leaderboard?${query}`);
  expect(status).toBe(200);
  return body.leaderboard;
}

const idsOf = (rows: readonly Record<string, unknown>[]) => rows.map((row) => row['agent_id']);

describe('the default ranking', () => {
  test('takes no measure on another scale for a rating, whatever its number', async () => {
    await insertAttestations(engine.writer, [
      rated(1n, 1, { tag1: 'responseTime', value: 653n }),
      rated(1n, 1, { tag1: 'uptime', value: 9_977n, valueDecimals: 2 }),
      // On the scale by its number, not by its tag.
      rated(1n, 2, { tag1: 'responseTime', value: 99n }),
      rated(2n, 1, { value: 70n }),
      // A rating by its tag, not by its number.
      rated(3n, 1, { value: 653n }),
      rated(3n, 2, { value: -1n }),
    ]);
    const rows = await board('include_spam=1');
    expect(
      rows.map(({ agent_id, score, rating_count, feedback_count }) => [
        agent_id,
        score,
        rating_count,
        feedback_count,
      ]),
    ).toEqual([
      ['2', 53.333333333333336, 1, 1],
      ['1', null, 0, 3],
      ['3', null, 0, 2],
    ]);
    expect(idsOf(await board())).toEqual(['2']);
  });

  test('puts many clients of 80 above one client of 100, however often that one rates', async () => {
    await insertAttestations(engine.writer, [
      ...clients(4).map((client) => rated(1n, client, { value: 80n })),
      ...clients(50).map(() => rated(2n, 7, { value: 100n })),
    ]);
    const rows = await board();
    expect(rows).toMatchObject([
      { agent_id: '1', score: (4 * 80 + 250) / 9, rating_mean: 80, rating_count: 4, rating_clients: 4 },
      { agent_id: '2', score: 350 / 6, rating_mean: 100, rating_count: 50, rating_clients: 1 },
    ]);
  });

  test('counts a client once by the mean of his ratings', async () => {
    await insertAttestations(engine.writer, [
      rated(1n, 1, { value: 100n }),
      rated(1n, 1, { value: 0n, tag1: '' }),
      rated(1n, 2, { value: 900n, valueDecimals: 1, tag1: 'Quality' }),
    ]);
    expect(await board()).toMatchObject([{ rating_mean: 70, rating_count: 3, rating_clients: 2 }]);
  });
});

test('tags have means of their own, each on its scale, on agents and on attestations', async () => {
  await insertAttestations(engine.writer, [
    rated(1n, 1, { tag1: 'responseTime', value: 653n }),
    rated(1n, 1, { tag1: 'responseTime', value: 53n }),
    rated(1n, 2, { tag1: 'responseTime', value: 147n }),
    rated(1n, 3, { value: 87n }),
    rated(1n, 4, { value: 653n }),
  ]);
  await deriveAll(engine.writer);
  const responseTime = {
    tag: 'responseTime',
    mean: 250,
    is_rating: false,
    feedback_count: 3,
    distinct_clients: 2,
  };
  const starred = { tag: 'starred', mean: 87, is_rating: true, feedback_count: 1, distinct_clients: 1 };
  const agents = await api.get('/v0/agents?agent_id=1');
  expect(agents.body.agents[0].tag_scores).toEqual([responseTime, starred]);
  const { body } = await api.get('/v0/attestations?agent_id=1');
  expect(
    body.attestations.map((row: Record<string, unknown>) => [
      row['value'],
      row['is_rating'],
      row['tag_score'],
    ]),
  ).toEqual([
    [653, false, starred],
    [87, true, starred],
    [147, false, responseTime],
    [53, false, responseTime],
    [653, false, responseTime],
  ]);
});

test('an agent keeps the tags that most clients gave, however many a client invents', async () => {
  await insertAttestations(engine.writer, [
    ...clients(40).map((at) => rated(1n, 1, { tag1: `invented-${at}`, value: 1n })),
    ...clients(2).map((client) => rated(1n, client, { tag1: 'uptime', value: 99n })),
  ]);
  await deriveAll(engine.writer);
  const { body } = await api.get('/v0/agents?agent_id=1');
  const [agent] = body.agents;
  expect(agent.tag_scores).toHaveLength(16);
  expect(agent.tag_scores[0]).toMatchObject({ tag: 'uptime', distinct_clients: 2 });
});

describe('by=paid', () => {
  const TX = hash(0x9a1d);
  const CLIENT = wallet(0xc001);
  const WALLET = wallet(0xa1);
  const paid = settlement({ txHash: TX, payer: CLIENT, payee: WALLET, blockNumber: 1_900 });
  const PROOF = { chain: BASE, txHash: TX, from: CLIENT, to: WALLET };

  /** Rates agent 1 with a file that was fetched. */
  async function rateWithFile(
    outcome: Partial<FeedbackOutcome> = {},
    fields: Partial<Attestation> = {},
    client = 1,
  ): Promise<void> {
    const log = rated(1n, client, { value: 90n, uri: 'ipfs://file', fileHash: hash(5), ...fields });
    await insertAttestations(engine.writer, [log]);
    const good = {
      status: 'good',
      problem: '',
      failures: 0,
      nextTryAt: 0,
      hashMatches: true,
      comment: '',
      commentRule: 1,
      proof: PROOF,
    } as const;
    await saveFeedback(engine.writer, [
      [
        { ...log, failures: 0, ver: nextVer() },
        { ...good, ...outcome },
      ],
    ]);
    nextVer();
  }

  const pays = (fields: Partial<Settlement> = {}) =>
    insertSettlements(engine.writer, [{ ...paid, ...fields }]);

  test('ranks by the ratings whose payment is a settlement from the client to the agent, and leaves out all others', async () => {
    await pays();
    await rateWithFile();
    await insertAttestations(
      engine.writer,
      clients(9).map((client) => rated(2n, 20 + client, { value: 100n })),
    );
    expect(idsOf(await board())).toEqual(['2', '1']);
    expect(await board('by=paid')).toMatchObject([
      {
        agent_id: '1',
        rank: 1,
        paid_score: 340 / 6,
        paid_rating_count: 1,
        paid_rating_clients: 1,
        rating_clients: 1,
      },
    ]);
    expect(idsOf(await board('by=paid&include_spam=1'))).toEqual(['1', '2', '3']);
  });

  test.each<[string, Partial<FeedbackOutcome>, Partial<Attestation>, number?]>([
    ['a payment between others, which anybody can name', {}, {}, 2],
    ['a payment to another wallet', { proof: { ...PROOF, to: wallet(0xbeef) } }, {}],
    ['a transaction that is not in the index', { proof: { ...PROOF, txHash: hash(0x404) } }, {}],
    ['the same transaction on another chain', { proof: { ...PROOF, chain: 'eip155:137' } }, {}],
    ['a file with another hash', { hashMatches: false }, {}],
    ['a file about another agent', { problem: 'other_agent' }, {}],
    ['a file that was not read', { status: 'failed', problem: 'timeout' }, {}],
    ['a measure on another scale', {}, { tag1: 'responseTime' }],
  ])('does not count %s', async (_title, outcome, fields, client) => {
    await pays();
    await pays({ txHash: hash(0x9a1e), payee: wallet(0xbeef), blockNumber: 1_901 });
    await rateWithFile(outcome, fields, client);
    expect(await board('by=paid')).toEqual([]);
  });

  test('does not count a client who paid himself', async () => {
    await pays({ payer: WALLET });
    await rateWithFile({ proof: { ...PROOF, from: WALLET } }, { client: WALLET, author: WALLET });
    expect(await board('by=paid')).toEqual([]);
  });

  test('follows a payment that is indexed later and one that a reorg takes back', async () => {
    const deps = {
      writer: engine.writer,
      versions: createVersions(0n),
      log: testLog,
      signal: new AbortController().signal,
    };
    await rateWithFile();
    expect(await board('by=paid')).toEqual([]);
    await pays();
    await recheckProofs(deps);
    expect(idsOf(await board('by=paid'))).toEqual(['1']);
    await tombstone(engine.writer, [paid]);
    await recheckProofs(deps);
    expect(await board('by=paid')).toEqual([]);
  });

  test('an agent that took another wallet keeps what was paid to the one before', async () => {
    await pays();
    await rateWithFile();
    expect(idsOf(await board('by=paid'))).toEqual(['1']);
    await insertAgentEvents(engine.writer, [
      agentEvent({ agentId: 1n, kind: 'wallet_set', account: wallet(0xb9), blockNumber: 1_950 }),
    ]);
    expect(await board('by=paid')).toMatchObject([{ agent_id: '1', wallet: wallet(0xb9) }]);
  });
});
