import type { Settlement } from '../../clickhouse/tables/settlements.ts';
import { type Address, address, type Hash } from '../../core/domain/account.ts';
import { type Chain, chainOf, namespaceOf } from '../../core/domain/chains.ts';
import { SEEN } from '../../core/domain/evidence.ts';
import { PROPOSAL_DAYS } from '../../core/domain/relayer-proposal.ts';
import { NO_CHANNEL, NO_CONTRACT } from '../../core/domain/settlement.ts';
import { readBuiltInRelayers } from '../../ingest/grading/built-in.ts';

/**
 * A month of payments through every relayer of the built-in table, of which some are hidden, and through decoys. Every size is drawn anew for
 * each seed, over ranges that are wider than those of the score: what a seller, a facilitator and a decoy are is described here, and no number is
 * the score's.
 */

export interface World {
  readonly rows: readonly Settlement[];
  readonly named: readonly BuiltIn[];
  readonly hidden: readonly BuiltIn[];
  /** What each decoy is, by its address. */
  readonly decoys: ReadonlyMap<Address, string>;
  /** Who first sent each relayer its gas money. */
  readonly funders: readonly { readonly chain: Chain; readonly address: Address; readonly funder: Address }[];
}

interface BuiltIn {
  readonly chain: Chain;
  readonly address: Address;
  readonly facilitator: string;
}

export interface WorldOptions {
  readonly seed: number;
  readonly hidden: number;
  /** Of each kind of decoy. */
  readonly decoys: number;
  readonly paymentsMax: number;
  /** Unix seconds. */
  readonly now: number;
}

export function makeWorld(options: WorldOptions): World {
  const draw = randomOf(options.seed);
  // What proposes relayers looks at authorizations, which Solana has none of.
  const relayers = readBuiltInRelayers().filter(({ chain }) => namespaceOf(chain) === 'eip155');
  const hidden = draw.shuffled(relayers).slice(0, options.hidden);
  const payments = createPayments(draw, options);
  const market = createMarket(draw, [...new Set(relayers.map(({ facilitator }) => facilitator))]);
  for (const relayer of relayers) relayOf(relayer, { draw, market, payments, options });
  const decoys = new Map<Address, string>();
  for (const make of [payroll, sweeps, sponsor, walletApp])
    for (let one = 0; one < options.decoys; one++)
      decoys.set(make({ draw, market, payments, options }), make.name);
  const named = relayers.filter((relayer) => !hidden.includes(relayer));
  return {
    rows: payments.rows,
    hidden,
    named,
    decoys,
    funders: fundersOf(draw, relayers, [...decoys.keys()]),
  };
}

/** Most facilitators fill their relayers from an account of their own, others buy at an exchange, as half of the decoys do. */
function fundersOf(draw: Draw, relayers: readonly BuiltIn[], decoys: readonly Address[]): World['funders'] {
  const exchanges = Array.from({ length: 4 }, draw.account);
  const own = new Map(
    relayers.map(({ facilitator }) => [facilitator, draw.chance(0.7) ? draw.account() : undefined]),
  );
  return [
    ...relayers.map(({ chain, address, facilitator }) => ({
      ...{ chain, address, funder: own.get(facilitator) ?? draw.oneOf(exchanges) },
    })),
    ...decoys.map((address) => ({
      ...{ chain: BASE, address, funder: draw.chance(0.5) ? draw.oneOf(exchanges) : draw.account() },
    })),
  ];
}

interface Making {
  readonly draw: Draw;
  readonly market: Market;
  readonly payments: Payments;
  readonly options: WorldOptions;
}

/** Most sellers use one facilitator; some facilitators serve only what is sold on their own platform. */
interface Market {
  readonly sellers: readonly Address[];
  sellersOf(facilitator: string): readonly Address[];
  /** A seller of any facilitator, the popular ones more often. */
  anySeller(): Address;
  readonly agents: readonly Address[];
}

