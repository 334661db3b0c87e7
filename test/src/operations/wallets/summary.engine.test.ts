import { describe, expect } from 'vitest';
import { sql, text, trustedText, uint64 } from '../../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../../core/domain/account.ts';
import {
  ELSEWHERE_SHOWN_MAX,
  ELSEWHERE_WITH_CHANNELS_MAX,
} from '../../../../src/operations/wallets/summary-shape.ts';
import { deriveAll, registerAgent } from '../../../kit/agents.ts';
import type { TestApi } from '../../../kit/api.ts';
import { listedItem } from '../../../kit/bazaar.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { type Listings, payment, testListings } from '../../../kit/listings.ts';
import {
  BASE,
  hash,
  insertSettlements,
  NOON,
  nameFacilitator,
  POLYGON,
  reportChain,
  settlement,
  wallet,
} from '../../../kit/rows.ts';

/** What a summary says of wallets of each kind; its figures are recounted in pairs.engine.test.ts. */

const DAY = 86_400;
const [SHOP, THIEF, IMITATOR, STRANGER] = [wallet(0x51), wallet(0x52), wallet(0x53), wallet(0x5dead)];
const SUMMARY_MAX_BYTES = 1_536;

let engine: TestEngine;
let api: TestApi;
let listings: Listings;

const summaryOf = async (of: Address, query = '') => {
  const { status, body, text: sent } = await api.get(`/v0/entities/${of}/summary${query}`);
  expect(status).toBe(200);
  // With room for as many entries as `elsewhere` can have: the tests' deployment has two chains.
  const entry = body.elsewhere?.length > 0 ? Buffer.byteLength(JSON.stringify(body.elsewhere)) : 0;
  const entriesMax = body.channels === undefined ? ELSEWHERE_SHOWN_MAX : ELSEWHERE_WITH_CHANNELS_MAX;
  expect(Buffer.byteLength(sent) + entry * (entriesMax - 1)).toBeLessThan(SUMMARY_MAX_BYTES);
  return body;
};

const URL_OF = { shop: 'https://weather.example/now', other: 'https://other.example/now' } as const;

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  listings = testListings(engine.writer);
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
  await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
  await registerAgent(engine.writer, { agentId: 1n, owner: SHOP, card: { name: 'Weather of yore' } });
  await registerAgent(engine.writer, { agentId: 2n, owner: SHOP, card: { name: 'Weather by the call' } });
  await registerAgent(engine.writer, { agentId: 3n, owner: IMITATOR, card: { name: 'Coinbase' } });
  await claimDomain(2n, 'weather.example', 'proven');
  await claimDomain(3n, 'coinbase.example', 'refuted');
  await deriveAll(engine.writer);
  await insertSettlements(engine.writer, [
    ...Array.from({ length: 20 }, (_, at) =>
      payment({
        payee: SHOP,
        payer: wallet(0x100 + at),
        blockTime: NOON - (100 - at) * DAY,
        amount: 20_000n,
      }),
    ),
    payment({ payee: wallet(0x100), payer: SHOP, amount: 5_000n }),
    // Paid by the shop and never by it before: a purchase, not a refund.
    payment({ payee: STRANGER, payer: SHOP, amount: 90_000n }),
    payment({ payee: SHOP, payer: wallet(0x101), blockTime: NOON - 3_600, amount: 40_000n }),
    payment({ payee: wallet(0x101), payer: SHOP, blockTime: NOON - 1_800, amount: 50_000n }),
  ]);
  await listings.list('well_known:https://weather.example', [
    listedItem(URL_OF.shop, { payTo: SHOP, amount: '20000' }),
  ]);
  await listings.list('bazaar:one', [
    listedItem(URL_OF.shop, { payTo: THIEF, amount: '1' }),
    listedItem(URL_OF.other, { payTo: SHOP, amount: '30000' }),
  ]);
  await listings.derive();
});

