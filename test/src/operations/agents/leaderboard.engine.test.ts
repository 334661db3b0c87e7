import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { Attestation } from '../../../../clickhouse/tables/registries.ts';
import type { Chain } from '../../../../core/domain/chains.ts';
import { deriveAll, registerAgent } from '../../../kit/agents.ts';
import { type TestApi, testApi } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { emptyIdentityTables } from '../../../kit/identities.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import type { NaiveAgent } from '../../../kit/oracle/agents.ts';
import { oracle } from '../../../kit/oracle/oracle.ts';
import {
  attestation,
  insertAgentEvents,
  insertAttestations,
  registration,
} from '../../../kit/registry-rows.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  POLYGON,
  reportChain,
  settlement,
  wallet,
} from '../../../kit/rows.ts';

/** Truth: every agent's feedback counted one by one, and sorted here. */

let engine: TestEngine;
let api: TestApi;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
});
test.beforeEach(async ({ api: fresh }) => {
  api = fresh;
  await emptyIdentityTables(engine.writer);
});

interface Row {
  readonly rank: number;
  readonly chain: string;
  readonly agent_id: string;
  readonly score: number | null;
  readonly feedback_count: number;
  readonly distinct_clients: number;
}

async function walkBoard(limit: number, query = ''): Promise<Row[]> {
  const rows: Row[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const { status, body, text } = await api.get(`/v0/leaderboard?limit=${limit}&offset=${offset}${query}`);
    if (status !== 200) throw new Error(`${status}: ${text}`);
    expect(body.leaderboard.length).toBeLessThanOrEqual(limit);
    rows.push(...body.leaderboard);
    offset = body.next_offset;
  }
  return rows;
}

/** Scores as whole numbers of 10^-18: doubles would make ties of different scores. */
function scaled(score: string): bigint {
  const [whole = '', fraction = ''] = score.replace('-', '').split('.');
  const magnitude = BigInt(whole + fraction.padEnd(18, '0'));
  return score.startsWith('-') ? -magnitude : magnitude;
}

function compare<Value extends bigint | string>(one: Value, other: Value): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function naiveBoard(agents: readonly NaiveAgent[], include: { spam: boolean }): Omit<Row, 'rank'>[] {
  return agents
    .filter(({ score }) => include.spam || score !== null)
    .toSorted((one, other) => {
      const unscored = Number(one.score === null) - Number(other.score === null);
      const byScore = compare(scaled(other.score ?? '0'), scaled(one.score ?? '0'));
      const byId = compare(BigInt(one.agentId), BigInt(other.agentId));
      return unscored || byScore || compare(one.chain, other.chain) || byId;
    })
    .map(({ chain, agentId, score, feedbackCount, distinctClients }) => ({
      chain,
      agent_id: agentId,
      score: score === null ? null : Number(score),
      feedback_count: feedbackCount,
      distinct_clients: distinctClients,
    }));
}

function shownOf(rows: readonly Row[]): Omit<Row, 'rank'>[] {
  return rows.map(({ chain, agent_id, score, feedback_count, distinct_clients }) => ({
    chain,
    agent_id,
    score,
    feedback_count,
    distinct_clients,
  }));
}

const AGENTS = 6;
const CHAINS = [BASE, POLYGON] as const;

interface Given {
  readonly slot: number;
  readonly chain: Chain;
  readonly agentId: bigint;
  readonly client: number;
  readonly value: bigint;
  readonly valueDecimals: number;
  readonly tag1: string;
  readonly fate: 'stands' | 'revoked' | 'taken_back' | 'revocation_taken_back';
}

