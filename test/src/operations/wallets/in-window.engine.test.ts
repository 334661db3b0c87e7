import { describe, expect } from 'vitest';
import { COVERAGE, decodeCoverage } from '../../../../clickhouse/tables/coverage.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { usdNumber } from '../../../../core/domain/amount.ts';
import { EVIDENCE_LADDER, EVIDENCE_METHODS, EVIDENCE_TIERS } from '../../../../core/domain/evidence.ts';
import { WINDOWS, type Window } from '../../../../core/domain/window.ts';
import { readInWindow } from '../../../../src/operations/wallets/in-window.ts';
import { spanOf } from '../../../../src/operations/wallets/window.ts';
import type { TestApi } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { rollUp } from '../../../kit/roll-up.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  POLYGON,
  reportChain,
  settlement,
  wallet,
} from '../../../kit/rows.ts';

/** The figures of a window against a recount in plain code, at every state of the rollups. */

/** A recount over all wallets, windows and roles, on a busy machine. */
const TIMEOUT_MS = 600_000;
const HUB = wallet(0xb0b);
const DAY = 86_400;
/** The test clock stands at NOON; its second is in the window. */
const NOW = NOON;
const WINDOW_DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const;

let engine: TestEngine;
let api: TestApi;
const rows: Settlement[] = Array.from({ length: 400 }, (_, at) => {
  const isSelf = at % 17 === 0;
  const isPaid = at % 3 !== 0;
  const other = wallet(0x1000 + (at % 23));
  return settlement({
    chain: at % 4 === 0 ? POLYGON : BASE,
    // Unevenly over 120 days, some within the last hours.
    blockTime: NOW - Math.floor(((at * at) % 10_007) * 1_036),
    blockNumber: 1_000_000 + at,
    logIndex: at,
    payer: isSelf || !isPaid ? HUB : other,
    payee: isSelf || isPaid ? HUB : other,
    amountUsdMicros: BigInt((at * 7_919) % 3_000_000),
    method: EVIDENCE_METHODS[at % EVIDENCE_METHODS.length] ?? 'not_examined',
  });
});

function truth(role: 'payer' | 'payee', window: Window, chain?: string) {
  const since = window === 'all' ? 0 : NOW + 1 - WINDOW_DAYS[window] * DAY;
  const mine = rows.filter(
    (row) =>
      row[role] === HUB &&
      row.kind === 'payment' &&
      row.blockTime >= since &&
      (chain === undefined || row.chain === chain),
  );
  const sum = (part: readonly Settlement[]): number =>
    usdNumber(part.reduce((total, row) => total + row.amountUsdMicros, 0n));
  return {
    settlement_count: mine.length,
    usd: sum(mine),
    self_payment_usd: sum(mine.filter(({ payer, payee }) => payer === payee)),
    tiers: EVIDENCE_TIERS.map((tier) => {
      const ofTier = mine.filter(({ method }) => EVIDENCE_LADDER[method].tier === tier);
      return { tier, settlement_count: ofTier.length, usd: sum(ofTier) };
    }).filter(({ settlement_count: count }) => count > 0),
  };
}

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
  await insertSettlements(engine.writer, rows);
});

async function expectTrue(): Promise<void> {
  for (const window of WINDOWS) {
    for (const chain of ['all', BASE]) {
      const merchant = await api.get(`/v0/merchants/${HUB}?window=${window}&chain=${chain}`);
      const only = chain === 'all' ? undefined : chain;
      expect(merchant.body.in_window, `${window} ${chain}`).toMatchObject(truth('payee', window, only));
      const agent = await api.get(`/v0/agents/${HUB}?window=${window}&chain=${chain}`);
      expect(agent.body.in_window).toMatchObject(truth('payer', window, only));
      // A large wallet is read by days that are closed, where there are any.
      const [coverage] = [decodeCoverage((await engine.reader.rows(COVERAGE)).rows)];
      const span = spanOf(window, NOW + 1);
      const scope = { wallet: HUB, chain: only === undefined ? undefined : BASE, final: undefined };
      const large = await readInWindow(refusingSmall(), { ...scope, window, span, coverage });
      const small = await readInWindow(engine.reader, { ...scope, window, span, coverage });
      expect(large.days).toEqual(small.days);
    }
  }
}

/** A reader that finds every wallet too large to be read from its rows. */
function refusingSmall(): TestEngine['reader'] {
  const { reader } = engine;
  return {
    ...reader,
    rows: (statement) =>
      reader.rows(
        statement.settings?.['max_rows_to_read'] === undefined
          ? statement
          : { ...statement, settings: { max_rows_to_read: 1 } },
      ),
  };
}

describe('figures of a window equal a recount', () => {
  test('with nothing rolled up', expectTrue, TIMEOUT_MS);

  test(
    'with old days rolled up',
    async () => {
      expect(await rollUp(engine.writer, { below: NOW - 10 * DAY })).toBeGreaterThan(10);
      await expectTrue();
    },
    TIMEOUT_MS,
  );

  test(
    'with everything rolled up, some days by hours',
    async () => {
      await rollUp(engine.writer, { splitAboveRows: 3 });
      await expectTrue();
    },
    TIMEOUT_MS,
  );
});

test('days without settlements are left out, and add up to the window', async () => {
  const { body } = await api.get(`/v0/merchants/${HUB}?window=7d&chain=all`);
  const { daily, daily_window: span, usd } = body.in_window;
  expect(
    daily.every(
      (day: { inbound_count: number; outbound_count: number }) => day.inbound_count + day.outbound_count > 0,
    ),
  ).toBe(true);
  expect(span).toEqual({ since: dateOf(NOW + 1 - 7 * DAY), until: dateOf(NOW) });
  const micros = daily.reduce(
    (sum: number, day: { inbound_usd: number }) => sum + Math.round(day.inbound_usd * 1e6),
    0,
  );
  expect(micros).toBe(Math.round(usd * 1e6));
});

const dateOf = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10);

test('without the parameter there are no such figures, and another window is refused by name', async () => {
  expect((await api.get(`/v0/merchants/${HUB}`)).body.in_window).toBeUndefined();
  const refused = await api.get(`/v0/merchants/${HUB}?window=1y`);
  expect([refused.status, refused.body.code]).toEqual([400, 'invalid_parameter']);
  expect(refused.body.detail).toContain('window');
});
