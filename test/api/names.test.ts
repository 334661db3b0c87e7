import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deriveAll, registerAgent } from '../support/agents.ts';
import { type TestApi, testApi } from '../support/api.ts';
import { type TestEngine, testEngine } from '../support/engine.ts';
import { agentEvent, attestation, insertAgentEvents, insertAttestations } from '../support/registry-rows.ts';
import {
  BASE,
  insertSettlements,
  nameFacilitator,
  namePayee,
  POLYGON,
  reportChain,
  settlement,
  wallet,
} from '../support/rows.ts';

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

beforeAll(async () => {
  engine = await testEngine();
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
  await insertAttestations(writer, [attestation({ agentId: 3n })]);
  await deriveAll(writer);
  const wallets = [NAMED_TWICE, RATED, ELSEWHERE, CATALOGUED, RELAYER, NOBODY, MOVED];
  await insertSettlements(
    writer,
    wallets.map((payee, logIndex) => settlement({ payee, payer: wallet(0xee), logIndex })),
  );
  api = await testApi(engine.reader);
});
afterAll(async () => {
  await api?.close();
  await engine?.close();
});

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
    ['nothing when nobody names it', NOBODY, null],
  ])('%s', async (_, payee, name) => {
    expect((await namesInFeed())[payee]).toBe(name);
    const { body } = await api.get(`/v0/entities/${payee}/settlements`);
    expect(body.settlements[0].payee_name).toBe(name);
    const { body: graph } = await api.get('/v0/graph?window=100');
    expect(graph.nodes.find((node: { wallet: string }) => node.wallet === payee)?.name).toBe(name);
  });

  test('an agent that left takes its name along, half a minute later at most', async () => {
    expect((await namesInFeed())[MOVED]).toBe('Moved away');
    await insertAgentEvents(engine.writer, [
      agentEvent({ agentId: 5n, kind: 'wallet_set', account: NOBODY, blockNumber: 1_900 }),
    ]);
    await deriveAll(engine.writer);
    api.clock.advanceSeconds(31);
    expect(await namesInFeed()).toMatchObject({ [MOVED]: null, [NOBODY]: 'Moved away' });
  });
});
