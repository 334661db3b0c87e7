/** A chain by its CAIP-2 name, for example `eip155:8453`. Source: CAIP-2. */
export type Chain = `eip155:${number}`;

const SHAPE = /^eip155:(0|[1-9][0-9]{0,15})$/;

export function chainOf(chainId: number): Chain {
  return `eip155:${chainId}`;
}

/** The chain id inside a CAIP-2 name. */
export function chainIdOf(chain: Chain): number {
  return Number(chain.slice('eip155:'.length));
}

/** True for the CAIP-2 spelling of an EVM chain; says nothing about whether this deployment indexes it. */
export function isChain(text: string): text is Chain {
  return SHAPE.test(text);
}
