import { expect, test } from 'vitest';
import { EngineError, type Reader } from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { type ControlStore, StoreUnavailable } from '../../../src/accounts/store.ts';
import {
  observedEngine,
  observedFacilitator,
  observedLane,
  observedStore,
} from '../../../src/observe/ports.ts';
import { createPrometheusMeter } from '../../../src/observe/prometheus-meter.ts';
import type { Facilitator } from '../../../src/payment/facilitator.ts';
import type { PaymentLane, SettledCall } from '../../../src/payment/payment-lane.ts';
import { openHandedLane } from '../../kit/gate.ts';
import { readScrape } from '../../kit/scraped.ts';

/** Which calls are counted where, and that nothing but the count is added. */

const open = () => createPrometheusMeter({ version: '9.9.9', role: 'test' });
const NAME = 'settlement_index_';

test('statements are counted by name without what they are about, and by how they failed', async () => {
  const meter = open();
  const reader: Reader = {
    rows: ({ name }) => Promise.reject(new EngineError('timeout', name, 159, null)),
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const metered = observedEngine(reader, 'reader', { meter, tracer: null });
  const asked = metered.rows({
    name: 'load-status eip155:8453',
    sql: sql`SELECT 1`,
    maxSeconds: 1,
    maxRows: 1,
  });
  await expect(asked).rejects.toMatchObject({ problem: 'timeout' });
  await metered.ping();
  const { value, samples } = readScrape(await meter.text());
  const total = `${NAME}engine_statements_total`;
  expect(value(total, { statement: 'load-status', outcome: 'timeout' })).toBe(1);
  expect(value(total, { statement: 'ping', outcome: 'ok' })).toBe(1);
  expect(JSON.stringify(samples)).not.toContain('8453');
});

test('only calls of the control store that fail are counted, by their name', async () => {
  const meter = open();
  const part = {
    hold: () => Promise.reject(new StoreUnavailable(null)),
    balance: () => Promise.resolve(null),
  };
  const store = {
    units: part,
    accounts: {},
    payments: {},
    usage: {},
    rates: {},
    replies: {},
    jobs: {},
    results: {},
    shares: {},
    ownTables: {},
    saved: {},
    refreshes: {},
  } as unknown as ControlStore; // only these are called
  const metered = observedStore({ meter, tracer: null }, store);
  await expect(metered.units.hold({} as never)).rejects.toBeInstanceOf(StoreUnavailable);
  expect(await metered.units.balance('org')).toBeNull();
  const { samples } = readScrape(await meter.text());
  const errors = samples.filter(({ name }) => name === `${NAME}control_store_errors_total`);
  expect(errors).toEqual([expect.objectContaining({ labels: { call: 'units.hold' }, value: 1 })]);
});

test('payments are counted by stage and answer, and dollars when the answer left', async () => {
  const meter = open();
  const facilitator = observedFacilitator(
    {
      verify: () => Promise.resolve({ outcome: 'invalid', reason: 'expired' }),
      settle: () => Promise.resolve({ outcome: 'unknown', reason: null, cause: null }),
      announced: () => Promise.resolve({ outcome: 'unreachable', cause: null }),
    } satisfies Facilitator,
    { meter, tracer: null },
  );
  await facilitator.verify({} as never);
  await facilitator.settle({} as never);
  const call = {
    kind: 'settled',
    usdMicros: 2_500_000n,
    finish: () => Promise.resolve(),
  } as unknown as SettledCall; // only this is used
  const lane = observedLane({ take: () => Promise.resolve(call) } as unknown as PaymentLane, {
    meter,
    tracer: null,
  });
  for (const answered of [true, false, true]) {
    const taken = await lane.take({ order: {} as never, header: '' });
    if (taken.kind === 'settled') await taken.finish(answered);
  }
  const { value } = readScrape(await meter.text());
  expect(value(`${NAME}payments_total`, { stage: 'verify', outcome: 'invalid' })).toBe(1);
  expect(value(`${NAME}payments_total`, { stage: 'settle', outcome: 'unknown' })).toBe(1);
  expect(value(`${NAME}payments_served_usd_total`)).toBe(5);
});

test('a lane is asked with everything that its caller gave', async () => {
  const given: (readonly unknown[])[] = [];
  const take = (...args: readonly unknown[]) => {
    given.push(args);
    return Promise.resolve({ kind: 'open' });
  };
  const lane = observedLane({ take } as unknown as PaymentLane, { meter: open(), tracer: null });
  const args = [{ order: {}, header: 'a', preflight: () => Promise.resolve() }] as const;
  await Reflect.apply(lane.take, lane, args);
  expect(given).toEqual([args]);
});

test('a lane that is counted still refuses, before it claims the payment, a call that is sure to fail', async () => {
  const lane = observedLane(openHandedLane(), { meter: open(), tracer: null });
  const preflight = () => Promise.reject(new Error('the engine is away'));
  const taken = lane.take({ order: { priceUsdMicros: 1n } as never, header: 'a', preflight });
  await expect(taken).rejects.toThrow('the engine is away');
});

test('labels that were not bounded after all end in one series, and every count is kept', async () => {
  const meter = open();
  for (let index = 0; index < 2_500; index++)
    meter.count('control_store_errors_total', { call: `call-${index}` });
  const { samples } = readScrape(await meter.text());
  const series = samples.filter(({ name }) => name === `${NAME}control_store_errors_total`);
  expect(series.length).toBeLessThanOrEqual(2_001);
  expect(series.reduce((sum, { value }) => sum + value, 0)).toBe(2_500);
});

test('figures that cannot be read are absent, not stale, and the next scrape has them again', async () => {
  const meter = open();
  let works = true;
  meter.read('rollups', () =>
    works ? Promise.resolve([{ name: 'rollup_open_slices', value: 3 }]) : Promise.reject(new Error('away')),
  );
  const shown = async () => readScrape(await meter.text());
  const name = `${NAME}rollup_open_slices`;
  expect((await shown()).value(name)).toBe(3);
  works = false;
  const without = await shown();
  expect(without.value(name)).toBeUndefined();
  expect(without.value(`${NAME}scrape_failures_total`, { group: 'rollups' })).toBe(1);
  works = true;
  expect((await shown()).value(name)).toBe(3);
  expect((await shown()).value(name)).toBe(3);
});
