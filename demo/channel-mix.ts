import type { Hex } from 'viem';
import type { Cast, Merchant, Relayer } from './actors.ts';
import {
  BATCH_SETTLEMENT,
  type Channel,
  callAuthorize,
  callCapture,
  callCharge,
  callClaim,
  callClaimWithSignature,
  callDeposit,
  callMulticall,
  callSettle,
  channelOf,
  ESCROW,
  type Escrowed,
  type EscrowTerms,
  escrowedOf,
} from './chain/channels.ts';
import type { ChainToken } from './chain/deploy-usdc.ts';
import { type PlannedTransaction, type PlanTransaction, relayedGrade, withCode } from './planned.ts';
import { paymentAmount, type Random } from './random.ts';

export interface ChannelMixDependencies {
  readonly cast: Cast;
  readonly token: ChainToken;
  readonly chainId: number;
  readonly random: Random;
}

/** Payments out of channels (batch-settlement) and escrows (auth-capture). */
export interface ChannelMix {
  readonly openings: () => Promise<PlannedTransaction[]>;
  readonly plan: Readonly<
    Record<'channelClaim' | 'channelPayout' | 'escrowCapture' | 'escrowCharge', PlanTransaction>
  >;
}

const SELLERS = 3;
const CHANNELS_PER_SELLER = 3;
const ESCROWS = 4;
/** Ten thousand dollars each: no demo empties one. */
const DEPOSIT_ATOMS = 10_000_000_000n;
const FEE_SHARE = 50n;
/** A claim of several channels costs more than the sender's default. */
const GAS = 1_500_000n;

interface OpenChannel {
  readonly channel: Channel;
  readonly seller: Merchant;
  /** Of all claims planned so far. */
  total: bigint;
}

interface OpenEscrow {
  readonly escrowed: Escrowed;
  readonly operator: Relayer;
}

/**
 * Every claim advances its channel, also when a reorg drops the one before: vouchers are cumulative. Captures take small parts of a large
 * authorization, so none is refused.
 */
export function createChannelMix(deps: ChannelMixDependencies): ChannelMix {
  const { cast, token, chainId, random } = deps;
  const channels = openChannels(deps);
  const escrows = openEscrows(deps);
  let salt = BigInt(ESCROWS);

  const claimsOf = (settlementsMax: number) => {
    const { seller } = random.pick(channels);
    const mine = channels.filter((one) => one.seller === seller);
    const chosen = mine.slice(0, 1 + random.below(Math.min(mine.length, settlementsMax)));
    for (const one of chosen) one.total += paymentAmount(random) + 1n;
    return { seller, claims: chosen.map(({ channel, total }) => ({ channel, total })) };
  };
  const sent = (from: Relayer | Merchant, data: Hex, settlements: number): PlannedTransaction => ({
    transaction: { from: from.address, to: BATCH_SETTLEMENT, data, gas: GAS },
    settlements,
    // The contract serves x402 only, so a claim has this grade also if the seller sends it.
    expected: 'facilitator' in from && from.facilitator !== null ? 'facilitator_relay' : 'builder_code',
  });
  const operated = ({ operator }: OpenEscrow, data: Hex): PlannedTransaction => ({
    transaction: { from: operator.address, to: ESCROW, data: withCode(operator, data), gas: GAS },
    settlements: 1,
    expected: relayedGrade(operator),
  });
  const channelClaim: PlanTransaction = async (settlementsMax) => {
    const { seller, claims } = claimsOf(settlementsMax);
    return random.chance(0.5)
      ? sent(seller, await callClaim(claims), claims.length)
      : sent(random.pick(cast.relayers), await callClaimWithSignature(claims, seller), claims.length);
  };
  return {
    openings: async () => [
      ...(await Promise.all(
        channels.map(async ({ channel }, at) =>
          sent(
            cast.relayers[at % cast.relayers.length] as Relayer,
            await callDeposit(token, channel, { amount: DEPOSIT_ATOMS, salt: BigInt(at) }),
            1,
          ),
        ),
      )),
      ...(await Promise.all(
        escrows.map(async (open) =>
          operated(open, await callAuthorize(token, open.escrowed, { amount: DEPOSIT_ATOMS, chainId })),
        ),
      )),
    ],
    plan: {
      channelClaim,
      async channelPayout(settlementsMax) {
        // A payout needs a claim in the same transaction: a reorg may have paid out all that came before.
        if (settlementsMax < 2) return channelClaim(settlementsMax);
        const { seller, claims } = claimsOf(settlementsMax - 1);
        const calls = [await callClaim(claims), callSettle(seller.address, token)];
        return sent(seller, callMulticall(calls), claims.length + 1);
      },
      async escrowCapture() {
        const open = random.pick(escrows);
        const amount = paymentAmount(random) + FEE_SHARE;
        return operated(open, callCapture(open.escrowed, { amount, fee: amount / FEE_SHARE }));
      },
      async escrowCharge() {
        salt += 1n;
        const amount = paymentAmount(random) + FEE_SHARE;
        const open = openEscrow(deps, { salt, maxAmount: amount * BigInt(1 + random.below(3)) });
        const fee = amount / FEE_SHARE;
        return operated(open, await callCharge(token, open.escrowed, { amount, fee, chainId }));
      },
    },
  };
}

function openChannels({ cast, token, chainId }: ChannelMixDependencies): OpenChannel[] {
  return cast.merchants.slice(0, SELLERS).flatMap((seller, at) =>
    cast.agents.slice(at * CHANNELS_PER_SELLER, (at + 1) * CHANNELS_PER_SELLER).map((payer, index) => ({
      seller,
      channel: channelOf(token, { chainId, payer, payee: seller.address, salt: index }),
      total: 0n,
    })),
  );
}

function openEscrows(deps: ChannelMixDependencies): OpenEscrow[] {
  return Array.from({ length: ESCROWS }, (_, at) =>
    openEscrow(deps, { salt: BigInt(at), maxAmount: DEPOSIT_ATOMS }),
  );
}

function openEscrow(
  { cast, token, chainId, random }: ChannelMixDependencies,
  terms: Pick<EscrowTerms, 'salt' | 'maxAmount'>,
): OpenEscrow {
  const operator = random.pick(cast.relayers);
  const escrowed = escrowedOf(token, {
    chainId,
    operator: operator.address,
    payer: random.pick(cast.agents),
    payee: random.pick(cast.merchants).address,
    feeReceiver: operator.address,
    ...terms,
  });
  return { escrowed, operator };
}
