import type { ChainFacts, TokenFacts } from '../../../core/domain/chains.ts';
import { PROGRAM_OF } from '../../../core/domain/solana-programs.ts';
import { createEndpoint } from '../rpc/endpoint.ts';
import { RPC_LIMITS } from '../rpc/limits.ts';
import { failureOfSolanaError } from './failure.ts';

/**
 * Compares a configured token of Solana with its mint: the program that it belongs to, by which payments are made, and its decimals. A mint
 * has no symbol of its own.
 */

/** What a node says of a mint that the configuration does not. */
export interface MintFault {
  readonly token: TokenFacts;
  readonly detail: string;
  readonly advice: string;
  readonly stopsPayment: boolean;
}

const REQUEST_TIMEOUT_MS = 8_000;
const REQUESTS_PER_SECOND = 10;
/** Layout of a mint: authority 36 bytes, supply 8, then its decimals and whether it is initialised. */
const DECIMALS_AT = 44;
const MINT_BYTES = 82;

const PROGRAMS: Readonly<Record<string, TokenFacts['paidBy']>> = {
  [PROGRAM_OF['spl-token']]: 'spl-token',
  [PROGRAM_OF['token-2022']]: 'token-2022',
};

/** The faults that a node shows; empty where all agree, and where no node answers. */
export async function mintFaults(
  {
    chain,
    rpcUrls,
    tokens,
  }: {
    readonly chain: Pick<ChainFacts, 'slug'>;
    readonly rpcUrls: readonly string[];
    readonly tokens: readonly TokenFacts[];
  },
  signal: AbortSignal,
): Promise<MintFault[]> {
  const limits = { ...RPC_LIMITS, requestTimeoutMs: REQUEST_TIMEOUT_MS };
  const options = { requestsPerSecond: REQUESTS_PER_SECOND, limits, signal, failureOf: failureOfSolanaError };
  const call = {
    method: 'getMultipleAccounts',
    params: [tokens.map(({ address }) => address), { encoding: 'base64', commitment: 'finalized' }],
  };
  for (const url of tokens.length === 0 ? [] : rpcUrls) {
    const [outcome] = await createEndpoint(url, options).exchange([call]);
    if (outcome === undefined || !('result' in outcome)) continue;
    const accounts = member(outcome.result, 'value');
    if (!Array.isArray(accounts) || accounts.length !== tokens.length) continue;
    return tokens.flatMap((token, at) => faultsOf(chain.slug, token, accounts[at]));
  }
  return [];
}

function faultsOf(slug: string, token: TokenFacts, account: unknown): MintFault[] {
  const whose = `${token.symbol} ${token.address} of ${slug}`;
  const key = `tokens of the chain ${slug}`;
  const program = PROGRAMS[String(member(account, 'owner'))];
  const [text] = [member(account, 'data')].flat();
  const data = Buffer.from(typeof text === 'string' ? text : '', 'base64');
  if (program === undefined || data.length < MINT_BYTES)
    return [
      { token, detail: `${whose} is no mint`, advice: `Correct its address in ${key}.`, stopsPayment: true },
    ];
  const found: MintFault[] = [];
  if (program !== token.paidBy)
    found.push({
      token,
      detail: `the mint of ${whose} belongs to ${program}, not to ${token.paidBy}`,
      advice: `Correct paidBy of this token in ${key}.`,
      stopsPayment: true,
    });
  if (data[DECIMALS_AT] !== token.decimals)
    found.push({
      token,
      detail: `the mint of ${whose} has ${data[DECIMALS_AT]} decimals, not ${token.decimals}`,
      advice: `Correct decimals of this token in ${key}.`,
      stopsPayment: true,
    });
  return found;
}

/** Untrusted. */
function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([field]) => field === name)?.[1]
    : undefined;
}
