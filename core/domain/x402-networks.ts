import { type Chain, chainOf, isChain } from './chain.ts';
import { knownChain } from './known-chains.ts';

/**
 * Names that listings have for EVM chains: those of x402 version 1 (the map of @x402/evm 2.27.0), which need not be chains that
 * we know anything else about. Source: protocol.md 1.7.
 */
const V1_CHAIN_IDS: ReadonlyMap<string, number> = new Map([
  ['ethereum', 1],
  ['sepolia', 11_155_111],
  ['abstract', 2_741],
  ['abstract-testnet', 11_124],
  ['base-sepolia', 84_532],
  ['base', 8_453],
  ['avalanche-fuji', 43_113],
  ['avalanche', 43_114],
  ['iotex', 4_689],
  ['sei', 1_329],
  ['sei-testnet', 1_328],
  ['polygon', 137],
  ['polygon-amoy', 80_002],
  ['peaq', 3_338],
  ['story', 1_514],
  ['educhain', 41_923],
  ['skale-base-sepolia', 324_705_682],
  ['megaeth', 4_326],
  ['monad', 143],
  ['stable', 988],
  ['stable-testnet', 2_201],
  ['celo', 42_220],
  ['flare', 14],
]);

/** The EVM chain that a network name of either version means (`base`, `eip155:8453`); null for any other network. */
export function chainOfNetwork(network: string): Chain | null {
  if (isChain(network)) return network;
  const chainId = V1_CHAIN_IDS.get(network) ?? knownChain(network)?.chainId;
  return chainId === undefined ? null : chainOf(chainId);
}
