import { accountText, addressesBytes } from '../../clickhouse/engine/account.ts';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import { addressField, textField } from '../../clickhouse/engine/row-reader.ts';
import { sql, uint32 } from '../../clickhouse/engine/sql.ts';
import type { Clock } from '../../core/clock.ts';
import type { Address } from '../../core/domain/account.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { createFindImitated, type FindImitated } from '../../core/domain/imitated-name.ts';
import { ask, cached } from './ask.ts';

/**
 * The one place that names wallets. First the name on the card of its ERC-8004 agent, on the chain in question before any other;
 * then the name of its catalogued resource; then, for a relayer, its facilitator. All but the last are claims of their publishers, so
 * two kinds are dropped: the name on a card whose domain denies it, and a name that reads as that of a facilitator whose relayer the
 * wallet is not. Source: docs/identities.md, "Names".
 */
export interface Names {
  /** Names of facilitators, and of these wallets. */
  of(wallets: readonly Address[]): Promise<Directory>;
}

/** Sources of a wallet's name; `operator_catalogue` is the configuration of the deployment. */
export const NAME_SOURCES = [
  'agent_card',
  'endpoint_catalogue',
  'operator_catalogue',
  'facilitator',
] as const;
export type NameSource = (typeof NAME_SOURCES)[number];

export interface WalletName {
  readonly name: string;
  readonly source: NameSource;
}

export interface Directory {
  /** Null when unknown. */
  facilitatorName(id: string): string | null;
  /** Of every facilitator that is known, with a name or without. */
  facilitatorIds(): readonly string[];
  /** Null when unknown, or when the directory was not asked for the wallet. `chains`: those in question, the first one first. */
  walletName(wallet: Address, chains: readonly Chain[]): WalletName | null;
  /** Id of the facilitator as which a wallet with this name would be taken, without being its relayer; null for none. */
  imitatedFacilitator(name: string, wallet: Address | null): string | null;
}

const RESOURCE = 'names';
const MAX_AGE_MS = 10_000;
const MAX_SECONDS = 5;
const FACILITATORS_MAX = 10_000;
const RELAYERS_MAX = 100_000;
/** About 15 MB; names beyond are shown as null. */
const WALLETS_MAX = 100_000;

/** The catalogues, whole in memory: they change a few times a day. Keys are `chain address`. */
interface Catalogued {
  readonly facilitators: ReadonlyMap<string, string>;
  readonly payees: ReadonlyMap<string, WalletName>;
  /** Id of the facilitator. */
  readonly relayers: ReadonlyMap<string, string>;
  /** `address facilitator` of every relayer, on whatever chain. */
  readonly relayersOf: ReadonlySet<string>;
  readonly findImitated: FindImitated;
}

export function createNames(deps: { readonly reader: Reader; readonly clock: Clock }): Names {
  const { reader, clock } = deps;
  const agents: AgentNames = createAgentNames(deps);
  const catalogued = cached({
    clock,
    maxAgeMs: MAX_AGE_MS,
    staleMs: MAX_AGE_MS,
    load: () => readCatalogued(reader),
  });
  return {
    async of(wallets) {
      const [known, named] = await Promise.all([catalogued(), agents.of(wallets)]);
      return directoryOf(known, named);
    },
  };
}

function directoryOf(
  { facilitators, payees, relayers, relayersOf, findImitated }: Catalogued,
  agents: ReadonlyMap<Address, readonly AgentName[]>,
): Directory {
  const onChains = <Value>(
    chains: readonly Chain[],
    of: (chain: Chain) => Value | undefined,
  ): Value | undefined => chains.map(of).find((value) => value !== undefined);
  const facilitatorName = (id: string): string | null => facilitators.get(id) || null;
  const imitatedFacilitator = (name: string, wallet: Address | null): string | null => {
    const id = findImitated(name);
    return id === null || relayersOf.has(`${wallet} ${id}`) ? null : id;
  };
  const isOwnName = ({ name, source }: WalletName, wallet: Address): boolean =>
    source === 'operator_catalogue' || imitatedFacilitator(name, wallet) === null;
  return {
    facilitatorName,
    facilitatorIds: () => [...facilitators.keys()],
    imitatedFacilitator,
    walletName(wallet, chains) {
      const own = (agents.get(wallet) ?? []).filter(({ name }) => imitatedFacilitator(name, wallet) === null);
      const agent = onChains(chains, (chain) => own.find((one) => one.chain === chain)) ?? own[0];
      if (agent !== undefined) return { name: agent.name, source: 'agent_card' };
      const payee = onChains(chains, (chain) => payees.get(`${chain} ${wallet}`));
      if (payee !== undefined && isOwnName(payee, wallet)) return payee;
      const facilitator = onChains(chains, (chain) => relayers.get(`${chain} ${wallet}`));
      const name = facilitator === undefined ? null : facilitatorName(facilitator);
      return name === null ? null : { name, source: 'facilitator' };
    },
  };
}