function createMarket(draw: Draw, facilitators: readonly string[]): Market {
  const sellers = Array.from({ length: draw.between(500, 3_000) }, draw.account);
  const agents = Array.from({ length: draw.between(1_000, 8_000) }, draw.account);
  const popular = (): Address => draw.oneOf(sellers.slice(0, Math.ceil(draw.logBetween(1, sellers.length))));
  const served = new Map(
    facilitators.map((facilitator) => {
      const isPlatform = draw.chance(0.1);
      const own = Array.from({ length: Math.round(draw.logBetween(1, isPlatform ? 8 : 60)) }, draw.account);
      const shared = Array.from({ length: isPlatform ? draw.between(0, 2) : draw.between(2, 120) }, popular);
      return [facilitator, [...own, ...shared]] as const;
    }),
  );
  return { sellers, agents, sellersOf: (facilitator) => served.get(facilitator) ?? [], anySeller: popular };
}

/** An agent pays a few sellers again and again, so a relayer sees some of the agents. Some facilitators pay bills of their own. */
function relayOf(relayer: BuiltIn, { draw, market, payments, options }: Making): void {
  const count = Math.round(draw.logBetween(12, options.paymentsMax));
  const sellers = market.sellersOf(relayer.facilitator);
  const agents = Array.from({ length: Math.max(2, Math.round(count * draw.real(0.02, 0.8))) }, () =>
    draw.oneOf(market.agents),
  );
  const ownShare = draw.chance(0.2) ? draw.real(0, 0.02) : 0;
  for (let one = 0; one < count; one++) {
    const payee = sellers[Math.floor(draw.logBetween(1, sellers.length + 1)) - 1] ?? draw.oneOf(sellers);
    const isOwn = draw.chance(ownShare);
    const payer = isOwn ? relayer.address : draw.skewed(agents);
    payments.add({ ...relayer, relayer: relayer.address, payer, payee, isRelayed: !isOwn });
  }
}

/** One employer, or a few, pays many; some of them sell something, too. */
function payroll({ draw, market, payments, options }: Making): Address {
  const [relayer, chain] = [draw.account(), BASE];
  const payers = Array.from({ length: draw.between(1, 6) }, draw.account);
  const sellerShare = draw.real(0, 0.15);
  const staff = Array.from({ length: draw.between(20, 400) }, () =>
    draw.chance(sellerShare) ? market.anySeller() : draw.account(),
  );
  const count = Math.round(draw.logBetween(20, options.paymentsMax));
  for (let one = 0; one < count; one++)
    payments.add({ chain, relayer, payer: draw.oneOf(payers), payee: draw.oneOf(staff), isRelayed: true });
  return relayer;
}

/** Customers' deposits are collected in a wallet or two, which some sellers use as their own. */
function sweeps({ draw, market, payments, options }: Making): Address {
  const [relayer, chain] = [draw.account(), BASE];
  const isSellers = draw.chance(0.15);
  const wallets = Array.from({ length: draw.between(1, 4) }, () =>
    isSellers ? market.anySeller() : draw.account(),
  );
  const agentShare = draw.real(0, 0.15);
  const customers = Array.from({ length: draw.between(30, 3_000) }, () =>
    draw.chance(agentShare) ? draw.oneOf(market.agents) : draw.account(),
  );
  const count = Math.round(draw.logBetween(20, options.paymentsMax));
  for (let one = 0; one < count; one++)
    payments.add({
      chain,
      relayer,
      payer: draw.oneOf(customers),
      payee: draw.oneOf(wallets),
      isRelayed: true,
    });
  return relayer;
}

/** A shop relays for its customers, to itself and a few partners; some partners are paid through facilitators as well. */
function sponsor({ draw, market, payments, options }: Making): Address {
  const [relayer, chain] = [draw.account(), BASE];
  const [sellerShare, agentShare] = [draw.real(0, 0.4), draw.real(0, 0.6)];
  const own = Array.from({ length: draw.between(1, 12) }, () =>
    draw.chance(sellerShare) ? market.anySeller() : draw.account(),
  );
  const customers = Array.from({ length: draw.between(20, 2_000) }, () =>
    draw.chance(agentShare) ? draw.oneOf(market.agents) : draw.account(),
  );
  const count = Math.round(draw.logBetween(20, options.paymentsMax));
  for (let one = 0; one < count; one++)
    payments.add({ chain, relayer, payer: draw.skewed(customers), payee: draw.skewed(own), isRelayed: true });
  return relayer;
}

