import type { ChainFacts, TokenFacts } from '../../core/domain/chains.ts';
import { domainSeparator } from '../../core/domain/eip712.ts';
import { createEndpoint, type RpcOutcome } from './rpc/endpoint.ts';
import { RPC_LIMITS } from './rpc/limits.ts';

/**
 * Compares a configured token with its contract. With a wrong name or version payers sign for a domain that the contract does not have,
 * and it refuses every payment. With wrong decimals every amount is wrong.
 */

/** A fault, in words that name the key of the configuration. */
export interface TokenFault {
  readonly token: TokenFacts;
  readonly detail: string;
  readonly advice: string;
}

export interface AskedTokens {
  readonly chain: Pick<ChainFacts, 'slug' | 'chainId'>;
  /** Asked in order until one answers. */
  readonly rpcUrls: readonly string[];
  readonly tokens: readonly TokenFacts[];
}

const REQUEST_TIMEOUT_MS = 8_000;
const REQUESTS_PER_SECOND = 10;
/** Selectors of EIP-2612 `DOMAIN_SEPARATOR()` and ERC-20 `decimals()`. */
const DOMAIN_SEPARATOR = '0x3644e515';
const DECIMALS = '0x313ce567';

/** The faults that a node shows; empty where all agree, where no node answers, and for what a contract does not say. */
export async function tokenFaults(
  { chain, rpcUrls, tokens }: AskedTokens,
  signal: AbortSignal,
): Promise<TokenFault[]> {
  const calls = tokens.flatMap(({ address }) =>
    [DOMAIN_SEPARATOR, DECIMALS].map((data) => callOf(address, data)),
  );
  const limits = { ...RPC_LIMITS, requestTimeoutMs: REQUEST_TIMEOUT_MS };
  for (const url of tokens.length === 0 ? [] : rpcUrls) {
    const endpoint = createEndpoint(url, { requestsPerSecond: REQUESTS_PER_SECOND, limits, signal });
    const outcomes = await endpoint.exchange(calls);
    if (outcomes.every((outcome) => !('result' in outcome))) continue;
    return tokens.flatMap((token, index) => faultsOf(chain, token, outcomes.slice(2 * index, 2 * index + 2)));
  }
  return [];
}

function callOf(to: string, data: string) {
  return { method: 'eth_call', params: [{ to, data }, 'latest'] };
}

function faultsOf(
  { slug, chainId }: AskedTokens['chain'],
  token: TokenFacts,
  [separator, decimals]: readonly RpcOutcome[],
): TokenFault[] {
  const { address, symbol, domain } = token;
  const whose = `${symbol} ${address} of ${slug}`;
  const key = `tokens of the chain ${slug}`;
  const found: TokenFault[] = [];
  const saidDomain = wordIn(separator);
  if (saidDomain !== null && saidDomain !== domainSeparator(domain, { chainId, contract: address }))
    found.push({
      token,
      detail: `the contract of ${whose} has another EIP-712 domain than name "${domain.name}", version "${domain.version}"`,
      advice: `Correct domain.name and domain.version of this token in ${key}: eip712Domain(), or name() and version() of the contract, have them.`,
    });
  const saidDecimals = wordIn(decimals);
  if (saidDecimals !== null && BigInt(saidDecimals) !== BigInt(token.decimals))
    found.push({
      token,
      detail: `the contract of ${whose} has ${BigInt(saidDecimals)} decimals, not ${token.decimals}`,
      advice: `Correct decimals of this token in ${key}.`,
    });
  return found;
}

/** Untrusted: a word of 32 bytes; null for anything else, as a contract without the function answers it. */
function wordIn(outcome: RpcOutcome | undefined): string | null {
  const result = outcome !== undefined && 'result' in outcome ? outcome.result : null;
  return typeof result === 'string' && /^0x[0-9a-f]{64}$/i.test(result) ? result.toLowerCase() : null;
}
