import { describe, expect } from 'vitest';
import { trustedText } from '../../../../clickhouse/engine/sql.ts';
import { mintAgentCursor, mintCursor } from '../../../../core/domain/cursor.ts';
import { displayText } from '../../../../core/domain/display-text.ts';
import { deriveAll, registerAgent, type TestAgent } from '../../../kit/agents.ts';
import { CURSOR_KEYS, type TestApi } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { IS_PUSH } from '../../../kit/lengths.ts';
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

/** 60 random agents on two chains, ids with gaps and beyond 2^64, against plain filters over the list of them. */

let engine: TestEngine;
let api: TestApi;
let nextId = 0n;

const HUGE = 2n ** 255n;
const NAMES = [
  'Weather by the call',
  'WEATHER station',
  'Météo Évian',
  'Погода Москва',
  '天気予報',
  'Sun & "rain"',
];
const DESCRIPTIONS = [
  '',
  'Forecasts—hourly, paid per call.',
  'weatherproof maps v2.0',
  'Prix à l’appel',
  'ＡＩ',
];
const SLUGS = ['web-search', 'weather'];

type Agent = Pick<TestAgent, 'chain' | 'agentId' | 'owner' | 'card'>;
const agents: Agent[] = [];

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
const random = generator(7);
const below = (bound: number): number => Math.floor(random() * bound);
const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;

function randomAgent(): Agent {
  nextId += BigInt(1 + below(4));
  const card = {
    name: displayText(pick(NAMES), 100),
    description: displayText(pick(DESCRIPTIONS), 100),
    capabilities: SLUGS.filter(() => random() < 0.4),
    x402Support: random() < 0.3,
    active: random() < 0.7,
  };
  return {
    chain: random() < 0.6 ? BASE : POLYGON,
    agentId: random() < 0.2 ? HUGE + nextId : nextId,
    owner: wallet(0xa0 + below(5)),
    card: random() < 0.8 ? card : null,
  };
}

async function register(agent: Agent): Promise<void> {
  await registerAgent(engine.writer, { ...agent, blockNumber: 1_000 });
  agents.push(agent);
}

async function retract(agent: Agent): Promise<void> {
  const { chain, agentId, owner: account } = agent;
  const uri = 'https://agent.example/card.json';
  await insertAgentEvents(
    engine.writer,
    registration({ chain, agentId, account, text: uri, blockNumber: 1_000 }),
    1,
  );
  agents.splice(agents.indexOf(agent), 1);
}

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
  for (let count = 0; count < 60; count++) await register(randomAgent());
  await deriveAll(engine.writer);
  for (const agent of agents.filter((_, index) => index % 9 === 4)) await retract(agent);
  await deriveAll(engine.writer);
}, 120_000);

const keyOf = ({ chain, agentId }: Agent): string => `${chain}/${agentId}`;

/** Highest chain first, then highest id. */
function inOrder(some: readonly Agent[]): string[] {
  return [...some]
    .sort((one, other) =>
      one.chain === other.chain
        ? Number(other.agentId > one.agentId) - Number(other.agentId < one.agentId)
        : Number(other.chain > one.chain) - Number(other.chain < one.chain),
    )
    .map(keyOf);
}

async function list(query: string) {
  const { status, body, text } = await api.get(`/v0/agents?${query}`);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body;
}

interface Row {
  readonly chain: string;
  readonly agent_id: string;
}
const rowKey = ({ chain, agent_id }: Row): string => `${chain}/${agent_id}`;

async function walk(
  query: string,
  limit: number,
  between?: (page: number) => Promise<void>,
): Promise<string[]> {
  const keys: string[] = [];
  let before = '';
  for (let page = 1; page < 500; page++) {
    const body = await list(`${query}&limit=${limit}${before}`);
    expect(body.agents.length).toBeLessThanOrEqual(limit);
    keys.push(...body.agents.map(rowKey));
    if (body.next_before === null) return keys;
    before = `&before=${body.next_before}`;
    await between?.(page);
  }
  throw new Error('no end');
}

