import type { Hex } from 'viem';
import type { Address } from '../core/domain/account.ts';
import type { Actor, Cast, Merchant, Relayer } from './actors.ts';
import { type ChainToken, callBatch, MULTICALL3 } from './chain/deploy-usdc.ts';
import {
  callBareTransfer,
  callReceive,
  callRouted,
  callTransfer,
  callTransferBytes,
  type SignedAuthorization,
  signAuthorization,
  withPlainBuilderCodes,
} from './chain/payments.ts';
import { callExactSettle, callUptoSettle, EXACT_PROXY, ROUTER, UPTO_PROXY } from './chain/permit2.ts';
import { type ChannelMix, createChannelMix } from './channel-mix.ts';
import {
  type PlannedTransaction,
  type PlanTransaction,
  payingNobody,
  relayedGrade,
  selfSent,
  withCode,
} from './planned.ts';
import { paymentAmount, type Random, zipfSampler } from './random.ts';

interface Payment {
  readonly payer: Actor;
  readonly payee: Address;
  readonly amount: bigint;
}

export interface MixDependencies {
  readonly cast: Cast;
  readonly token: ChainToken;
  readonly chainId: number;
  readonly random: Random;
}

const BATCH_MAX = 8;
const SELF_PAYMENT_SHARE = 0.08;
const CIRCULAR_SHARE = 0.12;
const UNCATALOGUED_SHARE = 0.15;
const ZERO_VALUE_SHARE = 0.01;
const CEILING_FACTOR = 2n;

/**
 * Weights per 100 transactions: mostly relayed authorizations, and every other way a payment reaches the chain often enough
 * that a few hundred settlements show each. Traps, which must not be indexed: bare transfers to strangers, refused replays.
 */
const WEIGHTS = {
  relayed: 51,
  bytesOverload: 8,
  batch: 6,
  routed: 2,
  receive: 4,
  selfRelayed: 4,
  bare: 7,
  bareToStranger: 3,
  permit2Exact: 4,
  permit2Upto: 2,
  channelClaim: 3,
  channelPayout: 1,
  escrowCapture: 2,
  escrowCharge: 1,
  replay: 2,
} as const;

type Kind = keyof typeof WEIGHTS;
const KINDS = (Object.keys(WEIGHTS) as Kind[]).flatMap((kind) => Array<Kind>(WEIGHTS[kind]).fill(kind)); // keys of the table above

/** The planner of the demo's traffic. Deterministic: the same dependencies with the same seed plan the same payments. */
export function createPaymentMix(world: MixDependencies): PaymentMix {
  const channels = createChannelMix(world);
  const plan = planners(world, paymentSource(world), channels);
  return {
    openings: channels.openings,
    plan: (settlementsMax) => plan[world.random.pick(KINDS)](settlementsMax),
  };
}

export interface PaymentMix {
  /** Deposits into the channels and escrows that later payments are made from. To be sent first, in a block that stands. */
  readonly openings: ChannelMix['openings'];
  readonly plan: PlanTransaction;
}

function paymentSource({ cast, random }: MixDependencies) {
  const catalogued = cast.merchants.filter((merchant) => merchant.catalogued);
  const strangers = cast.merchants.filter((merchant) => !merchant.catalogued);
  const popular = zipfSampler(random, catalogued.length);
  const merchant = (): Merchant => {
    const known = catalogued[popular()];
    return known === undefined || random.chance(UNCATALOGUED_SHARE) ? random.pick(strangers) : known;
  };
  const payeeOf = (payer: Actor): Address => {
    const dice = random.unit();
    if (dice < SELF_PAYMENT_SHARE) return payer.address;
    // Agents pay each other round and round; both directions occur, which is what a wash looks like.
    if (dice < SELF_PAYMENT_SHARE + CIRCULAR_SHARE) return random.pick(cast.agents).address;
    return merchant().address;
  };
  const amount = (): bigint => (random.chance(ZERO_VALUE_SHARE) ? 0n : paymentAmount(random));
  return {
    catalogued,
    strangers,
    amount,
    merchant,
    any(): Payment {
      const payer = random.pick(cast.agents);
      return { payer, payee: payeeOf(payer), amount: amount() };
    },
  };
}

