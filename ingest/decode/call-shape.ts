import type { Address, Hash } from '../../core/domain/account.ts';
import type { TransactionFacts } from '../chain/block-source.ts';
import type { Marker } from '../grading/grade.ts';
import { isAddressInWord } from './hex-word.ts';

/** Selectors of EIP-3009, as Circle’s FiatTokenV2_2 has them. */
const TRANSFER_WITH_AUTHORIZATION = ['0xe3ee160e', '0xcf092995'];
const RECEIVE_WITH_AUTHORIZATION = ['0xef55bec6', '0x88b7ab63'];
const TRANSFER = '0xa9059cbb';

const SELECTOR_CHARS = 10;
const WORD_DIGITS = 64;

/** How a transaction made its transfer. */
export interface CallShape {
  readonly directCall: boolean;
  readonly received: boolean;
}

const DIRECT: CallShape = { directCall: true, received: false };
const DIRECT_RECEIVED: CallShape = { directCall: true, received: true };
const ROUTED: CallShape = { directCall: false, received: false };
const ROUTED_RECEIVED: CallShape = { directCall: false, received: true };

/** The token's log: from and to as its words, the amount as its data. */
interface TransferWords {
  readonly token: Address;
  readonly from: Hash;
  readonly to: Hash;
  readonly amount: string;
}

/**
 * Distinguishes direct from routed calls, and receive from transfer. See docs/design/evidence.md.
 *
 * Calldata proves something only if the transaction calls the token itself and the arguments equal the log. Behind a router the only
 * remaining sign is that the called contract is the payee: it pulled the payment to itself. An x402 settlement router is exempt: it
 * is the first payee of every payment that it relays, but not the beneficiary.
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
