import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../core/config/load.ts';
import { chainOfNetwork } from '../../../core/domain/networks.ts';
import { type ItemFacts, offerTokens, readItem, unreadReason } from '../../../ingest/endpoints/item.ts';
import { BASE_USDC, listedItem } from '../../kit/bazaar.ts';
import { ON_SOLANA, SOLANA } from '../../kit/rows.ts';

/** Items as bazaars, sellers and enemies publish them. */

const NOW = 1_795_176_000;
const FACTS: ItemFacts = { tokens: offerTokens(loadConfig({ env: {} })), nowSeconds: NOW };
const SHOP = '0x00000000000000000000000000000000000000b2';

test('an item of version 1', () => {
  expect(
    readItem(
      {
        resource: 'https://api.example.com/premium',
        type: 'http',
        x402Version: 1,
        lastUpdated: 1_763_000_000,
        metadata: { category: 'finance', provider: 'Example' },
        accepts: [
          {
            scheme: 'exact',
            network: 'base',
            maxAmountRequired: '10000',
            asset: BASE_USDC,
            payTo: SHOP,
            resource: 'https://api.example.com/premium',
            description: 'Premium data',
            mimeType: 'application/json; charset=utf-8',
            maxTimeoutSeconds: 60,
            outputSchema: { input: { type: 'http', method: 'post' }, output: null },
            extra: { name: 'USD Coin', version: '2' },
          },
        ],
      },
      FACTS,
    ),
  ).toEqual([
    {
      resource: 'https://api.example.com/premium',
      method: 'POST',
      network: 'base',
      chain: 'eip155:8453',
      scheme: 'exact',
      asset: BASE_USDC.toLowerCase(),
      payTo: SHOP,
      amount: 10_000n,
      priceUsdMicros: 10_000n,
      itemPayTos: [SHOP],
      unobserved: '',
      maxTimeoutSeconds: 60,
      serviceName: '',
      description: 'Premium data',
      mimeType: 'application/json',
      tags: [],
      lastUpdated: 1_763_000_000,
      discovery: '{"input":{"type":"http","method":"post"},"output":null,"schema":null}',
    },
  ]);
});

test('an item of version 2 with the extras of Coinbase, and offers on several networks', () => {
  const offers = readItem(
    {
      resource: 'https://api.example.com/v1/{city}?units=m#top',
      type: 'http',
      x402Version: 2,
      lastUpdated: '2026-08-02T10:11:12.345Z',
      description: 'Weather',
      serviceName: 'Weather Inc',
      mimeType: 'application/json',
      tags: ['weather', 'Data', 'weather', 7, ''],
      iconUrl: 'https://api.example.com/icon.png',
      quality: { l30DaysTotalCalls: 4, l30DaysUniquePayers: 2, lastCalledAt: '2026-08-01T00:00:00Z' },
      curated: true,
      extensions: { bazaar: { info: { input: { type: 'http', method: 'PUT' } }, schema: {} } },
      accepts: [
        { scheme: 'exact', network: 'eip155:8453', amount: '2500', asset: BASE_USDC, payTo: SHOP },
        {
          scheme: 'exact',
          network: SOLANA,
          amount: '2500',
          asset: ON_SOLANA.usdc,
          payTo: ON_SOLANA.seller,
        },
      ],
    },
    FACTS,
  );
  expect(offers).toMatchObject([
    { chain: 'eip155:8453', priceUsdMicros: 2_500n },
    { chain: SOLANA, priceUsdMicros: 2_500n, payTo: ON_SOLANA.seller },
  ]);
  for (const offer of offers)
    expect(offer).toMatchObject({
      resource: 'https://api.example.com/v1/{city}?units=m',
      method: 'PUT',
      serviceName: 'Weather Inc',
      tags: ['Data', 'weather'],
      lastUpdated: 1_785_665_472,
    });
});

const priced = (fields: Record<string, unknown>, accept: Record<string, unknown> = {}) => {
  const item = listedItem('https://a.example/', { item: fields });
  const [entry] = item['accepts'] as Record<string, unknown>[];
  return readItem({ ...item, accepts: [{ ...entry, ...accept }] }, FACTS)[0]?.priceUsdMicros;
};

