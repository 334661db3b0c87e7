import { describe, expect } from 'vitest';
import { trustedText } from '../../../../clickhouse/engine/sql.ts';
import { loadConfig } from '../../../../core/config/load.ts';
import { countActivity, recordCount } from '../../../../ingest/endpoints/activity.ts';
import { offerTokens } from '../../../../ingest/endpoints/item.ts';
import { deriveList, type SourceState, saveSourceState, WHOLE } from '../../../../ingest/endpoints/list.ts';
import { syncSource } from '../../../../ingest/endpoints/sync.ts';
import { createVersions } from '../../../../ingest/write/versions.ts';
import { ANONYMOUS, type TestApi } from '../../../kit/api.ts';
import { listedItem } from '../../../kit/bazaar.ts';
import { type TestEngine, testLog } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { payment } from '../../../kit/listings.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  ON_SOLANA,
  POLYGON,
  reportChain,
  SOLANA,
  wallet,
} from '../../../kit/rows.ts';

/** The directory over 60 resources of three sources; two of the resources are paid. */

let engine: TestEngine;
let api: TestApi;
const versions = createVersions(0n);
const [BUSY, QUIET] = [wallet(0xb1), wallet(0xb2)];

async function list(source: string, items: readonly unknown[]): Promise<void> {
  const tokens = offerTokens(loadConfig({ env: {} }));
  const { signal } = new AbortController();
  await syncSource(
    { writer: engine.writer, versions, tokens, nowMs: () => NOON * 1_000, log: testLog, signal },
    { id: source, kind: 'bazaar', host: '', mark: '', read: (take) => take(items).then(() => WHOLE) },
  );
}

async function answered(source: string, state: Partial<SourceState> = {}): Promise<void> {
  await saveSourceState(
    engine.writer,
    {
      source,
      kind: 'bazaar',
      host: 'bazaar.example',
      triedAt: NOON - 60,
      goodAt: NOON - 60,
      problem: null,
      items: 3,
      unread: '',
      ...state,
    },
    { ver: versions.next(), isGone: false },
  );
}

const url = (at: number) => `https://many.example/${String(at).padStart(3, '0')}`;

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
  await list('bazaar:one', [
    listedItem('https://weather.example/v1', {
      payTo: BUSY,
      item: {
        serviceName: 'Weather by the call',
        description: 'Forecasts for ÉVIAN',
        tags: ['Weather', 'maps'],
      },
    }),
    listedItem('https://quiet.example/', {
      payTo: QUIET,
      amount: '5000',
      network: 'polygon',
      item: { price: '$0.02' },
    }),
    listedItem('https://sun.example/', {
      item: {
        accepts: [
          {
            scheme: 'exact',
            network: SOLANA,
            asset: ON_SOLANA.feePayer,
            payTo: ON_SOLANA.seller,
            amount: '99',
          },
        ],
      },
    }),
  ]);
  await list('bazaar:two', [
    ...Array.from({ length: 56 }, (_, at) =>
      listedItem(url(at), { payTo: wallet(0x1000), amount: String(at * 10_000) }),
    ),
    listedItem('https://weather.example/v1', { payTo: BUSY, amount: '20000', network: 'base' }),
  ]);
  await answered('bazaar:one');
  await answered('bazaar:two', {
    goodAt: NOON - 600,
    triedAt: NOON,
    problem: 'unreachable',
    unread: '{"plain_url":4}',
  });
  await insertSettlements(engine.writer, [
    ...[1, 2, 3].map((at) => payment({ payee: BUSY, payer: wallet(at % 2), amount: 10_000n })),
    payment({ payee: wallet(0x1000), amount: 550_000n }),
    payment({ payee: wallet(0x1000), amount: 1n, blockTime: NOON - 86_400 }),
  ]);
  await countActivity(engine.writer, { chains: [BASE, POLYGON], nowMs: NOON * 1_000, ver: versions.next() });
  await deriveList(engine.writer, () => versions.next());
  await recordCount(engine.writer, { nowMs: (NOON - 90) * 1_000, ver: versions.next() });
});

const namesOf = (body: { endpoints: { resource: string }[] }) =>
  body.endpoints.map(({ resource }) => resource);
const find = async (query: string) => {
  const { status, body } = await api.get(`/v0/endpoints?${query}`, ANONYMOUS);
  expect(status).toBe(200);
  return body;
};

