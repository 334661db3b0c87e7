import type { AuthorizationId } from '../accounts/payment-store.ts';
import { type AskNode, evmNode, type JsonRpc, openNode } from './post-json.ts';
import {
  CANCELED_TOPIC,
  type ChainLog,
  type ChainReceipt,
  isMarkerOf,
  proofIn,
  TRANSFER_TOPIC,
  USED_TOPIC,
  uptoProofIn,
  word,
} from './proof.ts';
import { PERMIT2, permit2NonceOf } from './signed-payment.ts';

/**
 * Asks the chain whether a payment was settled: for outcomes that the facilitator left unknown, and because a facilitator's claim alone is
 * not enough.
 */
export interface ChainConfirmer {
  /**
   * `settled`: the payment was used in a transaction that paid at least `amount` to `payTo`. `unsettled`: the node answers and it is not
   * used. `spent_otherwise`: used, but not for this call (cancelled, failed, or paid to another account). `ended`: not used, and the chain
   * itself shows that it cannot be any more; where only the clock says so, it is `unsettled`.
   * `silent`: nothing can be said, because no node answers or the transaction lies outside the blocks that may be searched.
   * Never rejects.
   */
  lookUp(question: SettlementQuestion): Promise<ChainFinding>;
}

export interface SettlementQuestion {
  readonly id: AuthorizationId;
  readonly payTo: string;
  /** Atomic units, decimal. */
  readonly amount: string;
  /** The settlement lies between this time and now; bounds the blocks that are searched. */
  readonly sinceMs: number;
  /** The transaction that the facilitator named: looked at first, and trusted only for its contents. */
  readonly claimed?: string;
}

export type ChainFinding =
  | { readonly outcome: 'settled'; readonly transaction: string }
  | { readonly outcome: 'unsettled' | 'spent_otherwise' | 'ended' | 'silent' };

export interface RpcConfirmerOptions {
  /** Asked in order until one answers everything; http or https. They may hold path keys, so no error names them. */
  readonly rpcUrls: readonly string[];
  /** Blocks per eth_getLogs that the nodes allow. */
  readonly logWindowMax: number;
  /** Bound of one request. Default: REQUEST_TIMEOUT_MS. */
  readonly requestTimeoutMs?: number;
  /** Bound of a whole look-up, of all its requests to all nodes. Default: LOOK_UP_TIMEOUT_MS. */
  readonly lookUpTimeoutMs?: number;
}

const REQUEST_TIMEOUT_MS = 3_000;
/** A caller waits for its answer during this time. */
const LOOK_UP_TIMEOUT_MS = 8_000;

/** For chains without RPC. */
export const noConfirmer: ChainConfirmer = { lookUp: async () => ({ outcome: 'silent' }) };

/** Of EVM chains. */
export function createRpcConfirmer({ logWindowMax, ...options }: RpcConfirmerOptions): ChainConfirmer {
  return askingNodes(options, (ask, question) => {
    const node = evmNode(ask);
    const nonce = permit2NonceOf(question.id.nonce);
    return nonce === null
      ? askAboutTransfer(node, question, logWindowMax)
      : askAboutCeiling(node, { ...question, nonce }, logWindowMax);
  });
}

/** Asks one node after another, until `look` has a finding; it rejects when a node does not answer as it should. */
export function askingNodes(
  { rpcUrls, requestTimeoutMs, lookUpTimeoutMs }: Omit<RpcConfirmerOptions, 'logWindowMax'>,
  look: (ask: AskNode, question: SettlementQuestion) => Promise<ChainFinding>,
): ChainConfirmer {
  return {
    async lookUp(question): Promise<ChainFinding> {
      const signal = AbortSignal.timeout(lookUpTimeoutMs ?? LOOK_UP_TIMEOUT_MS);
      for (const url of rpcUrls) {
        try {
          return await look(
            openNode({ url, timeoutMs: requestTimeoutMs ?? REQUEST_TIMEOUT_MS, signal }),
            question,
          );
        } catch {
          // The next node is asked. The error is not logged: naming the node would reveal its path key.
        }
      }
      return { outcome: 'silent' };
    },
  };
}

const AUTHORIZATION_STATE = '0xe94a0102';

/** The outcome of an EIP-3009 authorization. Rejects when the node does not answer as it should. */
async function askAboutTransfer(
  node: JsonRpc,
  question: SettlementQuestion,
  logWindowMax: number,
): Promise<ChainFinding> {
  const claimed = await confirmClaimed(node, question);
  if (claimed !== null) return claimed;
  if (!(await isAuthorizationUsed(node, question))) return { outcome: 'unsettled' };
  const found = await findUse(node, question, logWindowMax);
  if (found === null) return { outcome: 'silent' };
  if (found.kind === 'canceled') return { outcome: 'spent_otherwise' };
  const receipt = await node.receipt(found.transaction);
  if (receipt === null) return { outcome: 'silent' };
  return findingInReceipt(receipt, question) ?? { outcome: 'spent_otherwise' };
}

