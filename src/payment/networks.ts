import { type Chain, isChain } from '../../core/domain/chain.ts';

/**
 * The names that x402 version 1 has for EVM chains: exactly those that the v1 client knows. It refuses a whole offer for one
 * name beyond them, so nothing may be added that its vocabulary lacks (not arbitrum, optimism or ethereum).
 * Source: protocol.md 1.2, 1.7; x402@1.2.0.
 */
const V1_NAMES: Readonly<Partial<Record<Chain, string>>> = {
  'eip155:8453': 'base',
  'eip155:84532': 'base-sepolia',
  'eip155:137': 'polygon',
  'eip155:80002': 'polygon-amoy',
  'eip155:43114': 'avalanche',
  'eip155:43113': 'avalanche-fuji',
  'eip155:1329': 'sei',
  'eip155:1328': 'sei-testnet',
  'eip155:2741': 'abstract',
  'eip155:11124': 'abstract-testnet',
  'eip155:4689': 'iotex',
  'eip155:3338': 'peaq',
  'eip155:1514': 'story',
  'eip155:41923': 'educhain',
  'eip155:324705682': 'skale-base-sepolia',
};

/** What version 1 calls a chain; null where it has no name for it. */
export function v1NameOf(chain: Chain): string | null {
  return V1_NAMES[chain] ?? null;
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
