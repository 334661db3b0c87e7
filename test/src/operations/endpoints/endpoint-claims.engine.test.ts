import { describe, expect } from 'vitest';
import { trustedText } from '../../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { address } from '../../../../core/domain/account.ts';
import { ANONYMOUS, type TestApi } from '../../../kit/api.ts';
import { type ItemFields, listedItem } from '../../../kit/bazaar.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { type Listings, payment, testListings } from '../../../kit/listings.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  ON_SOLANA,
  POLYGON,
  reportChain,
  SOLANA,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';

/** A listing is a claim: what it can make of payments that were made to others, and what it cannot. */

let engine: TestEngine;
let api: TestApi;
let listings: Listings;

const DAY = 86_400;
const [SELLER, THIEF] = [wallet(0x5e11), wallet(0x7f1e)];
const FORECAST = 'https://weather-now.example/api/forecast';
const WEATHER = { tags: ['weather'] };
const daysAgo = (days: number): number => NOON - days * DAY;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(async ({ api: fresh }) => {
  api = fresh;
  await emptyTables(engine.writer);
  await reportChain(engine.writer, BASE);
  listings = testListings(engine.writer);
});

const weather = (resource: string, fields: ItemFields = {}) =>
  listedItem(resource, { payTo: SELLER, amount: '1000', item: WEATHER, ...fields });

const pay = (rows: readonly Partial<Settlement>[]) =>
  insertSettlements(
    engine.writer,
    rows.map((row) => payment({ payee: SELLER, amount: 1_000n, ...row })),
  );
const times = (count: number, fields: Partial<Settlement> = {}): Partial<Settlement>[] =>
  Array.from({ length: count }, (_, at) => ({
    blockTime: NOON - 3_600 - at,
    payer: wallet(0x100 + at),
    ...fields,
  }));

interface Shown {
  readonly resource: string;
  readonly method: string;
  readonly pay_to: string;
  readonly price_usd: number;
  readonly contested: boolean;
  readonly published_by_domain: boolean;
  readonly observed: Record<string, unknown> | null;
  readonly payee_observed: Record<string, unknown>;
  readonly claimants: readonly Record<string, unknown>[];
  readonly accepts: readonly Record<string, unknown>[];
}

async function directory(query = ''): Promise<Shown[]> {
  await listings.derive();
  const { status, body } = await api.get(`/v0/endpoints?${query}`, ANONYMOUS);
  expect(status).toBe(200);
  return body.endpoints;
}

const countsOf = (shown: readonly Shown[]) =>
  shown.map(({ resource, observed }) => [resource, observed?.['settlement_count_30d']]);

