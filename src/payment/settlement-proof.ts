import type { WitnessQuestion } from './chain-witness.ts';

/** What the logs of one transaction prove about one authorization. Source: protocol.md 2.1, 2.2. */

export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
export const USED_TOPIC = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
export const CANCELED_TOPIC = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81';

/** A log as a node tells it; hex in lower case. */
export interface WitnessLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly transactionHash: string;
  readonly logIndex: number;
}

type Claim = Pick<WitnessQuestion, 'id' | 'payTo' | 'amount'>;

/** `absent`: the transaction does not use the authorization at all. */
export type Proof = 'paid' | 'paid_otherwise' | 'absent';

/**
 * Pairs the authorization's marker with the transfer it caused: the token's next Transfer from the payer before any other
 * marker, or else the one right before it, as other issuers' tokens emit them. One transaction may settle several payments.
 */
export function proofIn(logs: readonly WitnessLog[], { id, payTo, amount }: Claim): Proof {
  const ofToken = logs
    .filter(({ address }) => address === id.asset)
    .toSorted((a, b) => a.logIndex - b.logIndex);
  const marker = ofToken.findIndex((log) => isMarkerOf(log, id));
  if (marker < 0) return 'absent';
  const following = ofToken.slice(marker + 1);
  const nextMarker = following.findIndex(({ topics }) => topics[0] === USED_TOPIC);
  const own = nextMarker < 0 ? following : following.slice(0, nextMarker);
  const isFromPayer = (log: WitnessLog): boolean => isTransfer(log) && log.topics[1] === word(id.payer);
  const before = ofToken[marker - 1];
  const transfer =
    own.find(isFromPayer) ?? (before !== undefined && isFromPayer(before) ? before : undefined);
  if (transfer === undefined) return 'paid_otherwise';
  const isOurs = transfer.topics[2] === word(payTo) && BigInt(transfer.data) >= BigInt(amount);
  return isOurs ? 'paid' : 'paid_otherwise';
}

/** Whether the log is the AuthorizationUsed of exactly this payer and nonce. */
export function isMarkerOf({ topics }: WitnessLog, { payer, nonce }: WitnessQuestion['id']): boolean {
  return topics[0] === USED_TOPIC && topics[1] === word(payer) && topics[2] === nonce;
}

/** ERC-20 only: the transfer of an ERC-721 token has four topics and no amount. */
function isTransfer({ topics, data }: WitnessLog): boolean {
  return topics[0] === TRANSFER_TOPIC && topics.length === 3 && /^0x[0-9a-f]{64}$/.test(data);
}

/** An address as a topic or an argument: left-padded to 32 bytes. */
export function word(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`;
}
