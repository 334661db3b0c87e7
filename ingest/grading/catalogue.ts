import type { CatalogueSource } from '../../clickhouse/tables/catalogues.ts';
import type { CatalogueSection, FacilitatorConfig, PayeeConfig } from '../../core/config/catalogue.ts';
import { configProblems } from '../../core/config/problem.ts';
import type { Address } from '../../core/domain/account.ts';
import { addressKey, type Chain } from '../../core/domain/chains.ts';
import { FACILITATOR_NAMES } from '../../core/domain/facilitator-names.ts';
import { proposedId, proposedName } from '../../core/domain/relayer-proposal.ts';
import type { AcceptedRelayer } from '../proposals/decisions.ts';
import { BUILT_IN_BUILDER_CODES, type BuiltInRelayer, readBuiltInRelayers } from './built-in.ts';

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

/** The known relayers, codes and payees. Lookups are constant-time and allocation-free: they run once per settlement. */
export interface Catalogue {
  readonly relayers: readonly RelayerEntry[];
  readonly payees: readonly PayeeEntry[];
  /** ERC-8021 facilitator code → facilitator id. */
  readonly builderCodes: ReadonlyMap<string, string>;
  /** Id of the facilitator whose relayer this was on that chain at `time` (Unix seconds); undefined when none is known. */
  facilitatorOf(chain: Chain, relayer: Address, time: number): string | undefined;
  isPayee(chain: Chain, payee: Address): boolean;
}

/** The entries of a catalogue, from which its lookups are built. */
export type CatalogueEntries = Pick<Catalogue, 'relayers' | 'payees' | 'builderCodes'>;

/** A relayer address that a facilitator listed in its /supported answer. */
export interface SupportedSigner {
  readonly facilitator: string;
  readonly chain: Chain;
  readonly address: Address;
  /** Day (UTC, `YYYY-MM-DD`) on which it was first seen there. */
  readonly firstSeen: string;
}

/** The sources of a catalogue besides the configuration. */
export interface CatalogueLayers {
  /** The configuration overrides it; it overrides the built-in table. */
  readonly file?: CatalogueSection;
  /** Lowest precedence: a facilitator cannot claim a relayer that is listed for another one. */
  readonly signers?: readonly SupportedSigner[];
  /** Relayers that the service accepted by itself, below even that. */
  readonly accepted?: readonly AcceptedRelayer[];
  /** Payees of listed endpoints, also with the lowest precedence. */
  readonly listed?: readonly PayeeConfig[];
  /** For tests. */
  readonly builtIn?: readonly BuiltInRelayer[];
}

/**
 * Merges the built-in dated table, the catalogue file and the configuration, in rising precedence: a configured relayer, name or code
 * replaces the built-in one. Throws `UserError` for contradictions within or between them.
 */
export function buildCatalogue(section: CatalogueSection, layers: CatalogueLayers = {}): Catalogue {
  const { file = { facilitators: [], payees: [] }, signers = [], accepted = [], listed = [] } = layers;
  const { builtIn = readBuiltInRelayers() } = layers;
  const facilitators = [...file.facilitators, ...section.facilitators];
  refuseContradictions(facilitators);
  const names = new Map(facilitators.map(({ id, name }) => [id, name]));
  const entries: RelayerEntry[] = [
    ...builtIn.map((entry) => ({ ...entry, source: 'built-in' as const })),
    ...relayersOf(file.facilitators, 'file'),
    ...relayersOf(section.facilitators, 'configured'),
  ].map((entry) => ({
    ...entry,
    facilitatorName:
      names.get(entry.facilitator) ?? FACILITATOR_NAMES[entry.facilitator] ?? entry.facilitator,
  }));
  return catalogueOf({
    relayers: firstOfEach([
      ...withSigners(lastOfEach(entries), signers, facilitators),
      ...accepted.map(acceptedEntry),
    ]),
    payees: firstOfEach([
      ...payeesOf(section, 'configured'),
      ...payeesOf(file, 'file'),
      ...payeesOf({ payees: listed }, 'bazaar'),
    ]),
    builderCodes: mergeBuilderCodes(facilitators),
  });
}

/** The look-ups over entries whose keys are unique. */
export function catalogueOf(entries: CatalogueEntries): Catalogue {
  const { relayers, payees, builderCodes } = entries;
  const dated = indexByChain(relayers, (entry) => ({
    facilitator: entry.facilitator,
    fromTime: Date.parse(`${entry.firstSeen}T00:00:00Z`) / 1_000,
  }));
  const known = indexByChain(payees, () => true);
  return {
    relayers,
    payees,
    builderCodes,
    facilitatorOf(chain, relayer, time) {
      const entry = dated.get(chain)?.get(relayer);
      return entry !== undefined && time >= entry.fromTime ? entry.facilitator : undefined;
    },
    isPayee: (chain, payee) => known.get(chain)?.has(payee) ?? false,
  };
}

/** Signers whose address belongs to another facilitator in the catalogue that was built with them. */
export function refusedSigners(catalogue: Catalogue, signers: readonly SupportedSigner[]): SupportedSigner[] {
  const owners = new Map(catalogue.relayers.map((entry) => [addressKey(entry), entry.facilitator]));
  return signers.filter((signer) => {
    const owner = owners.get(addressKey(signer));
    return owner !== undefined && owner !== signer.facilitator;
  });
}