async function claimDomain(agentId: bigint, domain: string, proof: string): Promise<void> {
  await engine.writer.run({
    name: 'test-domain',
    maxSeconds: 10,
    sql: sql`INSERT INTO agent_cards SELECT * REPLACE (ver + 1000 AS ver, ${text(domain)} AS domain, ${text(proof)} AS domain_proof)
      FROM (SELECT * FROM agent_cards FINAL WHERE agent_id = ${uint64(agentId)})`,
  });
}

test('a shop with a history, a proven identity and published offers', async () => {
  const body = await summaryOf(SHOP);
  expect(body).toMatchObject({
    wallet: SHOP,
    name_source: 'agent_card',
    verdict: 'mixed',
    reasons_for: ['mostly_proven', 'many_counterparties', 'long_history', 'domain_proven', 'offer_published'],
    received: { settlement_count: 21, usd: 0.44, organic_usd: 0.44, proven_usd: 0.44, counterparties: 21 },
    age_days: 100,
    identity: {
      agent_count: 2,
      agent_id: '2',
      domain: 'weather.example',
      domain_proof: 'proven',
      paid_score: null,
    },
    offers: { count: 2, published: 1, contested: 0 },
    // In 30 days one payer was paid after it had paid, more than it had.
    refunds: { payers: 1, settlement_count: 1, usd: 0.04 },
    compare: {
      payments: 21,
      min_usd: 0.02,
      median_usd: 0.02,
      max_usd: 0.04,
      listed_min_usd: 0.02,
      listed_max_usd: 0.03,
    },
    meta: { chain: null, lag_seconds: 0 },
  });
  expect(body.reasons_against).toEqual(['reciprocity']);
});

test('one who lists the resource of another under his own address', async () => {
  expect(await summaryOf(THIEF)).toMatchObject({
    verdict: 'unobserved',
    reasons_for: [],
    reasons_against: ['never_paid', 'offer_contested'],
    offers: { count: 1, published: 0, contested: 1, site: 'weather.example' },
    compare: { payments: 0, median_usd: null, listed_min_usd: 0.000001 },
  });
});

test('an agent that imitates a facilitator under a domain that denies it', async () => {
  expect(await summaryOf(IMITATOR)).toMatchObject({
    name: null,
    identity: { agent_id: '3', domain: 'coinbase.example', domain_proof: 'refuted' },
    reasons_against: ['never_paid', 'name_imitates_facilitator', 'domain_refuted'],
  });
});

test('a wallet that the index never saw is an answer', async () => {
  expect(await summaryOf(wallet(0xdead))).toEqual({
    wallet: wallet(0xdead),
    name: null,
    name_source: null,
    verdict: 'unobserved',
    reasons_for: [],
    reasons_against: ['never_paid', 'no_identity'],
    received: { settlement_count: 0, usd: 0, organic_usd: 0, proven_usd: 0, counterparties: 0 },
    first_seen: null,
    last_seen: null,
    age_days: null,
    identity: null,
    offers: { count: 0, published: 0, contested: 0, site: null },
    refunds: { payers: 0, settlement_count: 0, usd: 0 },
    compare: {
      payments: 0,
      min_usd: null,
      median_usd: null,
      max_usd: null,
      listed_min_usd: null,
      listed_max_usd: null,
    },
    meta: { chain: null, as_of: '2026-11-20T12:00:00Z', lag_seconds: 0 },
  });
});

test('of one chain names the figures of the other', async () => {
  expect(await summaryOf(SHOP, `?chain=${POLYGON}`)).toMatchObject({
    received: { settlement_count: 0 },
    reasons_against: ['not_paid_on_chain', 'no_identity'],
    elsewhere: [{ chain: BASE, settlement_count: 21, usd: 0.44 }],
  });
});