/** Few values, so that there are ties. */
const given = fc.uniqueArray(
  fc.record<Given>({
    slot: fc.integer({ min: 0, max: 60 }),
    chain: fc.constantFrom(...CHAINS),
    agentId: fc.bigInt({ min: 0n, max: BigInt(AGENTS - 1) }),
    client: fc.integer({ min: 0, max: 4 }),
    value: fc.constantFrom(-5n, 0n, 1n, 50n, 100n, 101n, 2n ** 127n - 1n),
    valueDecimals: fc.constantFrom(0, 1, 18),
    tag1: fc.constantFrom('', 'starred', 'Quality', 'responseTime', 'starred '),
    fate: fc.constantFrom('stands', 'stands', 'revoked', 'taken_back', 'revocation_taken_back'),
  }),
  { maxLength: 40, selector: ({ slot }) => slot },
);

function feedbackOf({ slot, chain, agentId, client, value, valueDecimals, tag1 }: Given): Attestation {
  return attestation({
    chain,
    agentId,
    client: wallet(0xc0 + client),
    value,
    valueDecimals,
    tag1,
    feedbackIndex: BigInt(slot + 1),
    blockNumber: 2_000 + slot,
  });
}

function revocationOf(one: Given): Attestation {
  return {
    ...feedbackOf(one),
    kind: 'revocation',
    value: 0n,
    valueDecimals: 0,
    blockNumber: 3_000 + one.slot,
  };
}

const ALL_AGENTS = CHAINS.flatMap((chain) =>
  Array.from({ length: AGENTS }, (_, id) =>
    registration({ chain, agentId: BigInt(id), account: wallet(0xa0 + id), blockNumber: 1_000 + id }),
  ),
).flat();

