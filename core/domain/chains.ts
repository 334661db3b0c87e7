import { type Address, address, NAMESPACES, type Namespace } from './account.ts';

/** A chain by its CAIP-2 name, namespace and reference, for example `eip155:8453`. Source: CAIP-2. */
export type Chain = `${Namespace}:${string}`;

/** An EVM chain's reference is its id, Solana's the first 32 characters of its genesis hash. Sources: CAIP-3, CAIP-30. */
const REFERENCES: Readonly<Record<Namespace, RegExp>> = {
  eip155: /^(0|[1-9][0-9]{0,15})$/,
  solana: /^[1-9A-HJ-NP-Za-km-z]{32}$/,
};

/** The form of a chain's name in schemas: of the chains that are indexed today. */
export const CHAIN_PATTERN = '^eip155:[0-9]+$';

/** CAIP-2: a namespace of at most 8 characters, a colon, and a reference of at most 32. */
const CHAIN_MAX_CHARS = 41;

/** An EVM chain. */
export function chainOf(chainId: number | bigint): Chain {
  return `eip155:${chainId}`;
}

/** The chain id inside the name of an EVM chain. */
export function chainIdOf(chain: Chain): number {
  if (namespaceOf(chain) !== 'eip155') throw new TypeError(`${chain} is no EVM chain`);
  return Number(referenceOf(chain));
}

/** What decides how accounts and transactions of a chain are written. */
export function namespaceOf(chain: Chain): Namespace {
  const namespace = NAMESPACES.find((one) => chain.startsWith(`${one}:`));
  if (namespace === undefined) throw new TypeError(`not a chain: ${chain}`);
  return namespace;
}

/** A chain's name without its namespace. References of different namespaces differ, so it is a shorter name. */
export function referenceOf(chain: Chain): string {
  return chain.slice(chain.indexOf(':') + 1);
}

/** The chain of a reference; null for a text that is none. */
export function chainOfReference(reference: string): Chain | null {
  const namespace = NAMESPACES.find((one) => isChain(`${one}:${reference}`));
  return namespace === undefined ? null : `${namespace}:${reference}`;
}

/** True for the CAIP-2 name of a chain of a namespace that we can read; says nothing about whether this deployment indexes it. */
export function isChain(text: string): text is Chain {
  if (text.length > CHAIN_MAX_CHARS) return false;
  return NAMESPACES.some(
    (namespace) =>
      text.startsWith(`${namespace}:`) && REFERENCES[namespace].test(text.slice(namespace.length + 1)),
  );
}