describe('an impostor on the resource of another', () => {
  test('shows next to the seller, never with his figures: price, pay_to and payments belong to the paid offer', async () => {
    await listings.list('bazaar:one', [weather(FORECAST)], daysAgo(20));
    await listings.list('bazaar:two', [weather(FORECAST, { payTo: THIEF, amount: '1' })], daysAgo(25));
    await pay(times(7));
    const [row, ...others] = await directory();
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      pay_to: SELLER,
      price_usd: 0.001,
      contested: true,
      published_by_domain: false,
      observed: { settlement_count_30d: 7, unique_payers_30d: 7, settled_usd_30d: 0.007 },
      payee_observed: { settlement_count_30d: 7 },
    });
    expect(row?.claimants).toEqual([
      {
        pay_to: SELLER,
        published_by_domain: false,
        settlement_count_30d: 7,
        listed_since: '2026-10-31T12:00:00Z',
        networks: [BASE],
        sources: ['bazaar:one'],
      },
      expect.objectContaining({ pay_to: THIEF, settlement_count_30d: 0 }),
    ]);
    expect(row?.accepts.map(({ pay_to, settlement_count_30d }) => [pay_to, settlement_count_30d])).toEqual([
      [THIEF, 0],
      [SELLER, 7],
    ]);
  });

  test('does not get the headline by asking less where no payee was paid yet', async () => {
    await listings.list('bazaar:one', [weather(FORECAST)], daysAgo(2));
    await listings.list('bazaar:two', [weather(FORECAST, { payTo: THIEF, amount: '1' })], daysAgo(1));
    expect(await directory()).toMatchObject([{ pay_to: SELLER, price_usd: 0.001, contested: true }]);
  });

  test('counts as a contest under another method too', async () => {
    await listings.list('bazaar:one', [weather(FORECAST)], daysAgo(2));
    const posted = { ...WEATHER, metadata: { method: 'POST' } };
    await listings.list('bazaar:two', [weather(FORECAST, { payTo: THIEF, item: posted })], daysAgo(1));
    const rows = await directory();
    expect(rows.map(({ method, pay_to, contested }) => [method, pay_to, contested])).toEqual([
      ['GET', SELLER, true],
      ['POST', THIEF, true],
    ]);
    for (const { claimants } of rows) expect(claimants.map((one) => one['pay_to'])).toContain(SELLER);
  });

  test('loses to the domain’s own file, however much it lets itself be paid', async () => {
    await listings.list('bazaar:two', [weather(FORECAST, { payTo: THIEF, amount: '1' })], daysAgo(20));
    await pay(times(50, { payee: THIEF, amount: 1n }));
    expect(await directory()).toMatchObject([{ pay_to: THIEF, contested: false }]);
    await listings.list('well_known:https://weather-now.example', [weather(FORECAST)], daysAgo(1));
    const [row] = await directory();
    expect(row).toMatchObject({
      pay_to: SELLER,
      price_usd: 0.001,
      published_by_domain: true,
      contested: true,
      observed: { settlement_count_30d: 0 },
    });
    expect(row?.claimants).toMatchObject([
      { pay_to: SELLER, published_by_domain: true, settlement_count_30d: 0 },
      { pay_to: THIEF, published_by_domain: false, settlement_count_30d: 50 },
    ]);
  });

  test('a seller with an address on another kind of network is no contest', async () => {
    const solana = {
      scheme: 'exact',
      network: SOLANA,
      asset: ON_SOLANA.usdc,
      payTo: ON_SOLANA.seller,
      amount: '1000',
    };
    const item = weather(FORECAST);
    const accepts = [...(item['accepts'] as object[]), solana];
    await listings.list('bazaar:one', [{ ...item, accepts }]);
    expect(await directory()).toMatchObject([{ contested: false }]);
  });
});

describe('a seller with several addresses', () => {
  const POLYGON_USDC = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';
  const second = (payTo: string) => ({
    scheme: 'exact',
    network: POLYGON,
    amount: '1000',
    asset: POLYGON_USDC,
    payTo,
  });
  const OTHER = wallet(0x5e12);

  test('that one source names is not contested, and is paid the sum of its offers', async () => {
    await reportChain(engine.writer, POLYGON);
    const item = weather(FORECAST);
    await listings.list(
      'bazaar:one',
      [{ ...item, accepts: [...(item['accepts'] as object[]), second(OTHER)] }],
      daysAgo(20),
    );
    await pay(times(4));
    await pay(times(3, { chain: POLYGON, payee: OTHER, asset: address(POLYGON_USDC) }));
    const [row] = await directory();
    expect(row).toMatchObject({
      contested: false,
      observed: { settlement_count_30d: 7, unique_payers_30d: 7, settled_usd_30d: 0.007 },
    });
    expect(row?.accepts.map(({ settlement_count_30d }) => settlement_count_30d).sort()).toEqual([3, 4]);
    // Somebody who lists a third address contests it, and the sum is of the headline's address alone.
    await listings.list('bazaar:two', [weather(FORECAST, { payTo: THIEF, amount: '1' })], daysAgo(1));
    expect(await directory()).toMatchObject([
      { contested: true, pay_to: SELLER, observed: { settlement_count_30d: 4 } },
    ]);
  });

  test('keeps what was observed when its domain confirms what a facilitator listed before', async () => {
    await listings.list('bazaar:one', [weather(FORECAST)], daysAgo(20));
    await pay(times(5));
    await listings.list('well_known:https://weather-now.example', [weather(FORECAST)], NOON);
    expect(await directory()).toMatchObject([
      {
        published_by_domain: true,
        contested: false,
        observed: { settlement_count_30d: 5, since: '2026-10-31T12:00:00Z' },
      },
    ]);
    // The facilitator drops it: the payments were for this offer all the same.
    await listings.list('bazaar:one', [], NOON);
    expect(await directory()).toMatchObject([{ observed: { settlement_count_30d: 5 } }]);
  });
});

