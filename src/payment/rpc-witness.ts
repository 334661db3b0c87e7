import type { ChainWitness, Testimony, WitnessQuestion } from './chain-witness.ts';
import { type JsonRpc, openJsonRpc, type WitnessReceipt } from './json-rpc.ts';
import { CANCELED_TOPIC, isMarkerOf, proofIn, USED_TOPIC, word } from './settlement-proof.ts';

/** The chain's own word on an authorization, over plain JSON-RPC of one or more nodes. */

export interface RpcWitnessOptions {
  /** Asked in order until one answers everything; may hold path keys: appear in no error. http or https. */
  readonly rpcUrls: readonly string[];
  /** Blocks per eth_getLogs that the nodes allow. */
  readonly logWindowMax: number;
  /** Bound of one request. Default: REQUEST_TIMEOUT_MS. */
  readonly requestTimeoutMs?: number;
  /** Bound of a whole look-up, of all its requests to all nodes. Default: LOOK_UP_TIMEOUT_MS. */
  readonly lookUpTimeoutMs?: number;
}

const REQUEST_TIMEOUT_MS = 3_000;
/** Somebody waits for his answer meanwhile. */
const LOOK_UP_TIMEOUT_MS = 8_000;
/** How many windows back from the head one look-up searches: over 50 hours on a chain of two-second blocks. */
const LOG_WINDOWS_MAX = 50;
/** Node clocks and ours differ, and block times round down. */
const CLOCK_SLACK_SECONDS = 120;
const AUTHORIZATION_STATE = '0xe94a0102';

/** For chains without RPC: it never says anything. */
export const noWitness: ChainWitness = { lookUp: async () => ({ outcome: 'silent' }) };

export function createRpcWitness(options: RpcWitnessOptions): ChainWitness {
  const { rpcUrls, logWindowMax, requestTimeoutMs: timeoutMs = REQUEST_TIMEOUT_MS } = options;
  return {
    async lookUp(question) {
      const signal = AbortSignal.timeout(options.lookUpTimeoutMs ?? LOOK_UP_TIMEOUT_MS);
      for (const url of rpcUrls) {
        try {
          return await askNode(openJsonRpc({ url, timeoutMs, signal }), question, logWindowMax);
        } catch {
          // The next node is asked. The error says nothing that an operator could use: which node, must not be told.
        }
      }
      return { outcome: 'silent' };
    },
  };
}

async function askNode(node: JsonRpc, question: WitnessQuestion, logWindowMax: number): Promise<Testimony> {
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

/** Searches back from the head until before `sinceMs`. Null: it lies further back than may be searched. */
async function findUse(node: JsonRpc, question: WitnessQuestion, window: number): Promise<Use | null> {
  const { id, sinceMs } = question;
  const since = Math.floor(sinceMs / 1_000) - CLOCK_SLACK_SECONDS;
  let to = (await node.block('latest')).number;
  for (let windows = 0; windows < LOG_WINDOWS_MAX; windows++) {
    const from = Math.max(0, to - window + 1);
    const topics = [[USED_TOPIC, CANCELED_TOPIC], word(id.payer), id.nonce];
    const logs = await node.logs({ address: id.asset, topics, from, to });
    const own = logs.filter((log) => log.address === id.asset);
    const used = own.find((log) => isMarkerOf(log, id));
    if (used !== undefined) return { kind: 'used', transaction: used.transactionHash };
    const canceled = own.find(({ topics: [kind] }) => kind === CANCELED_TOPIC);
    if (canceled !== undefined) return { kind: 'canceled', transaction: canceled.transactionHash };
    if (from === 0 || (await node.block(from)).timestamp < since) return null;
    to = from - 1;
  }
  return null;
}
