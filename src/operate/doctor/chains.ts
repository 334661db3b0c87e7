import { Type } from '@sinclair/typebox';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import type { AcceptedPayment } from '../../../core/config/access.ts';
import type { ChainConfig } from '../../../core/config/chains.ts';
import { type Chain, namespaceOf } from '../../../core/domain/chains.ts';
import { Failure } from '../../../core/errors.ts';
import { createEndpoint, type RpcOutcome } from '../../../ingest/chain/rpc/endpoint.ts';
import { RPC_LIMITS } from '../../../ingest/chain/rpc/limits.ts';
import type { Identity } from '../../../ingest/chain/rpc/pool.ts';
import { SOLANA_IDENTITY } from '../../../ingest/chain/solana/source.ts';
import { EVM_IDENTITY } from '../../../ingest/chain/source.ts';
import { tokenFaults } from '../../../ingest/chain/token-facts.ts';
import { type ChainStatus, isImported, readChainStatus } from '../../operations/index-state/chain-status.ts';
import { chainFreshness, INDEX_LAG_WARNING_SECONDS } from '../../operations/index-state/freshness.ts';
import { openNode } from '../../payment/post-json.ts';
import { tokenAccountOf, tokenProgramOf } from '../../payment/solana/transfer.ts';
import { type Finding, failure, ok, skipped, warning } from './finding.ts';

/** Asks every RPC URL which chain it serves, how old its tip is, and whether it still has the first block that is indexed. */

const REQUEST_TIMEOUT_MS = 8_000;
/** A minute of the slowest chain; ingest warns at two. */
const HEAD_AGE_WARNING_SECONDS = 120;
/** A node that is ahead of us by more than a block’s time shows that our clock is behind. */
const AHEAD_WARNING_SECONDS = 30;

export interface RpcFacts {
  readonly provider: string;
  /** Null where the node does not say which one it serves. */
  readonly chain: Chain | null;
  /** Unix seconds of the newest block, on Solana of the newest final one; null where the node did not answer it. */
  readonly headTime: number | null;
  /** Whether the block from which on is indexed can be read; null where that was not asked. */
  readonly hasStart: boolean | null;
}

export function judgeRpc(
  facts: RpcFacts,
  expected: { readonly slug: string; readonly chain: Chain; readonly nowSeconds: number },
): Finding {
  const { provider, chain, headTime, hasStart } = facts;
  const whose = `${expected.slug} at ${provider}`;
  const elsewhere = 'Correct rpcUrls; the others are used meanwhile.';
  if (chain === null || headTime === null)
    return failure(
      'rpc',
      `${whose} does not answer`,
      `The provider is down or refuses requests. ${elsewhere}`,
    );
  if (chain !== expected.chain)
    return failure('rpc', `${whose} serves chain ${chain}, not ${expected.chain}`, elsewhere);
  const age = expected.nowSeconds - headTime;
  if (age < -AHEAD_WARNING_SECONDS)
    return warning(
      'rpc',
      `${whose} has a block of ${-age} s in the future`,
      'Look at the clock of this machine.',
    );
  if (age > HEAD_AGE_WARNING_SECONDS)
    return warning('rpc', `${whose} is stalled: its newest block is ${age} s old`, elsewhere);
  if (hasStart === false)
    return warning(
      'rpc',
      `${whose} does not have the block at startBlock`,
      'Backfilling needs a node with older blocks.',
    );
  return ok('rpc', `${whose}: chain ${chain}, newest block ${Math.max(0, age)} s old`);
}

export async function checkRpc(chain: ChainConfig, nowMs: () => number): Promise<readonly Finding[]> {
  const expected = { slug: chain.facts.slug, chain: chain.chain };
  const found = await Promise.all(
    chain.rpcUrls.map(async (url) => {
      const ending = new AbortController();
      // Of a websocket the connection would stay, and with it the process.
      const ask = namespaceOf(chain.chain) === 'solana' ? askSolana : askEvm;
      const facts = await ask(url, chain, ending.signal).finally(() => ending.abort());
      const finding = judgeRpc(facts, { ...expected, nowSeconds: Math.floor(nowMs() / 1_000) });
      return { finding, isAway: facts.chain === null || facts.headTime === null };
    }),
  );
  // A node that is down does not matter while another answers; a node of another chain is always a mistake.
  const isServed = found.some(({ finding }) => finding.verdict === 'ok');
  return found.map(({ finding, isAway }) =>
    isServed && isAway ? { ...finding, verdict: 'warning' } : finding,
  );
}