/** The engine's Date ranges from 1970 to 2149; a day outside must be reported here, or it would stop the worker. */
function isEngineDate(day: string): boolean {
  return !Number.isNaN(Date.parse(`${day}T00:00:00Z`)) && day >= '1970-01-01' && day < '2149-01-01';
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
      if (!isEngineDate(relayer.firstSeen))
        problems.push(`catalogue.facilitators: ${id}: firstSeen ${relayer.firstSeen} is no date`);
    }
    for (const code of builderCodes) claim(`builder code ${code}`, id);
  }
  if (problems.length > 0) throw configProblems(problems);
}

function relayersOf(
  facilitators: readonly FacilitatorConfig[],
  source: CatalogueSource,
): Omit<RelayerEntry, 'facilitatorName'>[] {
  return facilitators.flatMap(({ id, relayers }) =>
    relayers.map(({ chain, address: at, firstSeen }) => ({
      chain,
      address: at,
      facilitator: id,
      firstSeen,
      source,
    })),
  );
}

/** Only for facilitators that are still polled: removing a URL from the configuration removes the signers that it listed. */
function withSigners(
  entries: readonly RelayerEntry[],
  signers: readonly SupportedSigner[],
  facilitators: readonly FacilitatorConfig[],
): RelayerEntry[] {
  const asked = new Map(
    facilitators.filter(({ url }) => url !== undefined).map(({ id, name }) => [id, name]),
  );
  const said = signers
    .filter(({ facilitator }) => asked.has(facilitator))
    .sort((one, other) => bySeniority(one).localeCompare(bySeniority(other)))
    .map((signer) => ({
      ...signer,
      facilitatorName: asked.get(signer.facilitator) ?? signer.facilitator,
      source: 'supported' as const,
    }));
  return firstOfEach([...entries, ...said]);
}

function acceptedEntry({ chain, address: at, firstSeen }: AcceptedRelayer): RelayerEntry {
  const names = { facilitator: proposedId(at), facilitatorName: proposedName(at) };
  return { chain, address: at, firstSeen, ...names, source: 'proposed' };
}

/** The facilitator that listed an address first keeps it. */
function bySeniority({ firstSeen, facilitator }: SupportedSigner): string {
  return `${firstSeen} ${facilitator}`;
}

function payeesOf({ payees }: Pick<CatalogueSection, 'payees'>, source: CatalogueSource): PayeeEntry[] {
  return payees.map((payee) => ({ ...payee, source }));
}

/** One payTo may serve many resources; the address is the key, and the first entry names it. */
function firstOfEach<Entry extends { readonly chain: Chain; readonly address: Address }>(
  entries: readonly Entry[],
): Entry[] {
  return lastOfEach([...entries].reverse()).reverse();
}

function lastOfEach<Entry extends { readonly chain: Chain; readonly address: Address }>(
  entries: readonly Entry[],
): Entry[] {
  return [...new Map(entries.map((entry) => [addressKey(entry), entry])).values()];
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

/**
 * The current catalogue for grading. It can be replaced at any moment. Unacknowledged rows that were graded by the previous one are
 * tracked, so that a regrade can wait until none of them can land after it.
 */
export interface CatalogueHolder {
  current(): Catalogue;
  /** Whether other processes publish catalogues too, so that one may be outdated when its rows arrive. */
  isShared(): boolean;
  /**
   * Lends the current catalogue until `work` ends, which must be after its rows are acknowledged. `pass` is the number of the pass that
   * published it, by which the engine refuses rows of an older one; null for a single process.
   */
  lend<T>(work: (catalogue: Catalogue, pass: bigint | null) => Promise<T>): Promise<T>;
  /** Lends `next` from now on; resolves when all work with the previous catalogue has ended. */
  replace(next: Catalogue, pass?: bigint): Promise<void>;
  /** Resolves when a catalogue of a later pass is lent. */
  after(pass: bigint, signal: AbortSignal | undefined): Promise<void>;
}

export function createCatalogueHolder(initial: Catalogue, initialPass?: bigint): CatalogueHolder {
  let current = initial;
  let currentPass: bigint | null = initialPass ?? null;
  const lent = new Set<Promise<unknown>>();
  const waiting = new Set<() => void>();
  return {
    current: () => current,
    isShared: () => currentPass !== null,
    lend(work) {
      const running = work(current, currentPass);
      lent.add(running);
      const returned = () => lent.delete(running);
      running.then(returned, returned);
      return running;
    },
    async replace(next, pass) {
      current = next;
      currentPass = pass ?? null;
      for (const look of waiting) look();
      await Promise.allSettled([...lent]);
    },
    after: (pass, signal) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void): void => {
          waiting.delete(look);
          signal?.removeEventListener('abort', abort);
          settle();
        };
        const look = (): void => {
          if (currentPass !== null && currentPass > pass) end(resolve);
        };
        const abort = (): void => end(() => reject(signal?.reason));
        waiting.add(look);
        signal?.addEventListener('abort', abort, { once: true });
        if (signal?.aborted) abort();
        else look();
      }),
  };
}
