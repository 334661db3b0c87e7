// Written by `npm run gen` from core/domain/chains.ts. Changes here are lost.

export const CHAIN_NAMES: Readonly<Record<string, string>> = {
  'eip155:8453': 'Base',
  'eip155:84532': 'Base Sepolia',
  'eip155:1': 'Ethereum',
  'eip155:137': 'Polygon',
  'eip155:43114': 'Avalanche',
  'eip155:42161': 'Arbitrum One',
  'eip155:10': 'OP Mainnet',
  'eip155:42220': 'Celo',
  'eip155:1329': 'Sei',
  'eip155:480': 'World Chain',
  'eip155:130': 'Unichain',
  'eip155:143': 'Monad',
  'eip155:999': 'HyperEVM',
  'eip155:146': 'Sonic',
  'eip155:80002': 'Polygon Amoy',
};