/** A token whose configuration contradicts its contract; nothing where no node says so. */
export async function checkTokens({
  facts: chain,
  rpcUrls,
  tokens,
}: ChainConfig): Promise<readonly Finding[]> {
  const ending = new AbortController();
  const faults = await tokenFaults({ chain, rpcUrls, tokens }, ending.signal).finally(() => ending.abort());
  return faults.map(({ detail, advice, stopsPayment }) =>
    (stopsPayment ? failure : warning)('token', detail, advice),
  );
}

/** On Solana, a payee without a token account for what is sold: clients do not open one, and every payment to it fails its simulation. */
export async function checkPayee({
  slug,
  token,
  payTo,
  rpcUrls,
}: AcceptedPayment): Promise<readonly Finding[]> {
  const program = tokenProgramOf(token.paidBy);
  if (program === null) return [];
  const account = tokenAccountOf(payTo, token.address, program);
  const options = { encoding: 'base64', commitment: 'finalized' };
  for (const url of rpcUrls.filter((one) => /^https?:/i.test(one))) {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    try {
      const ask = openNode({ url, timeoutMs: REQUEST_TIMEOUT_MS, signal });
      const { value } = await ask(Type.Object({ value: Type.Unknown() }), 'getAccountInfo', account, options);
      if (value !== null) return [ok('payee', `${payTo} can be paid ${token.symbol} on ${slug}`)];
      return [
        failure(
          'payee',
          `${payTo} has no token account for ${token.symbol} on ${slug}`,
          `Open ${account}, its associated token account: until then every payment there fails.`,
        ),
      ];
    } catch {
      // The next node is asked: what is wrong with this one is said by its own finding.
    }
  }
  return [];
}

async function askEvm(
  url: string,
  { startBlock, requestsPerSecond }: ChainConfig,
  signal: AbortSignal,
): Promise<RpcFacts> {
  const limits = { ...RPC_LIMITS, requestTimeoutMs: REQUEST_TIMEOUT_MS };
  const endpoint = createEndpoint(url, { requestsPerSecond, limits, signal });
  const block = (tag: string) => ({ method: 'eth_getBlockByNumber', params: [tag, false] });
  const [id, head] = await endpoint.exchange([EVM_IDENTITY, block('latest')]);
  const facts = {
    provider: endpoint.name,
    chain: chainIn(id, EVM_IDENTITY),
    headTime: quantityIn(head, 'timestamp'),
  };
  const headNumber = quantityIn(head, 'number');
  if (headNumber === null) return { ...facts, hasStart: null };
  const start = startBlock >= 0 ? startBlock : Math.max(0, headNumber + startBlock);
  if (start > headNumber) return { ...facts, hasStart: null };
  const [first] = await endpoint.exchange([block(`0x${start.toString(16)}`)]);
  return { ...facts, hasStart: quantityIn(first, 'number') === start };
}

const FINALIZED = { commitment: 'finalized' } as const;

async function askSolana(
  url: string,
  { startBlock, requestsPerSecond }: ChainConfig,
  signal: AbortSignal,
): Promise<RpcFacts> {
  const limits = { ...RPC_LIMITS, requestTimeoutMs: REQUEST_TIMEOUT_MS };
  const endpoint = createEndpoint(url, { requestsPerSecond, limits, signal });
  const [id, newest, oldest] = await endpoint.exchange([
    SOLANA_IDENTITY,
    { method: 'getSlot', params: [FINALIZED] },
    { method: 'getFirstAvailableBlock', params: [] },
  ]);
  const facts = {
    provider: endpoint.name,
    chain: chainIn(id, SOLANA_IDENTITY),
    headTime: null,
    hasStart: null,
  };
  const [slot, first] = [numberIn(newest), numberIn(oldest)];
  if (slot === null) return facts;
  const [time] = await endpoint.exchange([{ method: 'getBlockTime', params: [slot] }]);
  const start = startBlock >= 0 ? startBlock : Math.max(0, slot + startBlock);
  return { ...facts, headTime: numberIn(time), hasStart: first === null ? null : first <= start };
}