describe('an offer whose payments cannot be observed', () => {
  const accept = (fields: Record<string, unknown>) => {
    const item = weather(FORECAST);
    return { ...item, accepts: [{ ...(item['accepts'] as object[])[0], ...fields }] };
  };

  test.each([
    ['chain_not_indexed', { network: 'eip155:56', asset: wallet(0x55d) }],
    ['chain_not_indexed', { network: SOLANA, payTo: ON_SOLANA.seller, asset: ON_SOLANA.usdc }],
    ['asset_not_indexed', { asset: wallet(0xfa4e) }],
    ['settles_off_chain', { extra: { name: 'GatewayWalletBatched' } }],
    ['settles_off_chain', { intent: 'session', method: 'tempo' }],
  ])('has null with the reason %s, never 0', async (reason, fields) => {
    await listings.list('bazaar:one', [accept(fields)], daysAgo(2));
    const [row] = await directory();
    expect(row).toMatchObject({ observed: null, unobserved_reason: reason });
    expect(row?.accepts).toMatchObject([{ settlement_count_30d: null, unobserved_reason: reason }]);
  });

  test.each([
    ['payee_not_published', 'charge'],
    ['settles_off_chain', 'session'],
  ])(
    'and that names no payee is listed with the reason %s, and contests no payee',
    async (reason, intent) => {
      const mpp = (resource: string) => ({
        ...weather(resource),
        accepts: [],
        'x-payment-info': { intent, method: 'solana', amount: '500' },
      });
      await listings.list(
        'bazaar:one',
        [mpp(FORECAST), mpp('https://other.example/api/forecast')],
        daysAgo(2),
      );
      const one = () => directory(`resource=${encodeURIComponent(FORECAST)}`);
      const [row] = await one();
      expect(row).toMatchObject({
        ...{ pay_to: null, network: 'solana', observed: null, unobserved_reason: reason },
        ...{ claimants: [], contested: false, shared_pay_to: false },
      });
      expect(row?.accepts).toMatchObject([{ scheme: intent, pay_to: null, unobserved_reason: reason }]);
      await listings.list('bazaar:two', [accept({ network: 'near', payTo: 'S0', asset: 'M1' })], daysAgo(1));
      const [both] = await one();
      expect(both).toMatchObject({ contested: false, claimants: [{ pay_to: 'S0' }] });
    },
  );

  test.each([
    ['settles_off_chain', { intent: 'session', method: 'tempo' }],
    ['chain_not_indexed', { network: 'eip155:56', asset: wallet(0x55d) }],
  ])('is so in SQL, of its capability and in the rankings as well: %s', async (reason, fields) => {
    await listings.list('bazaar:one', [accept(fields)], daysAgo(2));
    await listings.list('bazaar:two', [weather('https://paid.example/api/forecast')], daysAgo(2));
    await pay(times(3));
    await listings.derive();
    const { rows } = await engine.writer.rows({
      name: 'test',
      maxSeconds: 10,
      maxRows: 10,
      sql: trustedText(
        `SELECT unobserved_reason, settlement_count_30d, unique_payers_30d, settled_usd_30d FROM ${engine.database}_public.endpoints WHERE resource = '${FORECAST}'`,
      ),
    });
    expect(rows).toEqual([[reason, null, null, null]]);
    const ofCapability = await api.get('/v0/capabilities/weather');
    expect(
      ofCapability.body.offers.find(({ resource }: { resource: string }) => resource === FORECAST),
    ).toMatchObject({ observed: null, unobserved_reason: reason });
    const ranked = await api.get('/v0/leaderboard?of=endpoints&by=settlements&window=30d');
    expect(ranked.status).toBe(200);
    expect(ranked.body.leaderboard.map(({ resource }: { resource: string }) => resource)).toEqual([
      'https://paid.example/api/forecast',
    ]);
  });

  test.each([
    ['to another address', THIEF, [2, null]],
    ['that differ by nothing else, which are one', SELLER, [2]],
  ] as const)('of one of two offers is null there alone: %s', async (_which, payTo, counts) => {
    const item = weather(FORECAST);
    const batched = {
      ...(item['accepts'] as object[])[0],
      extra: { name: 'GatewayWalletBatched' },
      payTo,
    };
    await listings.list(
      'bazaar:one',
      [{ ...item, accepts: [batched, ...(item['accepts'] as object[])] }],
      daysAgo(2),
    );
    await pay(times(2));
    const [row] = await directory();
    expect(row).toMatchObject({ observed: { settlement_count_30d: 2 }, unobserved_reason: null });
    expect(row?.accepts.map(({ settlement_count_30d }) => settlement_count_30d).sort()).toEqual(counts);
  });

  test('a price that nobody means is marked', async () => {
    await listings.list('bazaar:one', [weather(FORECAST, { amount: '1000000000000' })], daysAgo(2));
    expect(await directory()).toMatchObject([{ price_usd: 1_000_000, price_implausible: true }]);
  });
});

