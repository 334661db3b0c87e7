import { setTimeout as delay } from 'node:timers/promises';
import type { ChainConfig } from '../../core/config/chains.ts';
import type { Address } from '../../core/domain/account.ts';
import { chainOf } from '../../core/domain/chains.ts';
import { type Log, providerName } from '../../core/log.ts';
import { retry } from '../../core/process/retry.ts';
import { createAdaptiveWindow } from './adaptive-window.ts';
import {
  type AccountFacts,
  AccountsUnread,
  type BlockRef,
  type BlockSource,
  ReadAbandoned,
} from './block-source.ts';
import { createProver } from './prove-complete.ts';
import { blockQuestion, hexOf, readBlock, readSenderTo, refOf, wideQuantity } from './read-answers.ts';
import { createRangeReader } from './read-range.ts';
import { createReceiptReader } from './receipts.ts';
import { createEndpoint, isWebSocket, type OnExchange, observedEndpoint } from './rpc/endpoint.ts';
import { ProviderContradiction, RpcFailure } from './rpc/failure.ts';
import { type RateLimitOf, RPC_LIMITS, type RpcLimits } from './rpc/limits.ts';
import {
  createPool,
  type Identity,
  type Question,
  type RpcPool,
  restAfter,
  type Trouble,
} from './rpc/pool.ts';
import { openWebSocketClient } from './web-socket-client.ts';

export interface RpcSourceDeps {
  readonly log: Log;
  readonly signal?: AbortSignal;
  /** Called for every failed call and contradiction; `provider` is a host, never a URL. */
  readonly onRetry?: (trouble: Trouble, provider: string) => void;
  readonly onExchange?: OnExchange;
  readonly limits?: Partial<RpcLimits>;
  /** Counts requests together with other sources and processes; absent: this source alone. */
  readonly rateLimitOf?: RateLimitOf | undefined;
}

/** Target number of logs per eth_getLogs: many providers stop at 10,000. */
const TARGET_LOGS_PER_CALL = 5_000;

/**
 * A chain over JSON-RPC URLs, tried in turn. Every method retries until its answer passes all checks or the signal aborts; the only
 * other error is `WrongChain`. Only `accounts`, `funder` and `receipts` give up early.
 *
 * Cost of `read`, n blocks with c of them holding candidates: about n/span eth_getLogs, n − c headers and c full blocks in
 * batches, and the proofs of prove-complete.ts. With completeness 'settlement-blocks', unless asked for
 * every header: c + 2 blocks and no proofs.
 */
export function createRpcSource(config: ChainConfig, deps: RpcSourceDeps): BlockSource {
  const limits = { ...RPC_LIMITS, ...deps.limits };
  const { signal, rateLimitOf } = deps;
  const log = deps.log.child({ chain: config.chain });
  const endpoints = config.rpcUrls.map((url) =>
    createEndpoint(url, { requestsPerSecond: config.requestsPerSecond, limits, signal, rateLimitOf }),
  );
  const pool = createPool({
    endpoints: endpoints.map((endpoint) => observedEndpoint(endpoint, deps.onExchange)),
    chain: config.chain,
    identity: EVM_IDENTITY,
    limits,
    log,
    signal,
    onRetry: deps.onRetry,
  });
  const reader = createRangeReader({
    pool,
    prover: createProver({ pool, log }),
    limits,
    completeness: config.completeness,
    span: createAdaptiveWindow({
      maxBlocks: config.logWindowMax,
      firstBlocks: config.logWindowMax,
      targetLogs: TARGET_LOGS_PER_CALL,
    }),
  });
  const repeating: Repeating = { log, signal, limits };
  return {
    tip: () => untilConsistent(repeating, () => readTip(pool, config.finalityDepth)),
    blockAt: (number) => untilConsistent(repeating, () => blockAt(pool, number)),
    read: (from, to, filter, options) =>
      untilConsistent(repeating, () => reader.read(from, to, filter, options), {
        attemptsMax: options?.freshStartsMax ?? Number.POSITIVE_INFINITY,
        abandoned: () => new ReadAbandoned(from, to),
      }),
    accounts: (addresses) => orUnread(() => readAccounts(pool, addresses)),
    funder: (account) => orUnread(() => readFunder(pool, account)),
    receipts: createReceiptReader(pool),
    onNewHead(listener) {
      const stopping = new AbortController();
      const until = signal ? AbortSignal.any([signal, stopping.signal]) : stopping.signal;
      for (const url of config.rpcUrls.filter(isWebSocket)) void announceHeads(url, listener, log, until);
      return () => stopping.abort();
    },
    counters: () => pool.counters(),
  };
}

/** How a node of an EVM chain says which one it serves. */
export const EVM_IDENTITY: Identity = {
  method: 'eth_chainId',
  params: [],
  read(result) {
    const chainId = typeof result === 'string' ? Number(result) : Number.NaN;
    return Number.isSafeInteger(chainId) ? chainOf(chainId) : null;
  },
};

export interface Repeating {
  readonly log: Log;
  readonly signal: AbortSignal | undefined;
  readonly limits: RpcLimits;
}

/** Restarts the read after failures that retrying one call cannot fix: a lagging node, a reorg during the read, a contradiction. */
export function untilConsistent<T>(
  { log, signal, limits }: Repeating,
  work: () => Promise<T>,
  patience?: { readonly attemptsMax: number; readonly abandoned: () => Error },
): Promise<T> {
  const pauseMs = (error: unknown, failures: number): number | null => {
    if (!(error instanceof RpcFailure || error instanceof ProviderContradiction)) return null;
    log.warn({ kind: error.kind }, `reading the chain afresh: ${error.message}`);
    if (patience && failures >= patience.attemptsMax) throw patience.abandoned();
    // Other failures already pause the URL. Here no smaller request is possible, and without a pause this would spin.
    return error.kind === 'too-large' ? restAfter(failures, limits) : 0;
  };
  return retry(work, { signal, pauseMs });
}

