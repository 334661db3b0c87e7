import { describe, expect } from 'vitest';
import { sql, trustedText } from '../../../../clickhouse/engine/sql.ts';
import { SCAN_ROWS_MAX } from '../../../../src/operations/wallets/read-profile.ts';
import type { TestApi } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  nameFacilitator,
  namePayee,
  nextVer,
  POLYGON,
  reportChain,
  settlement,
  wallet,
} from '../../../kit/rows.ts';

/** One wallet of each kind, and what its profile says of it. */

const SHOP = wallet(0x51);
const LOOP = wallet(0x52);
const PARTNER = wallet(0x53);
const SELF = wallet(0x54);
const YOUNG = wallet(0x55);
const RELAYER = wallet(0xd4);
const DOLLAR = 1_000_000n;

let engine: TestEngine;
let api: TestApi;
let row = 0;

function paid(payer: ReturnType<typeof wallet>, payee: ReturnType<typeof wallet>, usd = 1n) {
  row += 1;
  return settlement({
    blockNumber: 1_000 + row,
    blockTime: NOON - row,
    payer,
    payee,
    amountUsdMicros: usd * DOLLAR,
  });
}
const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

async function ring(of: string, members: readonly string[]): Promise<void> {
  for (const [gen, window] of [
    [1, NOON - 86_400],
    [2, NOON],
  ]) {
    await engine.writer.run({
      name: 'test-ring',
      maxSeconds: 10,
      sql: sql`INSERT INTO wallet_rings SELECT ${trustedText(`'${of}', ${members.length}, ['${members.join("', '")}'], 6, 12,
        toDateTime(${(window ?? 0) - 86_400}, 'UTC'), toDateTime(${window}, 'UTC'), 'rings-1', ${gen}`)}`,
    });
  }
  await engine.writer.run({
    name: 'test-pass',
    maxSeconds: 10,
    sql: trustedText(
      `INSERT INTO ring_passes (gen, window_start, window_end, method_version) SELECT 1, toDateTime(${NOON - 172_800}, 'UTC'), toDateTime(${NOON - 86_400}, 'UTC'), 'rings-1'`,
    ),
  });
}

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  await insertSettlements(engine.writer, [
    ...times(20, (index) => paid(wallet(0x100 + (index % 10)), SHOP)),
    ...times(6, () => paid(PARTNER, LOOP, 2n)),
    ...times(6, () => paid(LOOP, PARTNER, 1n)),
    ...times(6, (index) => paid(wallet(0x200 + index), LOOP)),
    ...times(12, () => paid(SELF, SELF)),
    ...times(3, () => paid(wallet(0x300), YOUNG)),
  ]);
  await ring(LOOP, [LOOP, PARTNER]);
  await reportChain(engine.writer, BASE);
  await namePayee(engine.writer, SHOP, 'Weather by the call');
  await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
});

async function profile(path: string) {
  const { status, body } = await api.get(path);
  expect(status).toBe(200);
  return body;
}
const triggered = (body: { data_quality: { signals: { id: string; triggered: boolean }[] } }): string[] =>
  body.data_quality.signals.filter((signal) => signal.triggered).map(({ id }) => id);

