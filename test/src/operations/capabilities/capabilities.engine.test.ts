import { describe, expect } from 'vitest';
import { loadConfig } from '../../../../core/config/load.ts';
import { CAPABILITIES } from '../../../../core/domain/capability.ts';
import { offerTokens } from '../../../../ingest/endpoints/item.ts';
import { deriveList, WHOLE } from '../../../../ingest/endpoints/list.ts';
import { syncSource } from '../../../../ingest/endpoints/sync.ts';
import { createVersions } from '../../../../ingest/write/versions.ts';
import { deriveAll, registerAgent } from '../../../kit/agents.ts';
import { ANONYMOUS, type TestApi } from '../../../kit/api.ts';
import { listedItem } from '../../../kit/bazaar.ts';
import { type TestEngine, testLog } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { attestation, insertAttestations } from '../../../kit/registry-rows.ts';
import { BASE, NOON, reportChain, wallet } from '../../../kit/rows.ts';

/** Nine weather endpoints of three sellers at 1 to 9 cents, one without a price, four searches, and three agents. */

let engine: TestEngine;
let api: TestApi;
const versions = createVersions(0n);

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  const { writer } = engine;
  await reportChain(writer, BASE);
  const cents = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  const priced = cents.map((cent) =>
    listedItem(`https://seller${cent % 3}.example/weather/${cent}`, {
      payTo: wallet(0xb0 + (cent % 3)),
      amount: String(cent * 10_000),
      item: { tags: ['weather'] },
    }),
  );
  const free = listedItem('https://seller9.example/weather/free', {
    payTo: wallet(0xb9),
    amount: '0',
    item: { tags: ['weather'] },
  });
  const other = listedItem('https://seller9.example/news', { payTo: wallet(0xb9), item: { tags: ['news'] } });
  const searches = [1, 2, 3, 4].map((cent) =>
    listedItem(`https://search.example/${cent}`, {
      payTo: wallet(0xc0),
      amount: String(cent * 10_000),
      item: { tags: ['web search'] },
    }),
  );
  const tokens = offerTokens(loadConfig({ env: {} }));
  const deps = { writer, versions, log: testLog, signal: new AbortController().signal };
  await syncSource(
    { ...deps, tokens, nowMs: () => NOON * 1_000 },
    {
      id: 'bazaar:one',
      kind: 'bazaar',
      host: '',
      mark: '',
      read: (take) => take([...priced, ...searches, free, other]).then(() => WHOLE),
    },
  );
  await deriveList(writer, () => versions.next());
  const capabilities = ['weather'];
  await registerAgent(writer, { agentId: 1n, card: { name: 'Unrated', capabilities } });
  await registerAgent(writer, { agentId: 2n, card: { name: 'Rated', capabilities, x402Support: true } });
  await registerAgent(writer, { agentId: 3n, card: { name: 'Retired', capabilities, active: false } });
  await insertAttestations(writer, [attestation({ agentId: 2n, value: 45n, valueDecimals: 1 })]);
  await deriveAll(writer);
});

interface Listed {
  readonly slug: string;
  readonly provider_count: number;
  readonly endpoint_count: number;
  readonly agent_count: number;
}

describe('the list of capabilities', () => {
  test('has the whole catalogue in its order, with who offers what, for anybody', async () => {
    const { status, body } = await api.get('/v0/capabilities', ANONYMOUS);
    expect(status).toBe(200);
    const listed: Listed[] = body.capabilities;
    expect(listed.map(({ slug }) => slug)).toEqual(CAPABILITIES.map(({ slug }) => slug));
    expect(listed.find(({ slug }) => slug === 'weather')).toMatchObject({
      provider_count: 4,
      endpoint_count: 10,
      agent_count: 2,
    });
    expect(listed.find(({ slug }) => slug === 'ocr-and-documents')).toMatchObject({ provider_count: 0 });
  });

  test('is short on request', async () => {
    const { body } = await api.get('/v0/capabilities?fields=compact', ANONYMOUS);
    expect(Object.keys(body.capabilities[0])).toEqual(['slug', 'name', 'provider_count']);
    expect((await api.get('/v0/capabilities?fields=few', ANONYMOUS)).body.parameter).toBe('fields');
  });
});

describe('one capability', () => {
  test('has its offers, and a going rate of those that ask a price', async () => {
    const { status, body } = await api.get('/v0/capabilities/weather?limit=3');
    expect(status).toBe(200);
    expect(body.going_rate).toEqual({ p25_usd: 0.03, p50_usd: 0.05, p75_usd: 0.07, offers: 9 });
    expect(body.offers).toHaveLength(3);
    expect(body.offers_total).toBe(10);
    expect(
      body.offers.every((offer: { capabilities: string[] }) => offer.capabilities.includes('weather')),
    ).toBe(true);
  });

  test('of an even number of offers has the price of the lower half, and not the dearest as a quartile', async () => {
    const { body } = await api.get('/v0/capabilities/web-search');
    expect(body.going_rate).toEqual({ p25_usd: 0.01, p50_usd: 0.02, p75_usd: 0.03, offers: 4 });
  });

  test('names the agents in service, most rated first', async () => {
    const { body } = await api.get('/v0/capabilities/weather');
    expect(body.agents).toEqual([
      {
        chain: BASE,
        agent_id: '2',
        name: 'Rated',
        wallet: wallet(0xa1),
        x402_support: true,
        score: 42.416666666666664,
        feedback_count: 1,
      },
      {
        chain: BASE,
        agent_id: '1',
        name: 'Unrated',
        wallet: wallet(0xa1),
        x402_support: false,
        score: null,
        feedback_count: 0,
      },
    ]);
  });

  test('without an offer is an empty answer; one that is none is refused with what may be meant', async () => {
    const { body } = await api.get('/v0/capabilities/translation');
    expect(body).toMatchObject({ going_rate: null, offers: [], offers_total: 0, agents: [] });
    const refused = await api.get('/v0/capabilities/wether');
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ code: 'invalid_parameter', parameter: 'slug' });
    expect(refused.body.detail).toContain('Did you mean weather?');
  });
});
