import type { Writer } from '../../clickhouse/engine/engine.ts';
import { trustedText } from '../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../clickhouse/tables/settlements.ts';
import { loadConfig } from '../../core/config/load.ts';
import { type Address, address } from '../../core/domain/account.ts';
import { type EvidenceMethod, SEEN } from '../../core/domain/evidence.ts';
import { offerTokens } from '../../ingest/endpoints/item.ts';
import { WHOLE } from '../../ingest/endpoints/list.ts';
import { syncSource } from '../../ingest/endpoints/sync.ts';
import { verdictPass } from '../../ingest/verdicts/pass.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { deriveAll, registerAgent } from './agents.ts';
import { listedItem } from './bazaar.ts';
import { testLog } from './engine.ts';
import { attestation, insertAttestations } from './registry-rows.ts';
import { BASE, POLYGON, settlement, wallet } from './rows.ts';

/**
 * A small market up to yesterday, in which every question of docs/cookbook.md finds something: shops that open week by week, buyers
 * who come back or do not, a price that rises, self-payments, pairs and rings that pay each other back, a burst, ungraded rows.
 * The same rows for the same day. No payment lies near 30, 60, 84 or 90 days ago, so that a window that ends there is the same
 * whether a test began before midnight or after.
 */

/** The wallets that the documentation names: two sellers of the demo, and a payer of its sample data. */
export const SHOP = address('0x4b690d38773522a360b59c42cfd2128d0049b675');
export const RIVAL = address('0x7c2d7faa607079a64a70d32f4b590b079dd4f03b');
export const BUYER = address('0xa2b5bdcce2494c139e0b8f5b60b44f3c651985e0');

const DAY_SECONDS = 86_400;
const HISTORY_DAYS = 100;
const GAP_DAYS = new Set([29, 30, 31, 59, 60, 61, 83, 84, 85, 89, 90, 91]);
const PAYMENTS_A_DAY = 9;
const BUYERS = 20;
const DAYS_BETWEEN_BUYERS = 5;
const DAYS_UNTIL_LEAVING = 28;
const DAYS_BETWEEN_OPENINGS = 14;
/** The shop raised its price this many days ago. */
const PRICE_CHANGE_DAY = 45;
const MICROS_PER_DOLLAR = 1_000_000n;

type Draft = Pick<Settlement, 'blockTime' | 'payer' | 'payee' | 'amount'> & Partial<Settlement>;

/** `today` in Unix seconds, a midnight in UTC. Ordered by time; every row has a block of its own. */
export function marketRows(today: number): Settlement[] {
  const drafts = [...everydayPayments(today), ...peculiarPayments(today)];
  return drafts
    .toSorted((a, b) => a.blockTime - b.blockTime)
    .map((draft, at) => {
      const isEuro = draft.assetSymbol === 'EURC';
      return settlement({
        ...UNNAMED,
        ...draft,
        blockNumber: 1_000 + at * 3,
        amountUsdMicros: draft.amount,
        asset: wallet(isEuro ? 0xe0 : 0xc3),
      });
    });
}

function everydayPayments(today: number): Draft[] {
  const draw = generator(20_261_121);
  const drafts: Draft[] = [];
  for (let ago = HISTORY_DAYS; ago >= 1; ago -= 1) {
    if (GAP_DAYS.has(ago)) continue;
    for (let nth = 0; nth < PAYMENTS_A_DAY; nth += 1) {
      const age = HISTORY_DAYS - ago;
      const payee = shopOf(draw(10), draw(1 + Math.floor(age / DAYS_BETWEEN_OPENINGS)));
      const buyer = buyerOf(age, draw);
      const isPolygon = draw(5) === 0;
      drafts.push({
        blockTime: today - ago * DAY_SECONDS + draw(24) * 3_600 + draw(3_600),
        payer: buyer,
        payee,
        amount: priceOf(payee, ago, draw(10)),
        ...(isPolygon ? { chain: POLYGON } : { chain: BASE }),
        ...(draw(12) === 0 ? { assetSymbol: 'EURC' } : {}),
        ...relayedBy(draw(5)),
      });
    }
  }
  return drafts;
}

