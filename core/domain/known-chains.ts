import { address } from './account.ts';
import type { Chain, ChainFacts, Registries, TokenFacts } from './chains.ts';

/**
 * The chains that can be indexed, each with what is known of it: one entry adds a chain, console and client included.
 *
 * Sources. Tokens, EIP-712 names and versions: the default tables of @x402/evm 2.27.0, x402-rs, uvd-x402-sdk 2.38.0 and Binance's B402;
 * each is compared with its contract at the start. Explorers, RPC URLs and block times: the chain definitions of viem 2.57. Finality, used
 * where a node does not know the tag `finalized`: confirmations of @circle-fin/bridge-kit 1.15.1 and `reorgPeriod` of
 * @hyperlane-xyz/registry 23.11.0; for OP and Arbitrum chains the time to finality on Ethereum; for BNB BEP-126, for Scroll docs.scroll.io.
 * Solana's mints and programs: @x402/svm 2.27.0, EURC bridge-kit.
 * A chain is left out while its token, decimals, EIP-712 name or finality is not known: Mezo, Radius, HPP, Igra, IoTeX, SKALE, Linea and
 * others can be configured.
 */

type Domain = readonly [name: string, version: string];

function dollar(at: string, symbol: string, [name, version]: Domain, decimals = 6): TokenFacts {
  const domain = { name, version };
  return { address: address(at.toLowerCase()), symbol, decimals, currency: 'USD', paidBy: 'eip3009', domain };
}

const usdc = (at: string, name: 'USD Coin' | 'USDC'): TokenFacts => dollar(at, 'USDC', [name, '2']);

const eurc = (at: string, name: 'Euro Coin' | 'EURC'): TokenFacts => ({
  ...dollar(at, 'EURC', [name, '2']),
  currency: 'EUR',
});

/** A dollar token without EIP-3009. */
function byPermit2(at: string, symbol: string, decimals: number, domain?: Domain): TokenFacts {
  return {
    ...dollar(at, symbol, domain ?? ['', ''], decimals),
    paidBy: 'permit2',
    ...(domain === undefined && { domain: null }),
  };
}

/** A dollar token of Solana. */
function mint(at: string, symbol: string, paidBy: 'spl-token' | 'token-2022' = 'spl-token'): TokenFacts {
  return { address: address(at), symbol, decimals: 6, currency: 'USD', paidBy, domain: null };
}

/**
 * Slots are 400 ms apart, and final after 31 of them that are confirmed. A window is read by a request for each of its slots, with an answer
 * of megabytes.
 */
export const SOLANA_PACE = { blockTimeMs: 400, finalityDepth: 32, logWindowMax: 100 } as const;
/** Of named fee payers alone: a window costs a request for each of them, however many slots it has. */
export const FEE_PAYERS_PACE = { pollMs: 30_000, logWindowMax: 50_000 } as const;

const AUSD = dollar('0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a', 'AUSD', ['Agora Dollar', '1']);

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

/** Milliseconds between two blocks that are assumed of a chain that is only configured: no source says it. */
export const OTHER_CHAIN_BLOCK_MS = 2_000;

