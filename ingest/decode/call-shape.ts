import type { Address } from '../../core/domain/address.ts';
import type { Hash } from '../../core/domain/settlement.ts';
import type { TransactionFacts } from '../chain/block-source.ts';
import { isAddressInWord } from './hex-word.ts';
import type { Marker } from './ungraded-settlement.ts';

/** Selectors of protocol.md 2.1. */
const TRANSFER_WITH_AUTHORIZATION = ['0xe3ee160e', '0xcf092995'];
const RECEIVE_WITH_AUTHORIZATION = ['0xef55bec6', '0x88b7ab63'];
const TRANSFER = '0xa9059cbb';

const SELECTOR_CHARS = 10;
const WORD_DIGITS = 64;

export interface CallShape {
  readonly directCall: boolean;
  readonly received: boolean;
}

const DIRECT: CallShape = { directCall: true, received: false };
const DIRECT_RECEIVED: CallShape = { directCall: true, received: true };
const ROUTED: CallShape = { directCall: false, received: false };
const ROUTED_RECEIVED: CallShape = { directCall: false, received: true };

/** The token's log: from and to as its words, the amount as its data. */
export interface TransferWords {
  readonly token: Address;
  readonly from: Hash;
  readonly to: Hash;
  readonly amount: string;
}

/**
 * Tells direct from routed and receive from transfer. Source: protocol.md 2.3.
 *
 * Calldata proves something only where the transaction calls the token itself and the arguments equal the log. Behind a
 * router the one sign left is that the called contract is the payee: it pulled the payment to itself. An x402 settlement
 * router is exempt: it is the first payee of every payment it relays (protocol.md 2.4), without being its beneficiary.
 */
export function callShapeOf(
  transfer: TransferWords,
  tx: Pick<TransactionFacts, 'to' | 'input'>,
  { marker, viaX402Contract }: { readonly marker: Marker; readonly viaX402Contract: boolean },
): CallShape {
  if (tx.to === transfer.token) return directShape(transfer, tx.input, marker);
  const isPulled =
    marker === 'authorization' && !viaX402Contract && tx.to !== null && isAddressInWord(tx.to, transfer.to);
  return isPulled ? ROUTED_RECEIVED : ROUTED;
}

function directShape({ from, to, amount }: TransferWords, input: string, marker: Marker): CallShape {
  const selector = input.slice(0, SELECTOR_CHARS);
  if (marker === 'none') return selector === TRANSFER && hasArguments(input, [to, amount]) ? DIRECT : ROUTED;
  const isTransfer = TRANSFER_WITH_AUTHORIZATION.includes(selector);
  if (!isTransfer && !RECEIVE_WITH_AUTHORIZATION.includes(selector)) return ROUTED;
  if (!hasArguments(input, [from, to, amount])) return ROUTED;
  return isTransfer ? DIRECT : DIRECT_RECEIVED;
}

/** Whether the calldata's first arguments are these words. One comparison of a joined text is cheaper than one per word. */
function hasArguments(input: string, words: readonly string[]): boolean {
  let joined = '';
  for (const word of words) joined += word.slice(2);
  return input.slice(SELECTOR_CHARS, SELECTOR_CHARS + words.length * WORD_DIGITS) === joined;
}
