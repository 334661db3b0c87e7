import type { Address } from '../../src/domain/address.ts';
import type { RawLog, TransactionFacts } from '../sources/block-source.ts';
import type { Marker } from './ungraded-settlement.ts';

/** Selectors of protocol.md 2.1. */
const TRANSFER_WITH_AUTHORIZATION = ['0xe3ee160e', '0xcf092995'];
const RECEIVE_WITH_AUTHORIZATION = ['0xef55bec6', '0x88b7ab63'];
const TRANSFER = '0xa9059cbb';

const SELECTOR_CHARS = 10;
const ARGUMENT_CHARS = 64;

export interface CallShape {
  readonly directCall: boolean;
  readonly received: boolean;
}

const DIRECT: CallShape = { directCall: true, received: false };
const DIRECT_RECEIVED: CallShape = { directCall: true, received: true };
const ROUTED: CallShape = { directCall: false, received: false };
const ROUTED_RECEIVED: CallShape = { directCall: false, received: true };

interface Payment {
  readonly transfer: RawLog;
  readonly tx: TransactionFacts;
  readonly payee: Address;
  readonly marker: Marker;
  readonly viaX402Contract: boolean;
}

/**
 * Tells direct from routed and receive from transfer. Source: protocol.md 2.3.
 *
 * Calldata proves something only where the transaction calls the token itself and the arguments equal the log. Behind a
 * router the one sign left is that the called contract is the payee: it pulled the payment to itself. An x402 settlement
 * router is exempt: it is the first payee of every payment it relays (protocol.md 2.4), without being its beneficiary.
 */
export function callShapeOf({ transfer, tx, payee, marker, viaX402Contract }: Payment): CallShape {
  if (tx.to === transfer.address) return directShape(transfer, tx.input, marker);
  return marker === 'authorization' && tx.to === payee && !viaX402Contract ? ROUTED_RECEIVED : ROUTED;
}

function directShape({ topics, data }: RawLog, input: string, marker: Marker): CallShape {
  const selector = input.slice(0, SELECTOR_CHARS);
  const [, from = '', to = ''] = topics;
  if (marker === 'none')
    return selector === TRANSFER && hasArgument(input, 0, to) && hasArgument(input, 1, data)
      ? DIRECT
      : ROUTED;
  const equal = hasArgument(input, 0, from) && hasArgument(input, 1, to) && hasArgument(input, 2, data);
  if (equal && TRANSFER_WITH_AUTHORIZATION.includes(selector)) return DIRECT;
  return equal && RECEIVE_WITH_AUTHORIZATION.includes(selector) ? DIRECT_RECEIVED : ROUTED;
}

/** Whether the calldata's argument at `position` is the word of the log. */
function hasArgument(input: string, position: number, word: string): boolean {
  return input.startsWith(word.slice(2), SELECTOR_CHARS + position * ARGUMENT_CHARS);
}