describe('the leaderboard', () => {
  test('equals a naive recount after feedback, revocations and reorgs, whatever the size of a page', async () => {
    await fc.assert(
      fc.asyncProperty(given, fc.constantFrom(1, 2, 3, 5, 7, 100), async (history, limit) => {
        await emptyIdentityTables(engine.writer);
        const when = (...fates: Given['fate'][]) => history.filter(({ fate }) => fates.includes(fate));
        await insertAgentEvents(engine.writer, ALL_AGENTS);
        await insertAttestations(engine.writer, history.map(feedbackOf));
        await insertAttestations(engine.writer, when('revoked', 'revocation_taken_back').map(revocationOf));
        await deriveAll(engine.writer);
        await insertAttestations(engine.writer, when('revocation_taken_back').map(revocationOf), 1);
        await insertAttestations(engine.writer, when('taken_back').map(feedbackOf), 1);
        await deriveAll(engine.writer);
        const truth = oracle.agents.derived(
          ALL_AGENTS,
          when('stands', 'revoked', 'revocation_taken_back')
            .map(feedbackOf)
            .concat(when('revoked').map(revocationOf)),
        );
        await api.close();
        api = await testApi(engine.reader);
        const onBase = truth.filter(({ chain }) => chain === BASE);
        const all = await walkBoard(limit, '&include_spam=1');
        expect(shownOf(all)).toEqual(naiveBoard(truth, { spam: true }));
        expect(all.map(({ rank }) => rank)).toEqual(all.map((_, index) => index + 1));
        expect(shownOf(await walkBoard(limit, `&chain=${BASE}`))).toEqual(
          naiveBoard(onBase, { spam: false }),
        );
        expect(shownOf(await walkBoard(limit, `&chain=${BASE}&include_spam=true`))).toEqual(
          naiveBoard(onBase, { spam: true }),
        );
        expect(shownOf(await walkBoard(limit))).toEqual(naiveBoard(truth, { spam: false }));
      }),
      { numRuns: lengthOf('engineProperties'), endOnFailure: true },
    );
  }, 120_000);

  test('pages cross the border between scored and unscored agents without loss or repeat, at every size', async () => {
    const ids = Array.from({ length: 9 }, (_, id) => BigInt(id));
    await insertAgentEvents(
      engine.writer,
      ids.flatMap((agentId) => registration({ agentId, blockNumber: 1_000 + Number(agentId) })),
    );
    await insertAttestations(
      engine.writer,
      [8n, 3n, 5n, 1n].map((agentId, at) =>
        attestation({ agentId, value: agentId === 1n ? 90n : 80n, blockNumber: 2_000 + at }),
      ),
    );
    await deriveAll(engine.writer);
    for (let limit = 1; limit <= ids.length + 1; limit++) {
      const walked = await walkBoard(limit, '&include_spam=1');
      expect(walked.map(({ agent_id }) => agent_id)).toEqual(['1', '3', '5', '8', '0', '2', '4', '6', '7']);
      expect((await walkBoard(limit)).map(({ agent_id }) => agent_id)).toEqual(['1', '3', '5', '8']);
    }
  });

  test('tells scores apart that are the same number in JSON', async () => {
    for (const agentId of [1n, 2n]) await registerAgent(engine.writer, { agentId });
    const one = 10n ** 18n;
    await insertAttestations(engine.writer, [
      attestation({ agentId: 1n, value: 90n * one, valueDecimals: 18 }),
      attestation({ agentId: 2n, value: 90n * one + 6n, valueDecimals: 18, logIndex: 1 }),
    ]);
    await deriveAll(engine.writer);
    const rows = await walkBoard(10);
    expect(rows.map(({ agent_id, score }) => [agent_id, score])).toEqual([
      ['2', 56.666666666666664],
      ['1', 56.666666666666664],
    ]);
  });

  test('ids are ordered as numbers, also beyond what a double holds', async () => {
    const ids = [10n, 9n, 2n ** 255n, 2n ** 64n];
    for (const [at, agentId] of ids.entries())
      await registerAgent(engine.writer, { agentId, blockNumber: 1_000 + at });
    await deriveAll(engine.writer);
    const rows = await walkBoard(3, '&include_spam=1');
    expect(rows.map(({ agent_id }) => agent_id)).toEqual(['9', '10', String(2n ** 64n), String(2n ** 255n)]);
  });

  test('says how many agents of a page have a score, and warns when none has', async () => {
    for (const agentId of [1n, 2n, 3n])
      await registerAgent(engine.writer, { agentId, owner: wallet(0xa0 + Number(agentId)) });
    await insertAttestations(engine.writer, [attestation({ agentId: 3n })]);
    await deriveAll(engine.writer);
    const first = await api.get('/v0/leaderboard?limit=2&include_spam=1');
    expect(first.body.meta).toMatchObject({
      page_scored_agents: 1,
      chain: null,
      ranked_at: '2026-11-20T12:00:00Z',
    });
    expect(first.body.meta.warnings).toBeUndefined();
    const second = await api.get('/v0/leaderboard?limit=2&include_spam=1&offset=2');
    expect(second.body.meta).toMatchObject({
      page_scored_agents: 0,
      warnings: ['no_agent_on_this_page_has_a_score'],
    });
    const beyond = await api.get('/v0/leaderboard?offset=2');
    expect(beyond.body).toMatchObject({ leaderboard: [], next_offset: null });
    expect(beyond.body.meta).toMatchObject({ page_scored_agents: 0, dataset_row_count: 3, warnings: [] });
  });

  test('carries the whole agent: card, wallet and what it did last', async () => {
    await insertSettlements(engine.writer, [settlement({ payee: wallet(0xa7), blockTime: NOON - 60 })]);
    await registerAgent(engine.writer, {
      agentId: 7n,
      owner: wallet(0xa7),
      card: { name: 'Weather', x402Support: true, capabilities: ['weather'] },
    });
    await insertAttestations(engine.writer, [attestation({ agentId: 7n, value: 925n, valueDecimals: 1 })]);
    await deriveAll(engine.writer);
    const { body } = await api.get('/v0/leaderboard');
    expect(body.leaderboard[0]).toMatchObject({
      rank: 1,
      agent_id: '7',
      name: 'Weather',
      wallet: wallet(0xa7),
      capabilities: ['weather'],
      score: 57.083333333333336,
      rating_mean: 92.5,
      rating_count: 1,
      rating_clients: 1,
      feedback_count: 1,
      distinct_clients: 1,
      activity_status: 'active',
    });
  });
});