/** A new buyer comes every five days, and every third one leaves after four weeks; then its turn is the first buyer's. */
function buyerOf(age: number, draw: (limit: number) => number): Address {
  const buyer = draw(Math.min(BUYERS, 3 + Math.floor(age / DAYS_BETWEEN_BUYERS)));
  const hasLeft = buyer % 3 === 1 && age > buyer * DAYS_BETWEEN_BUYERS + DAYS_UNTIL_LEAVING;
  return buyer === 0 || hasLeft ? BUYER : wallet(0x3000 + buyer);
}

function shopOf(lot: number, opened: number): Address {
  if (lot < 4) return SHOP;
  return lot < 7 ? RIVAL : wallet(0x1000 + opened);
}

function priceOf(payee: Address, ago: number, lot: number): bigint {
  const list = payee === SHOP ? shopPrice(ago) : 50_000n;
  if (lot === 9) return list * 100n;
  return lot === 8 ? 500n : list;
}

function shopPrice(ago: number): bigint {
  return ago > PRICE_CHANGE_DAY ? 10_000n : 12_000n;
}

type Relayed = Pick<Settlement, 'relayer' | 'facilitator' | 'method' | 'seen'>;
const relayed = (relayer: number, facilitator: string, method: EvidenceMethod): Relayed => ({
  relayer: wallet(relayer),
  facilitator,
  method,
  seen: SEEN.authorization_used,
});
const UNNAMED = relayed(0xd1, '', 'gasless_authorization');
/** Named for the relayer that `nameFacilitator` names. */
const COINBASE = relayed(0xd4, 'coinbase', 'facilitator_relay');
const PAYAI = relayed(0xd2, 'payai', 'facilitator_relay');

function relayedBy(lot: number): Relayed {
  if (lot < 2) return COINBASE;
  return lot === 2 ? PAYAI : UNNAMED;
}

/** What an analyst looks for and hopes not to find. */
function peculiarPayments(today: number): Draft[] {
  const at = (ago: number, second: number): number => today - ago * DAY_SECONDS + second;
  const times = (count: number, make: (nth: number) => Draft): Draft[] =>
    Array.from({ length: count }, (_, nth) => make(nth));
  const dollars = (count: bigint): bigint => count * MICROS_PER_DOLLAR;
  const [left, right] = [wallet(0x5001), wallet(0x5002)];
  const ring = [wallet(0x6001), wallet(0x6002), wallet(0x6003)] as const;
  return [
    ...times(12, (nth) => ({
      blockTime: at(2 * nth + 1, 7_000),
      payer: RIVAL,
      payee: RIVAL,
      amount: dollars(1n),
    })),
    ...times(5, (nth) => ({ blockTime: at(nth + 2, 8_000), payer: left, payee: right, amount: dollars(3n) })),
    ...times(4, (nth) => ({ blockTime: at(nth + 2, 9_000), payer: right, payee: left, amount: dollars(2n) })),
    ...ring.map((payer, nth) => ({
      blockTime: at(5, 10_000 + nth * 600),
      payer,
      payee: ring[(nth + 1) % ring.length] ?? payer,
      amount: dollars(40n),
    })),
    ...times(2, (nth) => ({
      blockTime: at(9 + nth, 10_500),
      payer: SHOP,
      payee: RIVAL,
      amount: dollars(5n),
    })),
    ...times(8, (nth) => ({ blockTime: at(3, 11_000 + nth), payer: BUYER, payee: SHOP, amount: 12_000n })),
    ...times(5, (nth) => ({
      blockTime: at(nth + 1, 12_000),
      payer: wallet(0x7000 + (nth % 4)),
      payee: SHOP,
      amount: 900n,
      method: 'not_examined' as const,
    })),
    ...times(3, (nth) => ({
      blockTime: at(nth + 6, 13_000),
      payer: wallet(0x7100),
      payee: SHOP,
      amount: dollars(250n),
      method: 'bare_transfer' as const,
    })),
  ];
}