describe('the price in dollars', () => {
  const FOREIGN = { asset: '0x00000000000000000000000000000000000000c3' };

  test('is the signed amount where the asset is a dollar token of ours, whatever is declared', () => {
    expect(priced({}, { amount: '1' })).toBe(1n);
    expect(priced({ price: '$0.000001' }, { amount: '9000000' })).toBe(9_000_000n);
    expect(priced({}, { amount: String(2n ** 256n - 1n) })).toBe(null);
  });

  test('is the declared one where the token is unknown, and never an atomic amount taken for dollars', () => {
    expect(priced({}, { ...FOREIGN, amount: '10000' })).toBe(null);
    expect(priced({ price: '10000' }, FOREIGN)).toBe(null);
    expect(priced({ price: '$0.01' }, FOREIGN)).toBe(10_000n);
    expect(priced({ price: '0.01' }, FOREIGN)).toBe(10_000n);
    expect(priced({ price: '0.05 USD' }, FOREIGN)).toBe(50_000n);
    expect(priced({ price: 0.1 }, FOREIGN)).toBe(100_000n);
    expect(priced({ priceUsd: '2' }, FOREIGN)).toBe(2_000_000n);
    expect(priced({}, { ...FOREIGN, price: '$3' })).toBe(3_000_000n);
    expect(
      priced({ 'x-payment-info': { price: { mode: 'fixed', currency: 'USD', amount: '0.02' } } }, FOREIGN),
    ).toBe(20_000n);
    expect(priced({ price: { amount: '0.02', currency: 'EUR' } }, FOREIGN)).toBe(null);
  });

  test('is rounded up to a millionth, so that nothing that costs something is free', () => {
    expect(priced({ price: 1e-9 }, FOREIGN)).toBe(1n);
    expect(priced({ price: '$0.0000011' }, FOREIGN)).toBe(2n);
    expect(priced({ price: 0 }, FOREIGN)).toBe(0n);
  });

  test.each([
    '',
    '$',
    'free',
    '-1',
    '$-1',
    '1e3',
    '1.2.3',
    '$1,000',
    'NaN',
    ' ',
    '9'.repeat(30),
    '$99999999999999',
  ])('is not known from %j', (price) => {
    expect(priced({ price }, FOREIGN)).toBe(null);
  });

  test('of a ceiling is the declared one, as long as it lies below', () => {
    expect(priced({ price: '$0.002' }, { scheme: 'upto', amount: '10000' })).toBe(2_000n);
    expect(priced({ price: '$2' }, { scheme: 'upto', amount: '10000' })).toBe(10_000n);
    expect(priced({}, { scheme: 'upto', amount: '10000' })).toBe(10_000n);
  });
});

describe('items that are left out', () => {
  const accept = (fields: Record<string, unknown>) => {
    const item = listedItem('https://a.example/');
    const [entry] = item['accepts'] as Record<string, unknown>[];
    return readItem({ ...item, accepts: [{ ...entry, ...fields }] }, FACTS);
  };

  test.each([
    ['no address', { payTo: '0x1234' }],
    ['a wrong checksum', { payTo: '0x036CbD53842c5426634e7929541eC2318f3dCF7E' }],
    ['the address that burns', { payTo: `0x${'0'.repeat(40)}` }],
    ['a Solana account on an EVM chain', { payTo: ON_SOLANA.seller }],
    ['an EVM account on Solana', { network: 'solana', asset: ON_SOLANA.usdc }],
    ['no payee', { payTo: undefined }],
    ['no asset', { asset: null }],
    ['markup for an account', { network: 'solana:x', asset: 'a', payTo: '<script>' }],
    ['a scheme of many words', { scheme: 'exact or so' }],
    ['a network that is none', { network: 'eip155:8453\u202e' }],
    ['a number for a network', { network: 8453 }],
  ])('an offer with %s', (_what, fields) => {
    expect(accept(fields)).toEqual([]);
  });

  test.each([
    ['javascript:alert(1)'],
    ['ftp://a.example/'],
    ['not a URL'],
    ['/relative'],
    ['https://user:secret@a.example/'],
    [`https://a.example/${'x'.repeat(2_000)}`],
    [7],
    [null],
  ])('a resource %j', (resource) => {
    expect(readItem({ ...listedItem('x'), resource }, FACTS)).toEqual([]);
  });

  test('things that are not on HTTP, and offers beyond the sixteenth', () => {
    expect(readItem({ ...listedItem('https://a.example/'), type: 'mcp' }, FACTS)).toEqual([]);
    const item = listedItem('https://a.example/');
    const many = { ...item, accepts: Array.from({ length: 40 }, () => (item['accepts'] as unknown[])[0]) };
    expect(readItem(many, FACTS).length).toBe(16);
  });

  test('resources that a seller publishes for another origin', () => {
    const facts = { ...FACTS, origin: 'https://a.example' };
    expect(readItem(listedItem('https://b.example/'), facts)).toEqual([]);
    expect(readItem(listedItem('https://a.example.evil.example/'), facts)).toEqual([]);
    expect(readItem(listedItem('/v1'), facts)).toMatchObject([{ resource: 'https://a.example/v1' }]);
  });
});

