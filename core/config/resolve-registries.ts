import type { Address } from '../domain/address.ts';
import { type ChainFacts, REGISTRY_ROLES, type Registries, type TokenFacts } from '../domain/known-chains.ts';
import { resolveAddress } from './resolve-names.ts';
import type { FileConfig } from './schema.ts';

type RegistriesEntry = FileConfig['chains'][number]['registries'];

/**
 * Lays the configured registries over the built-in ones. What a log means is told by its emitter, so no contract may have two
 * roles, nor be a token as well: that is a problem.
 */
export function resolveRegistries(
  entry: RegistriesEntry,
  chain: { readonly facts: Pick<ChainFacts, 'registries'>; readonly tokens: readonly TokenFacts[] },
  at: string,
  problems: string[],
): Registries {
  if (entry === false) return {};
  const taken = new Set<Address>(chain.tokens.map((token) => token.address));
  const resolved: { -readonly [role in keyof Registries]: Registries[role] } = {};
  for (const role of REGISTRY_ROLES) {
    const given = entry?.[role];
    if (given === false) continue;
    const known = chain.facts.registries[role];
    const address = given === undefined ? known : resolveAddress(given, `${at}.${role}`, problems);
    if (address === undefined) continue;
    if (taken.has(address)) problems.push(`${at}.${role}: ${address} is a token or another registry as well`);
    taken.add(address);
    resolved[role] = address;
  }
  return resolved;
}
