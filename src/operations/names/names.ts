import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { sql, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Address } from '../../../core/domain/address.ts';
import type { Chain } from '../../../core/domain/chain.ts';
import { createFindImitated, type FindImitated } from '../../../core/domain/imitated-name.ts';
import { ask } from '../read/ask.ts';
import { cached } from '../read/cached.ts';
import { textField } from '../read/decode.ts';
import { type AgentName, type AgentNames, createAgentNames } from './agent-names.ts';

/**
 * The one place that says what a wallet is called. First the name on the card of its ERC-8004 agent, on the chain in question
 * before any other; then the name of its catalogued resource; then, for a relayer, its facilitator. All but the last are claims of
 * those who publish them: a card whose domain denies it names nobody, nor does a name that is read as that of a facilitator whose
 * relayer the wallet is not. Source: docs/identities.md, "Names".
 */
export interface Names {
  /** Names of facilitators, and of these wallets. */
  of(wallets: readonly Address[]): Promise<Directory>;
}

/** Who says what a wallet is called; `operator_catalogue` is the configuration of the deployment. */
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
  const catalogued = cached({ clock, maxAgeMs: MAX_AGE_MS, load: () => readCatalogued(reader) });
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
    sql: sql`SELECT chain, lower(hex(address)), name, source FROM (SELECT * FROM catalogued_payees FINAL)
      WHERE del = 0 AND name != '' ORDER BY chain, address LIMIT ${uint32(WALLETS_MAX)}`,
  });
  return new Map(
    rows.map((row) => {
      const [key, name] = keyed(row);
      // The catalogue's own word for what listings of endpoints publish (ingest/grading/catalogue.ts).
      const source = textField(row[3]) === 'bazaar' ? 'endpoint_catalogue' : 'operator_catalogue';
      return [key, { name, source }];
    }),
  );
}

async function readRelayers(reader: Reader): Promise<ReadonlyMap<string, string>> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'relayer-names',
    maxSeconds: MAX_SECONDS,
    maxRows: RELAYERS_MAX,
    sql: sql`SELECT chain, lower(hex(address)), facilitator FROM (SELECT * FROM facilitator_relayers FINAL)
      WHERE del = 0 ORDER BY chain, address LIMIT ${uint32(RELAYERS_MAX)}`,
  });
  return new Map(rows.map(keyed));
}

function keyed([chain, at, name]: readonly unknown[]): readonly [string, string] {
  return [`${textField(chain)} 0x${textField(at)}`, textField(name)];
}
