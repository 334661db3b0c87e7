import type { Address } from '../../src/domain/address.ts';
import type { TransactionFacts } from '../sources/block-source.ts';
import type { Marker } from './ungraded-settlement.ts';

/** Selectors of protocol.md 2.1. */
const TRANSFER_WITH_AUTHORIZATION = ['0xe3ee160e', '0xcf092995'];
const RECEIVE_WITH_AUTHORIZATION = ['0xef55bec6', '0x88b7ab63'];
const TRANSFER = '0xa9059cbb';

const SELECTOR_CHARS = 10;
const WORD_DIGITS = 64;
const ADDRESS_DIGITS = 40;

export interface CallShape {
  readonly directCall: boolean;
  readonly received: boolean;
}

const DIRECT: CallShape = { directCall: true, received: false };
const DIRECT_RECEIVED: CallShape = { directCall: true, received: true };
const ROUTED: CallShape = { directCall: false, received: false };
const ROUTED_RECEIVED: CallShape = { directCall: false, received: true };

/** A transfer as words of its log: addresses as 40 digits, the amount as the whole data word. */
export interface TransferWords {
  readonly token: Address;
  readonly payer: string;
  readonly payee: string;
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
  { to, input }: TransactionFacts,
  { marker, viaX402Contract }: { readonly marker: Marker; readonly viaX402Contract: boolean },
): CallShape {
  if (to === transfer.token) return directShape(transfer, input, marker);
  return marker === 'authorization' && !viaX402Contract && to?.slice(2) === transfer.payee
    ? ROUTED_RECEIVED
    : ROUTED;
}

function directShape({ payer, payee, amount }: TransferWords, input: string, marker: Marker): CallShape {
  const selector = input.slice(0, SELECTOR_CHARS);
  if (marker === 'none') {
    const isEqual = hasAddress(input, 0, payee) && hasWord(input, 1, amount);
    return isEqual && selector === TRANSFER ? DIRECT : ROUTED;
  }
  const isEqual = hasAddress(input, 0, payer) && hasAddress(input, 1, payee) && hasWord(input, 2, amount);
  if (isEqual && TRANSFER_WITH_AUTHORIZATION.includes(selector)) return DIRECT;
  return isEqual && RECEIVE_WITH_AUTHORIZATION.includes(selector) ? DIRECT_RECEIVED : ROUTED;
}

/** Whether the argument at `position` is this address. Its padding says nothing: older compilers ignore it. */
function hasAddress(input: string, position: number, digits: string): boolean {
  const end = SELECTOR_CHARS + (position + 1) * WORD_DIGITS;
  return input.slice(end - ADDRESS_DIGITS, end) === digits;
}

function hasWord(input: string, position: number, word: string): boolean {
  const from = SELECTOR_CHARS + position * WORD_DIGITS;
  return input.slice(from, from + WORD_DIGITS) === word.slice(2);
}
