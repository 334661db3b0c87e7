import { type Chain, chainOf, isChain } from './chain.ts';
import { knownChain } from './known-chains.ts';

/**
 * The names that x402 version 1 has for EVM chains: exactly those that the v1 client (x402 1.2.0) knows. The client refuses a whole
 * offer for one name beyond them, so nothing may be added that its vocabulary lacks (not arbitrum, optimism or ethereum).
 */
const V1_CLIENT_CHAIN_IDS: ReadonlyMap<string, number> = new Map([
  ['base', 8_453],
  ['base-sepolia', 84_532],
  ['polygon', 137],
  ['polygon-amoy', 80_002],
  ['avalanche', 43_114],
  ['avalanche-fuji', 43_113],
  ['sei', 1_329],
  ['sei-testnet', 1_328],
  ['abstract', 2_741],
  ['abstract-testnet', 11_124],
  ['iotex', 4_689],
  ['peaq', 3_338],
  ['story', 1_514],
  ['educhain', 41_923],
  ['skale-base-sepolia', 324_705_682],
]);

/**
 * Names that listings use as well (the map of @x402/evm 2.27.0). They need not be chains that we know anything else about, and are
 * read but never written.
 */
const LISTED_CHAIN_IDS: ReadonlyMap<string, number> = new Map([
  ['ethereum', 1],
  ['sepolia', 11_155_111],
  ['megaeth', 4_326],
  ['monad', 143],
  ['stable', 988],
  ['stable-testnet', 2_201],
  ['celo', 42_220],
  ['flare', 14],
]);

const V1_NAMES: ReadonlyMap<Chain, string> = new Map(
  [...V1_CLIENT_CHAIN_IDS].map(([name, chainId]) => [chainOf(chainId), name]),
);

/** What version 1 calls a chain; null where it has no name for it. */
export function v1NameOf(chain: Chain): string | null {
  return V1_NAMES.get(chain) ?? null;
}

/** What a receipt of that wire version calls a chain. */
export function networkName(chain: Chain, x402Version: 1 | 2): string {
  return x402Version === 1 ? (v1NameOf(chain) ?? chain) : chain;
}

/** Whether a name of either version means the chain. */
export function namesChain(network: unknown, chain: Chain): boolean {
  if (typeof network !== 'string') return false;
  return isChain(network) ? network === chain : network === v1NameOf(chain);
}

/** The EVM chain that a network name of either version means (`base`, `eip155:8453`); null for any other network. */
export function chainOfNetwork(network: string): Chain | null {
  if (isChain(network)) return network;
  const chainId =
    V1_CLIENT_CHAIN_IDS.get(network) ?? LISTED_CHAIN_IDS.get(network) ?? knownChain(network)?.chainId;
  return chainId === undefined ? null : chainOf(chainId);
}
