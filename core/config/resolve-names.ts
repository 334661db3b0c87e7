import { type Address, isAddress, readAddress } from '../domain/address.ts';
import { type Chain, chainOf } from '../domain/chain.ts';
import { type ChainFacts, KNOWN_CHAINS, knownChain } from '../domain/known-chains.ts';

/** Each of these adds what is wrong to `problems` and answers something usable, so that all problems are told at once. */
export function resolveChainName(name: string, at: string, problems: string[]): Chain {
  return chainOf((knownChain(name) ?? unknownChain(name, at, problems)).chainId);
}

export function unknownChain(name: string, at: string, problems: string[]): ChainFacts {
  problems.push(
    `${at}: unknown chain "${name}"; known: ${KNOWN_CHAINS.map(({ slug, chainId }) => `${slug} (eip155:${chainId})`).join(', ')}`,
  );
  return KNOWN_CHAINS[0] as ChainFacts; // never used: the problem above ends the load
}

export function resolveAddress(text: string, at: string, problems: string[]): Address {
  const outcome = readAddress(text);
  if (isAddress(outcome)) return outcome;
  problems.push(
    `${at}: ${outcome === 'checksum' ? 'the EIP-55 checksum is wrong' : 'not an address'}: ${text}`,
  );
  return '' as Address; // never used: the problem above ends the load
}