function planners(
  world: MixDependencies,
  source: ReturnType<typeof paymentSource>,
  { plan: channelPlan }: ChannelMix,
) {
  const { cast, token, random } = world;
  const sign = ({ payer, payee, amount }: Payment, kind: 'transfer' | 'receive' = 'transfer') =>
    signAuthorization(token, payer, { to: payee, value: amount, nonce: random.bytes32() }, kind);
  const relay = (relayer: Relayer, to: Address, data: Hex, settlements = 1): PlannedTransaction => ({
    transaction: { from: relayer.address, to, data: withCode(relayer, data) },
    settlements,
    expected: relayedGrade(relayer),
  });
  const permit2 = permit2Planners(world, source);
  let lastUsed: SignedAuthorization | undefined;

  const plan: Record<Kind, PlanTransaction> = {
    async relayed() {
      const signed = await sign(source.any());
      lastUsed = signed;
      return relay(random.pick(cast.relayers), token.address, callTransfer(signed));
    },
    bytesOverload: async () =>
      relay(random.pick(cast.relayers), token.address, callTransferBytes(await sign(source.any()))),
    async batch(settlementsMax) {
      const size = Math.min(settlementsMax, 2 + random.below(BATCH_MAX - 1));
      const calls: Hex[] = [];
      for (let k = 0; k < size; k++) calls.push(callTransfer(await sign(source.any())));
      // Gas per payment is about 80,000; the sender's default covers one.
      const planned = relay(random.pick(cast.relayers), MULTICALL3, callBatch(token.address, calls), size);
      return { ...planned, transaction: { ...planned.transaction, gas: BATCH_GAS } };
    },
    routed: async () =>
      relay(
        random.pick(cast.relayers),
        ROUTER,
        callRouted(token.address, callTransfer(await sign(source.any()))),
      ),
    async receive() {
      const payee = source.merchant();
      const signed = await sign(
        { payer: random.pick(cast.agents), payee: payee.address, amount: source.amount() },
        'receive',
      );
      return selfSent(payee.address, token.address, callReceive(signed));
    },
    async selfRelayed() {
      const payment = source.any();
      return selfSent(payment.payer.address, token.address, callTransfer(await sign(payment)));
    },
    async bare() {
      const payer = random.pick(cast.agents).address;
      const data = callBareTransfer(random.pick(source.catalogued).address, source.amount());
      const marked = random.chance(0.2) ? withPlainBuilderCodes(data, ['bc_demo']) : data;
      return {
        transaction: { from: payer, to: token.address, data: marked },
        settlements: 1,
        expected: 'bare_transfer',
      };
    },
    async bareToStranger() {
      const data = callBareTransfer(random.pick(source.strangers).address, source.amount());
      return payingNobody({ from: random.pick(cast.agents).address, to: token.address, data });
    },
    async replay(settlementsMax) {
      // The first time, nothing has been paid yet that could be replayed.
      if (lastUsed === undefined) return plan.relayed(settlementsMax);
      // Refused by the token, unless a reorg took the original away: then this one pays, and counts like any other.
      return relay(random.pick(cast.relayers), token.address, callTransfer(lastUsed), 0);
    },
    ...permit2,
    ...channelPlan,
  };
  return plan;
}

const BATCH_GAS = 1_500_000n;

function permit2Planners(world: MixDependencies, source: ReturnType<typeof paymentSource>) {
  const { cast, token, chainId, random } = world;
  const nonces = new Map<Address, bigint>();
  const terms = (): { readonly payment: Payment; readonly nonce: bigint } => {
    const payment = source.any();
    const nonce = nonces.get(payment.payer.address) ?? 0n;
    nonces.set(payment.payer.address, nonce + 1n);
    // The proxies refuse an amount of zero.
    return { payment: { ...payment, amount: payment.amount + 1n }, nonce };
  };
  const settle = (relayer: Relayer, proxy: Address, data: Hex): PlannedTransaction => ({
    transaction: { from: relayer.address, to: proxy, data: withCode(relayer, data) },
    settlements: 1,
    // An x402-only contract is worth as much as a builder code (evidence ladder).
    expected: relayer.facilitator === null ? 'builder_code' : 'facilitator_relay',
  });
  return {
    async permit2Exact() {
      const { payment, nonce } = terms();
      const { payer, payee: to, amount } = payment;
      const data = await callExactSettle(payer, { chainId, token: token.address, to, amount, nonce });
      return settle(random.pick(cast.relayers), EXACT_PROXY, data);
    },
    async permit2Upto() {
      const { payment, nonce } = terms();
      const relayer = random.pick(cast.relayers);
      const data = await callUptoSettle(payment.payer, {
        chainId,
        token: token.address,
        to: payment.payee,
        amount: payment.amount * CEILING_FACTOR,
        actual: payment.amount,
        facilitator: relayer.address,
        nonce,
      });
      return settle(relayer, UPTO_PROXY, data);
    },
  };
}
