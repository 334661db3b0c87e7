import { type ChainFacts, chainIdOf, namespaceOf, type TokenFacts } from '../../core/domain/chains.ts';
import { domainSeparator } from '../../core/domain/eip712.ts';
import { createEndpoint, type RpcOutcome } from './rpc/endpoint.ts';
import { RPC_LIMITS } from './rpc/limits.ts';
import { mintFaults } from './solana/mint-facts.ts';

/**
 * Compares a configured token with its contract, or on Solana with its mint. With a wrong name or version payers sign for a domain that the contract does not have,
 * and it refuses every payment. With wrong decimals every amount is wrong. With a wrong symbol readers take it for another token.
 */

/** A fault, in words that name the key of the configuration. */
export interface TokenFault {
  readonly token: TokenFacts;
  readonly detail: string;
  readonly advice: string;
  /** Payments in it fail or have other amounts; otherwise it only has another name. */
  readonly stopsPayment: boolean;
}

export interface AskedTokens {
  readonly chain: Pick<ChainFacts, 'slug' | 'chain'>;
  /** Asked in order until one answers. */
  readonly rpcUrls: readonly string[];
  readonly tokens: readonly TokenFacts[];
}

const REQUEST_TIMEOUT_MS = 8_000;
const REQUESTS_PER_SECOND = 10;
/** Selectors of EIP-2612 `DOMAIN_SEPARATOR()`, ERC-20 `decimals()` and `symbol()`. */
const DOMAIN_SEPARATOR = '0x3644e515';
const DECIMALS = '0x313ce567';
const SYMBOL = '0x95d89b41';
const QUESTIONS = [DOMAIN_SEPARATOR, DECIMALS, SYMBOL];

/** The faults that a node shows; empty where all agree, where no node answers, and for what a contract does not say. */
export async function tokenFaults(asked: AskedTokens, signal: AbortSignal): Promise<TokenFault[]> {
  return namespaceOf(asked.chain.chain) === 'solana'
    ? mintFaults(asked, signal)
    : contractFaults(asked, signal);
}

async function contractFaults(
  { chain, rpcUrls, tokens }: AskedTokens,
  signal: AbortSignal,
): Promise<TokenFault[]> {
  const calls = tokens.flatMap(({ address }) => QUESTIONS.map((data) => callOf(address, data)));
  const limits = { ...RPC_LIMITS, requestTimeoutMs: REQUEST_TIMEOUT_MS };
  for (const url of tokens.length === 0 ? [] : rpcUrls) {
    const endpoint = createEndpoint(url, { requestsPerSecond: REQUESTS_PER_SECOND, limits, signal });
    const outcomes = await endpoint.exchange(calls);
    if (outcomes.every((outcome) => !('result' in outcome))) continue;
    return tokens.flatMap((token, index) =>
      faultsOf(chain, token, outcomes.slice(QUESTIONS.length * index, QUESTIONS.length * (index + 1))),
    );
  }
  return [];
}

function callOf(to: string, data: string) {
  return { method: 'eth_call', params: [{ to, data }, 'latest'] };
}

function faultsOf(
  { slug, chain }: AskedTokens['chain'],
  token: TokenFacts,
  [separator, decimals, name]: readonly RpcOutcome[],
): TokenFault[] {
  const { address, symbol, domain } = token;
  const whose = `${symbol} ${address} of ${slug}`;
  const key = `tokens of the chain ${slug}`;
  const found: TokenFault[] = [];
  const saidDomain = wordIn(separator);
  if (
    domain !== null &&
    saidDomain !== null &&
    saidDomain !== domainSeparator(domain, { chainId: chainIdOf(chain), contract: address })
  )
    found.push({
      token,
      detail: `the contract of ${whose} has another EIP-712 domain than name "${domain.name}", version "${domain.version}"`,
      advice: `Correct domain.name and domain.version of this token in ${key}: eip712Domain(), or name() and version() of the contract, have them.`,
      stopsPayment: true,
    });
  const saidDecimals = wordIn(decimals);
  if (saidDecimals !== null && BigInt(saidDecimals) !== BigInt(token.decimals))
    found.push({
      token,
      detail: `the contract of ${whose} has ${BigInt(saidDecimals)} decimals, not ${token.decimals}`,
      advice: `Correct decimals of this token in ${key}.`,
      stopsPayment: true,
    });
  const saidSymbol = textIn(name);
  if (saidSymbol !== null && saidSymbol !== symbol)
    found.push({
      token,
      detail: `the contract of ${whose} calls itself ${JSON.stringify(saidSymbol)}`,
      advice: `Correct symbol of this token in ${key}, or its address: it may be another token.`,
      stopsPayment: false,
    });
  return found;
}

/** Untrusted: a word of 32 bytes; null for anything else, as a contract without the function answers it. */
function wordIn(outcome: RpcOutcome | undefined): string | null {
  const result = outcome !== undefined && 'result' in outcome ? outcome.result : null;
  return typeof result === 'string' && /^0x[0-9a-f]{64}$/i.test(result) ? result.toLowerCase() : null;
}

/** A symbol has a few letters; a longer text is none. */
const SYMBOL_MAX_BYTES = 64;
const WORD_BYTES = 32;

/** Untrusted: the text of an ABI-encoded string, or of 32 bytes as old tokens answer it; null for anything else. */
function textIn(outcome: RpcOutcome | undefined): string | null {
  const result = outcome !== undefined && 'result' in outcome ? outcome.result : null;
  if (typeof result !== 'string' || result.length > 2 + 2 * (2 * WORD_BYTES + SYMBOL_MAX_BYTES)) return null;
  const bytes = Buffer.from(result.slice(2), 'hex');
  if (bytes.length === WORD_BYTES) return bytes.toString('utf8', 0, Math.max(bytes.indexOf(0), 0)) || null;
  if (bytes.length <= 2 * WORD_BYTES || bytes.readUIntBE(WORD_BYTES - 6, 6) !== WORD_BYTES) return null;
  const length = bytes.readUIntBE(2 * WORD_BYTES - 6, 6);
  return length === 0 || length > bytes.length - 2 * WORD_BYTES
    ? null
    : bytes.toString('utf8', 2 * WORD_BYTES, 2 * WORD_BYTES + length);
}
