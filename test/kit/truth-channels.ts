import type { Address } from '../../core/domain/account.ts';
import type { DemoChain } from '../../demo/chain/anvil.ts';
import {
  BATCH_SETTLEMENT,
  type Channel,
  callAuthorize,
  callCapture,
  callChannelRefund,
  callCharge,
  callClaim,
  callClaimWithSignature,
  callDeposit,
  callEscrowRefund,
  callMulticall,
  callReclaim,
  callSettle,
  callVoid,
  channelOf,
  ESCROW,
  type Escrowed,
  escrowedOf,
  FOREIGN_COLLECTOR,
} from '../../demo/chain/channels.ts';
import type { Transaction, Wallet } from '../../demo/chain/sender.ts';
import type { Random } from '../../demo/random.ts';

/** Random calls of the channel and escrow contracts. Some are refused: then nothing may be indexed. */

interface ChannelParties {
  readonly payers: readonly Wallet[];
  readonly payees: readonly Wallet[];
  readonly relayers: readonly Address[];
}

const CHANNELS_MAX = 8;
/** Newest payments of escrows of which a call picks one. */
const RECENT_PAYMENTS = 6;
/** The same for each of them: more than the usual amount, and little enough that a payer can sign hundreds. */
const SIGNED_MAX_ATOMS = 1_000_000n;
/** Many blocks share a second: every other payment can be reclaimed while it is recent. */
const EXPIRES_AFTER_SECONDS = 1;
const GAS = 2_000_000n;

/** Plans the next transaction; what it remembers of earlier ones may have been undone by a reorg. */
export function randomChannelCalls(
  chain: DemoChain,
  random: Random,
  { payers, payees, relayers }: ChannelParties,
): () => Promise<Transaction> {
  const { token, chainId } = chain;
  const totals = new Map<Channel, bigint>();
  const payeeOf = (index: number): Wallet => payees[index % payees.length] as Wallet;
  const channels = Array.from({ length: CHANNELS_MAX }, (_, salt) => {
    const payer = payers[salt % payers.length] as Wallet;
    return {
      payee: payeeOf(salt),
      channel: channelOf(token, { chainId, payer, payee: payeeOf(salt).address, salt }),
    };
  });
  let salt = 0n;
  const amount = (): bigint => BigInt(1 + random.below(2_000));
  const deposit = (channel: Channel): Promise<`0x${string}`> => {
    salt += 1n;
    const collector = random.chance(0.3) ? { collector: FOREIGN_COLLECTOR } : {};
    return callDeposit(token, channel, { amount: amount() * 4n, salt, ...collector });
  };
  const claim = (channel: Channel) => {
    const total = (totals.get(channel) ?? 0n) + amount();
    totals.set(channel, total);
    return { channel, total };
  };
  const toBatch = (from: Address, data: `0x${string}`): Transaction => ({
    from,
    to: BATCH_SETTLEMENT,
    data,
    gas: GAS,
  });

  const ofChannel = async (): Promise<Transaction> => {
    const { channel, payee } = random.pick(channels);
    const relayer = random.pick(relayers);
    switch (random.below(6)) {
      case 0:
        return toBatch(payee.address, await callClaim([claim(channel)]));
      case 1: {
        const mine = channels.filter((one) => one.payee === payee).map((one) => claim(one.channel));
        return toBatch(relayer, await callClaimWithSignature(mine, payee));
      }
      case 2:
        return toBatch(relayer, callSettle(payee.address, token));
      case 3:
        return toBatch(payee.address, callChannelRefund(channel, amount()));
      case 4: {
        const calls = [
          await deposit(channel),
          await callClaim([claim(channel)]),
          callSettle(payee.address, token),
        ];
        return toBatch(payee.address, callMulticall(calls));
      }
      default:
        return toBatch(relayer, await deposit(channel));
    }
  };
  const payments: Escrowed[] = [];
  const openPayment = async (): Promise<Escrowed> => {
    const index = payments.length;
    const operator = relayers[index % relayers.length] as Address;
    const newest = await chain.rpc.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
    const opened = escrowedOf(token, {
      chainId,
      operator,
      payer: payers[index % payers.length] as Wallet,
      payee: payeeOf(index).address,
      feeReceiver: operator,
      maxAmount: SIGNED_MAX_ATOMS,
      salt: BigInt(index),
      ...(index % 2 === 0 && { expiry: Number(newest.timestamp) + EXPIRES_AFTER_SECONDS }),
    });
    payments.push(opened);
    return opened;
  };
  const ofEscrow = async (): Promise<Transaction> => {
    const kind = random.below(5);
    const opens = kind < 2;
    const recent = payments.slice(-RECENT_PAYMENTS);
    // The oldest of them has expired, if it ever does.
    const known = kind === 4 ? recent[0] : recent[random.below(recent.length)];
    const escrowed = opens || known === undefined ? await openPayment() : known;
    const operator = escrowed.info.operator as Address;
    const to = (data: `0x${string}`, from = operator): Transaction => ({ from, to: ESCROW, data, gas: GAS });
    switch (kind) {
      case 1:
        return to(await callCharge(token, escrowed, { amount: amount(), fee: 1n, chainId }));
      case 2:
        return to(callCapture(escrowed, { amount: amount(), fee: BigInt(random.below(2)) }));
      case 3:
        return to(random.chance(0.5) ? callVoid(escrowed) : callEscrowRefund(escrowed, amount()));
      case 4:
        return to(callReclaim(escrowed), escrowed.payer.address);
      default:
        return to(await callAuthorize(token, escrowed, { amount: amount() * 4n, chainId }));
    }
  };
  return () => (random.chance(0.6) ? ofChannel() : ofEscrow());
}
