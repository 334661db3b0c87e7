import type { Cast } from '../actors.ts';
import type { ServiceConfig } from '../service.ts';
import { type SampleChain, sampleChains } from './sample-world.ts';

/** What the service is told of chains that hold nothing but sample data: no node is asked for them, and /telemetry says so. */

type Chains = NonNullable<ServiceConfig['chains']>;

/** The demo's own chain has a node. */
function sampleOnly(cast: Cast): SampleChain[] {
  return sampleChains(cast).filter(({ slug }) => slug !== 'base-sepolia');
}

export function sampleOnlyChains(cast: Cast): Chains {
  return sampleOnly(cast).map(({ slug, lastBlock }) => ({
    chain: slug,
    rpcUrls: [],
    sampleDataTo: lastBlock,
  }));
}

/** Payees of the catalogue, which gives sellers their names. */
export function samplePayees(cast: Cast) {
  return sampleOnly(cast).flatMap(({ slug, sellers }) =>
    sellers.map(({ address, name, resource }) => ({ chain: slug as string, address, name, resource })),
  );
}