async function readCatalogued(reader: Reader): Promise<Catalogued> {
  const [facilitators, payees, relayers] = await Promise.all([
    readFacilitators(reader),
    readPayees(reader),
    readRelayers(reader),
  ]);
  return {
    facilitators,
    payees,
    relayers,
    relayersOf: new Set([...relayers].map(([key, id]) => `${key.slice(key.indexOf(' ') + 1)} ${id}`)),
    findImitated: createFindImitated([...facilitators].map(([id, name]) => ({ id, name }))),
  };
}

async function readFacilitators(reader: Reader): Promise<ReadonlyMap<string, string>> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'facilitator-names',
    maxSeconds: MAX_SECONDS,
    maxRows: FACILITATORS_MAX,
    sql: sql`SELECT facilitator, max(facilitator_name) FROM (SELECT * FROM facilitator_relayers FINAL)
      WHERE del = 0 GROUP BY facilitator ORDER BY facilitator LIMIT ${uint32(FACILITATORS_MAX)}`,
  });
  return new Map(rows.map((row) => [textField(row[0]), textField(row[1])]));
}

async function readPayees(reader: Reader): Promise<ReadonlyMap<string, WalletName>> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'payee-names',
    maxSeconds: MAX_SECONDS,
    maxRows: WALLETS_MAX,
    sql: sql`SELECT chain, ${accountText('address')}, name, source FROM (SELECT * FROM catalogued_payees FINAL)
      WHERE del = 0 AND name != '' ORDER BY chain, address LIMIT ${uint32(WALLETS_MAX)}`,
  });
  return new Map(
    rows.map((row) => {
      const [key, name] = keyed(row);
      return [key, { name, source: cataloguedNameSource(textField(row[3])) }];
    }),
  );
}

async function readRelayers(reader: Reader): Promise<ReadonlyMap<string, string>> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'relayer-names',
    maxSeconds: MAX_SECONDS,
    maxRows: RELAYERS_MAX,
    sql: sql`SELECT chain, ${accountText('address')}, facilitator FROM (SELECT * FROM facilitator_relayers FINAL)
      WHERE del = 0 ORDER BY chain, address LIMIT ${uint32(RELAYERS_MAX)}`,
  });
  return new Map(rows.map(keyed));
}

/** Where the name of a catalogued payee is from, by the source that `catalogued_payees` states. */
export function cataloguedNameSource(source: string): NameSource {
  // The catalogue's own word for listings of endpoints (ingest/grading/catalogue.ts).
  return source === 'bazaar' ? 'endpoint_catalogue' : 'operator_catalogue';
}

function keyed([chain, at, name]: readonly unknown[]): readonly [string, string] {
  return [`${textField(chain)} ${textField(at)}`, textField(name)];
}

/** What the ERC-8004 agent of a wallet is called on a chain. */
interface AgentName {
  readonly chain: Chain;
  readonly name: string;
}

/** Names of agents by wallet, asked for as pages need them: there may be half a million, and a page shows two hundred. */
interface AgentNames {
  /** Best first, one for each chain; a wallet without a named agent is missing. */
  of(wallets: readonly Address[]): Promise<ReadonlyMap<Address, readonly AgentName[]>>;
}

/** A wallet that has no agent is remembered too. About 30 MB when all of them have one. */
const REMEMBERED_MAX = 100_000;
const REMEMBERED_MS = 30_000;
/** How much longer a name is shown while it is read anew. */
const STALE_MS = 30_000;
/** Agents of one wallet that are looked at: the lowest ids of those that ever had it. */
const AGENTS_PER_WALLET_MAX = 100;
const NAMES_MAX = 100_000;
const NONE: readonly AgentName[] = [];

