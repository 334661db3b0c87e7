import type { Namespace } from './account.ts';
import {
  type Chain,
  type ChainFacts,
  chainOf,
  isChain,
  namespaceOf,
  type TokenFacts,
  type TokenKey,
  tokenKey,
} from './chains.ts';
import { KNOWN_CHAINS } from './known-chains.ts';

/** Looks chains and tokens up by the names that configurations, offers and listings use. */

export interface KnownToken extends TokenFacts {
  readonly chain: Chain;
}

/** The built-in tokens, with what a configuration adds or says differently. */
export function knownTokens(
  configured: readonly { readonly chain: Chain; readonly tokens: readonly TokenFacts[] }[],
): ReadonlyMap<TokenKey, KnownToken> {
  return new Map(
    [...KNOWN_CHAINS, ...configured].flatMap(({ chain, tokens }) =>
      tokens.map((token) => [tokenKey(chain, token.address), { ...token, chain }] as const),
    ),
  );
}

/** Looks a chain up by short name or CAIP-2 name. */
export function knownChain(name: string): ChainFacts | undefined {
  return KNOWN_CHAINS.find((facts) => facts.slug === name || facts.chain === name);
}

/** Names of x402 version 1 for chains that are not in the table: read in listings, never written. Source: x402 1.2.0, @x402/evm 2.27.0. */
const OTHER_CHAIN_IDS: ReadonlyMap<string, number> = new Map([
  ['avalanche-fuji', 43_113],
  ['sei-testnet', 1_328],
  ['abstract', 2_741],
  ['abstract-testnet', 11_124],
  ['iotex', 4_689],
  ['story', 1_514],
  ['educhain', 41_923],
  ['skale-base-sepolia', 324_705_682],
  ['sepolia', 11_155_111],
  ['stable-testnet', 2_201],
]);

const V1_NAMES: ReadonlyMap<Chain, string> = new Map(
  KNOWN_CHAINS.flatMap(({ chain, v1Name }) => (v1Name === null ? [] : [[chain, v1Name]])),
);

/** The version 1 name of a chain; null if it has none. */
export function v1NameOf(chain: Chain): string | null {
  return V1_NAMES.get(chain) ?? null;
}

/** The name of a chain in a receipt of this wire version. */
export function networkName(chain: Chain, x402Version: 1 | 2): string {
  return x402Version === 1 ? (v1NameOf(chain) ?? chain) : chain;
}

/** Whether a name of either version refers to the chain. */
export function namesChain(network: unknown, chain: Chain): boolean {
  if (typeof network !== 'string') return false;
  return isChain(network) ? network === chain : network === v1NameOf(chain);
}

/** What kind of accounts a network has; also known of an `eip155:` id that is no chain's. Null for a network that is unknown here. */
export function namespaceOfNetwork(network: string): Namespace | null {
  const chain = chainOfNetwork(network);
  if (chain !== null) return namespaceOf(chain);
  return network.startsWith('eip155:') ? 'eip155' : null;
}

/** The chain that a network name of either version refers to (`base`, `eip155:8453`, `solana`); null for any other network. */
export function chainOfNetwork(network: string): Chain | null {
  if (isChain(network)) return network;
  const chainId = OTHER_CHAIN_IDS.get(network);
  return chainId === undefined ? (knownChain(network)?.chain ?? null) : chainOf(chainId);
}
