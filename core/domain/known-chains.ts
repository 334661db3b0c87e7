import { type Address, address } from './address.ts';

/**
 * Facts about the chains we can index: CAIP-2 id, public RPC, EIP-3009 tokens with their EIP-712 domain, ERC-8004 registries,
 * timing. Every domain separator was recomputed and compared with the token’s answer; RPC and timing are from the chains’ documentation.
 */

export interface TokenFacts {
  readonly address: Address;
  readonly symbol: string;
  readonly decimals: number;
  /** EIP-712 domain of `TransferWithAuthorization`. */
  readonly domain: { readonly name: string; readonly version: string };
}

/** The registries of ERC-8004, each a contract of its own. */
export const REGISTRY_ROLES = ['identity', 'reputation', 'validation'] as const;

export type RegistryRole = (typeof REGISTRY_ROLES)[number];

/** Where a chain's ERC-8004 registries are; a role that is absent is not indexed. */
export type Registries = Readonly<Partial<Record<RegistryRole, Address>>>;

export interface ChainFacts {
  readonly chainId: number;
  /** Short name in configuration and messages. */
  readonly slug: string;
  readonly name: string;
  readonly publicRpcUrls: readonly string[];
  readonly tokens: readonly TokenFacts[];
  readonly registries: Registries;
  /** Usual time between blocks. Sets how often the head is asked for. */
  readonly blockTimeMs: number;
  /** How deep a block must lie to be final where the node does not know the tag `finalized`. */
  readonly finalityDepth: number;
  /** Blocks per eth_getLogs that the public RPC allows. The window adapts below this. */
  readonly logWindowMax: number;
}

const usdc = (at: string, name: 'USD Coin' | 'USDC'): TokenFacts => ({
  address: address(at.toLowerCase()),
  symbol: 'USDC',
  decimals: 6,
  domain: { name, version: '2' },
});

/** The same on every mainnet. Source: erc-8004/erc-8004-contracts b9e466c2. */
const MAINNET_REGISTRIES: Registries = {
  identity: address('0x8004A169FB4a3325136EB29fA0ceB6D2e539a432'),
  reputation: address('0x8004BAa17C55a88189AE136b182e5fdA19dE9b63'),
  validation: address('0x8004Cc8439f36fd5F9F049D9fF86523Df6dAAB58'),
};

/** The same on every testnet. Source: as above. */
const TESTNET_REGISTRIES: Registries = {
  identity: address('0x8004A818BFB912233c491871b3d84c89A494BD9e'),
  reputation: address('0x8004B663056A597Dffe9eCcC1965A193B7388713'),
  validation: address('0x8004Cb1BF31DAf7788923b405b754f57acEB4272'),
};

const NO_REGISTRIES: Registries = {};