describe('an answer with the longest texts and figures that there can be', () => {
  const WORST = wallet(0xbad);
  const LONG_HOST = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(50)}`;

  test('is below 1.5 KB', async () => {
    const agentId = 2n ** 256n - 1n;
    await registerAgent(engine.writer, {
      agentId,
      blockNumber: 1_500,
      owner: WORST,
      card: { name: '"𠀀漢'.repeat(40) },
    });
    await engine.writer.run({
      name: 'test-domain',
      maxSeconds: 10,
      sql: sql`INSERT INTO agent_cards SELECT * REPLACE (ver + 1000 AS ver, ${text(LONG_HOST)} AS domain, 'unreachable' AS domain_proof)
        FROM (SELECT * FROM agent_cards FINAL WHERE agent_id = toUInt256(${text(String(agentId))}))`,
    });
    await deriveAll(engine.writer);
    await listings.list('bazaar:long', [
      listedItem(`https://${LONG_HOST}/`, { payTo: WORST, amount: '123456789012' }),
    ]);
    await listings.list('bazaar:contest', [
      listedItem(`https://${LONG_HOST}/`, { payTo: THIEF, amount: '1' }),
    ]);
    await listings.derive();
    const most = 10n ** 17n - 1n;
    const usd = (at: number) => ({ amountUsdMicros: most - BigInt(at), blockTime: NOON - 40 * DAY + at });
    await insertSettlements(engine.writer, [
      ...Array.from({ length: 12 }, (_, at) =>
        settlement({ payer: WORST, payee: WORST, logIndex: at, ...usd(at) }),
      ),
      ...Array.from({ length: 12 }, (_, at) =>
        settlement({ payer: THIEF, payee: WORST, logIndex: 100 + at, ...usd(at) }),
      ),
      ...Array.from({ length: 12 }, (_, at) =>
        settlement({ payer: WORST, payee: THIEF, logIndex: 200 + at, ...usd(at) }),
      ),
      settlement({ chain: POLYGON, payer: THIEF, payee: WORST, ...usd(1) }),
      ...[WORST, THIEF].map((payer, at) =>
        settlement({
          payer,
          payee: payer === WORST ? THIEF : WORST,
          ...usd(7),
          logIndex: 300 + at,
          kind: 'deposit',
          method: 'channel_move',
          channel: hash(at + 1),
        }),
      ),
    ]);
    await engine.writer.run({
      name: 'test-ring',
      maxSeconds: 10,
      sql: sql`INSERT INTO wallet_rings SELECT ${trustedText(`'${WORST}', 2, ['${WORST}', '${THIEF}'], 6, 12,
        toDateTime(${NOON - DAY}, 'UTC'), toDateTime(${NOON}, 'UTC'), 'rings-1', 1`)}`,
    });
    await engine.writer.run({
      name: 'test-pass',
      maxSeconds: 10,
      sql: trustedText(
        `INSERT INTO ring_passes (gen, window_start, window_end, method_version) SELECT 1, toDateTime(${NOON - DAY}, 'UTC'), toDateTime(${NOON}, 'UTC'), 'rings-1'`,
      ),
    });
    await reportChain(engine.writer, POLYGON, {
      finalized_block: '0',
      head_seen_at: `toDateTime(${NOON - 9_999_999}, 'UTC')`,
    });
    api.clock.advanceSeconds(60);
    for (const query of ['', `?chain=${BASE}`, '?finality=finalized']) {
      const body = await summaryOf(WORST, query);
      if (query !== '?finality=finalized')
        expect(body.channels).toMatchObject({ open_as_payer: 1, open_as_payee: 1 });
      expect(body.identity.agent_id).toBe(String(agentId));
      expect([...body.name]).toHaveLength(40);
      expect([...body.identity.domain]).toHaveLength(40);
      expect([...body.offers.site]).toHaveLength(40);
    }
    const { reasons_against } = await summaryOf(WORST);
    expect(reasons_against).toEqual([
      'self_payment_share',
      'payer_concentration',
      'single_payer_dominance',
      'reciprocity',
      'ring_membership',
      'mostly_unproven',
      'inactive',
      'offer_contested',
    ]);
  });
});
