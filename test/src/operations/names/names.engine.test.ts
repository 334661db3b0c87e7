import { describe, expect } from 'vitest';
import { trustedText } from '../../../../clickhouse/engine/sql.ts';
import { deriveAll, registerAgent } from '../../../kit/agents.ts';
import type { TestApi } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import {
  agentEvent,
  attestation,
  insertAgentEvents,
  insertAttestations,
} from '../../../kit/registry-rows.ts';
import {
  BASE,
  insertSettlements,
  nameFacilitator,
  namePayee,
  nextVer,
  POLYGON,
  reportChain,
  settlement,
  wallet,
} from '../../../kit/rows.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

/** Who a wallet is called, wherever one is shown: agent before catalogue before facilitator. */

let engine: TestEngine;
let api: TestApi;

const NAMED_TWICE = wallet(0x11);
const RATED = wallet(0x12);
const ELSEWHERE = wallet(0x13);
const CATALOGUED = wallet(0x14);
const RELAYER = wallet(0xd4);
const NOBODY = wallet(0x15);
const MOVED = wallet(0x16);
const REFUTED = wallet(0x17);
const IMITATOR = wallet(0x18);
const LISTED = wallet(0x19);
const LISTED_IMITATOR = wallet(0x1a);
const SECOND_RELAYER = wallet(0xd5);

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  const { writer } = engine;
  await reportChain(writer, BASE);
  await nameFacilitator(writer, 'coinbase', 'Coinbase');
  await namePayee(writer, NAMED_TWICE, 'Shop of the catalogue');
  await namePayee(writer, CATALOGUED, 'Weather by the call');
  await registerAgent(writer, { agentId: 1n, owner: NAMED_TWICE, card: { name: 'Agent before catalogue' } });
  await registerAgent(writer, { agentId: 2n, owner: RATED, card: { name: 'First but unrated' } });
  await registerAgent(writer, { agentId: 3n, owner: RATED, card: { name: 'Rated' } });
  await registerAgent(writer, { agentId: 4n, owner: RATED, card: { name: '' } });
  await registerAgent(writer, {
    chain: POLYGON,
    agentId: 1n,
    owner: ELSEWHERE,
    card: { name: 'Of another chain' },
  });
  await registerAgent(writer, { agentId: 5n, owner: MOVED, card: { name: 'Moved away' } });
  await registerAgent(writer, { agentId: 6n, owner: REFUTED, card: { name: 'Refuted name' } });
  await registerAgent(writer, { agentId: 7n, owner: IMITATOR, card: { name: 'CoinbaseFacilitator' } });
  await registerAgent(writer, { agentId: 8n, owner: SECOND_RELAYER, card: { name: 'Coinbase' } });
  await refute(6n);
  await catalogue('catalogued_payees', LISTED, 'Listed weather');
  await catalogue('catalogued_payees', LISTED_IMITATOR, 'C0inbase');
  await catalogue('facilitator_relayers', SECOND_RELAYER, 'coinbase');
  await insertAttestations(writer, [attestation({ agentId: 3n })]);
  await deriveAll(writer);
  const wallets = [
    ...[NAMED_TWICE, RATED, ELSEWHERE, CATALOGUED, RELAYER, NOBODY, MOVED],
    ...[REFUTED, IMITATOR, LISTED, LISTED_IMITATOR, SECOND_RELAYER],
  ];
  await insertSettlements(
    writer,
    wallets.map((payee, logIndex) => settlement({ payee, payer: wallet(0xee), logIndex })),
  );
});

/** The newest try of the agent's card again, with a domain that does not name it. */
async function refute(agentId: bigint): Promise<void> {
  await engine.writer.run({
    name: 'test-refute',
    maxSeconds: 10,
    sql: trustedText(`INSERT INTO agent_cards SELECT * REPLACE (ver + 1000 AS ver, 'elsewhere.example' AS domain, 'refuted' AS domain_proof)
      FROM (SELECT * FROM agent_cards FINAL WHERE agent_id = ${agentId})`),
  });
}

async function catalogue(
  table: 'catalogued_payees' | 'facilitator_relayers',
  of: string,
  name: string,
): Promise<void> {
  const values =
    table === 'catalogued_payees'
      ? `'${name}', 'https://listed.example/', 'bazaar'`
      : `'${name}', 'Coinbase', '2025-01-01', 'test'`;
  await engine.writer.run({
    name: 'test-catalogue',
    maxSeconds: 10,
    sql: trustedText(
      `INSERT INTO ${table} SELECT '${BASE}', unhex('${of.slice(2)}'), ${values}, ${nextVer()}, 0`,
    ),
  });
}

async function namesInFeed(): Promise<Record<string, string | null>> {
  const { body } = await api.get('/v0/flows?limit=100');
  const rows: { payee: string; payee_name: string | null }[] = body.flows;
  return Object.fromEntries(rows.map(({ payee, payee_name }) => [payee, payee_name]));
}