describe('a walk holds what a plain filter over all agents holds, in order', () => {
  const says = (word: string) => (agent: Agent) =>
    `${agent.card?.name} ${agent.card?.description}`
      .toLowerCase()
      .split(/[^\p{L}\p{M}\p{N}]+/u)
      .includes(word);
  const cases: readonly [string, (agent: Agent) => boolean][] = [
    ['', () => true],
    ['chain=eip155:8453', ({ chain }) => chain === BASE],
    ['chain=all&x402_declared=true', ({ card }) => card?.x402Support === true],
    ['chain=all&x402_declared=0', ({ card }) => card?.x402Support !== true],
    ['chain=all&active=true', ({ card }) => card?.active === true],
    ['chain=all&active=false', ({ card }) => card?.active === false],
    [`chain=all&owner=${wallet(0xa1)}`, ({ owner }) => owner === wallet(0xa1)],
    ['chain=all&capability=weather', ({ card }) => card?.capabilities?.includes('weather') === true],
    ['chain=all&q=weather', says('weather')],
    [
      `chain=eip155:137&capability=web-search&owner=${wallet(0xa2)}&x402_declared=false`,
      ({ chain, owner, card }) =>
        chain === POLYGON &&
        owner === wallet(0xa2) &&
        card?.capabilities?.includes('web-search') === true &&
        card.x402Support !== true,
    ],
  ];

  test.each(cases)('%s', async (query, filter) => {
    const expected = inOrder(agents.filter(filter));
    expect(expected.length).toBeGreaterThan(0);
    for (const limit of [1 + below(6), 100]) expect(await walk(query, limit)).toEqual(expected);
  });

  test('also page by page while versions of every agent wait to be merged', async () => {
    await engine.writer.run({
      name: 'test-versions',
      sql: trustedText('INSERT INTO agents SELECT * REPLACE (owner AS owner) FROM agents FINAL'),
      maxSeconds: 10,
    });
    expect(await walk('chain=all', 3)).toEqual(inOrder(agents));
  });
});

test('an agent can be asked for by its id', async () => {
  const huge = agents.find(({ agentId, chain }) => agentId > HUGE && chain === POLYGON);
  const { agents: found, next_before } = await list(`chain=eip155:137&agent_id=${huge?.agentId}`);
  expect({ keys: found.map(rowKey), next_before }).toEqual({
    keys: [huge === undefined ? '' : keyOf(huge)],
    next_before: null,
  });
});

test.skipIf(IS_PUSH)(
  'while agents come and go, a walk meets those that were there all the time exactly once',
  async () => {
    const before = [...agents];
    const gone = new Set<string>();
    const met = await walk('chain=all', 7, async () => {
      const leaving = pick(agents);
      gone.add(keyOf(leaving));
      await retract(leaving);
      await register(randomAgent());
      await deriveAll(engine.writer);
    });
    expect(new Set(met).size).toBe(met.length);
    const stayed = new Set(inOrder(before).filter((key) => !gone.has(key)));
    expect(met.filter((key) => stayed.has(key))).toEqual(
      inOrder(before.filter((one) => stayed.has(keyOf(one)))),
    );
    expect(gone.size).toBeGreaterThan(5);
  },
  60_000,
);

test('a cursor of one chain goes on at its place in another', async () => {
  const at = (chain: typeof BASE) => mintAgentCursor(CURSOR_KEYS, 'listAgents', { chain, agentId: 20n });
  const onPolygon = inOrder(agents.filter(({ chain }) => chain === POLYGON));
  expect(await walk(`chain=${POLYGON}&before=${at(BASE)}`, 100)).toEqual(onPolygon);
  expect(await walk(`chain=${BASE}&before=${at(POLYGON)}`, 100)).toEqual([]);
});

