import type { Address } from '../../core/domain/account.ts';
import { type Random, zipfSampler } from '../random.ts';
import { SAMPLE_DAYS, type SampleChain, type SampleSeller } from './sample-world.ts';

/** How a payment reaches the chain. */
export type SampleWay = 'relayed' | 'received' | 'bare';

export interface SamplePayment {
  /** Unix seconds. */
  readonly time: number;
  readonly payer: Address;
  readonly payee: Address;
  readonly amount: bigint;
  /** Who sends the transaction. */
  readonly relayer: Address;
  readonly way: SampleWay;
  /** Hex digits after the calldata. */
  readonly suffix: string;
}

const DAY_SECONDS = 86_400;
/** From Sunday to Saturday: agents work when their people do. */
const WEEK = [0.7, 1.05, 1.1, 1.1, 1.05, 1, 0.75];
const HOUR_SWING = 0.5;
const BUSIEST_HOUR = 16;

/** Payers that were there on the first day, and those who try it for one day only. */
const FOUNDERS_SHARE = 0.06;
const TOURISTS_SHARE = 0.35;
const LIFETIME_DAYS_MEAN = 35;
const FAVOURITES = 3;
const FAVOURITE_SHARE = 0.85;
const LIST_PRICE_SHARE = 0.9;
const MULTIPLE_MAX = 5;
const SELF_PAYMENTS_PER_DAY = 2;
const RING_ROUNDS_PER_DAY = 2;
/** A dollar and more: rings of dust are none. */
const RING_AMOUNT_ATOMS = 600_000;

interface Payer {
  readonly address: Address;
  readonly bornDay: number;
  readonly goneDay: number;
  /** Payments on a mean day, before the whole plan is scaled. */
  readonly rate: number;
  readonly favourites: readonly SampleSeller[];
}

/** Payments of one chain in the order of time, up to `endTime`: more payers every week, some of them staying, fewer on weekends. */
export function planPayments(chain: SampleChain, endTime: number, random: Random): SamplePayment[] {
  const popular = zipfSampler(random, chain.sellers.length);
  const seller = (): SampleSeller => chain.sellers[popular()] ?? random.pick(chain.sellers);
  const payers = chain.payers.map((address) => payerOf(address, seller, random));
  const mean = payers.reduce((sum, { rate, bornDay, goneDay }) => sum + rate * (goneDay - bornDay), 0);
  const scale = chain.payments / mean;
  const startTime = endTime - SAMPLE_DAYS * DAY_SECONDS;
  const payments: SamplePayment[] = [];
  for (let day = 0; day < SAMPLE_DAYS; day++) {
    const from = startTime + day * DAY_SECONDS;
    const weekday = WEEK[new Date(from * 1_000).getUTCDay()] ?? 1;
    const time = (): number => from + secondOfDay(from, random);
    for (const payer of payers) {
      if (day < payer.bornDay || day >= payer.goneDay) continue;
      for (let left = poisson(payer.rate * scale * weekday, random); left > 0; left--)
        payments.push(
          paymentTo(chooseSeller(payer, seller, random), payer.address, { chain, time: time(), random }),
        );
    }
    payments.push(...suspiciousPayments(chain, time, random));
  }
  return payments.sort((a, b) => a.time - b.time);
}

function payerOf(address: Address, seller: () => SampleSeller, random: Random): Payer {
  const bornDay = random.chance(FOUNDERS_SHARE) ? 0 : Math.floor(SAMPLE_DAYS * Math.sqrt(random.unit()));
  const lifetime = random.chance(TOURISTS_SHARE)
    ? 1
    : 1 + Math.floor(-Math.log(1 - random.unit()) * LIFETIME_DAYS_MEAN);
  return {
    address,
    bornDay,
    goneDay: Math.min(SAMPLE_DAYS, bornDay + lifetime),
    // Few pay a lot: the busiest some fifty times as often as most.
    rate: Math.exp(4 * random.unit() ** 3),
    favourites: Array.from({ length: FAVOURITES }, seller),
  };
}

function chooseSeller({ favourites }: Payer, seller: () => SampleSeller, random: Random): SampleSeller {
  return random.chance(FAVOURITE_SHARE) ? random.pick(favourites) : seller();
}

interface Occasion {
  readonly chain: SampleChain;
  readonly time: number;
  readonly random: Random;
}

/** Mostly through the seller’s facilitator; and now and then in every other way that the ladder of evidence knows. */
function paymentTo(
  { address: payee, price, relayers, catalogued }: SampleSeller,
  payer: Address,
  { chain, time, random }: Occasion,
): SamplePayment {
  const amount = random.chance(LIST_PRICE_SHARE) ? price : price * BigInt(1 + random.below(MULTIPLE_MAX));
  const payment = { time, payer, payee, amount, suffix: '' };
  const dice = random.unit();
  if (dice < 0.03 && catalogued) return { ...payment, relayer: payer, way: 'bare' };
  if (dice < 0.05) return { ...payment, relayer: payee, way: 'received' };
  if (dice < 0.08) return { ...payment, relayer: payer, way: 'relayed' };
  if (dice < 0.2 || relayers.length === 0) return { ...payment, ...byStranger(chain, random) };
  return { ...payment, relayer: random.pick(relayers), way: 'relayed' };
}

function byStranger({ strangers }: SampleChain, random: Random) {
  const { address: relayer, suffix } = random.pick(strangers);
  return { relayer, way: 'relayed', suffix: suffix.slice(2) } as const;
}

/** What an analyst should find: wallets that pay themselves, and circles. */
function suspiciousPayments(chain: SampleChain, time: () => number, random: Random): SamplePayment[] {
  const pay = (payer: Address, payee: Address, most: number): SamplePayment => ({
    time: time(),
    payer,
    payee,
    amount: BigInt(1_000 + random.below(most)),
    ...byStranger(chain, random),
  });
  const selfPayments = chain.selfPayers.flatMap((wallet) =>
    Array.from({ length: random.below(SELF_PAYMENTS_PER_DAY + 1) }, () => pay(wallet, wallet, 10_000)),
  );
  const rounds = chain.rings.flatMap((ring) =>
    Array.from({ length: random.below(RING_ROUNDS_PER_DAY + 1) }, () =>
      ring.map((payer, index) => pay(payer, ring[(index + 1) % ring.length] ?? payer, RING_AMOUNT_ATOMS)),
    ).flat(),
  );
  return [...selfPayments, ...rounds];
}

/** By rejection: the afternoon is three times as busy as the night. The day begins at `from`, whatever hour that is. */
function secondOfDay(from: number, random: Random): number {
  for (;;) {
    const second = random.below(DAY_SECONDS);
    const hour = (((from + second) % DAY_SECONDS) / DAY_SECONDS) * 24;
    const busy = 1 + HOUR_SWING * Math.cos(((hour - BUSIEST_HOUR) / 24) * 2 * Math.PI);
    if (random.unit() * (1 + HOUR_SWING) < busy) return second;
  }
}

/** Knuth’s method: exact, and fast for the few payments that a wallet makes in a day. */
function poisson(mean: number, random: Random): number {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random.unit(); product > limit; product *= random.unit()) count += 1;
  return count;
}