describe('a wallet is called', () => {
  test.each([
    ['by its agent before the catalogue', NAMED_TWICE, 'Agent before catalogue'],
    ['by its agent with most feedback', RATED, 'Rated'],
    ['by its agent on another chain where it has none on this one', ELSEWHERE, 'Of another chain'],
    ['by its catalogued resource', CATALOGUED, 'Weather by the call'],
    ['by its facilitator when it is a relayer', RELAYER, 'Coinbase'],
    ['nothing when no source names it', NOBODY, null],
  ])('%s', async (_, payee, name) => {
    expect((await namesInFeed())[payee]).toBe(name);
    const { body } = await api.get(`/v0/entities/${payee}/settlements`);
    expect(body.settlements[0].payee_name).toBe(name);
    const { body: graph } = await api.get('/v0/graph?window=100');
    expect(graph.nodes.find((node: { wallet: string }) => node.wallet === payee)?.name).toBe(name);
  });

  test('an agent that left takes its name along, a minute later at most', async () => {
    expect((await namesInFeed())[MOVED]).toBe('Moved away');
    await insertAgentEvents(engine.writer, [
      agentEvent({ agentId: 5n, kind: 'wallet_set', account: NOBODY, blockNumber: 1_900 }),
    ]);
    await deriveAll(engine.writer);
    // Answered while it is read anew.
    api.clock.advanceSeconds(58);
    expect((await namesInFeed())[MOVED]).toBe('Moved away');
    // A page is kept for its second.
    api.clock.advanceSeconds(1);
    await waitUntil('the names are read anew', async () => (await namesInFeed())[MOVED] === null);
    expect((await namesInFeed())[NOBODY]).toBe('Moved away');
  });
});

describe('the source of a name stands next to it', () => {
  test.each([
    [NAMED_TWICE, 'Agent before catalogue', 'agent_card'],
    [LISTED, 'Listed weather', 'endpoint_catalogue'],
    [CATALOGUED, 'Weather by the call', 'operator_catalogue'],
    [RELAYER, 'Coinbase', 'facilitator'],
    [REFUTED, null, null],
  ])('%s: %s by %s', async (of, name, source) => {
    const { body: feed } = await api.get(`/v0/entities/${of}/settlements`);
    expect(feed.settlements[0]).toMatchObject({
      payee_name: name,
      payee_name_source: source,
      payer_name_source: null,
    });
    const { body: list } = await api.get('/v0/wallets?limit=100');
    expect(list.wallets).toContainEqual(expect.objectContaining({ wallet: of, name, name_source: source }));
    for (const role of ['merchants', 'agents']) {
      const { body: profile } = await api.get(`/v0/${role}/${of}`);
      expect(profile).toMatchObject({ name, name_source: source });
    }
    const { body: graph } = await api.get('/v0/graph?window=100');
    expect(graph.nodes).toContainEqual(expect.objectContaining({ wallet: of, name, name_source: source }));
  });
});

describe('no name of a settlement is', () => {
  test.each([
    ['that of a card whose domain denies it', REFUTED],
    ['one that reads as a facilitator, on a card', IMITATOR],
    ['one that reads as a facilitator, in a listing', LISTED_IMITATOR],
  ])('%s', async (_, of) => {
    expect((await namesInFeed())[of]).toBeNull();
  });
});

test('a relayer of a facilitator may be called like it', async () => {
  const { body } = await api.get(`/v0/entities/${SECOND_RELAYER}/settlements`);
  expect(body.settlements[0]).toMatchObject({ payee_name: 'Coinbase', payee_name_source: 'agent_card' });
});

test('where the card itself is shown, a name that is not its own is marked', async () => {
  const agentOf = async (id: number) => (await api.get(`/v0/agents?agent_id=${id}`)).body.agents[0];
  expect(await agentOf(7)).toMatchObject({ name: 'CoinbaseFacilitator', name_imitates: 'coinbase' });
  expect(await agentOf(6)).toMatchObject({
    name: 'Refuted name',
    name_imitates: null,
    domain_proof: 'refuted',
  });
  expect(await agentOf(8)).toMatchObject({ name: 'Coinbase', name_imitates: null });
  const { body } = await api.get(`/v0/merchants/${IMITATOR}`);
  expect(body.erc8004_agents[0]).toMatchObject({ name_imitates: 'coinbase' });
  const { body: listed } = await api.get(`/v0/merchants/${LISTED_IMITATOR}`);
  expect(listed.entities).toMatchObject([{ kind: 'payee', name: null, name_source: null }]);
  const { body: known } = await api.get(`/v0/merchants/${LISTED}`);
  expect(known.entities).toMatchObject([
    { name: 'Listed weather', name_source: 'endpoint_catalogue', source: 'bazaar' },
  ]);
});
