import { expect, test } from 'vitest';
import { checked } from '../../../core/config/checked-file.ts';
import { ConfigSchema } from '../../../core/config/config.ts';
import { resolveConfig } from '../../../core/config/load.ts';
import { createLog } from '../../../core/log.ts';
import { castOf } from '../../../demo/actors.ts';
import { planPayments } from '../../../demo/history/sample-payments.ts';
import {
  SAMPLE_DAYS,
  sampleChains,
  sampleOnlyChains,
  samplePayees,
} from '../../../demo/history/sample-world.ts';
import { blocksOf } from '../../../demo/history/write-history.ts';
import { seededRandom } from '../../../demo/random.ts';
import { rowsOfBatch } from '../../../ingest/decode/batch.ts';
import { decodeContextOf } from '../../../ingest/decode/context.ts';
import { createCatalogueSources } from '../../../ingest/grading/sources.ts';

/** The sample data of the demo: planned the same each time, and graded by nothing but the code that grades real payments. */

const END = Date.UTC(2026, 10, 24, 12) / 1_000;
const DAY_SECONDS = 86_400;
const cast = castOf(1);
const [, whole] = sampleChains(cast);
if (whole === undefined) throw new Error('there are three sample chains');
/** A tenth of it: every kind of payment is in there. */
const base = { ...whole, payments: 6_000, payers: whole.payers.slice(0, 400) };
const payments = planPayments(base, END, seededRandom(7));

test('the same seed plans the same payments, within 120 days and in the order of time', () => {
  expect(planPayments(base, END, seededRandom(7))).toEqual(payments);
  const times = payments.map(({ time }) => time);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times[0]).toBeGreaterThanOrEqual(END - SAMPLE_DAYS * DAY_SECONDS);
  expect(times.at(-1)).toBeLessThan(END);
});

test('payments grow, weekends are quieter, payers come back', () => {
  const days = new Map<number, number>();
  for (const { time } of payments) {
    const day = Math.floor(time / DAY_SECONDS);
    days.set(day, (days.get(day) ?? 0) + 1);
  }
  const between = [...days].slice(1, -1);
  const mean = (some: readonly (readonly [number, number])[]): number =>
    some.reduce((sum, [, count]) => sum + count, 0) / some.length;
  expect(mean(between.slice(-30))).toBeGreaterThan(2 * mean(between.slice(0, 30)));
  // 1970 began on a Thursday.
  const isWeekend = ([day]: readonly [number, number]): boolean => [0, 6].includes((day + 4) % 7);
  expect(mean(between.filter(isWeekend))).toBeLessThan(0.9 * mean(between.filter((day) => !isWeekend(day))));
  const months = new Map<string, Set<number>>();
  for (const { payer, time } of payments)
    months.set(payer, (months.get(payer) ?? new Set()).add(Math.floor((END - time) / (30 * DAY_SECONDS))));
  expect([...months.values()].filter((seen) => seen.size > 1).length).toBeGreaterThan(50);
});

test('the decoder and the ladder make one row of each, on every rung and by facilitators of the built-in table', () => {
  const file = checked(ConfigSchema, {
    chains: sampleOnlyChains(cast),
    catalogue: { payees: samplePayees(cast) },
  });
  const config = resolveConfig(file, null);
  const catalogue = createCatalogueSources(config, createLog('silent', 'test')).read([], []);
  const chain = config.chains.find(({ facts }) => facts.slug === base.slug);
  if (catalogue === null || chain === undefined) throw new Error('the configuration is whole');
  expect(chain).toMatchObject({ rpcUrls: [], sampleDataTo: base.lastBlock });
  const rows = rowsOfBatch(blocksOf(base, payments, END), decodeContextOf(chain, catalogue), catalogue);
  expect(rows.deadLetters).toEqual([]);
  expect(rows.settlements.map(({ payer, payee, amount }) => [payer, payee, amount])).toEqual(
    payments.map(({ payer, payee, amount }) => [payer, payee, amount]),
  );
  expect(new Set(rows.settlements.map(({ method }) => method))).toEqual(
    new Set([
      'facilitator_relay',
      'self_relayed',
      'builder_code',
      'catalogued_payee',
      'gasless_authorization',
      'bare_transfer',
    ]),
  );
  expect(new Set(rows.settlements.map(({ facilitator }) => facilitator)).size).toBeGreaterThan(8);
  expect(rows.settlements.at(-1)?.blockNumber).toBeLessThanOrEqual(base.lastBlock);
});