test('it answers without a key, the most paid first, each row with its offers and what was paid on the terms of one', async () => {
  const body = await find('limit=2');
  expect(body.endpoints[0]).toEqual({
    resource: 'https://weather.example/v1',
    method: 'GET',
    service_name: 'Weather by the call',
    description: 'Forecasts for ÉVIAN',
    mime_type: null,
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:8453',
        chain: 'eip155:8453',
        asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
        amount: '10000',
        price_usd: 0.01,
        pay_to: BUSY,
        source: 'bazaar:one',
        max_timeout_seconds: 60,
        settlement_count_30d: 3,
        unobserved_reason: null,
      },
      expect.objectContaining({ network: 'base', amount: '20000', price_usd: 0.02, source: 'bazaar:two' }),
    ],
    price_usd: 0.01,
    pay_to: BUSY,
    network: 'eip155:8453',
    published_by_domain: false,
    contested: false,
    claimants: [
      {
        pay_to: BUSY,
        published_by_domain: false,
        settlement_count_30d: 3,
        listed_since: '2026-11-20T12:00:00Z',
        networks: ['base', 'eip155:8453'],
        sources: ['bazaar:one', 'bazaar:two'],
      },
    ],
    tags: ['Weather', 'maps'],
    capabilities: expect.any(Array),
    last_updated: '2026-11-20T08:00:00Z',
    observed: {
      settlement_count_30d: 3,
      unique_payers_30d: 2,
      settled_usd_30d: 0.03,
      last_settled_at: '2026-11-20T12:00:00Z',
      counted_at: '2026-11-20T11:58:30Z',
      since: '2026-11-20T12:00:00Z',
      resources_on_same_terms: 0,
    },
    payee_observed: {
      settlement_count_30d: 3,
      unique_payers_30d: 2,
      settled_usd_30d: 0.03,
      last_settled_at: '2026-11-20T12:00:00Z',
      counted_at: '2026-11-20T11:58:30Z',
    },
    shared_pay_to: false,
    stale: false,
    price_implausible: false,
    unobserved_reason: null,
    call: null,
  });
  expect(body.endpoints[1]).toMatchObject({
    resource: url(55),
    shared_pay_to: true,
    stale: true,
    observed: { settlement_count_30d: 1, settled_usd_30d: 0.55 },
    payee_observed: { settlement_count_30d: 2, settled_usd_30d: 0.550001 },
  });
  expect(body.next_offset).toBe(2);
});

test('pages by offset fit together and hold every row once', async () => {
  const seen: string[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const body: { endpoints: { resource: string }[]; next_offset: number | null } = await find(
      `limit=7&offset=${offset}`,
    );
    seen.push(...namesOf(body));
    offset = body.next_offset;
  }
  expect(seen).toEqual([
    'https://weather.example/v1',
    url(55),
    ...Array.from({ length: 55 }, (_, at) => url(at)),
    'https://quiet.example/',
    'https://sun.example/',
  ]);
});

describe('filters', () => {
  test.each([
    ['q=weather', ['https://weather.example/v1']],
    ['q=FORECASTS%20%C3%A9vian', ['https://weather.example/v1']],
    ['q=weather%20quiet', []],
    ["q=%25';DROP", []],
    ['tag=weather', ['https://weather.example/v1']],
    ['tag=weath', []],
    [`pay_to=${BUSY.toUpperCase().replace('0X', '0x')}`, ['https://weather.example/v1']],
    [`pay_to=${ON_SOLANA.seller}`, ['https://sun.example/']],
    ['resource=https%3A%2F%2Fweather.example%2Fv1', ['https://weather.example/v1']],
    // The whole URL, not a part of it.
    ['resource=https%3A%2F%2Fweather.example', []],
    ['chain=eip155:137', ['https://quiet.example/']],
    ['network=polygon', ['https://quiet.example/']],
    [`network=${SOLANA}`, ['https://sun.example/']],
    ['max_price_usd=0', [url(0)]],
    ['max_price_usd=0.01', ['https://weather.example/v1', url(0), url(1)]],
    ['max_price_usd=0.0000009', [url(0)]],
    ['max_price_usd=1e-2', ['https://weather.example/v1', url(0), url(1)]],
  ])('%s', async (query, resources) => {
    expect(namesOf(await find(query))).toEqual(resources);
  });

  test.each([
    ['max_price_usd', '-1'],
    ['max_price_usd', '$1'],
    ['max_price_usd', '1e99'],
    ['max_price_usd', '0x1e'],
    ['capability', 'no-such-job'],
    ['pay_to', '0x1234'],
    ['pay_to', "x'"],
    ['network', 'a%20b'],
    ['capability', 'Web%20Search'],
    ['tag', '%00'],
    ['chain', 'eip155:99'],
    ['q', 'a%20b%20c%20d%20e%20f%20g%20h%20i'],
    ['q', 'x'.repeat(201)],
    ['offset', '-1'],
  ])('400: %s=%s is named', async (parameter, value) => {
    const { status, body } = await api.get(`/v0/endpoints?${parameter}=${value}`);
    expect({ status, parameter: body.parameter }).toEqual({ status: 400, parameter });
  });
});

