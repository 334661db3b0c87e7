import type { AuthorizationId } from '../accounts/payment-store.ts';
import { UPTO_PROXY } from './signed-payment.ts';

/** What one transaction proves about one authorization: pure functions over its logs and calldata. */

export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
export const USED_TOPIC = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
export const CANCELED_TOPIC = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81';

/** A log of a node's answer; hex in lower case. */
export interface ChainLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly transactionHash: string;
  readonly logIndex: number;
}

export interface ChainCall {
  /** Null for the creation of a contract. */
  readonly to: string | null;
  readonly input: string;
}

export interface ChainReceipt {
  readonly transaction: string;
  readonly succeeded: boolean;
  readonly logs: readonly ChainLog[];
}

interface TransferClaim {
  readonly id: AuthorizationId;
  readonly payTo: string;
  /** What must have been paid at least: atomic units, decimal. */
  readonly amount: string;
}

/** `absent`: the transaction does not use the authorization at all. */
export type Proof = 'paid' | 'paid_otherwise' | 'absent';

/**
 * Pairs the authorization's marker with the transfer it caused: the token's next Transfer from the payer before any other
 * marker, or else the one right before it, as other issuers' tokens emit them. One transaction may settle several payments.
 */
export function proofIn(logs: readonly ChainLog[], { id, payTo, amount }: TransferClaim): Proof {
  const ofToken = logs
    .filter(({ address }) => address === id.asset)
    .toSorted((a, b) => a.logIndex - b.logIndex);
  const marker = ofToken.findIndex((log) => isMarkerOf(log, id));
  if (marker < 0) return 'absent';
  const following = ofToken.slice(marker + 1);
  const nextMarker = following.findIndex(({ topics }) => topics[0] === USED_TOPIC);
  const own = nextMarker < 0 ? following : following.slice(0, nextMarker);
  const isFromPayer = (log: ChainLog): boolean => isTransfer(log) && log.topics[1] === word(id.payer);
  const before = ofToken[marker - 1];
  const transfer =
    own.find(isFromPayer) ?? (before !== undefined && isFromPayer(before) ? before : undefined);
  if (transfer === undefined) return 'paid_otherwise';
  const isOurs = transfer.topics[2] === word(payTo) && BigInt(transfer.data) >= BigInt(amount);
  return isOurs ? 'paid' : 'paid_otherwise';
}

/** Whether the log is the AuthorizationUsed of exactly this payer and nonce. */
export function isMarkerOf({ topics }: ChainLog, { payer, nonce }: AuthorizationId): boolean {
  return topics[0] === USED_TOPIC && topics[1] === word(payer) && topics[2] === nonce;
}

/** ERC-20 only: the transfer of an ERC-721 token has four topics and no amount. */
function isTransfer({ topics, data }: ChainLog): boolean {
  return topics[0] === TRANSFER_TOPIC && topics.length === 3 && /^0x[0-9a-f]{64}$/.test(data);
}

/** An address as a topic or an argument: left-padded to 32 bytes. */
export function word(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`;
}

/**
 * What one transaction proves about a ceiling. Permit2's logs hold no nonce, so the link is the calldata of a call that went
 * straight to the proxy: the proxy pays with exactly these arguments or reverts. Calldata of any other contract proves nothing.
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
  { to, input }: ChainCall,
  { succeeded, logs }: ChainReceipt,
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