export const KNOWN_CHAINS: readonly ChainFacts[] = [
  {
    chainId: 8453,
    slug: 'base',
    name: 'Base',
    publicRpcUrls: ['https://mainnet.base.org'],
    tokens: [usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 1_200,
    logWindowMax: 2_000,
  },
  {
    chainId: 84532,
    slug: 'base-sepolia',
    name: 'Base Sepolia',
    publicRpcUrls: ['https://sepolia.base.org'],
    tokens: [usdc('0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'USDC')],
    registries: TESTNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 1_200,
    logWindowMax: 2_000,
  },
  {
    chainId: 1,
    slug: 'ethereum',
    name: 'Ethereum',
    publicRpcUrls: ['https://ethereum-rpc.publicnode.com'],
    tokens: [usdc('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 12_000,
    finalityDepth: 96,
    logWindowMax: 1_000,
  },
  {
    chainId: 137,
    slug: 'polygon',
    name: 'Polygon',
    publicRpcUrls: ['https://polygon-bor-rpc.publicnode.com'],
    tokens: [usdc('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 256,
    logWindowMax: 1_000,
  },
  {
    chainId: 43114,
    slug: 'avalanche',
    name: 'Avalanche',
    publicRpcUrls: ['https://api.avax.network/ext/bc/C/rpc'],
    tokens: [usdc('0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 32,
    logWindowMax: 2_000,
  },
  {
    chainId: 42161,
    slug: 'arbitrum',
    name: 'Arbitrum One',
    publicRpcUrls: ['https://arb1.arbitrum.io/rpc'],
    tokens: [usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 250,
    finalityDepth: 7_200,
    logWindowMax: 10_000,
  },
  {
    chainId: 10,
    slug: 'optimism',
    name: 'OP Mainnet',
    publicRpcUrls: ['https://mainnet.optimism.io'],
    tokens: [usdc('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 1_200,
    logWindowMax: 2_000,
  },
  {
    chainId: 42220,
    slug: 'celo',
    name: 'Celo',
    publicRpcUrls: ['https://forno.celo.org'],
    tokens: [usdc('0xcebA9300f2b948710d2653dD7B07f33A8B32118C', 'USDC')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 1_000,
    finalityDepth: 2_400,
    logWindowMax: 5_000,
  },
  {
    chainId: 1329,
    slug: 'sei',
    name: 'Sei',
    publicRpcUrls: ['https://evm-rpc.sei-apis.com'],
    tokens: [usdc('0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392', 'USDC')],
    registries: NO_REGISTRIES,
    blockTimeMs: 400,
    finalityDepth: 32,
    logWindowMax: 2_000,
  },
  {
    chainId: 480,
    slug: 'world-chain',
    name: 'World Chain',
    publicRpcUrls: ['https://worldchain-mainnet.g.alchemy.com/public'],
    tokens: [usdc('0x79a02482a880bce3f13e09da970dc34db4cd24d1', 'USDC')],
    registries: NO_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 1_200,
    logWindowMax: 2_000,
  },
  {
    chainId: 130,
    slug: 'unichain',
    name: 'Unichain',
    publicRpcUrls: ['https://mainnet.unichain.org'],
    tokens: [usdc('0x078d782b760474a361dda0af3839290b0ef57ad6', 'USDC')],
    registries: NO_REGISTRIES,
    blockTimeMs: 1_000,
    finalityDepth: 2_400,
    logWindowMax: 2_000,
  },
  {
    chainId: 143,
    slug: 'monad',
    name: 'Monad',
    publicRpcUrls: ['https://rpc.monad.xyz'],
    tokens: [usdc('0x754704Bc059F8C67012fEd69BC8A327a5aafb603', 'USDC')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 400,
    finalityDepth: 32,
    logWindowMax: 100,
  },
  {
    chainId: 999,
    slug: 'hyperevm',
    name: 'HyperEVM',
    publicRpcUrls: ['https://rpc.hyperliquid.xyz/evm'],
    tokens: [usdc('0xb88339cb7199b77e23db6e890353e22632ba630f', 'USDC')],
    registries: NO_REGISTRIES,
    blockTimeMs: 1_000,
    finalityDepth: 32,
    logWindowMax: 50,
  },
  {
    chainId: 146,
    slug: 'sonic',
    name: 'Sonic',
    publicRpcUrls: ['https://rpc.soniclabs.com'],
    tokens: [usdc('0x29219dd400f2bf60e5a23d13be72b486d4038894', 'USDC')],
    registries: NO_REGISTRIES,
    blockTimeMs: 1_000,
    finalityDepth: 32,
    logWindowMax: 1_000,
  },
  {
    chainId: 80002,
    slug: 'polygon-amoy',
    name: 'Polygon Amoy',
    publicRpcUrls: ['https://rpc-amoy.polygon.technology'],
    tokens: [usdc('0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582', 'USDC')],
    registries: TESTNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 256,
    logWindowMax: 1_000,
  },
];

/** Looks a chain up by short name or CAIP-2 name. */
export function knownChain(name: string): ChainFacts | undefined {
  return KNOWN_CHAINS.find((facts) => facts.slug === name || `eip155:${facts.chainId}` === name);
}
