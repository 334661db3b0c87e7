import type { Chain } from './chain.ts';

/** One way to pay for one priced resource, as a listing publishes it, read tolerantly. Source: the x402 specification, discovery. */
export interface EndpointOffer {
  /** Absolute http or https URL, without credentials and fragment. */
  readonly resource: string;
  /** GET where the listing does not say. */
  readonly method: EndpointMethod;
  /** As published: a version 1 name (`base`) or CAIP-2, also of networks that are no EVM chains. */
  readonly network: string;
  /** Null where the network is no EVM chain that we can name. */
  readonly chain: Chain | null;
  readonly scheme: string;
  /** On an EVM network a lower-case address, elsewhere as published. */
  readonly asset: string;
  readonly payTo: string;
  /** Atomic units of the asset; null where it is not given. */
  readonly amount: bigint | null;
  /** Null where no dollar price is declared and the asset is no dollar token of ours. */
  readonly priceUsdMicros: bigint | null;
  /** 0 where it is not given. */
  readonly maxTimeoutSeconds: number;
  readonly serviceName: string;
  readonly description: string;
  readonly mimeType: string;
  readonly tags: readonly string[];
  /** Unix seconds; 0 where the listing does not say, or says nonsense. */
  readonly lastUpdated: number;
}

export const ENDPOINT_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;
export type EndpointMethod = (typeof ENDPOINT_METHODS)[number];