describe('q', () => {
  const namesFor = async (q: string): Promise<string[]> => {
    const { agents: found } = await list(`chain=all&limit=100&q=${encodeURIComponent(q)}`);
    return [...new Set<string>(found.map(({ name }: { name: string }) => name))].sort();
  };

  test.each([
    ['whole words in any order and case', 'BY weather', ['Weather by the call']],
    ['no part of a word', 'weath', []],
    ['accents as they are, in any case', 'éVIAN', ['Météo Évian']],
    ['accents that are composed otherwise', 'e\u0301vian', ['Météo Évian']],
    ['Cyrillic words', 'москва', ['Погода Москва']],
    ['letters of Japanese without spaces', '予報', ['天気予報']],
    ['words around signs and quotes', '"rain"', ['Sun & "rain"']],
    ['what looks like SQL as words', "x' OR 1=1 --", []],
    ['words in a zero-width disguise', 'wea\u200bther BY', ['Weather by the call']],
  ])('finds %s', async (_, q, names) => {
    expect(await namesFor(q)).toEqual(names);
  });

  test.each([
    ['a dash parts words', 'hourly'],
    ['full-width letters are plain ones', 'ai'],
    ['a curly apostrophe parts words', 'APPEL'],
    ['a dot parts words', 'v2'],
  ])('%s', async (_, q) => {
    expect((await list(`chain=all&q=${q}`)).agents.length).toBeGreaterThan(0);
  });

  test('nothing to look for filters nothing', async () => {
    expect(await walk('chain=all&q=%20%09', 100)).toEqual(inOrder(agents));
  });

  test.each(['---', '%00', '—…！', '\u200b'])('400: %s has no word', async (q) => {
    const { status, body } = await api.get(`/v0/agents?q=${encodeURIComponent(decodeURIComponent(q))}`);
    expect({ status, parameter: body.parameter }).toEqual({ status: 400, parameter: 'q' });
  });

  test('as many words as it may have are looked for, one more is refused', async () => {
    const words = (count: number) => Array.from({ length: count }, () => 'の').join('');
    expect((await api.get(`/v0/agents?q=${encodeURIComponent(words(32))}`)).status).toBe(200);
    expect((await api.get(`/v0/agents?q=${encodeURIComponent(words(33))}`)).body.parameter).toBe('q');
    expect((await api.get(`/v0/agents?q=${'x'.repeat(101)}`)).body.parameter).toBe('q');
  });
});

describe('400', () => {
  test.each([
    ['agent_id', '-1'],
    ['agent_id', String(2n ** 256n)],
    ['agent_id', '0x1'],
    ['owner', '0x1234'],
    ['capability', 'wether'],
    ['x402_declared', 'yes'],
    ['active', ''],
    ['chain', 'eip155:1'],
    ['limit', 'x'],
    ['before', 'AAAA'],
    ['before', mintAgentCursor(CURSOR_KEYS, 'getLeaderboard', { chain: BASE, agentId: 1n })],
    [
      'before',
      mintCursor(CURSOR_KEYS, 'listAgents', { blockTime: NOON, chain: BASE, blockNumber: 1, logIndex: 0 }),
    ],
  ])('%s=%s is named', async (parameter, value) => {
    const { status, body } = await api.get(`/v0/agents?${parameter}=${value}`);
    expect({ status, parameter: body.parameter }).toEqual({ status: 400, parameter });
  });
});