test('texts are cut and safe to show, and a URL is spelled in ASCII', () => {
  const [offer] = readItem(
    listedItem('https://ех.example/\u202epath\n', {
      item: {
        serviceName: `evil\u202e\u0000 ${'n'.repeat(500)}`,
        description: 'd'.repeat(50_000),
        tags: Array.from({ length: 99 }, (_, at) => `t${at}`),
      },
    }),
    FACTS,
  );
  expect(offer?.resource).toMatch(/^https:\/\/xn--[a-z0-9-]+\.example\/%E2%80%AEpath$/);
  expect([...(offer?.serviceName ?? '')].length).toBeLessThanOrEqual(80);
  expect(offer?.serviceName).not.toMatch(/\p{C}/u);
  expect([...(offer?.description ?? '')].length).toBeLessThanOrEqual(1_000);
  expect(offer?.tags.length).toBe(16);
});

test.each([
  [1_763_000_000, 1_763_000_000],
  [1_763_000_000_000, 1_763_000_000],
  ['2026-11-20T08:00:00Z', 1_795_161_600],
  ['yesterday', 0],
  [-5, 0],
  [NOW + 10_000_000, 0],
  [Number.NaN, 0],
  [{}, 0],
])('lastUpdated %j is %d', (lastUpdated, seconds) => {
  expect(readItem({ ...listedItem('https://a.example/'), lastUpdated }, FACTS)[0]?.lastUpdated).toBe(seconds);
});

test('networks have one name', () => {
  expect(
    ['base', 'eip155:8453', 'abstract', 'arbitrum', 'solana', 'eip155:0x1', '__proto__'].map(chainOfNetwork),
  ).toEqual(['eip155:8453', 'eip155:8453', 'eip155:2741', 'eip155:42161', SOLANA, null, null]);
});

test('nothing that JSON can hold makes the reading fail', () => {
  const anything = fc.jsonValue({ maxDepth: 4 });
  const entry = fc.record(
    Object.fromEntries(
      [
        'scheme',
        'network',
        'asset',
        'payTo',
        'amount',
        'maxAmountRequired',
        'price',
        'extra',
        'outputSchema',
        'maxTimeoutSeconds',
      ].map((name) => [name, fc.oneof(anything, fc.constantFrom('exact', 'base', SHOP, BASE_USDC, '1', 60))]),
    ),
    { requiredKeys: [] },
  );
  const item = fc.record(
    {
      resource: fc.oneof(anything, fc.webUrl()),
      type: fc.constantFrom('http', 'mcp'),
      accepts: fc.oneof(anything, fc.array(entry)),
      lastUpdated: anything,
      metadata: anything,
      tags: anything,
      serviceName: anything,
      description: anything,
      extensions: anything,
      price: anything,
      'x-payment-info': anything,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(item, anything), (listed) => {
      for (const offer of readItem(listed, FACTS)) {
        expect(URL.canParse(offer.resource)).toBe(true);
        expect(offer.payTo).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
      }
    }),
    { numRuns: 200 },
  );
});

