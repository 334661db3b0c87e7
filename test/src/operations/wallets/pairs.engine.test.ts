import { describe, expect } from 'vitest';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import type { Address } from '../../../../core/domain/account.ts';
import type { Chain } from '../../../../core/domain/chains.ts';
import { EVIDENCE_METHODS } from '../../../../core/domain/evidence.ts';
import { type TestApi, testApi, walk } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { oracle } from '../../../kit/oracle/oracle.ts';
import { rollUp } from '../../../kit/roll-up.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  namePayee,
  POLYGON,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';

/**
 * Counterparties, pairs and summaries against a recount in plain code: 900 random settlements of a dozen wallets over 36 days and two chains, payments
 * to oneself among them; then, on the same rows, everything that can happen to them, with rollups in every state.
 */

/** Closing a slice is several statements, and a busy machine takes a second for them. */
const TIMEOUT_MS = 600_000;
const DAY = 86_400;
const START = NOON - 36 * DAY;
const FINAL = { [BASE]: 1_200_000, [POLYGON]: 1_250_000 };
const [HUB, PARTNER] = [wallet(0x1001), wallet(0x1002)];

let engine: TestEngine;
const live = new Map<string, Settlement>();
const random = generator(20_261_125);

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
const below = (bound: number): number => Math.floor(random() * bound);
/** The first two are in most settlements. */
const someWallet = (): Address => wallet(0x1001 + Math.floor(random() ** 2.5 * 12));
const keyOf = (row: Settlement): string => `${row.blockTime} ${row.chain} ${row.blockNumber} ${row.logIndex}`;
const some = (share: number): Settlement[] => [...live.values()].filter(() => random() < share);

function randomSettlement(index: number): Settlement {
  const blockTime = START + below(36 * DAY + 1);
  return settlement({
    chain: random() < 0.7 ? BASE : POLYGON,
    blockTime,
    blockNumber: 1_000_000 + Math.floor((blockTime - START) / 12),
    logIndex: index,
    payer: someWallet(),
    payee: someWallet(),
    // Equal sums now and then, so that the order between them matters.
    amountUsdMicros: random() < 0.3 ? 1_000_000n : BigInt(below(5_000_000)),
    method: EVIDENCE_METHODS[below(EVIDENCE_METHODS.length)] ?? 'bare_transfer',
  });
}

async function write(rows: readonly Settlement[]): Promise<void> {
  await insertSettlements(engine.writer, rows);
  for (const row of rows) live.set(keyOf(row), row);
}

async function retract(rows: readonly Settlement[]): Promise<void> {
  await tombstone(engine.writer, rows);
  for (const row of rows) live.delete(keyOf(row));
}

const HOURS = { '24h': 24, '7d': 168, '30d': 720, '90d': 2_160, all: 1_000_000 } as const;
type Window = keyof typeof HOURS;
/** The present second belongs to the window. */
const spanOf = (window: Window) => ({ from: NOON + 1 - HOURS[window] * 3_600, to: NOON + 1 });

interface Asked {
  readonly window: Window;
  readonly chain: Chain | undefined;
  readonly isFinal: boolean;
}
const ASKED: readonly Asked[] = [
  { window: 'all', chain: undefined, isFinal: false },
  { window: '30d', chain: BASE, isFinal: true },
  { window: '7d', chain: undefined, isFinal: true },
  { window: '24h', chain: POLYGON, isFinal: false },
];
const queryOf = ({ window, chain, isFinal }: Asked): string =>
  `window=${window}&chain=${chain ?? 'all'}&finality=${isFinal ? 'finalized' : 'any'}`;
const scopeOf = ({ window, chain, isFinal }: Asked) => ({
  ...spanOf(window),
  chain,
  final: isFinal ? FINAL : undefined,
});

const withoutNames = ({ name: _name, name_source: _source, ...row }: Record<string, unknown>) => row;

async function expectCounterparties(
  api: TestApi,
  asked: Asked,
  role: 'payer' | 'payee' | 'any',
): Promise<void> {
  for (const order of ['usd', 'count', 'last'] as const) {
    const truth = oracle.pairs.counterparties(live.values(), { ...scopeOf(asked), wallet: HUB, role, order });
    const path = `/v0/entities/${HUB}/counterparties`;
    const query = `${queryOf(asked)}&role=${role}&order=${order}`;
    const { body } = await api.get(`${path}?limit=100&${query}`);
    expect({ ...body, counterparties: body.counterparties.map(withoutNames) }).toMatchObject(truth);
    const { rows } = await walk(api, path, { limit: 3, query: `&${query}` });
    expect(rows.map(withoutNames)).toEqual(truth.counterparties);
  }
}