test('a price that was never signed in dollars is the declared one; an asset that is unknown has none', async () => {
  const [quiet] = (await find('q=quiet')).endpoints;
  // The asset is Base's USDC, listed for Polygon: none of ours there.
  expect(quiet).toMatchObject({ price_usd: 0.02, accepts: [{ amount: '5000', price_usd: 0.02 }] });
  const [sun] = (await find('q=sun.example')).endpoints;
  expect(sun).toMatchObject({ price_usd: null, accepts: [{ amount: '99', price_usd: null, chain: SOLANA }] });
});

describe('what cannot be read any more', () => {
  test('stays, and the answer says so', async () => {
    const { meta } = await find('limit=1');
    expect(meta.warnings).toContain('endpoints_catalog_stale');
    expect(meta.sources).toEqual([
      {
        source: 'bazaar:one',
        kind: 'bazaar',
        host: 'bazaar.example',
        offers: 3,
        tried_at: '2026-11-20T11:59:00Z',
        good_at: '2026-11-20T11:59:00Z',
        problem: null,
        not_read: [],
        stale: false,
      },
      expect.objectContaining({
        source: 'bazaar:two',
        problem: 'unreachable',
        stale: true,
        good_at: '2026-11-20T11:50:00Z',
        not_read: [{ reason: 'plain_url', items: 4, meaning: expect.stringContaining('accepts') }],
      }),
    ]);
  });

  test('is no warning once every source has answered of late, and one again when they fall silent', async () => {
    await answered('bazaar:two');
    api.clock.advanceSeconds(2);
    expect((await find('limit=1')).meta.warnings ?? []).not.toContain('endpoints_catalog_stale');
    await answered('bazaar:none', { problem: 'no_listing', goodAt: 0 });
    await answered('well_known:https://down.example', {
      kind: 'contested',
      problem: 'unreachable',
      goodAt: 0,
    });
    api.clock.advanceSeconds(2);
    const { meta: calm } = await find('limit=1');
    expect(calm.warnings ?? []).not.toContain('endpoints_catalog_stale');
    expect(calm.sources.map(({ source }: { source: string }) => source)).not.toContain(
      'well_known:https://down.example',
    );
    api.clock.advanceSeconds(11_000);
    const { endpoints, meta } = await find('limit=1');
    expect(meta.warnings).toContain('endpoints_catalog_stale');
    expect(endpoints[0].stale).toBe(true);
  });

  test('a deployment that has read nothing answers with an empty list and the warning', async ({
    spareApi,
  }) => {
    const { status, body } = await spareApi.get('/v0/endpoints', ANONYMOUS);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      endpoints: [],
      next_offset: null,
      meta: { sources: [], dataset_row_count: 0 },
    });
    expect(body.meta.warnings).toContain('endpoints_catalog_stale');
  });

  test('503, never an empty list, when the directory itself cannot be read', async ({
    spareEngine,
    spareApi,
  }) => {
    await spareEngine.writer.run({
      name: 'test-drop',
      sql: trustedText('DROP TABLE endpoint_list SYNC'),
      maxSeconds: 10,
    });
    const { status, body } = await spareApi.get('/v0/endpoints');
    expect({ status, code: body.code, resource: body.resource }).toEqual({
      status: 503,
      code: 'upstream_unavailable',
      resource: 'endpoints',
    });
  });
});
