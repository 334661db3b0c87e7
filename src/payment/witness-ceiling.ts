import type { Testimony, WitnessQuestion } from './chain-witness.ts';
import type { JsonRpc } from './json-rpc.ts';
import { PERMIT2 } from './permit2.ts';
import { searchBack } from './search-back.ts';
import { TRANSFER_TOPIC, word } from './settlement-proof.ts';
import { uptoProofIn } from './upto-proof.ts';

/** What became of a Permit2 nonce. Source: protocol.md 1.8, 2.1. */

type CeilingQuestion = WitnessQuestion & { readonly nonce: bigint };

const NONCE_BITMAP = '0x4fe02b44';
/** Transfers of one payer to us in the searched time that one look-up goes through. */
const CANDIDATES_MAX = 100;

/**
 * Rejects when the node does not answer as it should. A nonce that is used, but in no transaction that we can read, leaves the
 * answer `silent`: it may have settled through a contract in between, or been used for something else.
 */
export async function askAboutCeiling(
  node: JsonRpc,
  question: CeilingQuestion,
  logWindowMax: number,
): Promise<Testimony> {
  const { id, payTo, sinceMs, claimed } = question;
  const said = claimed === undefined ? null : await judge(node, question, claimed);
  if (said !== null) return said;
  if (!(await isUsed(node, question))) return { outcome: 'unsettled' };
  const topics = [TRANSFER_TOPIC, word(id.payer), word(payTo)];
  let candidates = 0;
  const found = await searchBack(
    node,
    { address: id.asset, topics, sinceMs, window: logWindowMax },
    async (logs) => {
      for (const transaction of new Set(logs.map(({ transactionHash }) => transactionHash))) {
        candidates += 1;
        if (candidates > CANDIDATES_MAX) throw new Error('too many transfers to go through');
        const testimony = await judge(node, question, transaction);
        if (testimony !== null) return testimony;
      }
      return null;
    },
  );
  return found ?? { outcome: 'silent' };
}

/** Null when the transaction says nothing about this nonce. */
async function judge(
  node: JsonRpc,
  { id, payTo, amount, nonce }: CeilingQuestion,
  transaction: string,
): Promise<Testimony | null> {
  const [call, receipt] = [await node.transaction(transaction), await node.receipt(transaction)];
  if (call === null || receipt === null) return null;
  const claim = { asset: id.asset, payer: id.payer, payTo, nonce, amount: BigInt(amount) };
  const proof = uptoProofIn(call, receipt, claim);
  if (proof === 'absent') return null;
  return proof === 'paid'
    ? { outcome: 'settled', transaction: receipt.transaction }
    : { outcome: 'spent_otherwise' };
}

/** `nonceBitmap(owner, nonce >> 8)`, bit `nonce & 255`: set once used or invalidated. */
async function isUsed(node: JsonRpc, { id, nonce }: CeilingQuestion): Promise<boolean> {
  const place = (nonce >> 8n).toString(16).padStart(64, '0');
  const answer = await node.call(PERMIT2, `${NONCE_BITMAP}${word(id.payer).slice(2)}${place}`);
  if (!/^0x[0-9a-fA-F]{64}$/.test(answer)) throw new Error('Permit2 does not answer nonceBitmap');
  return ((BigInt(answer) >> (nonce & 255n)) & 1n) === 1n;
}