describe('a listing that borrows a popular address', () => {
  const BORROWED = 'https://aaa-borrowed.example/weather';

  test('has nothing of its payments at another price: they are the payee’s alone, and rank nothing', async () => {
    await listings.list('bazaar:one', [weather(FORECAST)], daysAgo(20));
    await listings.list('bazaar:two', [weather(BORROWED, { amount: '2000' })], daysAgo(25));
    await pay(times(9));
    const rows = await directory('capability=weather');
    expect(countsOf(rows)).toEqual([
      [FORECAST, 9],
      [BORROWED, 0],
    ]);
    expect(rows[1]).toMatchObject({
      observed: { unique_payers_30d: 0, settled_usd_30d: 0, last_settled_at: null },
      payee_observed: { settlement_count_30d: 9 },
      shared_pay_to: true,
    });
    const { body } = await api.get('/v0/capabilities/weather');
    expect(countsOf(body.offers)).toEqual(countsOf(rows));
  });

  test('has nothing of them at the same price either: they belong to the origin that was listed first', async () => {
    await listings.list('bazaar:one', [weather(FORECAST)], daysAgo(20));
    await listings.list('bazaar:two', [weather(BORROWED)], daysAgo(5));
    await pay(times(9));
    expect(countsOf(await directory())).toEqual([
      [FORECAST, 9],
      [BORROWED, 0],
    ]);
  });

  test('is not listed first by having been listed at another price before', async () => {
    await listings.list('bazaar:two', [weather(BORROWED, { amount: '5' })], daysAgo(28));
    await listings.list('bazaar:one', [weather(FORECAST)], daysAgo(20));
    await listings.list('bazaar:two', [weather(BORROWED)], daysAgo(5));
    await pay(times(9));
    expect(countsOf(await directory())).toEqual([
      [FORECAST, 9],
      [BORROWED, 0],
    ]);
  });

  test('gets none by ceilings around another’s price, nor by exact amounts below another’s ceiling', async () => {
    const upTo = (amount: string) => ({
      ...WEATHER,
      accepts: [
        {
          scheme: 'upto',
          network: BASE,
          amount,
          asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          payTo: SELLER,
        },
      ],
    });
    await listings.list('bazaar:one', [weather(FORECAST, { item: upTo('5000') })], daysAgo(20));
    await listings.list(
      'bazaar:two',
      [weather(BORROWED), weather(`${BORROWED}/upto`, { item: upTo('4000') })],
      daysAgo(5),
    );
    await pay([...times(4), ...times(3, { amount: 3_500n }), ...times(2, { amount: 5_001n })]);
    expect(countsOf(await directory())).toEqual([
      [FORECAST, 7],
      [BORROWED, 0],
      [`${BORROWED}/upto`, 0],
    ]);
  });

  test('listed together with the real one takes nothing, and the domain’s own file decides between them', async () => {
    await listings.list('bazaar:one', [weather(FORECAST), weather(BORROWED)], daysAgo(20));
    await pay(times(9));
    expect(countsOf(await directory())).toEqual([
      [BORROWED, 0],
      [FORECAST, 0],
    ]);
    await listings.list('well_known:https://weather-now.example', [weather(FORECAST)], daysAgo(20));
    expect(countsOf(await directory())).toEqual([
      [FORECAST, 9],
      [BORROWED, 0],
    ]);
  });
});

