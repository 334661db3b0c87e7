import { type Address, address } from '../../../core/domain/account.ts';
import { withBuilderCode } from '../../../demo/chain/payments.ts';
import type { Random } from '../../../demo/random.ts';
import { callData, type Event, PROXY, settled, transfer, used, wallet } from '../chain-logs.ts';
import type { ModelBlock, ModelTransaction } from './model-chain.ts';

/** Random x402 traffic for the model chain: every kind of payment that the index tells apart, among few wallets. */

/** Few, so that every wallet has a history and the same event places are taken by different wallets after a reorg. */
const PAYERS = Array.from({ length: 8 }, (_, index) => wallet(0xa0 + index));
/** Wallets that sell, and a collector of channel deposits. */
export const PAYEES = [
  ...Array.from({ length: 6 }, (_, index) => wallet(0xb0 + index)),
  address('0x4020806089470a89826cB9fB1f4059150b550004'),
];
export const RELAYERS = Array.from({ length: 5 }, (_, index) => wallet(0xc0 + index));
/** In the catalogue at all times, and the only one that gets bare transfers: whether those are kept is decided when read. */
export const CONSTANT_PAYEE = wallet(0xbf);

const ROUTER = wallet(0xca11);
const RECEIVE_SELECTOR = '0xef55bec6';
const UNITS_MAX = 5_000;
const QUIET_LOGS_MAX = 3;

interface Payment {
  readonly payer: Address;
  readonly payee: Address;
  readonly units: number;
  readonly token: Address;
}

/** `transactions` of random kinds in one block at `time`. */
export function randomBlock(
  random: Random,
  { time, token, transactions }: { time: number; token: Address; transactions: number },
): ModelBlock {
  return {
    time,
    transactions: Array.from({ length: transactions }, () => randomTransaction(random, token)),
  };
}

function randomPayment(random: Random, token: Address): Payment {
  const payer = random.pick(PAYERS);
  return {
    payer,
    payee: payeeOf(random, payer),
    units: random.chance(0.05) ? 0 : 1 + random.below(UNITS_MAX),
    token,
  };
}

/** Mostly a merchant; sometimes the payer, a relayer, or a wallet that otherwise pays. */
function payeeOf(random: Random, payer: Address): Address {
  if (random.chance(0.12)) return payer;
  if (random.chance(0.08)) return random.pick(RELAYERS);
  return random.chance(0.1) ? random.pick(PAYERS) : random.pick(PAYEES);
}

const marked = ({ payer, payee, units, token }: Payment, nonce: number): Event[] => [
  used(payer, nonce, token),
  transfer(payer, payee, units, token),
];
const inputOf = ({ payer, payee, units }: Payment): `0x${string}` =>
  `0x${callData(payer, payee, units).slice(2)}`;

function randomTransaction(random: Random, token: Address): ModelTransaction {
  const payment = randomPayment(random, token);
  const events = marked(payment, random.below(2 ** 31));
  const direct = {
    from: random.pick(RELAYERS),
    to: token,
    input: inputOf(payment),
    events,
    quietLogs: random.below(QUIET_LOGS_MAX),
  };
  switch (random.below(12)) {
    case 0: {
      const more = marked(randomPayment(random, token), random.below(2 ** 31));
      return { ...direct, to: ROUTER, input: '0x', events: [...events, ...more] };
    }
    case 1:
      return {
        ...direct,
        from: payment.payee,
        input: callData(payment.payer, payment.payee, payment.units, RECEIVE_SELECTOR),
      };
    case 2:
      return {
        ...direct,
        from: payment.payer,
        input: '0x',
        events: [transfer(payment.payer, CONSTANT_PAYEE, payment.units, token)],
      };
    case 3:
      return { ...direct, events: [...events].reverse() };
    case 4:
      return { ...direct, input: withBuilderCode(inputOf(payment), { w: 'sim_code', a: 'app' }) };
    case 5:
      return { ...direct, from: payment.payer };
    case 6: {
      const [, paid] = events;
      return { ...direct, to: PROXY, input: '0x', events: paid ? [paid, settled()] : [] };
    }
    default:
      return direct;
  }
}