export const KNOWN_CHAINS: readonly ChainFacts[] = [
  {
    chain: 'eip155:8453',
    slug: 'base',
    v1Name: 'base',
    name: 'Base',
    explorerUrl: 'https://basescan.org',
    publicRpcUrls: ['https://mainnet.base.org'],
    tokens: [
      usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USD Coin'),
      eurc('0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42', 'EURC'),
    ],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 1_200,
    logWindowMax: 2_000,
    portalDataset: 'base-mainnet',
  },
  {
    chain: 'eip155:84532',
    slug: 'base-sepolia',
    v1Name: 'base-sepolia',
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
    chain: 'eip155:1',
    slug: 'ethereum',
    v1Name: null,
    name: 'Ethereum',
    explorerUrl: 'https://etherscan.io',
    publicRpcUrls: ['https://ethereum-rpc.publicnode.com'],
    tokens: [
      usdc('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 'USD Coin'),
      eurc('0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c', 'Euro Coin'),
      AUSD,
      dollar('0x6c3ea9036406852006290770BEdFcAbA0e23A0e8', 'PYUSD', ['PayPal USD', '1']),
    ],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 12_000,
    finalityDepth: 96,
    logWindowMax: 1_000,
    portalDataset: 'ethereum-mainnet',
  },
  {
    chain: 'eip155:137',
    slug: 'polygon',
    v1Name: 'polygon',
    name: 'Polygon',
    explorerUrl: 'https://polygonscan.com',
    publicRpcUrls: ['https://polygon-bor-rpc.publicnode.com'],
    tokens: [usdc('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'USD Coin'), AUSD],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 256,
    logWindowMax: 1_000,
    portalDataset: 'polygon-mainnet',
  },
  {
    chain: 'eip155:43114',
    slug: 'avalanche',
    v1Name: 'avalanche',
    name: 'Avalanche',
    explorerUrl: 'https://snowtrace.io',
    publicRpcUrls: ['https://api.avax.network/ext/bc/C/rpc'],
    tokens: [
      usdc('0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', 'USD Coin'),
      eurc('0xC891EB4cbdEFf6e073e859e987815Ed1505c2ACD', 'EURC'),
      AUSD,
    ],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 32,
    logWindowMax: 2_000,
    portalDataset: 'avalanche-mainnet',
  },
  {
    chain: 'eip155:42161',
    slug: 'arbitrum',
    v1Name: null,
    name: 'Arbitrum One',
    explorerUrl: 'https://arbiscan.io',
    publicRpcUrls: ['https://arb1.arbitrum.io/rpc'],
    tokens: [
      usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 'USD Coin'),
      AUSD,
      dollar('0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', 'USD₮0', ['USD₮0', '1']),
    ],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 250,
    finalityDepth: 7_200,
    logWindowMax: 10_000,
    portalDataset: 'arbitrum-one',
  },
  {
    chain: 'eip155:10',
    slug: 'optimism',
    v1Name: null,
    name: 'OP Mainnet',
    explorerUrl: 'https://optimistic.etherscan.io',
    publicRpcUrls: ['https://mainnet.optimism.io'],
    tokens: [
      usdc('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', 'USD Coin'),
      dollar('0x01bFF41798a0BcF287b996046Ca68b395DbC1071', 'USD₮0', ['USD₮0', '1']),
    ],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 1_200,
    logWindowMax: 2_000,
    portalDataset: 'optimism-mainnet',
  },
  {
    chain: 'eip155:42220',
    slug: 'celo',
    v1Name: null,
    name: 'Celo',
    explorerUrl: 'https://celoscan.io',
    publicRpcUrls: ['https://forno.celo.org'],
    tokens: [
      usdc('0xcebA9300f2b948710d2653dD7B07f33A8B32118C', 'USDC'),
      dollar('0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e', 'USD₮', ['Tether USD', '1']),
      dollar('0xD2ab3C9A02DBBAB236BfEC45D1d755DF4267F771', 'USA₮', ['Tether America USD', '1']),
    ],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 1_000,
    finalityDepth: 2_400,
    logWindowMax: 5_000,
    portalDataset: 'celo-mainnet',
  },
  {
    chain: 'eip155:1329',
    slug: 'sei',
    v1Name: 'sei',
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
    chain: 'eip155:480',
    slug: 'world-chain',
    v1Name: null,
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
    chain: 'eip155:130',
    slug: 'unichain',
    v1Name: null,
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
    chain: 'eip155:143',
    slug: 'monad',
    v1Name: null,
    name: 'Monad',
    explorerUrl: 'https://monadscan.com',
    publicRpcUrls: ['https://rpc.monad.xyz'],
    tokens: [usdc('0x754704Bc059F8C67012fEd69BC8A327a5aafb603', 'USDC'), AUSD],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 400,
    finalityDepth: 32,
    logWindowMax: 100,
    portalDataset: 'monad-mainnet',
  },
  {
    chain: 'eip155:999',
    slug: 'hyperevm',
    v1Name: null,
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
    chain: 'eip155:146',
    slug: 'sonic',
    v1Name: null,
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
    chain: 'eip155:80002',
    slug: 'polygon-amoy',
    v1Name: 'polygon-amoy',
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
  {
    chain: 'eip155:56',
    slug: 'bnb',
    v1Name: null,
    name: 'BNB Smart Chain',
    explorerUrl: 'https://bscscan.com',
    publicRpcUrls: ['https://bsc.drpc.org'],
    tokens: [
      dollar('0xcE24439F2D9C6a2289F741120FE202248B666666', 'U', ['United Stables', '1'], 18),
      dollar('0x8d0D000Ee44948FC98c9B98A4FA4921476f08B0d', 'USD1', ['World Liberty Financial USD', '1'], 18),
      byPermit2('0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', 'USDC', 18),
      byPermit2('0x55d398326f99059fF775485246999027B3197955', 'USDT', 18),
    ],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 750,
    finalityDepth: 15,
    logWindowMax: 1_000,
    portalDataset: 'binance-mainnet',
  },
  {
    chain: 'eip155:196',
    slug: 'x-layer',
    v1Name: null,
    name: 'X Layer',
    explorerUrl: null,
    publicRpcUrls: ['https://xlayerrpc.okx.com'],
    tokens: [usdc('0x74b7F16337b8972027F6196A17a631aC6dE26d22', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 1_000,
    finalityDepth: 65,
    logWindowMax: 1_000,
    portalDataset: null,
  },
  {
    chain: 'eip155:988',
    slug: 'stable',
    v1Name: null,
    name: 'Stable',
    explorerUrl: 'https://stablescan.xyz',
    publicRpcUrls: ['https://rpc.stable.xyz'],
    tokens: [dollar('0x779Ded0c9e1022225f8E0630b35a9b54bE713736', 'USDT0', ['USDT0', '1'])],
    registries: NO_REGISTRIES,
    blockTimeMs: 700,
    finalityDepth: 5,
    logWindowMax: 1_000,
    portalDataset: null,
  },
  {
    chain: 'eip155:4326',
    slug: 'megaeth',
    v1Name: null,
    name: 'MegaETH',
    explorerUrl: 'https://mega.etherscan.io',
    publicRpcUrls: ['https://mainnet.megaeth.com/rpc'],
    tokens: [byPermit2('0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7', 'MegaUSD', 18, ['MegaUSD', '1'])],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 1_000,
    finalityDepth: 2_400,
    logWindowMax: 1_000,
    portalDataset: null,
  },
  {
    chain: 'eip155:50',
    slug: 'xdc',
    v1Name: null,
    name: 'XDC Network',
    explorerUrl: 'https://xdcscan.com',
    publicRpcUrls: ['https://rpc.xdcrpc.com'],
    tokens: [usdc('0xfA2958CB79b0491CC627c1557F441eF849Ca8eb1', 'USDC')],
    registries: NO_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 3,
    logWindowMax: 1_000,
    portalDataset: null,
  },
  {
    chain: 'eip155:14',
    slug: 'flare',
    v1Name: null,
    name: 'Flare',
    explorerUrl: 'https://flare-explorer.flare.network',
    publicRpcUrls: ['https://flare-api.flare.network/ext/C/rpc'],
    tokens: [dollar('0xe7cd86e13AC4309349F30B3435a9d337750fC82D', 'USD₮0', ['USD₮0', '1'])],
    registries: NO_REGISTRIES,
    blockTimeMs: 2_000,
    finalityDepth: 3,
    logWindowMax: 1_000,
    portalDataset: null,
  },
  {
    chain: 'eip155:3338',
    slug: 'peaq',
    v1Name: 'peaq',
    name: 'peaq',
    explorerUrl: 'https://peaq.subscan.io',
    publicRpcUrls: ['https://quicknode1.peaq.xyz'],
    tokens: [usdc('0xbbA60da06c2c5424f03f7434542280FCAd453d10', 'USDC')],
    registries: NO_REGISTRIES,
    blockTimeMs: 6_000,
    finalityDepth: 20,
    logWindowMax: 1_000,
    portalDataset: null,
  },
  {
    chain: 'eip155:534352',
    slug: 'scroll',
    v1Name: null,
    name: 'Scroll',
    explorerUrl: 'https://scrollscan.com',
    publicRpcUrls: ['https://rpc.scroll.io'],
    tokens: [usdc('0x06eFdBFf2a14a7c8E15944D1F4A48F9F95F663A4', 'USD Coin')],
    registries: MAINNET_REGISTRIES,
    blockTimeMs: 3_000,
    finalityDepth: 1_000,
    logWindowMax: 1_000,
    portalDataset: null,
  },
  {
    chain: 'eip155:36900',
    slug: 'adi',
    v1Name: null,
    name: 'ADI Chain',
    explorerUrl: 'https://explorer.adifoundation.ai',
    publicRpcUrls: ['https://rpc.adifoundation.ai'],
    tokens: [dollar('0x9cb8142aEBBcdc60AF7c97Af897A67A8f3CA71C2', 'USDC.e', ['USDC.e', '2'])],
    registries: NO_REGISTRIES,
    blockTimeMs: 1_000,
    finalityDepth: 2_400,
    logWindowMax: 1_000,
    portalDataset: null,
  },
  {
    chain: 'eip155:1440000',
    slug: 'xrpl-evm',
    v1Name: null,
    name: 'XRPL EVM',
    explorerUrl: 'https://explorer.xrplevm.org',
    publicRpcUrls: ['https://rpc.xrplevm.org'],
    tokens: [byPermit2('0xDaF4556169c4F3f2231d8ab7BC8772Ddb7D4c84C', 'USDC', 15)],
    registries: NO_REGISTRIES,
    blockTimeMs: 6_000,
    finalityDepth: 5,
    logWindowMax: 1_000,
    portalDataset: null,
  },
  {
    chain: 'eip155:11142220',
    slug: 'celo-sepolia',
    v1Name: null,
    name: 'Celo Sepolia',
    explorerUrl: 'https://celo-sepolia.blockscout.com',
    publicRpcUrls: ['https://forno.celo-sepolia.celo-testnet.org'],
    tokens: [usdc('0x01C5C0122039549AD1493B8220cABEdD739BC44E', 'USDC')],
    registries: NO_REGISTRIES,
    blockTimeMs: 1_000,
    finalityDepth: 2_400,
    logWindowMax: 1_000,
    portalDataset: null,
  },
  {
    chain: 'eip155:421614',
    slug: 'arbitrum-sepolia',
    v1Name: null,
    name: 'Arbitrum Sepolia',
    explorerUrl: 'https://sepolia.arbiscan.io',
    publicRpcUrls: ['https://sepolia-rollup.arbitrum.io/rpc'],
    tokens: [usdc('0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d', 'USD Coin')],
    registries: NO_REGISTRIES,
    blockTimeMs: 250,
    finalityDepth: 7_200,
    logWindowMax: 1_000,
    portalDataset: null,
  },
  {
    ...SOLANA_PACE,
    chain: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    slug: 'solana',
    v1Name: 'solana',
    name: 'Solana',
    explorerUrl: 'https://explorer.solana.com',
    publicRpcUrls: ['https://api.mainnet-beta.solana.com'],
    tokens: [
      mint('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'USDC'),
      mint('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 'USDT'),
      mint('2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH', 'USDG', 'token-2022'),
      mint('2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo', 'PYUSD', 'token-2022'),
      mint('CASHx9KJUStyftLFWGvEVf59SGeG9sh5FfcnZMVPCASH', 'CASH', 'token-2022'),
      { ...mint('HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr', 'EURC'), currency: 'EUR' },
    ],
    registries: NO_REGISTRIES,
    portalDataset: 'solana-mainnet',
  },
  {
    ...SOLANA_PACE,
    chain: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    slug: 'solana-devnet',
    v1Name: 'solana-devnet',
    name: 'Solana Devnet',
    // Its pages need `?cluster=devnet`.
    explorerUrl: null,
    publicRpcUrls: ['https://api.devnet.solana.com'],
    tokens: [
      mint('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', 'USDC'),
      mint('4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7', 'USDG', 'token-2022'),
      mint('CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM', 'PYUSD', 'token-2022'),
    ],
    registries: NO_REGISTRIES,
    portalDataset: 'solana-devnet',
  },
];

interface OtherChain {
  readonly chain: Chain;
  readonly tokens: readonly TokenFacts[];
}

/** The other chains of the default table of @x402/evm 2.27.0: listings name prices in their tokens. */
export const OTHER_CHAINS: readonly OtherChain[] = [
  {
    chain: 'eip155:1328',
    tokens: [usdc('0x4fCF1784B31630811181f670Aea7A7bEF803eaED', 'USDC')],
  },
  {
    chain: 'eip155:2201',
    tokens: [dollar('0x78Cf24370174180738C5B8E352B6D14c83a6c9A9', 'USDT0', ['USDT0', '1'])],
  },
  {
    chain: 'eip155:31612',
    tokens: [byPermit2('0xdD468A1DDc392dcdbEf6db6e34E89AA338F9F186', 'mUSD', 18, ['Mezo USD', '1'])],
  },
  {
    chain: 'eip155:31611',
    tokens: [byPermit2('0x118917a40FAF1CD7a13dB0Ef56C86De7973Ac503', 'mUSD', 18, ['Mezo USD', '1'])],
  },
  {
    chain: 'eip155:723487',
    tokens: [byPermit2('0x33ad9e4BD16B69B5BFdED37D8B5D9fF9aba014Fb', 'SBC', 6, ['Stable Coin', '1'])],
  },
  {
    chain: 'eip155:72344',
    tokens: [byPermit2('0x33ad9e4BD16B69B5BFdED37D8B5D9fF9aba014Fb', 'SBC', 6, ['Stable Coin', '1'])],
  },
  {
    chain: 'eip155:190415',
    tokens: [dollar('0x401eCb1D350407f13ba348573E5630B83638E30D', 'USDC.e', ['Bridged USDC', '2'])],
  },
  {
    chain: 'eip155:181228',
    tokens: [dollar('0x401eCb1D350407f13ba348573E5630B83638E30D', 'USDC.e', ['Bridged USDC', '2'])],
  },
  {
    chain: 'eip155:51',
    tokens: [usdc('0xb5AB69F7bBada22B28e79C8FFAECe55eF1c771D4', 'USDC')],
  },
  {
    chain: 'eip155:38833',
    tokens: [byPermit2('0xA5b8BF902b2844dA17d4506cc827F7F1681735E7', 'USDC', 6, ['USDC', '1'])],
  },
];