describe('offers as sellers write them', () => {
  const offer = (fields: Record<string, unknown>) => {
    const {
      asset: _asset,
      amount: _amount,
      ...entry
    } = (listedItem('https://a.example/')['accepts'] as Record<string, unknown>[])[0] as Record<
      string,
      unknown
    >;
    return readItem({ ...listedItem('https://a.example/'), accepts: [{ ...entry, ...fields }] }, FACTS);
  };
  const USDC = { asset: BASE_USDC.toLowerCase(), amount: 10_000n, priceUsdMicros: 10_000n, unobserved: '' };

  test.each([
    ['a symbol for the asset', { asset: 'USDC', amount: '10000' }],
    ['a symbol in lower case', { asset: 'usdc', amount: '10000' }],
    ['a price in dollars instead of an amount', { price: '$0.01' }],
    ['a symbol and a price', { asset: 'USDC', price: '$0.01' }],
    ['an amount in dollars', { asset: BASE_USDC, amount: '$0.01' }],
    ['an amount with its token', { asset: 'USDC', amount: '0.01 USDC' }],
    ['a price of version 2 in a token', { price: { asset: BASE_USDC, amount: '10000' } }],
  ])('%s is read as its atomic units', (_what, fields) => {
    expect(offer(fields)).toMatchObject([USDC]);
  });

  test.each([
    ['a symbol of no token of the chain', { asset: 'DOGE', amount: '10000' }],
    ['no asset and no price in dollars', { amount: '10000' }],
    ['no asset and a price in another currency', { price: '0.01 EUR' }],
  ])('%s is no offer', (_what, fields) => {
    expect(offer(fields)).toEqual([]);
  });

  test.each([
    [
      'settles_off_chain',
      { asset: BASE_USDC, amount: '10000', extra: { name: 'GatewayWalletBatched', version: '1' } },
    ],
    ['settles_off_chain', { asset: BASE_USDC, amount: '10000', intent: 'session', method: 'tempo' }],
    ['', { asset: BASE_USDC, amount: '10000', intent: 'charge', method: 'tempo' }],
    ['chain_not_indexed', { asset: 'M1', payTo: 'S0', amount: '10000', network: 'near' }],
    ['asset_not_indexed', { asset: SHOP, amount: '10000' }],
    ['amount_not_published', { asset: BASE_USDC }],
    ['', { asset: BASE_USDC, amount: '10000' }],
  ])('%j is why a payment cannot be observed', (reason, fields) => {
    expect(offer(fields)).toMatchObject([{ unobserved: reason }]);
  });
});

test.each([
  ['plain_url', 'https://a.example/v1'],
  ['mcp_tool', { ...listedItem('https://a.example/'), type: 'mcp' }],
  ['mcp_tool', listedItem('mcp://tool/forecast')],
  ['not_http', listedItem('ftp://a.example/')],
  ['not_http', 7],
  ['other_origin', listedItem('https://b.example/')],
  ['no_offer', { ...listedItem('https://a.example/'), accepts: [] }],
  [
    'no_offer',
    {
      ...listedItem('https://a.example/'),
      accepts: [],
      'x-payment-info': { price: { amount: '0.01' }, protocols: [{ x402: {} }] },
    },
  ],
] as const)('%s is the reason for an item that is not read', (reason, item) => {
  const facts = { ...FACTS, origin: 'https://a.example' };
  expect(readItem(item, facts)).toEqual([]);
  expect(unreadReason(item, facts)).toBe(reason);
});

const TEMPO = { network: 'tempo', chain: null, payTo: '', itemPayTos: [], priceUsdMicros: null, asset: '' };

test.each([
  [
    { intent: 'session', method: 'tempo', amount: '500', currency: '0x20c0' },
    [{ ...TEMPO, scheme: 'session', amount: 500n, asset: '0x20c0', unobserved: 'settles_off_chain' }],
  ],
  [
    {
      offers: [
        { intent: 'charge', method: 'tempo', amount: null },
        { intent: 'charge', method: 'stripe', amount: '8', currency: 'usd' },
        { intent: 'Charge it', method: 'stripe', amount: '8' },
        { intent: 'charge', method: 'https://pay.example' },
      ],
    },
    [
      { ...TEMPO, scheme: 'charge', amount: null, unobserved: 'payee_not_published' },
      {
        network: 'stripe',
        asset: 'usd',
        amount: 8n,
        priceUsdMicros: 80_000n,
        unobserved: 'payee_not_published',
      },
    ],
  ],
  [
    { price: { amount: '0.01', currency: 'USD' }, protocols: [{ x402: {} }, { mpp: { method: 'tempo' } }] },
    [
      {
        ...TEMPO,
        scheme: 'charge',
        amount: null,
        priceUsdMicros: 10_000n,
        unobserved: 'payee_not_published',
      },
    ],
  ],
])('%j without accepts is an offer whose payments cannot be observed', (info, offers) => {
  const item = { ...listedItem('https://a.example/'), accepts: [], 'x-payment-info': info };
  expect(readItem(item, FACTS)).toMatchObject(offers);
});

test('offers of the Machine Payments Protocol beside one of x402 are left out', () => {
  const item = {
    ...listedItem('https://a.example/'),
    'x-payment-info': { intent: 'charge', method: 'tempo' },
  };
  expect(readItem(item, FACTS)).toEqual(readItem(listedItem('https://a.example/'), FACTS));
});
