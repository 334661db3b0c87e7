import type { Reader } from '../../clickhouse/engine.ts';
import { sql, uint32 } from '../../clickhouse/sql.ts';
import type { Clock } from '../clock.ts';
import type { Address } from '../domain/address.ts';
import type { Chain } from '../domain/chain.ts';
import { type AgentName, type AgentNames, createAgentNames } from './agent-names.ts';
import { ask } from './ask.ts';
import { cached } from './cached.ts';
import { textField } from './decode.ts';

/**
 * The one place that says what a wallet is called. First the name on the card of its ERC-8004 agent, on the chain in question
 * before any other; then the name of its catalogued resource; then, for a relayer, its facilitator. All are claims of those who
 * publish them. Source: api.md 2; docs/identities.md, "Names".
 */
export interface Names {
  /** Names of facilitators, and of these wallets. */
  of(wallets: readonly Address[]): Promise<Directory>;
}

export interface Directory {
  /** Null when unknown. */
  facilitatorName(id: string): string | null;
  /** Of every facilitator that is known, with a name or without. */
  facilitatorIds(): readonly string[];
  /** Null when unknown, or when the directory was not asked for the wallet. `chains`: those in question, the first one first. */
  walletName(wallet: Address, chains: readonly Chain[]): string | null;
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
  readonly payees: ReadonlyMap<string, string>;
  /** Id of the facilitator. */
  readonly relayers: ReadonlyMap<string, string>;
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
  { facilitators, payees, relayers }: Catalogued,
  agents: ReadonlyMap<Address, readonly AgentName[]>,
): Directory {
  const onChains = <Value>(
    chains: readonly Chain[],
    of: (chain: Chain) => Value | undefined,
  ): Value | undefined => chains.map(of).find((value) => value !== undefined);
  const facilitatorName = (id: string): string | null => facilitators.get(id) || null;
  return {
    facilitatorName,
    facilitatorIds: () => [...facilitators.keys()],
    walletName(wallet, chains) {
      const own = agents.get(wallet) ?? [];
      const agent = onChains(chains, (chain) => own.find((one) => one.chain === chain)) ?? own[0];
      if (agent !== undefined) return agent.name;
      const payee = onChains(chains, (chain) => payees.get(`${chain} ${wallet}`));
      if (payee !== undefined) return payee;
      const facilitator = onChains(chains, (chain) => relayers.get(`${chain} ${wallet}`));
      return facilitator === undefined ? null : facilitatorName(facilitator);
    },
  };
}

async function readCatalogued(reader: Reader): Promise<Catalogued> {
  const [facilitators, payees, relayers] = await Promise.all([
    readFacilitators(reader),
    readPayees(reader),
    readRelayers(reader),
  ]);
  return { facilitators, payees, relayers };
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

async function readPayees(reader: Reader): Promise<ReadonlyMap<string, string>> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'payee-names',
    maxSeconds: MAX_SECONDS,
    maxRows: WALLETS_MAX,
    sql: sql`SELECT chain, lower(hex(address)), name FROM (SELECT * FROM catalogued_payees FINAL)
      WHERE del = 0 AND name != '' ORDER BY chain, address LIMIT ${uint32(WALLETS_MAX)}`,
  });
  return new Map(rows.map(keyed));
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
