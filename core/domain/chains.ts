import { type Address, isAddress, NAMESPACES, type Namespace, readAddress } from './account.ts';

/** A chain by its CAIP-2 name, namespace and reference, for example `eip155:8453`. Source: CAIP-2. */
export type Chain = `${Namespace}:${string}`;

/** An EVM chain's reference is its id, Solana's the first 32 characters of its genesis hash. Sources: CAIP-3, CAIP-30. */
const REFERENCES: Readonly<Record<Namespace, RegExp>> = {
  eip155: /^(0|[1-9][0-9]{0,15})$/,
  solana: /^[1-9A-HJ-NP-Za-km-z]{32}$/,
};

/** The form of a chain's name in schemas. */
export const CHAIN_PATTERN = '^(eip155:[0-9]+|solana:[1-9A-HJ-NP-Za-km-z]{32})$';

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

export interface TokenFacts {
  readonly address: Address;
  readonly symbol: string;
  readonly decimals: number;
  /** ISO 4217 code of the money that it stands for. */
  readonly currency: string;
  /**
   * How it is paid with: by its own `transferWithAuthorization` (EIP-3009), or through Permit2 alone; on Solana by the token program that its
   * mint belongs to.
   */
  readonly paidBy: 'eip3009' | 'permit2' | 'spl-token' | 'token-2022';
  /** Its EIP-712 domain, under which payers sign EIP-3009 authorizations; null where none is known. */
  readonly domain: { readonly name: string; readonly version: string } | null;
  /** Dollars for one whole token that is not a dollar, with where the rate is from; absent: its amounts have no dollar value. */
  readonly usdRate?: UsdRate;
}

/** A fixed rate of a configuration. */
export interface UsdRate {
  /** A decimal number, as `1.0842`. */
  readonly usd: string;
  readonly source: string;
}

/** The registries of ERC-8004, each a contract of its own. */
export const REGISTRY_ROLES = ['identity', 'reputation', 'validation'] as const;

export type RegistryRole = (typeof REGISTRY_ROLES)[number];

/** Where a chain's ERC-8004 registries are; a role that is absent is not indexed. */
export type Registries = Readonly<Partial<Record<RegistryRole, Address>>>;

export interface ChainFacts {
  readonly chain: Chain;
  /** Short name in configuration and messages. */
  readonly slug: string;
  /**
   * Its name in x402 version 1: exactly as the v1 client (x402 1.2.0) knows it, or null. One unknown name makes that client refuse the
   * whole offer.
   */
  readonly v1Name: string | null;
  readonly name: string;
  /** A block explorer: `/tx/{hash}`, `/address/{address}` and `/block/{number}` are its pages. Null where none is known. */
  readonly explorerUrl: string | null;
  readonly publicRpcUrls: readonly string[];
  readonly tokens: readonly TokenFacts[];
  readonly registries: Registries;
  /** Usual time between blocks. Sets how often the head is asked for. */
  readonly blockTimeMs: number;
  /** How deep a block must lie to be final where the node does not know the tag `finalized`. Nodes of Solana all know it. */
  readonly finalityDepth: number;
  /** Blocks per eth_getLogs that the public RPC allows; on Solana slots that are read together, each a request. The window adapts below this. */
  readonly logWindowMax: number;
  /** The data set of the chain at the public SQD Portal; null where none is known. */
  readonly portalDataset: string | null;
}

export type TokenKey = `${Chain} ${Address}`;

/** Names an address on a chain. */
export function addressKey({ chain, address }: { readonly chain: Chain; readonly address: Address }): string {
  return `${chain} ${address}`;
}

export function tokenKey(chain: Chain, token: Address): TokenKey {
  return `${chain} ${token}`;
}

/** What a facilitator calls all chains of a chain's namespace together. */
export function wildcardOf(chain: Chain): string {
  return `${namespaceOf(chain)}:*`;
}

/** An account and its chain. Source: CAIP-10. */
export interface ChainAccount {
  readonly chain: Chain;
  readonly address: Address;
}

/** Reads an account as CAIP-10 writes it, `solana:5eykt…:7xKX…`; null for any other text. */
export function readChainAccount(text: string): ChainAccount | null {
  const chain = text.slice(0, Math.max(0, text.lastIndexOf(':')));
  if (!isChain(chain)) return null;
  const address = readAddress(withoutChain(text), namespaceOf(chain));
  return isAddress(address) ? { chain, address } : null;
}

/** An account without the chain that CAIP-10 writes before it. */
export function withoutChain(account: string): string {
  const end = account.lastIndexOf(':');
  return end > 0 && isChain(account.slice(0, end)) ? account.slice(end + 1) : account;
}