function chainIn(outcome: RpcOutcome | undefined, { read }: Identity): Chain | null {
  return outcome !== undefined && 'result' in outcome ? read(outcome.result) : null;
}

function numberIn(outcome: RpcOutcome | undefined): number | null {
  const result = outcome !== undefined && 'result' in outcome ? outcome.result : null;
  return typeof result === 'number' && Number.isSafeInteger(result) ? result : null;
}

function quantityIn(outcome: RpcOutcome | undefined, name: string): number | null {
  if (outcome === undefined || !('result' in outcome)) return null;
  const { result } = outcome;
  if (typeof result !== 'object' || result === null) return null;
  return quantity(Object.entries(result).find(([field]) => field === name)?.[1]);
}

/** Untrusted input: a quantity, or null. */
function quantity(value: unknown): number | null {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,13}$/i.test(value)) return null;
  return Number(value);
}

/** How far the index is, as ingest last reported it. */

/** Ingest reports every two seconds. */
const SILENT_AFTER_SECONDS = 60;

export function judgeChain(
  {
    chain,
    facts: { slug },
    completeness,
  }: Pick<ChainConfig, 'chain' | 'facts'> & Partial<Pick<ChainConfig, 'completeness'>>,
  status: ChainStatus | undefined,
  nowMs: number,
): Finding {
  if (status === undefined)
    return warning('index', `${slug} was never reported`, 'Start the service with the role all or ingest.');
  if (status.state === 'stopped')
    return failure(
      'index',
      `${slug} is stopped (${status.lastError})`,
      'It waits for you: docs/operators.md, "Chains and nodes", says what the code means.',
    );
  const silentSeconds = Math.floor(nowMs / 1_000) - (status.updatedAt ?? 0);
  if (silentSeconds > SILENT_AFTER_SECONDS)
    return warning(
      'index',
      `${slug} was last reported ${silentSeconds} s ago: no ingest runs, or it cannot write`,
      'Start it, or look into its log.',
    );
  if (isImported(status)) return ok('index', `${slug} has no node and holds what was imported`);
  const { lagSeconds } = chainFreshness(chain, status, nowMs);
  if (status.state === 'contradicting')
    return warning(
      'index',
      `${slug} stands still: its RPC URLs answer, and their answers contradict the chain or each other`,
      'Use another RPC URL; the log of ingest names the provider and what was wrong.',
    );
  if (status.state === 'incomplete')
    return warning(
      'index',
      `${slug} has logs that could not become rows`,
      'The table dead_letters says which. Their blocks are read again by themselves; if they stay, use another RPC URL.',
    );
  if (lagSeconds === null || lagSeconds > INDEX_LAG_WARNING_SECONDS || status.state === 'unreachable')
    return warning(
      'index',
      `${slug} is ${status.state}, ${lagSeconds === null ? 'nothing indexed yet' : `${lagSeconds} s behind`}`,
      'Look at its RPC URLs above; a backfill goes on by itself.',
    );
  const part = completeness === 'fee-payers' ? '; only payments of named fee payers are read' : '';
  return ok('index', `${slug} is ${status.state}, ${lagSeconds} s behind${part}`);
}

export async function checkIndex(
  reader: Reader,
  chains: readonly ChainConfig[],
  nowMs: () => number,
): Promise<readonly Finding[]> {
  try {
    const statuses = await readChainStatus(reader);
    return chains.map((chain) => judgeChain(chain, statuses.get(chain.chain), nowMs()));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [skipped('index', 'there are no tables yet, or the engine does not answer')];
  }
}