interface Remembered {
  readonly names: readonly AgentName[];
  /** Unix milliseconds, from which on the names are read anew. */
  readonly freshUntilMs: number;
  readonly usableUntilMs: number;
}

function createAgentNames({ reader, clock }: { readonly reader: Reader; readonly clock: Clock }): AgentNames {
  const remembered = new Map<Address, Remembered>();
  const remember = (wallet: Address, names: readonly AgentName[]): void => {
    remembered.delete(wallet);
    const freshUntilMs = clock.nowMs() + REMEMBERED_MS;
    remembered.set(wallet, { names, freshUntilMs, usableUntilMs: freshUntilMs + STALE_MS });
    if (remembered.size <= REMEMBERED_MAX) return;
    const [oldest] = remembered.keys();
    if (oldest !== undefined) remembered.delete(oldest);
  };
  const read = async (wallets: readonly Address[]): Promise<Map<Address, readonly AgentName[]>> => {
    const found = wallets.length === 0 ? new Map<Address, AgentName[]>() : await readNames(reader, wallets);
    return new Map(
      wallets.map((wallet) => {
        const names = found.get(wallet) ?? NONE;
        remember(wallet, names);
        return [wallet, names];
      }),
    );
  };
  return {
    async of(wallets) {
      const nowMs = clock.nowMs();
      const asked = [...new Set(wallets)];
      const known = new Map(
        asked.flatMap((wallet) => {
          const one = remembered.get(wallet);
          return one !== undefined && one.usableUntilMs > nowMs ? [[wallet, one] as const] : [];
        }),
      );
      const old = [...known].filter(([, { freshUntilMs }]) => freshUntilMs <= nowMs);
      // Read once, though many ask: to the others they are fresh until they were read, or cannot be used any more.
      for (const [wallet, one] of old) remembered.set(wallet, { ...one, freshUntilMs: one.usableUntilMs });
      read(old.map(([wallet]) => wallet)).catch(() => undefined);
      const names = await read(asked.filter((wallet) => !known.has(wallet)));
      for (const [wallet, one] of known) names.set(wallet, one.names);
      return names;
    },
  };
}

/**
 * Several agents of one wallet on a chain: the one with most feedback names it, then the one that registered first. A card whose
 * domain denies that the agent is its own gives no name.
 */
async function readNames(
  reader: Reader,
  wallets: readonly Address[],
): Promise<ReadonlyMap<Address, AgentName[]>> {
  const having = await agentWallets(reader, wallets);
  if (having.length === 0) return new Map();
  const asked = addressesBytes(having);
  const { rows } = await ask(reader, RESOURCE, {
    name: 'agent-names',
    maxSeconds: MAX_SECONDS,
    maxRows: NAMES_MAX,
    sql: sql`SELECT ${accountText('wallet')}, chain, name FROM (
        SELECT wallet, chain, agent_id, name, domain_proof, feedback_count, del FROM agents FINAL
        WHERE (chain, agent_id) IN (
          SELECT chain, agent_id FROM agent_wallets WHERE wallet IN ${asked} ORDER BY wallet, chain, agent_id
          LIMIT ${uint32(AGENTS_PER_WALLET_MAX)} BY wallet))
      WHERE del = 0 AND name != '' AND domain_proof != 'refuted' AND wallet IN ${asked}
      ORDER BY feedback_count DESC, agent_id, chain LIMIT 1 BY wallet, chain LIMIT ${uint32(NAMES_MAX)}`,
  });
  const names = new Map<Address, AgentName[]>();
  for (const [at, chain, name] of rows) {
    const wallet = addressField(at);
    const entry = { chain: textField(chain) as Chain, name: textField(name) };
    names.set(wallet, [...(names.get(wallet) ?? []), entry]);
  }
  return names;
}

/** Those that ever had an agent. Most pages have none: this alone takes 0.7 ms, the names 2.2 (without the floor of a statement). */
async function agentWallets(reader: Reader, wallets: readonly Address[]): Promise<Address[]> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'agent-wallets',
    maxSeconds: MAX_SECONDS,
    maxRows: wallets.length,
    sql: sql`SELECT DISTINCT ${accountText('wallet')} FROM agent_wallets WHERE wallet IN ${addressesBytes(wallets)}`,
  });
  return rows.map(([at]) => addressField(at));
}