/** A wallet pays the gas of its users, who pay each other and now and then a seller. */
function walletApp({ draw, market, payments, options }: Making): Address {
  const [relayer, chain] = [draw.account(), BASE];
  const [sellerShare, agentShare] = [draw.real(0, 0.1), draw.real(0, 0.2)];
  const users = Array.from({ length: draw.between(30, 2_000) }, () =>
    draw.chance(agentShare) ? draw.oneOf(market.agents) : draw.account(),
  );
  const count = Math.round(draw.logBetween(20, options.paymentsMax));
  for (let one = 0; one < count; one++) {
    const payee = draw.chance(sellerShare) ? market.anySeller() : draw.oneOf(users);
    payments.add({ chain, relayer, payer: draw.skewed(users), payee, isRelayed: !draw.chance(0.002) });
  }
  return relayer;
}

const BASE = chainOf(8453);
const DAY_SECONDS = 86_400;
const USDC = address('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913');

interface Payment {
  readonly chain: Chain;
  readonly relayer: Address;
  readonly payer: Address;
  readonly payee: Address;
  readonly isRelayed: boolean;
}

interface Payments {
  readonly rows: readonly Settlement[];
  add(payment: Payment): void;
}

function createPayments(draw: Draw, { now }: WorldOptions): Payments {
  const rows: Settlement[] = [];
  const relay = SEEN.authorization_used | SEEN.direct_call;
  return {
    rows,
    add({ chain, relayer, payer, payee, isRelayed }) {
      const [blockNumber, amount] = [rows.length + 1, BigInt(draw.between(1_000, 5_000_000))];
      rows.push({
        ...{ chain, blockNumber, logIndex: 1, relayer, payer, payee, asset: USDC, assetSymbol: 'USDC' },
        ...{
          amount,
          amountUsdMicros: amount,
          usdKnown: true,
          feeAmount: 0n,
          channel: NO_CHANNEL,
          contract: NO_CONTRACT,
          memo: '',
        },
        blockTime: now - draw.between(1, (PROPOSAL_DAYS - 1) * DAY_SECONDS),
        txHash: hashOf(blockNumber),
        facilitator: '',
        method: isRelayed ? 'gasless_authorization' : 'self_relayed',
        seen: relay | (isRelayed ? SEEN.third_party_relay : SEEN.relayed_by_payer),
        ...{ builderFacilitator: '', builderApps: '', kind: 'payment', scheme: 'exact' },
      });
    },
  };
}

function hashOf(number: number): Hash {
  return `0x${number.toString(16).padStart(64, '0')}`;
}

interface Draw {
  /** From 0 up to 1. */
  next(): number;
  chance(share: number): boolean;
  real(from: number, to: number): number;
  /** Whole, both ends included. */
  between(from: number, to: number): number;
  /** As many between 10 and 100 as between 100 and 1,000. */
  logBetween(from: number, to: number): number;
  oneOf<T>(values: readonly T[]): T;
  /** The first ones more often. */
  skewed<T>(values: readonly T[]): T;
  shuffled<T>(values: readonly T[]): T[];
  readonly account: () => Address;
}

/** The same numbers for the same seed (mulberry32). */
function randomOf(seed: number): Draw {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const at = <T>(values: readonly T[], index: number): T => {
    const value = values[Math.floor(index)];
    if (value === undefined) throw new RangeError('nothing to draw from');
    return value;
  };
  const real = (from: number, to: number): number => from + next() * (to - from);
  return {
    next,
    real,
    chance: (share) => next() < share,
    between: (from, to) => Math.floor(real(from, to + 1)),
    logBetween: (from, to) => Math.exp(real(Math.log(from), Math.log(to))),
    oneOf: (values) => at(values, next() * values.length),
    skewed: (values) => at(values, next() * next() * values.length),
    shuffled: (values) =>
      values
        .map((value) => [next(), value] as const)
        .sort(([one], [other]) => one - other)
        .map(([, value]) => value),
    account: () =>
      address(
        `0x${Array.from({ length: 5 }, () =>
          Math.floor(next() * 4_294_967_296)
            .toString(16)
            .padStart(8, '0'),
        ).join('')}`,
      ),
  };
}
