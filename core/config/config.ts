import type { Address } from '../domain/address.ts';
import type { Chain } from '../domain/chain.ts';
import type { ChainFacts, Registries, TokenFacts } from '../domain/known-chains.ts';
import type { FileConfig } from './schema.ts';

/** A chain as the program uses it: built-in facts with the configuration laid over them. */
export interface ChainConfig {
  readonly chain: Chain;
  readonly facts: ChainFacts;
  readonly rpcUrls: readonly string[];
  readonly startBlock: number;
  readonly tokens: readonly TokenFacts[];
  readonly registries: Registries;
  readonly logWindowMax: number;
  readonly requestsPerSecond: number;
  readonly parallelWindows: number;
  readonly completeness: 'every-block' | 'settlement-blocks';
  readonly pollMs: number;
  readonly finalityDepth: number;
  /** Rows up to this block are sample data; null: none are. */
  readonly sampleDataTo: number | null;
}

export interface FacilitatorConfig {
  readonly id: string;
  readonly name: string;
  readonly builderCodes: readonly string[];
  /** Its API, which may hold credentials: never logged. */
  readonly url?: string;
  readonly relayers: readonly {
    readonly chain: Chain;
    readonly address: Address;
    readonly firstSeen: string;
  }[];
}

export interface PayeeConfig {
  readonly chain: Chain;
  readonly address: Address;
  readonly name: string;
  readonly resource: string;
}

/** What one source says about facilitators and payees. */
export interface CatalogueSection {
  readonly facilitators: readonly FacilitatorConfig[];
  readonly payees: readonly PayeeConfig[];
  /** Origins whose /.well-known/x402 is read. */
  readonly wellKnown?: readonly string[];
  /** Items as a bazaar lists them, not yet read; a catalogue file alone may have them. */
  readonly endpoints?: readonly unknown[];
}

/** One way in which we are paid: a token on a chain, to an address of ours. */
export interface AcceptedPayment {
  readonly chain: Chain;
  /** The chain's short name, which the v1 wire uses where it knows it. */
  readonly slug: string;
  readonly token: TokenFacts;
  readonly payTo: Address;
  /** RPC URLs of the chain, when it is configured; may hold credentials: never logged. */
  readonly rpcUrls: readonly string[];
}

export interface PaymentConfig extends Omit<FileConfig['payment'], 'accept'> {
  readonly accept: readonly AcceptedPayment[];
}

/** Which proxies' X-Forwarded-For is believed: none, that of so many proxies in front, or that of these networks (CIDR). */
export type TrustedProxies = false | number | readonly string[];

export interface Config extends Omit<FileConfig, 'chains' | 'catalogue' | 'dataDir' | 'http' | 'payment'> {
  /** Absolute path of the file that this was read from; null when there was none. */
  readonly configFile: string | null;
  /** Absolute. */
  readonly dataDir: string;
  readonly http: Omit<FileConfig['http'], 'trustProxy'> & { readonly trustProxy: TrustedProxies };
  readonly chains: readonly ChainConfig[];
  readonly payment: PaymentConfig;
  readonly catalogue: CatalogueSection & {
    /** Absolute path of the catalogue file, null for none. */
    readonly file: string | null;
  };
}