describe('a row', () => {
  const owner = wallet(0xbeef);

  test('carries the card, the score and the activity of its wallet', async () => {
    const agentId = 2n ** 256n - 1n;
    await registerAgent(engine.writer, {
      agentId,
      owner,
      blockNumber: 1_000,
      card: {
        name: 'Row',
        description: 'All of it',
        image: 'https://row.example/logo.png',
        services: [
          { name: 'MCP', endpoint: 'https://row.example/mcp', version: '1', skills: ['a'], domains: [] },
        ],
        supportedTrust: ['reputation'],
        capabilities: ['weather'],
        x402Support: true,
      },
    });
    await insertAttestations(engine.writer, [
      attestation({ agentId, value: 5n, blockNumber: 1_100 }),
      attestation({ agentId, value: 80n, valueDecimals: 1, client: wallet(0xc2), blockNumber: 1_101 }),
    ]);
    await deriveAll(engine.writer);
    const asked = async () => (await list(`agent_id=${agentId}`)).agents[0];
    const before = await asked();
    expect(before).toEqual({
      chain: BASE,
      agent_id: String(agentId),
      owner,
      wallet: owner,
      name: 'Row',
      name_imitates: null,
      description: 'All of it',
      image: 'https://row.example/logo.png',
      agent_uri: 'https://agent.example/card.json',
      services: [
        { name: 'MCP', endpoint: 'https://row.example/mcp', version: '1', skills: ['a'], domains: [] },
      ],
      capabilities: ['weather'],
      supported_trust: ['reputation'],
      x402_support: true,
      active: true,
      score: 37.57142857142857,
      rating_mean: 6.5,
      rating_count: 2,
      rating_clients: 2,
      paid_score: null,
      paid_rating_count: 0,
      paid_rating_clients: 0,
      tag_scores: [{ tag: null, mean: 6.5, is_rating: true, feedback_count: 2, distinct_clients: 2 }],
      feedback_count: 2,
      distinct_clients: 2,
      registered_at: '2026-11-20T12:00:00Z',
      last_activity_at: '2026-11-20T12:03:22Z',
      activity_status: 'unseen',
      card: { status: 'good', problem: null, fetched_at: '2026-11-20T12:00:00Z' },
      domain: null,
      domain_proof: 'unchecked',
    });
    await insertSettlements(engine.writer, [
      settlement({ payer: owner, blockTime: NOON - 31 * 86_400, chain: POLYGON }),
    ]);
    expect(await asked()).toMatchObject({
      activity_status: 'idle',
      last_activity_at: '2026-11-20T12:03:22Z',
    });
    await insertSettlements(engine.writer, [settlement({ payee: owner, blockTime: NOON + 900 })]);
    expect(await asked()).toMatchObject({
      activity_status: 'active',
      last_activity_at: '2026-11-20T12:15:00Z',
    });
  });

  test('of an agent without a card or a wallet says so', async () => {
    const agentId = 2n ** 256n - 2n;
    await registerAgent(engine.writer, { agentId, owner, uri: '', blockNumber: 1_000 });
    await insertAgentEvents(engine.writer, [
      ...registration({ agentId, account: owner, blockNumber: 1_000 }).map((event) =>
        event.kind === 'wallet_set' ? { ...event, logIndex: 9, account: wallet(0) } : event,
      ),
    ]);
    await deriveAll(engine.writer);
    const [row] = (await list(`agent_id=${agentId}`)).agents;
    expect(row).toMatchObject({
      wallet: null,
      name: null,
      description: null,
      image: null,
      agent_uri: null,
      active: null,
      score: null,
      feedback_count: 0,
      activity_status: 'unseen',
      card: { status: 'none', problem: 'empty_uri', fetched_at: null },
    });
  });

  test('holds a data: URI only in part, and no image of that kind', async () => {
    const agentId = 2n ** 256n - 3n;
    const uri = `data:application/json;base64,${'A'.repeat(60_000)}`;
    const card = { name: 'Large', image: `data:image/png;base64,${'A'.repeat(4_000)}` };
    await registerAgent(engine.writer, { agentId, owner, uri, blockNumber: 1_000, card });
    await deriveAll(engine.writer);
    const [row] = (await list(`agent_id=${agentId}`)).agents;
    expect(row).toMatchObject({ name: 'Large', agent_uri: `${uri.slice(0, 256)}…`, image: null });
  });
});

describe('an empty page', () => {
  test('counts the agents of the dataset', async () => {
    const { agents: found, next_before, meta } = await list('chain=all&q=unknown');
    api.clock.advanceSeconds(6);
    expect({ found, next_before }).toEqual({ found: [], next_before: null });
    expect(meta.dataset_row_count).toBeGreaterThanOrEqual(agents.length);
    expect(meta).toMatchObject({ dataset_last_written_at: expect.any(String), warnings: [] });
  });

  test('is 503 when the agents cannot be read', async ({ spareEngine, spareApi }) => {
    await spareEngine.writer.run({
      name: 'test-drop',
      sql: trustedText('DROP TABLE agents SYNC'),
      maxSeconds: 10,
    });
    const { status, body } = await spareApi.get('/v0/agents');
    expect({ status, resource: body.resource }).toEqual({ status: 503, resource: 'agents' });
  });
});