async function readTip(
  pool: RpcPool,
  finalityDepth: number,
): Promise<{ readonly head: BlockRef; readonly finalized: BlockRef }> {
  const [latest, tagged] = await Promise.all([pool.ask(blockQuestion('latest')), finalizedByTag(pool)]);
  const head = refOf(latest);
  const finalized = tagged ?? refOf(await pool.ask(blockQuestion(Math.max(0, head.number - finalityDepth))));
  // Two nodes behind one URL may disagree on the head; every block below a final one is final.
  return { head, finalized: finalized.number > head.number ? head : finalized };
}

/** Null where the node does not know the tag, or has finalised nothing yet. */
async function finalizedByTag(pool: RpcPool): Promise<BlockRef | null> {
  const isUnknown = (trouble: unknown): boolean =>
    trouble instanceof RpcFailure && trouble.kind === 'refused';
  try {
    return await pool.ask<BlockRef | null>({
      ...blockQuestion('finalized'),
      read: (result) => (result === null ? null : refOf(readBlock(result, null))),
      givesUp: isUnknown,
    });
  } catch (error) {
    if (isUnknown(error)) return null;
    throw error;
  }
}

async function blockAt(pool: RpcPool, number: number): Promise<BlockRef | null> {
  return pool.ask<BlockRef | null>({
    ...blockQuestion(number),
    read: (result) => (result === null ? null : refOf(readBlock(result, number))),
  });
}

/** Nothing waits for these answers, so a node that refuses them is soon given up. */
const ACCOUNT_ATTEMPTS_MAX = 2;

/** Nonce and balance of each account, at the newest block that the node has. */
async function readAccounts(pool: RpcPool, addresses: readonly Address[]): Promise<AccountFacts[]> {
  const questions = addresses.flatMap((address) => [
    accountQuestion('eth_getTransactionCount', address, 'latest'),
    accountQuestion('eth_getBalance', address, 'latest'),
  ]);
  const answers = await pool.askAll(questions);
  return addresses.map((address, index) => {
    const [nonce = 0n, balance = 0n] = answers.slice(2 * index); // askAll answers every question
    return { address, nonce: Number(nonce), balance };
  });
}

/**
 * An account has coins before it can send, so "it has coins or has sent" is false up to one block and true from there on: halving the blocks
 * finds that one, on a chain of 40 million blocks with 26 times two questions.
 */
async function readFunder(pool: RpcPool, account: Address): Promise<Address | null> {
  let [before, funded] = [0, (await pool.ask(blockQuestion('latest'))).number];
  while (funded - before > 1) {
    const middle = Math.floor((before + funded) / 2);
    const [nonce = 0n, balance = 0n] = await pool.askAll([
      accountQuestion('eth_getTransactionCount', account, middle),
      accountQuestion('eth_getBalance', account, middle),
    ]);
    if (nonce > 0n || balance > 0n) funded = middle;
    else before = middle;
  }
  return await pool.ask({
    ...blockQuestion(funded, () => true),
    read: (result) => readSenderTo(result, account),
    givesUp: (_trouble, attempts) => attempts >= ACCOUNT_ATTEMPTS_MAX,
  });
}

async function orUnread<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RpcFailure || error instanceof ProviderContradiction)
      throw new AccountsUnread(error);
    throw error;
  }
}

function accountQuestion(
  method: 'eth_getTransactionCount' | 'eth_getBalance',
  address: Address,
  at: number | 'latest',
): Question<bigint> {
  return {
    method,
    params: [address, at === 'latest' ? at : hexOf(at)],
    read: (result) => {
      const quantity = wideQuantity(result, method);
      if (method === 'eth_getTransactionCount' && quantity > BigInt(Number.MAX_SAFE_INTEGER))
        throw new ProviderContradiction('malformed', `${method} is more than an account can send`);
      return quantity;
    },
    givesUp: (_trouble, attempts) => attempts >= ACCOUNT_ATTEMPTS_MAX,
  };
}

/** Pause before a lost subscription is renewed; polling continues during the pause. */
const RESUBSCRIBE_AFTER_MS = 5_000;
/** A header has less than 2 kB. */
const ANNOUNCEMENT_MAX_BYTES = 1024 * 1024;

/**
 * Calls `listener` for every block that the node announces over a websocket, until the signal aborts. Only a hint to ask for the tip:
 * the content of the announcement is not used, and polling covers unannounced blocks.
 */
export async function announceHeads(
  url: string,
  listener: () => void,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await untilSubscriptionEnds(url, listener, signal);
    } catch {
      // The reason may quote the URL, which may hold a key.
      log.debug({ provider: providerName(url) }, 'no subscription to new heads, polling goes on');
    }
    await delay(RESUBSCRIBE_AFTER_MS, undefined, { signal }).catch(() => undefined); // an abort ends the loop above
  }
}

async function untilSubscriptionEnds(url: string, listener: () => void, signal: AbortSignal): Promise<void> {
  const client = await openWebSocketClient(url, { maxMessageBytes: ANNOUNCEMENT_MAX_BYTES, signal });
  try {
    await client.subscribeToHeads(listener);
    await client.ended;
    if (!signal.aborted) throw new Error('the connection ended');
  } finally {
    client.close();
  }
}