describe('verdicts', () => {
  test('ten even payers are clean', async () => {
    const body = await profile(`/v0/merchants/${SHOP}`);
    expect(body.data_quality).toEqual({
      verdict: 'clean',
      note: 'No signal reached its threshold.',
      signals: [
        { id: 'self_payment_share', value: 0, threshold: 0.1, triggered: false, method_version: '2' },
        { id: 'payer_concentration', value: 0.1, threshold: 0.25, triggered: false, method_version: '2' },
        { id: 'single_payer_dominance', value: 0.1, threshold: 0.5, triggered: false, method_version: '2' },
        { id: 'reciprocity', value: 0, threshold: 0.1, triggered: false, method_version: '2' },
        { id: 'ring_membership', value: 0, threshold: 1, triggered: false, method_version: '2' },
      ],
    });
  });

  test('a payer that is paid back is suspect, by every signal but self-payments', async () => {
    const body = await profile(`/v0/merchants/${LOOP}`);
    expect(body.data_quality.verdict).toBe('suspect');
    expect(triggered(body)).toEqual([
      'payer_concentration',
      'single_payer_dominance',
      'reciprocity',
      'ring_membership',
    ]);
    expect(body.data_quality.signals[3].value).toBe(0.6666);
  });

  test('rings count from the newest finished pass only', async () => {
    const before = (await profile(`/v0/agents/${LOOP}`)).data_quality.signals[4];
    await engine.writer.run({
      name: 'test-pass',
      maxSeconds: 10,
      sql: trustedText(
        `INSERT INTO ring_passes (gen, window_start, window_end, method_version) SELECT 2, toDateTime(${NOON - 86_400}, 'UTC'), toDateTime(${NOON}, 'UTC'), 'rings-1'`,
      ),
    });
    const after = (await profile(`/v0/agents/${LOOP}`)).data_quality.signals[4];
    expect(before.note).toContain('2026-11-19T12:00:00Z');
    expect(after).toEqual({
      id: 'ring_membership',
      value: 1,
      threshold: 1,
      triggered: true,
      method_version: 'rings-1',
      note: `Strongest: 6 USD through ${LOOP} > ${PARTNER}, in the window that ended 2026-11-20T12:00:00Z.`,
    });
  });

  test('a wallet that only pays itself is suspect, and its dollars count once', async () => {
    const body = await profile(`/v0/merchants/${SELF}`);
    expect(body.data_quality.verdict).toBe('suspect');
    expect(body.coverage.settlements_scanned).toBe(12);
    expect(body.aggregates).toMatchObject({
      inbound_usd: 12,
      inbound_count: 12,
      outbound_usd: 12,
      outbound_count: 12,
      self_payment_usd: 12,
      organic_usd: 0,
      distinct_counterparties: 0,
    });
    expect(body.data_quality.signals[1]).toMatchObject({ value: null, triggered: false });
  });

  test('three settlements are too few to judge', async () => {
    expect((await profile(`/v0/merchants/${YOUNG}`)).data_quality.verdict).toBe('insufficient');
  });

  test('a wallet without settlements in the judged role is known and unobserved', async () => {
    const body = await profile(`/v0/agents/${SHOP}`);
    expect(body.coverage.known).toBe(true);
    expect(body.data_quality.verdict).toBe('unobserved');
    expect(body.aggregates.inbound_count).toBe(20);
  });
});

describe('entities', () => {
  test('tell what the catalogues know, until they no longer do', async () => {
    expect((await profile(`/v0/merchants/${SHOP}`)).entities).toEqual([
      {
        kind: 'payee',
        chain: BASE,
        name: 'Weather by the call',
        name_source: 'operator_catalogue',
        source: 'test',
        resource: 'https://shop.example/weather',
      },
    ]);
    expect((await profile(`/v0/merchants/${SHOP}?chain=${POLYGON}`)).entities).toEqual([]);
    await engine.writer.run({
      name: 'test-payee-gone',
      maxSeconds: 10,
      sql: trustedText(
        `INSERT INTO catalogued_payees SELECT * REPLACE(${nextVer()} AS ver, 1 AS del) FROM (SELECT * FROM catalogued_payees FINAL)`,
      ),
    });
    expect((await profile(`/v0/merchants/${SHOP}`)).entities).toEqual([]);
  });

  test('name the relayers of facilitators, with the day they are named from', async () => {
    expect((await profile(`/v0/agents/${RELAYER}`)).entities).toEqual([
      {
        kind: 'relayer',
        chain: BASE,
        name: 'Coinbase',
        name_source: 'facilitator',
        source: 'test',
        facilitator: 'coinbase',
        since: '2025-01-01',
      },
    ]);
  });
});

test('the cap is the documented one', async () => {
  expect((await profile(`/v0/merchants/${SHOP}`)).coverage.scan_cap).toBe(SCAN_ROWS_MAX);
});
