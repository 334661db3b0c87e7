import type { Hash } from '../../../core/domain/account.ts';
import type { RawLog } from '../../chain/block-source.ts';
import { addressInWord, isAddressInWord, uintInWord } from '../hex-word.ts';
import type { ChannelMove } from './moves.ts';

/**
 * Finds the transfers by which the tokens of channel moves travelled. The event of the contract is what counts, so these transfers are
 * no payments of their own, whatever collector, token store or authorization they passed through.
 */

interface Transfer {
  readonly at: number;
  readonly token: string;
  readonly from: Hash;
  readonly to: Hash;
  readonly amount: bigint;
}

/** Positions, in the transaction's logs, of transfers that belong to a move. `isTransfer` says which logs are transfers. */
export function legsOf(
  logs: readonly RawLog[],
  isTransfer: (at: number) => boolean,
  moves: readonly ChannelMove[],
): ReadonlySet<number> {
  const transfers = logs.flatMap((log, at) => (isTransfer(at) ? transferAt(log, at) : []));
  const legs = new Set<number>();
  for (const [index, move] of moves.entries()) {
    if (move.event.legs === 'none') continue;
    const window =
      move.event.legs === 'before'
        ? { after: moves[index - 1]?.at ?? -1, before: move.at }
        : { after: move.at, before: moves[index + 1]?.at ?? logs.length };
    const near = transfers.filter(
      ({ at, token }) =>
        at > window.after && at < window.before && token === move.terms.token && !legs.has(at),
    );
    const found =
      move.contract.scheme === 'batch-settlement' ? batchLegs(near, move) : escrowLegs(near, move);
    for (const { at } of found) legs.add(at);
  }
  return legs;
}

function transferAt({ address, topics, data }: RawLog, at: number): Transfer[] {
  const [, from, to] = topics;
  const amount = uintInWord(data);
  return from === undefined || to === undefined || amount === undefined
    ? []
    : [{ at, token: address, from, to, amount }];
}

/** The channel contract holds the tokens itself: one transfer has it as a party, and a deposit has one more, into the collector. */
function batchLegs(near: readonly Transfer[], move: ChannelMove): Transfer[] {
  const { address } = move.contract;
  const direct = near.filter(
    ({ from, to, amount }) =>
      isAddressInWord(address, move.kind === 'deposit' ? to : from) && amount === move.amount,
  );
  const leg = move.event.legs === 'before' ? direct.at(-1) : direct[0];
  if (leg === undefined) return [];
  // A payer's own transfer came through no collector: what the payer received before is a payment of its own.
  if (move.kind !== 'deposit' || isAddressInWord(move.terms.payer, leg.from)) return [leg];
  const into = near.findLast(({ at, to, amount }) => at < leg.at && to === leg.from && amount === leg.amount);
  return into === undefined ? [leg] : [into, leg];
}

/** The tokens wait in a store of the operator, whose address no event of the payment names: follow the amount to or from it. */
function escrowLegs(near: readonly Transfer[], move: ChannelMove): Transfer[] {
  const collects = move.kind === 'deposit' || move.event.termsAt !== undefined || move.kind === 'refund';
  const { legs, store } = collects ? followIn(near, move) : followOut(near, move);
  if (store === undefined || isParty(store, move)) return legs;
  return [...legs, ...near.filter((transfer) => transfer.from === store && !legs.includes(transfer))];
}

interface Followed {
  readonly legs: Transfer[];
  readonly store: Hash | undefined;
}

/**
 * From the account that pays, through a collector or not, to the store. The payer signs the most that a payment may take: the EIP-3009
 * collector pulls all of it, returns the excess and passes on the amount.
 */
function followIn(near: readonly Transfer[], move: ChannelMove): Followed {
  const isFromPayer = ({ from }: Transfer): boolean =>
    move.kind === 'refund' || isAddressInWord(move.terms.payer, from);
  const first = near.findIndex(
    (transfer, index) =>
      isFromPayer(transfer) &&
      (transfer.amount === move.amount || excessOf(near, index, move.amount) !== undefined),
  );
  const pulled = near[first];
  if (pulled === undefined) return { legs: [], store: undefined };
  const excess = excessOf(near, first, move.amount);
  const legs = excess === undefined ? [pulled] : [pulled, excess];
  let last = pulled;
  while (!isParty(last.to, move)) {
    const { at, to } = last;
    const next = near.find(
      (one) => one.at > at && one.from === to && one.amount === move.amount && one !== excess,
    );
    if (next === undefined) break;
    legs.push(next);
    last = next;
  }
  return { legs, store: last.to };
}

/** A collector returns the excess before or after it passes on the amount. */
const EXCESS_WITHIN_TRANSFERS = 2;

/** What was returned of the pull at `index` because it took more than `amount`. */
function excessOf(near: readonly Transfer[], index: number, amount: bigint): Transfer | undefined {
  const pulled = near[index];
  return near
    .slice(index + 1, index + 1 + EXCESS_WITHIN_TRANSFERS)
    .find(
      (one) => one.from === pulled?.to && one.to === pulled.from && one.amount === pulled.amount - amount,
    );
}

/** From the store to the payee of a capture, or back to the payer. */
function followOut(near: readonly Transfer[], move: ChannelMove): Followed {
  const to = move.kind === 'payment' ? move.terms.payee : move.terms.payer;
  const net = move.amount - move.fee;
  // A fee of all that is captured leaves no transfer to the payee.
  const leg = near.find((transfer) =>
    net > 0n ? isAddressInWord(to, transfer.to) && transfer.amount === net : transfer.amount === move.amount,
  );
  return { legs: leg === undefined ? [] : [leg], store: leg?.from };
}

function isParty(word: Hash, { terms }: ChannelMove): boolean {
  const account = addressInWord(word);
  return account === terms.payer || account === terms.payee;
}