async function expectPairs(api: TestApi, asked: Asked): Promise<void> {
  for (const [payer, payee] of [
    [HUB, PARTNER],
    [PARTNER, HUB],
    [HUB, HUB],
    [HUB, wallet(0x100c)],
  ] as const) {
    const { body } = await api.get(`/v0/pairs/${payer}/${payee}?${queryOf(asked)}`);
    const dailySince = body.daily_window.since;
    const truth = oracle.pairs.pair(live.values(), { ...scopeOf(asked), payer, payee, dailySince });
    expect(body).toMatchObject({ payer, payee, is_self_payment: payer === payee, ...truth });
  }
}

async function expectSummary(api: TestApi, asked: Asked, of: Address): Promise<void> {
  const { chain, final } = scopeOf(asked);
  const query = `chain=${chain ?? 'all'}&finality=${asked.isFinal ? 'finalized' : 'any'}`;
  const { body } = await api.get(`/v0/entities/${of}/summary?${query}`);
  const { body: profile } = await api.get(`/v0/merchants/${of}?${query}`);
  const truth = {
    wallet: of,
    role: 'payee',
    nowSeconds: NOON,
    ...(chain && { chain }),
    ...(final && { final }),
  } as const;
  const figures = oracle.profile.aggregates(live.values(), truth);
  const { known: _known, ...seen } = oracle.profile.seen(live.values(), truth);
  const signals: { id: string; triggered: boolean }[] = profile.data_quality.signals;
  expect(body).toMatchObject({
    wallet: of,
    verdict: profile.data_quality.verdict,
    received: {
      settlement_count: figures.inbound_count,
      usd: figures.inbound_usd,
      organic_usd: figures.organic_usd,
      proven_usd: figures.proven_usd,
      counterparties: figures.distinct_counterparties,
    },
    ...seen,
    refunds: oracle.pairs.refunds(live.values(), { ...spanOf('30d'), chain, final, wallet: of }),
    compare: oracle.pairs.usualPrice(live.values(), { chain, final, wallet: of, newest: 50 }),
  });
  const triggered = signals.filter((signal) => signal.triggered).map(({ id }) => id);
  const ids = signals.map(({ id }) => id);
  expect(body.reasons_against.filter((reason: string) => ids.includes(reason))).toEqual(triggered);
  expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(1_536);
}

/** The application as it answers for wallets whose rows are too many to be read: the engine refuses by itself. */
function largeApi(): Promise<TestApi> {
  const { reader } = engine;
  return testApi({
    ...reader,
    rows: (statement, signal) => {
      const bounded = statement.settings?.['max_rows_to_read'] !== undefined;
      const settings = bounded ? { ...statement.settings, max_rows_to_read: 1 } : statement.settings;
      return reader.rows({ ...statement, ...(settings && { settings }) }, signal);
    },
  });
}

/** From the rows of the wallets, as for small ones, and from the days of pairs, as for large ones. */
async function expectEverythingTrue({ api }: { readonly api: TestApi }): Promise<void> {
  await expectTrue(api);
  const large = await largeApi();
  await expectTrue(large);
  await large.close();
}

async function expectTrue(api: TestApi): Promise<void> {
  for (const [at, asked] of ASKED.entries()) {
    await expectCounterparties(api, asked, (['any', 'payee', 'payer'] as const)[at % 3] ?? 'any');
    await expectPairs(api, asked);
    for (const of of [HUB, wallet(0x100b)]) await expectSummary(api, asked, of);
  }
}

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
  await write(Array.from({ length: 900 }, (_, index) => randomSettlement(index)));
  await reportChain(engine.writer, BASE, { finalized_block: String(FINAL[BASE]) });
  await reportChain(engine.writer, POLYGON, { finalized_block: String(FINAL[POLYGON]) });
});

