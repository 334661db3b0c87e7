import type { Testimony, WitnessQuestion } from './chain-witness.ts';
import type { JsonRpc, WitnessReceipt } from './json-rpc.ts';
import { searchBack } from './search-back.ts';
import { CANCELED_TOPIC, isMarkerOf, proofIn, USED_TOPIC, word } from './settlement-proof.ts';

/** What became of an EIP-3009 authorization. Source: protocol.md 2.1, 2.2. */

const AUTHORIZATION_STATE = '0xe94a0102';

/** Rejects when the node does not answer as it should. */
export async function askAboutTransfer(
  node: JsonRpc,
  question: WitnessQuestion,
  logWindowMax: number,
): Promise<Testimony> {
  const claimed = await confirmClaimed(node, question);
  if (claimed !== null) return claimed;
  if (!(await isUsed(node, question))) return { outcome: 'unsettled' };
  const found = await findUse(node, question, logWindowMax);
  if (found === null) return { outcome: 'silent' };
  if (found.kind === 'canceled') return { outcome: 'spent_otherwise' };
  const receipt = await node.receipt(found.transaction);
  if (receipt === null) return { outcome: 'silent' };
  return judge(receipt, question) ?? { outcome: 'spent_otherwise' };
}

/** One question instead of four when somebody already says which transaction it was; null when that proves nothing. */
async function confirmClaimed(node: JsonRpc, question: WitnessQuestion): Promise<Testimony | null> {
  if (question.claimed === undefined) return null;
  const receipt = await node.receipt(question.claimed);
  return receipt === null ? null : judge(receipt, question);
}

function judge(receipt: WitnessReceipt, question: WitnessQuestion): Testimony | null {
  if (!receipt.succeeded) return null;
  const proof = proofIn(receipt.logs, question);
  if (proof === 'absent') return null;
  return proof === 'paid'
    ? { outcome: 'settled', transaction: receipt.transaction }
    : { outcome: 'spent_otherwise' };
}

/** `authorizationState(payer, nonce)`: true once used or cancelled. */
async function isUsed(node: JsonRpc, { id }: WitnessQuestion): Promise<boolean> {
  const answer = await node.call(
    id.asset,
    `${AUTHORIZATION_STATE}${word(id.payer).slice(2)}${id.nonce.slice(2)}`,
  );
  if (!/^0x0{63}[01]$/.test(answer)) throw new Error('the token does not answer authorizationState');
  return answer.endsWith('1');
}

interface Use {
  readonly kind: 'used' | 'canceled';
  readonly transaction: string;
}

/** Null: it lies further back than may be searched. */
function findUse(node: JsonRpc, { id, sinceMs }: WitnessQuestion, logWindowMax: number): Promise<Use | null> {
  const topics = [[USED_TOPIC, CANCELED_TOPIC], word(id.payer), id.nonce];
  return searchBack<Use>(node, { address: id.asset, topics, sinceMs, window: logWindowMax }, async (logs) => {
    const used = logs.find((log) => isMarkerOf(log, id));
    if (used !== undefined) return { kind: 'used', transaction: used.transactionHash };
    const canceled = logs.find(({ topics: [kind] }) => kind === CANCELED_TOPIC);
    return canceled === undefined ? null : { kind: 'canceled', transaction: canceled.transactionHash };
  });
}
