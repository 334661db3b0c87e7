import { beforeEach, expect } from 'vitest';
import { type Sql, sql, trustedText } from '../../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { loadConfig } from '../../../../core/config/load.ts';
import { address } from '../../../../core/domain/account.ts';
import type { SettlementKind } from '../../../../core/domain/settlement.ts';
import { countActivity } from '../../../../ingest/endpoints/activity.ts';
import { offerTokens } from '../../../../ingest/endpoints/item.ts';
import { WHOLE } from '../../../../ingest/endpoints/list.ts';
import { syncSource } from '../../../../ingest/endpoints/sync.ts';
import { PASS_LIMITS, readEdges } from '../../../../ingest/rings/edges.ts';
import { createVersions } from '../../../../ingest/write/versions.ts';
import { readProvenPayments } from '../../../../src/operations/attestations/proofs.ts';
import { testApi } from '../../../kit/api.ts';
import { listedItem } from '../../../kit/bazaar.ts';
import { closeDays, dayOf } from '../../../kit/close-days.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import { type TestEngine, testLog } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../../../kit/rows.ts';

/** Every figure of an index with channel deposits, and with other rows that are no payments, must be that of the same index without them. */

const DAY = 86_400;
const YESTERDAY = NOON - DAY;
const COLLECTOR = address('0x4020806089470a89826cB9fB1f4059150b550004');
const [BUYER, SHOP] = [wallet(0xa1), wallet(0xb2)];

let engine: TestEngine;
const versions = createVersions(0n);
test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
beforeEach(async () => {
  await emptyTables(engine.writer);
  await reportChain(engine.writer, BASE);
});

const RETURNS: readonly SettlementKind[] = ['payout', 'refund'];

const payments = [YESTERDAY, NOON - 60].flatMap((blockTime, at) =>
  [
    { payer: BUYER, payee: SHOP, amountUsdMicros: 2_000_000n },
    { payer: SHOP, payee: BUYER, amountUsdMicros: 1_000_000n },
    { payer: BUYER, payee: BUYER, amountUsdMicros: 500_000n },
  ].map((fields, logIndex) =>
    settlement({
      ...fields,
      blockTime,
      blockNumber: 900 + at * 10,
      logIndex,
      facilitator: 'acme',
      method: 'facilitator_relay',
    }),
  ),
);

/** Of the same people on the same days, and a withdrawal that would make the collector a member of a ring. */
const deposits = [YESTERDAY - 60, NOON - 30].flatMap((blockTime, at) =>
  [
    { payer: BUYER, payee: COLLECTOR },
    { payer: COLLECTOR, payee: SHOP },
    { payer: wallet(0xeee), payee: COLLECTOR },
    { payer: BUYER, payee: SHOP },
  ].map((parties, logIndex) =>
    settlement({
      ...parties,
      amountUsdMicros: 70_000_000n,
      blockTime,
      blockNumber: 905 + at * 10,
      logIndex,
      facilitator: 'acme',
      method: 'channel_move',
      kind: logIndex % 2 === 0 ? 'deposit' : (RETURNS[at] ?? 'void'),
    }),
  ),
);

const QUESTIONS = [
  ...[BUYER, SHOP, COLLECTOR].flatMap((who) => [`/v0/merchants/${who}`, `/v0/agents/${who}`]),
  ...[BUYER, SHOP, COLLECTOR].map((who) => `/v0/entities/${who}/counterparties`),
  ...[SHOP, COLLECTOR].map((who) => `/v0/entities/${who}/summary`),
  `/v0/pairs/${BUYER}/${SHOP}`,
  '/v0/wallets?limit=50',
  '/v0/wallets?limit=50&role=payee',
  '/v0/wallets?limit=50&finality=finalized',
  '/v0/facilitators',
  '/v0/graph?window=100',
  '/v0/graph?days=7',
  `/v0/graph?days=7&wallet=${BUYER}`,
  // An empty page counts the dataset.
  '/v0/transactions?facilitator=unknown',
];

async function rowsOf(statement: Sql): Promise<readonly (readonly unknown[])[]> {
  return (await engine.writer.rows({ name: 'test', sql: statement, maxSeconds: 10, maxRows: 1_000 })).rows;
}

const publicDays = (table: 'merchant_days' | 'payer_days', wallet: 'payee' | 'payer') =>
  rowsOf(trustedText(`SELECT * FROM ${engine.database}_public.${table} ORDER BY day, chain, ${wallet}`));

