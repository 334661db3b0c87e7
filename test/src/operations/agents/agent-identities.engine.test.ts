import { describe, expect } from 'vitest';
import { trustedText } from '../../../../clickhouse/engine/sql.ts';
import { readCard } from '../../../../ingest/agents/cards/read.ts';
import { WALLET_AGENTS_SHOWN_MAX } from '../../../../src/operations/wallets/owners.ts';
import { deriveAll, registerAgent } from '../../../kit/agents.ts';
import type { TestApi } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import {
  agentEvent,
  attestation,
  insertAgentEvents,
  insertAttestations,
  registration,
} from '../../../kit/registry-rows.ts';
import {
  BASE,
  insertSettlements,
  nextVer,
  POLYGON,
  reportChain,
  settlement,
  wallet,
} from '../../../kit/rows.ts';

/** Agents on the profiles of their wallets, and strangers' names wherever one is shown. */

let engine: TestEngine;
let api: TestApi;

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  await reportChain(engine.writer, BASE);
});

async function agentsOf(of: string, query = 'chain=all'): Promise<{ names: string[]; total: number }> {
  const [merchant, agent] = [
    (await api.get(`/v0/merchants/${of}?${query}`)).body,
    (await api.get(`/v0/agents/${of}?${query}`)).body,
  ];
  expect(merchant.erc8004_agents).toEqual(agent.erc8004_agents);
  return {
    names: agent.erc8004_agents.map(({ name }: { name: string }) => name),
    total: agent.erc8004_agents_total,
  };
}

describe('erc8004_agents of a wallet', () => {
  const [SHOP, ELSEWHERE, COLLECTOR] = [wallet(0x51), wallet(0x52), wallet(0x53)];

  test('are those that use it now, on the chain asked for, the most recently rated first', async () => {
    const { writer } = engine;
    for (const [agentId, name] of ['First', 'Second', 'Rated', 'Moves'].entries())
      await registerAgent(writer, { agentId: BigInt(agentId), owner: SHOP, card: { name } });
    await registerAgent(writer, { chain: POLYGON, agentId: 0n, owner: SHOP, card: { name: 'On Polygon' } });
    await insertAttestations(writer, [attestation({ agentId: 2n })]);
    await deriveAll(writer);
    expect(await agentsOf(SHOP)).toEqual({
      names: ['Rated', 'On Polygon', 'First', 'Second', 'Moves'],
      total: 5,
    });
    expect(await agentsOf(SHOP, `chain=${BASE}`)).toEqual({
      names: ['Rated', 'First', 'Second', 'Moves'],
      total: 4,
    });

    await insertAgentEvents(writer, [
      agentEvent({ agentId: 3n, kind: 'wallet_set', account: ELSEWHERE, blockNumber: 1_900 }),
    ]);
    await insertAgentEvents(writer, registration({ agentId: 1n, account: SHOP, blockNumber: 1_001 }), 1);
    await deriveAll(writer);
    expect(await agentsOf(SHOP, `chain=${BASE}`)).toEqual({ names: ['Rated', 'First'], total: 2 });
    expect(await agentsOf(ELSEWHERE, '')).toEqual({ names: ['Moves'], total: 1 });
  });

  test('that holds many are counted, and some are shown', async () => {
    const many = Array.from({ length: WALLET_AGENTS_SHOWN_MAX + 15 }, (_, index) =>
      registration({
        agentId: BigInt(1_000 + index),
        account: COLLECTOR,
        blockNumber: 1_500,
        logIndex: index * 10,
      }),
    );
    await insertAgentEvents(engine.writer, many.flat());
    await deriveAll(engine.writer);
    const { names, total } = await agentsOf(COLLECTOR, '');
    expect({ shown: names.length, total }).toEqual({
      shown: WALLET_AGENTS_SHOWN_MAX,
      total: WALLET_AGENTS_SHOWN_MAX + 15,
    });
  });

  test('a wallet of no agent has none', async () => {
    expect(await agentsOf(wallet(0x5f))).toEqual({ names: [], total: 0 });
  });
});