/** Whole numbers below `limit`, the same ones every time. */
function generator(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Who the shops of the market are to ERC-8004 and to the endpoint directory: two agents, their ratings, two listings. */

export const SHOP_AGENT = { agentId: 1n, name: 'Weather by the call', wallet: SHOP } as const;
export const RIVAL_AGENT = { agentId: 2n, name: 'Rival', wallet: RIVAL } as const;
/** Never paid anything. */
const STRANGER = wallet(0x9999);
export const RATINGS = {
  [String(SHOP_AGENT.agentId)]: [
    { author: BUYER, value: 90n },
    { author: BUYER, value: 80n },
    { author: STRANGER, value: 10n },
  ],
  [String(RIVAL_AGENT.agentId)]: [{ author: STRANGER, value: 30n }],
} as const;
/** The shop lists another price than it charges, the rival lists the one that it charges. */
export const LISTED = {
  shop: { service: 'Weather', resource: 'https://shop.example/weather', payTo: SHOP, micros: 15_000n },
  rival: { service: 'Rival', resource: 'https://rival.example/weather', payTo: RIVAL, micros: 50_000n },
} as const;

export async function fillIdentities(writer: Writer): Promise<void> {
  for (const { agentId, name, wallet: owner } of [SHOP_AGENT, RIVAL_AGENT])
    await registerAgent(writer, { agentId, owner, card: { name } });
  const ratings = Object.entries(RATINGS).flatMap(([agentId, given]) =>
    given.map((rating, nth) => ({ ...rating, agentId: BigInt(agentId), feedbackIndex: BigInt(nth + 1) })),
  );
  await insertAttestations(
    writer,
    ratings.map(({ author, ...fields }, at) =>
      attestation({ ...fields, author, client: author, blockNumber: 5_000 + at }),
    ),
  );
  await deriveAll(writer);
}

export async function fillEndpoints(writer: Writer, nowSeconds: number): Promise<void> {
  const items = Object.values(LISTED).map(({ service, resource, payTo, micros }) =>
    listedItem(resource, { payTo, amount: String(micros), item: { serviceName: service } }),
  );
  const tokens = offerTokens(loadConfig({ env: {} }));
  const { signal } = new AbortController();
  await syncSource(
    { writer, versions: createVersions(0n), tokens, nowMs: () => nowSeconds * 1_000, log: testLog, signal },
    { id: 'file', kind: 'file', host: '', mark: '', read: (take) => take(items).then(() => WHOLE) },
  );
}

/** Comment of the buyer's first feedback about the shop. */
export const COMMENT = 'Answered in a second, and the forecast was right.';
/** Of every transaction, in wei. */
export const FEE = { gasUsed: 60_000n, gasPrice: 5_000_000n, l1Fee: 123_456_789n } as const;

/** What the worker reads and computes in the background: fees, verdicts, and a comment. After the other rows. */
export async function fillRecords(writer: Writer): Promise<void> {
  const { gasUsed, gasPrice, l1Fee } = FEE;
  await writer.run({
    name: 'test-fees',
    maxSeconds: 30,
    sql: trustedText(`INSERT INTO transaction_fees (block_time, chain, tx_hash, block_number, relayer, facilitator, settlement_count, settled_usd,
        gas_used, gas_price, l1_fee, fee, ver)
      SELECT block_time, chain, tx_hash, block_number, relayer, facilitator, count(), sum(amount_usd), ${gasUsed}, ${gasPrice}, ${l1Fee},
        ${gasUsed * gasPrice + l1Fee}, 1
      FROM settlements FINAL WHERE del = 0 GROUP BY block_time, chain, tx_hash, block_number, relayer, facilitator`),
  });
  await writer.run({
    name: 'test-comment',
    maxSeconds: 30,
    sql: trustedText(`INSERT INTO feedback_files (chain, block_number, log_index, agent_id, client, status, comment, comment_rule, ver)
      SELECT chain, block_number, log_index, agent_id, client, 'good', '${COMMENT}', 1, ver FROM attestations FINAL WHERE block_number = 5000`),
  });
  const { signal } = new AbortController();
  const clock = { nowMs: () => Date.now() };
  await verdictPass({ writer, log: testLog, signal, clock });
}
