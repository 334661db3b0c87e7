import type { WitnessCall, WitnessReceipt } from './json-rpc.ts';
import { UPTO_PROXY } from './permit2.ts';
import { TRANSFER_TOPIC, word } from './settlement-proof.ts';

/**
 * What one transaction proves about a ceiling. Permit2 tells no nonce in its logs, so that the link is the calldata of a call
 * that went straight to the proxy: the proxy pays with exactly these arguments or reverts. Calldata of any other contract proves
 * nothing. Source: protocol.md 1.8, 2.1, 2.3.
 */

const SETTLED_TOPIC = '0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6';
/** settle(((token, permitted), nonce, deadline), amount, owner, (to, facilitator, validAfter), signature). */
const SETTLE_SELECTOR = '0xff11e7b4';
const WORD_CHARS = 64;
/** Places of the words after the selector. All before the signature are of fixed size. */
const WORDS = { token: 0, nonce: 2, amount: 4, owner: 5, to: 6, end: 9 } as const;

export interface CeilingClaim {
  readonly asset: string;
  readonly payer: string;
  readonly payTo: string;
  readonly nonce: bigint;
  /** What must have been paid at least. */
  readonly amount: bigint;
}

/** `paid_less`: this nonce was used here, for another payee, another token or less. `absent`: it was not used in this call. */
export type UptoProof = 'paid' | 'paid_less' | 'absent';

export function uptoProofIn(
  { to, input }: WitnessCall,
  { succeeded, logs }: WitnessReceipt,
  claim: CeilingClaim,
): UptoProof {
  if (!succeeded || to !== UPTO_PROXY || !input.startsWith(SETTLE_SELECTOR)) return 'absent';
  const words = input.slice(SETTLE_SELECTOR.length);
  if (words.length < WORDS.end * WORD_CHARS) return 'absent';
  const at = (place: number): string => `0x${words.slice(place * WORD_CHARS, (place + 1) * WORD_CHARS)}`;
  if (at(WORDS.owner) !== word(claim.payer) || BigInt(at(WORDS.nonce)) !== claim.nonce) return 'absent';
  const amount = BigInt(at(WORDS.amount));
  const isDue =
    at(WORDS.token) === word(claim.asset) && at(WORDS.to) === word(claim.payTo) && amount >= claim.amount;
  const hasSettled = logs.some(
    ({ address, topics }) => address === UPTO_PROXY && topics[0] === SETTLED_TOPIC,
  );
  const hasMoved = logs.some(
    ({ address, topics: [kind, from, payee], data }) =>
      address === claim.asset &&
      kind === TRANSFER_TOPIC &&
      from === word(claim.payer) &&
      payee === word(claim.payTo) &&
      BigInt(data) === amount,
  );
  return isDue && hasSettled && hasMoved ? 'paid' : 'paid_less';
}