test('entities name the endpoints that are paid to the address, as long as they are listed', async () => {
  const seller = wallet(0x77);
  const offer = (resource: string, chain: string, del: number): Promise<void> =>
    engine.writer.run({
      name: 'test-offer',
      maxSeconds: 10,
      sql: trustedText(
        `INSERT INTO endpoint_offers (resource, method, source, network, scheme, asset, pay_to, chain, service_name, ver, del)
         SELECT '${resource}', 'GET', 'bazaar:one', '${chain}', 'exact', 'x', '${seller}', '${chain}', 'Sunshine', ${nextVer()}, ${del}`,
      ),
    });
  await offer('https://one.example/', BASE, 0);
  await offer('https://one.example/', POLYGON, 0);
  await offer('https://gone.example/', BASE, 0);
  await offer('https://gone.example/', BASE, 1);
  const entities = async (query: string) => (await api.get(`/v0/merchants/${seller}${query}`)).body.entities;
  const entity = {
    kind: 'endpoint',
    name: 'Sunshine',
    name_source: 'endpoint_catalogue',
    source: 'bazaar:one',
    resource: 'https://one.example/',
  };
  expect(await entities(`?chain=${BASE}`)).toEqual([{ ...entity, chain: BASE }]);
  expect(await entities('')).toEqual([
    { ...entity, chain: POLYGON },
    { ...entity, chain: BASE },
  ]);
});

describe('what strangers call themselves', () => {
  const NAMES = [
    ['controls', 'Pay\u0000pal\u001b[31m red\r\nSet-Cookie: x', 'Paypal[31m red Set-Cookie: x'],
    ['bidirectional overrides', '\u202egnp.exe\u2066', 'gnp.exe'],
    ['zero-width letters', 'Wea\u200bther\ufeff', 'Weather'],
    ['look-alikes in a word', 'p\u0430ypal', 'p{U+0430}ypal'],
    ['markup', '<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
    ['JSON', '","name":"x"}\\', '","name":"x"}\\'],
  ] as const;

  test.each(NAMES.map(([what, raw, shown], index) => ({ what, raw, shown, index })))(
    'is data: $what',
    async ({ raw, shown, index }) => {
      const { writer } = engine;
      const agentId = BigInt(9_000 + index);
      const owner = wallet(0x9000 + index);
      const card = readCard(Buffer.from(JSON.stringify({ name: raw, description: `Says: ${raw}` })));
      if (typeof card === 'string') throw new Error(card);
      const uri = `https://x.example/${index}\u202e\u200b\n`;
      await registerAgent(writer, { agentId, owner, uri, card });
      await insertSettlements(writer, [settlement({ payee: owner, logIndex: 50 + index })]);
      await deriveAll(writer);

      const list = await api.get(`/v0/agents?agent_id=${agentId}`);
      expect(list.body.agents[0]).toMatchObject({
        name: shown,
        description: `Says: ${shown}`,
        agent_uri: `https://x.example/${index}%E2%80%AE%E2%80%8B%0A`,
      });
      const profile = await api.get(`/v0/merchants/${owner}`);
      expect(profile.body.erc8004_agents[0].name).toBe(shown);
      const feed = await api.get(`/v0/entities/${owner}/settlements`);
      expect(feed.body.settlements[0].payee_name).toBe(shown);
      const flows = await api.get('/v0/flows?limit=100');
      const flow = flows.body.flows.find((row: { payee: string }) => row.payee === owner);
      expect(flow.payee_name).toBe(shown);
      for (const { text, headers } of [list, profile, feed, flows]) {
        expect(headers['content-type']).toMatch(/^application\/json/);
        expect(headers['x-content-type-options']).toBe('nosniff');
        expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/u);
      }
    },
  );
});