/**
 * Facts about the chains we can index: CAIP-2 id, public RPC, EIP-3009 tokens with their EIP-712 domain, ERC-8004 registries,
 * timing, data set of the SQD Portal. Every domain separator was recomputed and compared with the token’s answer; RPC and timing are from the chains’ documentation,
 * explorers from the chain definitions of viem 2.57.
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
  /** A block explorer: `/tx/{hash}`, `/address/{address}` and `/block/{number}` are its pages. */
  readonly explorerUrl: string;
  readonly publicRpcUrls: readonly string[];
  readonly tokens: readonly TokenFacts[];
  readonly registries: Registries;
  /** Usual time between blocks. Sets how often the head is asked for. */
  readonly blockTimeMs: number;
  /** How deep a block must lie to be final where the node does not know the tag `finalized`. */
  readonly finalityDepth: number;
  /** Blocks per eth_getLogs that the public RPC allows. The window adapts below this. */
  readonly logWindowMax: number;
  /** The data set of the chain at the public SQD Portal; null where none is known. */
  readonly portalDataset: string | null;
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
    explorerUrl: 'https://basescan.org',
    publicRpcUrls: ['https://mainnet.base.org'],
    tokens: [usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 1_200,
    logWindowMax: 2_000,
    portalDataset: 'base-mainnet',
  },
  {
    chainId: 84532,
    slug: 'base-sepolia',
    name: 'Base Sepolia',
    explorerUrl: 'https://sepolia.basescan.org',
    publicRpcUrls: ['https://sepolia.base.org'],
    tokens: [usdc('0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'USDC')],
    registries: TESTNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 1_200,
    logWindowMax: 2_000,
    portalDataset: 'base-sepolia',
  },
  {
    chainId: 1,
    slug: 'ethereum',
    name: 'Ethereum',
    explorerUrl: 'https://etherscan.io',
    publicRpcUrls: ['https://ethereum-rpc.publicnode.com'],
    tokens: [usdc('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 12_000,
    finalityDepth: 96,
    logWindowMax: 1_000,
    portalDataset: 'ethereum-mainnet',
  },
  {
    chainId: 137,
    slug: 'polygon',
    name: 'Polygon',
    explorerUrl: 'https://polygonscan.com',
    publicRpcUrls: ['https://polygon-bor-rpc.publicnode.com'],
    tokens: [usdc('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 256,
    logWindowMax: 1_000,
    portalDataset: 'polygon-mainnet',
  },
  {
    chainId: 43114,
    slug: 'avalanche',
    name: 'Avalanche',
    explorerUrl: 'https://snowtrace.io',
    publicRpcUrls: ['https://api.avax.network/ext/bc/C/rpc'],
    tokens: [usdc('0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 32,
    logWindowMax: 2_000,
    portalDataset: 'avalanche-mainnet',
  },
  {
    chainId: 42161,
    slug: 'arbitrum',
    name: 'Arbitrum One',
    explorerUrl: 'https://arbiscan.io',
    publicRpcUrls: ['https://arb1.arbitrum.io/rpc'],
    tokens: [usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 250,
    finalityDepth: 7_200,
    logWindowMax: 10_000,
    portalDataset: 'arbitrum-one',
  },
  {
    chainId: 10,
    slug: 'optimism',
    name: 'OP Mainnet',
    explorerUrl: 'https://optimistic.etherscan.io',
    publicRpcUrls: ['https://mainnet.optimism.io'],
    tokens: [usdc('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 1_200,
    logWindowMax: 2_000,
    portalDataset: 'optimism-mainnet',
  },
  {
    chainId: 42220,
    slug: 'celo',
    name: 'Celo',
    explorerUrl: 'https://celoscan.io',
    publicRpcUrls: ['https://forno.celo.org'],
    tokens: [usdc('0xcebA9300f2b948710d2653dD7B07f33A8B32118C', 'USDC')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 1_000,
    finalityDepth: 2_400,
    logWindowMax: 5_000,
    portalDataset: 'celo-mainnet',
  },
  {
    chainId: 1329,
    slug: 'sei',
    name: 'Sei',
    explorerUrl: 'https://seiscan.io',
    publicRpcUrls: ['https://evm-rpc.sei-apis.com'],
    tokens: [usdc('0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392', 'USDC')],
    registries: NO_REGISTRIES,
    blockTimeMs: 400,
    finalityDepth: 32,
    logWindowMax: 2_000,
    portalDataset: null,
  },
  {
    chainId: 480,
    slug: 'world-chain',
    name: 'World Chain',
    explorerUrl: 'https://worldscan.org',
    publicRpcUrls: ['https://worldchain-mainnet.g.alchemy.com/public'],
    tokens: [usdc('0x79a02482a880bce3f13e09da970dc34db4cd24d1', 'USDC')],
    registries: NO_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 1_200,
    logWindowMax: 2_000,
    portalDataset: null,
  },
  {
    chainId: 130,
    slug: 'unichain',
    name: 'Unichain',
    explorerUrl: 'https://uniscan.xyz',
    publicRpcUrls: ['https://mainnet.unichain.org'],
    tokens: [usdc('0x078d782b760474a361dda0af3839290b0ef57ad6', 'USDC')],
    registries: NO_REGISTRIES,
    blockTimeMs: 1_000,
    finalityDepth: 2_400,
    logWindowMax: 2_000,
    portalDataset: 'unichain-mainnet',
  },
  {
    chainId: 143,
    slug: 'monad',
    name: 'Monad',
    explorerUrl: 'https://monadscan.com',
    publicRpcUrls: ['https://rpc.monad.xyz'],
    tokens: [usdc('0x754704Bc059F8C67012fEd69BC8A327a5aafb603', 'USDC')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 400,
    finalityDepth: 32,
    logWindowMax: 100,
    portalDataset: 'monad-mainnet',
  },
  {
    chainId: 999,
    slug: 'hyperevm',
    name: 'HyperEVM',
    explorerUrl: 'https://hyperevmscan.io',
    publicRpcUrls: ['https://rpc.hyperliquid.xyz/evm'],
    tokens: [usdc('0xb88339cb7199b77e23db6e890353e22632ba630f', 'USDC')],
    registries: NO_REGISTRIES,
    blockTimeMs: 1_000,
    finalityDepth: 32,
    logWindowMax: 50,
    portalDataset: null,
  },
  {
    chainId: 146,
    slug: 'sonic',
    name: 'Sonic',
    explorerUrl: 'https://sonicscan.org',
    publicRpcUrls: ['https://rpc.soniclabs.com'],
    tokens: [usdc('0x29219dd400f2bf60e5a23d13be72b486d4038894', 'USDC')],
    registries: NO_REGISTRIES,
    blockTimeMs: 1_000,
    finalityDepth: 32,
    logWindowMax: 1_000,
    portalDataset: 'sonic-mainnet',
  },
  {
    chainId: 80002,
    slug: 'polygon-amoy',
    name: 'Polygon Amoy',
    explorerUrl: 'https://amoy.polygonscan.com',
    publicRpcUrls: ['https://rpc-amoy.polygon.technology'],
    tokens: [usdc('0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582', 'USDC')],
    registries: TESTNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 256,
    logWindowMax: 1_000,
    portalDataset: null,
  },
];

export interface KnownToken extends TokenFacts {
  readonly chain: Chain;
}

export type TokenKey = `${Chain} ${Address}`;

/** Names an address on a chain. */
export function addressKey({ chain, address }: { readonly chain: Chain; readonly address: Address }): string {
  return `${chain} ${address}`;
}

export function tokenKey(chain: Chain, token: Address): TokenKey {
  return `${chain} ${token}`;
}

/** The built-in tokens, with what a configuration adds or says differently. */
export function knownTokens(
  configured: readonly { readonly chain: Chain; readonly tokens: readonly TokenFacts[] }[],
): ReadonlyMap<TokenKey, KnownToken> {
  const builtIn = KNOWN_CHAINS.map(({ chainId, tokens }) => ({ chain: chainOf(chainId), tokens }));
  return new Map(
    [...builtIn, ...configured].flatMap(({ chain, tokens }) =>
      tokens.map((token) => [tokenKey(chain, token.address), { ...token, chain }] as const),
    ),
  );
}

/** Looks a chain up by short name or CAIP-2 name. */
export function knownChain(name: string): ChainFacts | undefined {
  return KNOWN_CHAINS.find((facts) => facts.slug === name || chainOf(facts.chainId) === name);
}

/**
 * The names of x402 version 1 for EVM chains: exactly those that the v1 client (x402 1.2.0) knows. One unknown name makes that
 * client refuse the whole offer, so add none that it lacks (not arbitrum, optimism or ethereum).
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
 * Further names found in listings (the map of @x402/evm 2.27.0). We read them but never write them, and may know nothing else about
 * their chains.
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

/** What a facilitator calls all chains of a chain's namespace together. */
export function wildcardOf(chain: Chain): string {
  return `${namespaceOf(chain)}:*`;
}

/** An account without the chain that CAIP-10 writes before it. */
export function withoutChain(account: string): string {
  const end = account.lastIndexOf(':');
  return end > 0 && isChain(account.slice(0, end)) ? account.slice(end + 1) : account;
}

/** Whether accounts of a network are those of EVM chains; true also for an id that is no chain's. */
export function isEvmNetwork(network: string): boolean {
  return network.startsWith('eip155:') || chainOfNetwork(network) !== null;
}

/** The EVM chain that a network name of either version refers to (`base`, `eip155:8453`); null for any other network. */
export function chainOfNetwork(network: string): Chain | null {
  if (isChain(network)) return namespaceOf(network) === 'eip155' ? network : null;
  const chainId =
    V1_CLIENT_CHAIN_IDS.get(network) ?? LISTED_CHAIN_IDS.get(network) ?? knownChain(network)?.chainId;
  return chainId === undefined ? null : chainOf(chainId);
}