/** One question instead of four when the facilitator already named the transaction; null when that proves nothing. */
async function confirmClaimed(node: JsonRpc, question: SettlementQuestion): Promise<ChainFinding | null> {
  if (question.claimed === undefined) return null;
  const receipt = await node.receipt(question.claimed);
  return receipt === null ? null : findingInReceipt(receipt, question);
}

function findingInReceipt(receipt: ChainReceipt, question: SettlementQuestion): ChainFinding | null {
  if (!receipt.succeeded) return null;
  const proof = proofIn(receipt.logs, question);
  if (proof === 'absent') return null;
  return proof === 'paid'
    ? { outcome: 'settled', transaction: receipt.transaction }
    : { outcome: 'spent_otherwise' };
}

/** `authorizationState(payer, nonce)`: true once used or cancelled. */
async function isAuthorizationUsed(node: JsonRpc, { id }: SettlementQuestion): Promise<boolean> {
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
function findUse(
  node: JsonRpc,
  { id, sinceMs }: SettlementQuestion,
  logWindowMax: number,
): Promise<Use | null> {
  const topics = [[USED_TOPIC, CANCELED_TOPIC], word(id.payer), id.nonce];
  return searchBack<Use>(node, { address: id.asset, topics, sinceMs, window: logWindowMax }, async (logs) => {
    const used = logs.find((log) => isMarkerOf(log, id));
    if (used !== undefined) return { kind: 'used', transaction: used.transactionHash };
    const canceled = logs.find(({ topics: [kind] }) => kind === CANCELED_TOPIC);
    return canceled === undefined ? null : { kind: 'canceled', transaction: canceled.transactionHash };
  });
}

type CeilingQuestion = SettlementQuestion & { readonly nonce: bigint };

const NONCE_BITMAP = '0x4fe02b44';
/** Transfers of one payer to us in the searched time that one look-up goes through. */
const CANDIDATES_MAX = 100;

/**
 * The outcome of a Permit2 nonce. Rejects when the node does not answer as it should. A nonce that is used, but in no transaction
 * that we can read, gives `silent`: it may have settled through another contract, or been used for something else.
 */
async function askAboutCeiling(
  node: JsonRpc,
  question: CeilingQuestion,
  logWindowMax: number,
): Promise<ChainFinding> {
  const { id, payTo, sinceMs, claimed } = question;
  const said = claimed === undefined ? null : await findingInTransaction(node, question, claimed);
  if (said !== null) return said;
  if (!(await isPermitUsed(node, question))) return { outcome: 'unsettled' };
  const topics = [TRANSFER_TOPIC, word(id.payer), word(payTo)];
  let candidates = 0;
  const found = await searchBack(
    node,
    { address: id.asset, topics, sinceMs, window: logWindowMax },
    async (logs) => {
      for (const transaction of new Set(logs.map(({ transactionHash }) => transactionHash))) {
        candidates += 1;
        if (candidates > CANDIDATES_MAX) throw new Error('too many transfers to go through');
        const finding = await findingInTransaction(node, question, transaction);
        if (finding !== null) return finding;
      }
      return null;
    },
  );
  return found ?? { outcome: 'silent' };
}

/** Null when the transaction says nothing about this nonce. */
async function findingInTransaction(
  node: JsonRpc,
  { id, payTo, amount, nonce }: CeilingQuestion,
  transaction: string,
): Promise<ChainFinding | null> {
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
async function isPermitUsed(node: JsonRpc, { id, nonce }: CeilingQuestion): Promise<boolean> {
  const place = (nonce >> 8n).toString(16).padStart(64, '0');
  const answer = await node.call(PERMIT2, `${NONCE_BITMAP}${word(id.payer).slice(2)}${place}`);
  if (!/^0x[0-9a-fA-F]{64}$/.test(answer)) throw new Error('Permit2 does not answer nonceBitmap');
  return ((BigInt(answer) >> (nonce & 255n)) & 1n) === 1n;
}

/** How many windows back from the head one look-up searches: over 50 hours on a chain of two-second blocks. */
const LOG_WINDOWS_MAX = 50;
/** Node clocks differ from ours, and block times round down. */
const CLOCK_SLACK_SECONDS = 120;

interface LogSearch {
  readonly address: string;
  readonly topics: readonly (string | readonly string[])[];
  readonly sinceMs: number;
  /** Blocks per request. */
  readonly window: number;
}

/**
 * Searches back from the head until `find` has an answer, or until before `sinceMs`. Null: there is none in that time, or it
 * lies further back than may be searched.
 */
async function searchBack<Found>(
  node: JsonRpc,
  { address, topics, sinceMs, window }: LogSearch,
  find: (logs: readonly ChainLog[]) => Promise<Found | null>,
): Promise<Found | null> {
  const since = Math.floor(sinceMs / 1_000) - CLOCK_SLACK_SECONDS;
  let to = (await node.block('latest')).number;
  for (let windows = 0; windows < LOG_WINDOWS_MAX; windows++) {
    const from = Math.max(0, to - window + 1);
    const logs = await node.logs({ address, topics, from, to });
    const found = await find(logs.filter((log) => log.address === address));
    if (found !== null) return found;
    if (from === 0 || (await node.block(from)).timestamp < since) return null;
    to = from - 1;
  }
  return null;
}