describe('counterparties, pairs and summaries are what a recount gives', { timeout: TIMEOUT_MS }, () => {
  test('before anything was rolled up', expectEverythingTrue);

  test('after regrades, tombstones and another event in the place of one', async ({ api }) => {
    await write(some(0.1).map((row) => ({ ...row, method: 'facilitator_relay', facilitator: 'coinbase' })));
    await retract(some(0.1));
    const replaced = some(0.05);
    await retract(replaced);
    await write(replaced.map((row) => ({ ...row, payer: PARTNER, payee: HUB, amountUsdMicros: 7n })));
    await expectEverythingTrue({ api });
  });

  test('with old days rolled up and new ones open', async ({ api }) => {
    expect(await rollUp(engine.writer, { below: NOON - 16 * DAY })).toBeGreaterThan(15);
    await expectEverythingTrue({ api });
  });

  test('with everything rolled up', async ({ api }) => {
    await rollUp(engine.writer);
    await expectEverythingTrue({ api });
  });

  test('with rolled-up days changed since, vanished pairs among them', async ({ api }) => {
    await retract(some(0.3));
    await write(Array.from({ length: 100 }, (_, index) => randomSettlement(2_000 + index)));
    await expectEverythingTrue({ api });
  });

  test('with some of them rolled up again, others by hours', async ({ api }) => {
    await rollUp(engine.writer, { below: NOON - 30 * DAY });
    const yesterday = { from: NOON - 1.5 * DAY, below: NOON - 0.5 * DAY };
    expect(await rollUp(engine.writer, { ...yesterday, splitAboveRows: 5 })).toBeGreaterThan(5);
    await write(some(0.1));
    await expectEverythingTrue({ api });
  });
});

describe('a list of counterparties', () => {
  test('stays with its window along a walk, whatever arrives during it', async ({ api }) => {
    const path = `/v0/entities/${HUB}/counterparties`;
    const { body: first } = await api.get(`${path}?limit=2&window=7d&chain=all`);
    const truth = oracle.pairs.counterparties(live.values(), {
      ...spanOf('7d'),
      wallet: HUB,
      role: 'any',
      order: 'usd',
    });
    api.clock.advanceSeconds(600);
    await write([
      settlement({ blockTime: NOON + 300, payer: wallet(0xfeed), payee: HUB, amountUsdMicros: 1n }),
    ]);
    const { body: next } = await api.get(`${path}?limit=100&window=7d&chain=all&before=${first.next_before}`);
    expect(next.window).toEqual(first.window);
    expect([...first.counterparties, ...next.counterparties].map(withoutNames)).toEqual(truth.counterparties);
    const { body: anew } = await api.get(`${path}?limit=100&window=7d&chain=all`);
    expect(anew.counterparties.map((row: { wallet: string }) => row.wallet)).toContain(wallet(0xfeed));
  });

  test('names whom it knows and says who says so', async ({ api }) => {
    await namePayee(engine.writer, PARTNER, 'Weather by the call');
    const { body } = await api.get(`/v0/entities/${HUB}/counterparties?window=all&chain=all`);
    const partner = body.counterparties.find((row: { wallet: string }) => row.wallet === PARTNER);
    expect(partner).toMatchObject({ name: 'Weather by the call', name_source: 'operator_catalogue' });
    const { body: pair } = await api.get(`/v0/pairs/${HUB}/${PARTNER}`);
    expect(pair).toMatchObject({
      payer_name: null,
      payee_name: 'Weather by the call',
      payee_name_source: 'operator_catalogue',
    });
  });

  test('of a wallet that was never seen is empty and says why that can be', async ({ api }) => {
    const { status, body } = await api.get(`/v0/entities/${wallet(0xdead)}/counterparties`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ counterparty_count: 0, counterparties: [], next_before: null });
    expect(body.totals).toEqual({ inbound_usd: 0, inbound_count: 0, outbound_usd: 0, outbound_count: 0 });
    expect(body.meta.dataset_row_count).toBeGreaterThan(0);
  });

  test('refuses a cursor of other filters, and words that it does not know', async ({ api }) => {
    const path = `/v0/entities/${HUB}/counterparties`;
    const { body } = await api.get(`${path}?limit=1&window=all`);
    for (const [query, parameter] of [
      [`window=30d&before=${body.next_before}`, 'before'],
      [`window=all&order=last&before=${body.next_before}`, 'before'],
      [`window=all&role=payee&before=${body.next_before}`, 'before'],
      ['window=2d', 'window'],
      ['order=name', 'order'],
      ['role=relayer', 'role'],
    ]) {
      const refused = await api.get(`${path}?limit=1&${query}`);
      expect([query, refused.status, refused.body.code, refused.body.parameter]).toEqual([
        query,
        400,
        'invalid_parameter',
        parameter,
      ]);
    }
  });
});

test('a pair without settlements is an answer with zeros', async ({ api }) => {
  const { status, body } = await api.get(`/v0/pairs/${wallet(0xdead)}/${HUB}`);
  expect(status).toBe(200);
  expect(body.paid).toEqual({
    settlement_count: 0,
    settled_usd: 0,
    proven_count: 0,
    proven_usd: 0,
    days_active: 0,
    first_seen: null,
    last_seen: null,
  });
  expect([body.paid_back, body.daily]).toEqual([body.paid, []]);
  expect(body.daily_window).toEqual({ since: '2026-08-23', until: '2026-11-20' });
});
