import type { Config, FacilitatorConfig, PayeeConfig } from '../../src/config/config.ts';
import { ConfigProblem } from '../../src/config/problem.ts';
import { type Address, address } from '../../src/domain/address.ts';
import { type Chain, chainOf } from '../../src/domain/chain.ts';
import {
  BUILT_IN_BUILDER_CODES,
  type BuiltInRelayer,
  FACILITATOR_NAMES,
  readBuiltInRelayers,
} from './built-in-relayers.ts';

/** Where an entry comes from; stored beside it. */
export type CatalogueSource = 'built-in' | 'configured';

export interface RelayerEntry {
  readonly chain: Chain;
  readonly address: Address;
  readonly facilitator: string;
  readonly facilitatorName: string;
  /** Day (UTC, `YYYY-MM-DD`) from which the relayer counts as the facilitator's. */
  readonly firstSeen: string;
  readonly source: CatalogueSource;
}

export interface PayeeEntry extends PayeeConfig {
  readonly source: CatalogueSource;
}

/** What names relayers, codes and payees. Lookups are constant-time and allocate nothing: they run once per settlement. */
export interface Catalogue {
  readonly relayers: readonly RelayerEntry[];
  readonly payees: readonly PayeeEntry[];
  /** ERC-8021 facilitator code → facilitator id. */
  readonly builderCodes: ReadonlyMap<string, string>;
  /** Id of the facilitator whose relayer this was on that chain at `time` (Unix seconds); undefined when none is known. */
  facilitatorOf(chain: Chain, relayer: Address, time: number): string | undefined;
  isPayee(chain: Chain, payee: Address): boolean;
}

/**
 * The built-in dated table under the configuration: a configured relayer, name or code replaces the built-in one.
 * Throws `ConfigProblem` where the configuration contradicts itself. `builtIn` is a parameter for tests.
 */
export function buildCatalogue(
  config: Config['catalogue'],
  builtIn: readonly BuiltInRelayer[] = readBuiltInRelayers(),
): Catalogue {
  refuseContradictions(config.facilitators);
  const relayers = mergeRelayers(config.facilitators, builtIn);
  const payees = mergePayees(config.payees);
  const dated = indexByChain(relayers, (entry) => ({
    facilitator: entry.facilitator,
    fromTime: Date.parse(`${entry.firstSeen}T00:00:00Z`) / 1_000,
  }));
  const known = indexByChain(payees, () => true);
  return {
    relayers,
    payees,
    builderCodes: mergeBuilderCodes(config.facilitators),
    facilitatorOf(chain, relayer, time) {
      const entry = dated.get(chain)?.get(relayer);
      return entry !== undefined && time >= entry.fromTime ? entry.facilitator : undefined;
    },
    isPayee: (chain, payee) => known.get(chain)?.has(payee) ?? false,
  };
}

/** One relayer or code that belongs to two facilitators would make the grade depend on the order of the file. */
function refuseContradictions(facilitators: readonly FacilitatorConfig[]): void {
  const owners = new Map<string, string>();
  const problems: string[] = [];
  const claim = (what: string, id: string) => {
    const owner = owners.get(what);
    if (owner !== undefined && owner !== id)
      problems.push(`catalogue.facilitators: ${what} belongs to both ${owner} and ${id}`);
    owners.set(what, id);
  };
  for (const { id, relayers, builderCodes } of facilitators) {
    for (const relayer of relayers) {
      claim(`relayer ${relayer.address} on ${relayer.chain}`, id);
      if (Number.isNaN(Date.parse(`${relayer.firstSeen}T00:00:00Z`)))
        problems.push(`catalogue.facilitators: ${id}: firstSeen ${relayer.firstSeen} is no date`);
    }
    for (const code of builderCodes) claim(`builder code ${code}`, id);
  }
  if (problems.length > 0) throw new ConfigProblem(problems);
}

function mergeRelayers(
  facilitators: readonly FacilitatorConfig[],
  builtIn: readonly BuiltInRelayer[],
): RelayerEntry[] {
  const names = new Map(facilitators.map(({ id, name }) => [id, name]));
  const nameOf = (id: string) => names.get(id) ?? FACILITATOR_NAMES[id] ?? id;
  const entries = new Map<string, RelayerEntry>();
  const add = (entry: Omit<RelayerEntry, 'facilitatorName'>) =>
    entries.set(`${entry.chain} ${entry.address}`, { ...entry, facilitatorName: nameOf(entry.facilitator) });
  for (const { chain_id, address: at, facilitator, first_seen } of builtIn)
    add({
      chain: chainOf(chain_id),
      address: address(at),
      facilitator,
      firstSeen: first_seen,
      source: 'built-in',
    });
  for (const { id, relayers } of facilitators)
    for (const { chain, address: at, firstSeen } of relayers)
      add({ chain, address: at, facilitator: id, firstSeen, source: 'configured' });
  return [...entries.values()];
}

/** One payTo may serve many resources (protocol.md 2.4); the address is the key, and the first entry names it. */
function mergePayees(payees: readonly PayeeConfig[]): PayeeEntry[] {
  const entries = new Map<string, PayeeEntry>();
  for (const payee of payees) {
    const key = `${payee.chain} ${payee.address}`;
    if (!entries.has(key)) entries.set(key, { ...payee, source: 'configured' });
  }
  return [...entries.values()];
}

function mergeBuilderCodes(facilitators: readonly FacilitatorConfig[]): Map<string, string> {
  const codes = new Map(Object.entries(BUILT_IN_BUILDER_CODES));
  for (const { id, builderCodes } of facilitators) for (const code of builderCodes) codes.set(code, id);
  return codes;
}

/** Two nested maps instead of one joined key: joining would allocate a string per lookup. */
function indexByChain<Entry extends { readonly chain: Chain; readonly address: Address }, Value>(
  entries: readonly Entry[],
  read: (entry: Entry) => Value,
): Map<Chain, Map<Address, Value>> {
  const index = new Map<Chain, Map<Address, Value>>();
  for (const entry of entries) {
    const ofChain = index.get(entry.chain) ?? new Map<Address, Value>();
    index.set(entry.chain, ofChain.set(entry.address, read(entry)));
  }
  return index;
}