describe('what counts as observed', () => {
  test('payments since the listing, of the listed amount and asset, graded probable at least, by others', async () => {
    await listings.list('bazaar:one', [weather(FORECAST)], daysAgo(10));
    await pay([
      { blockTime: daysAgo(9) },
      { blockTime: daysAgo(8), method: 'builder_code', payer: wallet(0x201) },
      { blockTime: daysAgo(11) },
      { blockTime: daysAgo(9), amount: 1_001n },
      { blockTime: daysAgo(9), asset: wallet(0xfa4e) },
      { blockTime: daysAgo(9), method: 'gasless_authorization' },
      { blockTime: daysAgo(9), method: 'bare_transfer' },
      { blockTime: daysAgo(9), payer: SELLER },
    ]);
    expect((await directory())[0]).toMatchObject({
      observed: {
        settlement_count_30d: 2,
        unique_payers_30d: 2,
        settled_usd_30d: 0.002,
        last_settled_at: '2026-11-12T12:00:00Z',
        since: '2026-11-10T12:00:00Z',
        resources_on_same_terms: 0,
      },
      // By the same grades, at any price and in any asset, before the listing too.
      payee_observed: { settlement_count_30d: 5 },
    });
  });

  test('each resource of an origin shows what was paid on its terms since it was listed itself, and how many share them', async () => {
    await listings.list('bazaar:one', [weather(FORECAST)], daysAgo(10));
    const AIR = 'https://weather-now.example/api/air-quality';
    await listings.list('bazaar:two', [weather(AIR)], daysAgo(4));
    await pay([{ blockTime: daysAgo(9) }, { blockTime: daysAgo(3) }, { blockTime: daysAgo(2) }]);
    const rows = await directory();
    expect(countsOf(rows)).toEqual([
      [FORECAST, 3],
      [AIR, 2],
    ]);
    for (const { observed } of rows) expect(observed).toMatchObject({ resources_on_same_terms: 1 });
  });

  test('a reorg and a regrade take back what they take back', async () => {
    await listings.list('bazaar:one', [weather(FORECAST)], daysAgo(10));
    const rows = times(3).map((row) => payment({ payee: SELLER, amount: 1_000n, ...row }));
    await insertSettlements(engine.writer, rows);
    expect(countsOf(await directory())).toEqual([[FORECAST, 3]]);
    await tombstone(engine.writer, rows.slice(0, 1));
    await insertSettlements(
      engine.writer,
      rows.slice(1, 2).map((row) => ({ ...row, method: 'gasless_authorization' as const })),
    );
    const [row] = await directory();
    expect(row).toMatchObject({
      observed: { settlement_count_30d: 1 },
      payee_observed: { settlement_count_30d: 1 },
    });
  });
});

test('the going rate is of headline offers, without those that nothing decides', async () => {
  const url = (at: number) => `https://seller${at}.example/weather`;
  const honest = [1, 2, 3].map((at) =>
    weather(url(at), { payTo: wallet(0x900 + at), amount: String(at * 10_000) }),
  );
  await listings.list('bazaar:one', honest, daysAgo(20));
  await pay(times(2, { payee: wallet(0x903), amount: 30_000n }));
  // A cheap claim on a paid resource, and a dear one on an unpaid.
  await listings.list(
    'bazaar:two',
    [weather(url(3), { payTo: THIEF, amount: '1' }), weather(url(2), { payTo: THIEF, amount: '900000000' })],
    daysAgo(20),
  );
  await listings.derive();
  const { body } = await api.get('/v0/capabilities/weather');
  expect(body.going_rate).toEqual({ p25_usd: 0.01, p50_usd: 0.01, p75_usd: 0.03, offers: 2 });
});