describe('a ranking', () => {
  test('is kept for ten seconds: pages fit together whatever happens between them', async () => {
    for (const agentId of [1n, 2n, 3n, 4n]) await registerAgent(engine.writer, { agentId });
    const rate = (agentId: bigint, value: bigint, blockNumber: number) =>
      insertAttestations(engine.writer, [
        attestation({ agentId, value, blockNumber, feedbackIndex: BigInt(blockNumber) }),
      ]);
    await rate(1n, 40n, 2_001);
    await rate(2n, 30n, 2_002);
    await rate(3n, 20n, 2_003);
    await rate(4n, 10n, 2_004);
    await deriveAll(engine.writer);
    const first = await api.get('/v0/leaderboard?limit=2');
    await rate(4n, 100n, 2_005);
    await insertAgentEvents(engine.writer, registration({ agentId: 3n, blockNumber: 1_003 }), 1);
    await deriveAll(engine.writer);
    api.clock.advanceSeconds(9);
    const second = await api.get('/v0/leaderboard?limit=2&offset=2');
    const shown = (answer: typeof first) =>
      answer.body.leaderboard.map(({ rank, agent_id, score }: Row) => [rank, agent_id, score]);
    expect(shown(first)).toEqual([
      [1, '1', 48.333333333333336],
      [2, '2', 46.666666666666664],
    ]);
    // The registration of agent 3 was taken back: its place stays empty.
    expect(shown(second)).toEqual([[4, '4', 43.333333333333336]]);
    expect(second.body.meta.ranked_at).toBe(first.body.meta.ranked_at);
    api.clock.advanceSeconds(11);
    const renewed = await api.get('/v0/leaderboard?limit=2');
    expect(shown(renewed)).toEqual([
      [1, '4', 50.833333333333336],
      [2, '1', 48.333333333333336],
    ]);
    expect(renewed.body.meta.ranked_at).toBe('2026-11-20T12:00:20Z');
  });

  test('is read once for many requests at the same time', async () => {
    await registerAgent(engine.writer, { agentId: 1n });
    await deriveAll(engine.writer);
    let rankings = 0;
    const counting = await testApi({
      ...engine.reader,
      rows: (statement, signal) => {
        if (statement.name === 'leaderboard-ranking') rankings++;
        return engine.reader.rows(statement, signal);
      },
    });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => counting.get('/v0/leaderboard?include_spam=1')),
    );
    await counting.close();
    expect(answers.map(({ body }) => body.leaderboard.length)).toEqual(Array(20).fill(1));
    expect(rankings).toBe(1);
  });

  test('reaches past its first thousand agents without a seam', async () => {
    const count = 1_205;
    const ids = Array.from({ length: count }, (_, id) => BigInt(id));
    await insertAgentEvents(
      engine.writer,
      ids.flatMap((agentId) => registration({ agentId, blockNumber: 1_000 })),
    );
    await insertAttestations(
      engine.writer,
      ids.map((agentId) =>
        attestation({ agentId, value: 10_000n - agentId, valueDecimals: 2, logIndex: Number(agentId) }),
      ),
    );
    await deriveAll(engine.writer);
    expect((await walkBoard(100)).map(({ agent_id }) => agent_id)).toEqual(ids.map(String));
    const page = await api.get('/v0/leaderboard?limit=3&offset=998');
    expect(page.body.leaderboard.map(({ rank }: Row) => rank)).toEqual([999, 1_000, 1_001]);
  });
});

test('400: an offset beyond the leaderboard’s own maximum, and flags that are none', async () => {
  for (const [query, parameter] of [
    ['offset=1000001', 'offset'],
    ['offset=-1', 'offset'],
    ['include_spam=yes', 'include_spam'],
    ['chain=eip155:1', 'chain'],
    ['by=payment', 'by'],
  ]) {
    const { status, body } = await api.get(`/v0/leaderboard?${query}`);
    expect({ status, parameter: body.parameter }).toEqual({ status: 400, parameter });
  }
  expect((await api.get('/v0/leaderboard?offset=1000000')).status).toBe(200);
});
