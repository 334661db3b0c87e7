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
  const into = near.findLast(({ at, to, amount }) => at < leg.at && to === leg.from && amount === leg.amount);
  return move.kind === 'deposit' && into !== undefined ? [into, leg] : [leg];
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

/** From whoever pays, through a collector or not, to the store. */
function followIn(near: readonly Transfer[], move: ChannelMove): Followed {
  const isFirst = ({ from, amount }: Transfer): boolean =>
    amount === move.amount && (move.kind === 'refund' || isAddressInWord(move.terms.payer, from));
  const legs: Transfer[] = [];
  let next = near.find(isFirst);
  while (next !== undefined) {
    legs.push(next);
    const last = next;
    next = isParty(last.to, move)
      ? undefined
      : near.find(({ at, from, amount }) => at > last.at && from === last.to && amount === move.amount);
  }
  return { legs, store: legs.at(-1)?.to };
}

/** From the store to the payee of a capture, or back to the payer. */
function followOut(near: readonly Transfer[], move: ChannelMove): Followed {
  const to = move.kind === 'payment' ? move.terms.payee : move.terms.payer;
  const leg = near.find(
    (transfer) => isAddressInWord(to, transfer.to) && transfer.amount === move.amount - move.fee,
  );
  return { legs: leg === undefined ? [] : [leg], store: leg?.from };
}

function isParty(word: Hash, { terms }: ChannelMove): boolean {
  const account = addressInWord(word);
  return account === terms.payer || account === terms.payee;
}