/** What the API, the public tables, the rings and the endpoint directory add up, with nothing remembered from before. */
async function everyFigure(): Promise<Record<string, unknown>> {
  const api = await testApi(engine.reader);
  const answers: Record<string, unknown> = {};
  for (const question of QUESTIONS) {
    const { status, body } = await api.get(question);
    expect([question, status]).toEqual([question, 200]);
    // A place in the log of changes, which every write moves.
    answers[question] = { ...body, prev_after: undefined };
  }
  await api.close();
  await countActivity(engine.writer, { chains: [BASE], nowMs: NOON * 1_000, ver: versions.next() });
  return {
    ...answers,
    merchantDays: await publicDays('merchant_days', 'payee'),
    payerDays: await publicDays('payer_days', 'payer'),
    activity: await rowsOf(
      sql`SELECT pay_to, settlement_count, unique_payers, toString(settled_usd) FROM payee_activity FINAL WHERE del = 0`,
    ),
    edges: await readEdges(engine.reader, { from: dayOf(YESTERDAY), to: NOON }, PASS_LIMITS),
  };
}

/** So that the activity of both payees is counted. */
async function listSellers(): Promise<void> {
  const items = [SHOP, COLLECTOR].map((payTo, at) => listedItem(`https://seller${at}.example/`, { payTo }));
  await syncSource(
    {
      writer: engine.writer,
      versions,
      tokens: offerTokens(loadConfig({ env: {} })),
      nowMs: () => NOON * 1_000,
      log: testLog,
      signal: new AbortController().signal,
    },
    { id: 'file', kind: 'file', host: '', mark: '', read: (take) => take(items).then(() => WHOLE) },
  );
}

const asPayments = (rows: readonly Settlement[]): Settlement[] =>
  rows.map((row) => ({ ...row, method: 'facilitator_relay', kind: 'payment' }));

test.each(['open', 'closed', 'closed and late'] as const)(
  'deposits are in no figure of the index while its days are %s',
  async (state) => {
    const days = state === 'open' ? [] : [YESTERDAY, NOON];
    await listSellers();
    await insertSettlements(engine.writer, payments);
    await closeDays(engine.writer, days);
    const without = await everyFigure();
    await insertSettlements(engine.writer, deposits);
    if (state === 'closed') await closeDays(engine.writer, days);
    expect(await everyFigure()).toEqual(without);
    // The same rows as payments change every one of the figures: a comparison that sees nothing would say nothing.
    await insertSettlements(engine.writer, asPayments(deposits));
    if (state === 'closed') await closeDays(engine.writer, days);
    const counted = await everyFigure();
    for (const [figure, value] of Object.entries(without))
      expect([figure, counted[figure]]).not.toEqual([figure, value]);
  },
);

test('deposits are listed with their tier, and are not in the sums of the page', async () => {
  await insertSettlements(engine.writer, deposits);
  const api = await testApi(engine.reader);
  const { body } = await api.get('/v0/transactions?tier=not_x402');
  await api.close();
  expect(body.transactions).toHaveLength(deposits.length);
  expect(body.transactions[0].evidence).toMatchObject({
    verified: false,
    tier: 'not_x402',
    method: 'channel_move',
    probability: 0,
  });
  expect(body.meta).toMatchObject({ page_gross_usd: 0, page_organic_usd: 0 });
  expect(
    await rowsOf(
      trustedText(
        `SELECT DISTINCT evidence_tier, evidence_method, evidence_probability FROM ${engine.database}_public.settlements`,
      ),
    ),
  ).toEqual([['not_x402', 'channel_move', 0]]);
});

test('a deposit proves no payment that feedback names', async () => {
  const [deposit] = deposits;
  if (deposit === undefined) throw new Error('there are deposits');
  const proof = { chain: BASE, txHash: deposit.txHash, from: deposit.payer, to: deposit.payee };
  await insertSettlements(engine.writer, [deposit]);
  const proofs = await readProvenPayments(engine.reader, [proof]);
  expect([proofs.payment(proof), proofs.isTransactionKnown(proof)]).toEqual([undefined, true]);
  await insertSettlements(engine.writer, asPayments([deposit]));
  expect((await readProvenPayments(engine.reader, [proof])).payment(proof)).toBeDefined();
});
