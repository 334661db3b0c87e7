import { addressBytes } from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { bigintField, integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, sql, text, uint32 } from '../../../clickhouse/engine/sql.ts';
import { type Address, namespaceOfText } from '../../../core/domain/account.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { AGENTS_RESOURCE, readAgents } from '../agents/read-list.ts';
import type { AgentRow } from '../agents/row.ts';
import { ask } from '../ask.ts';
import { partyIs } from '../channels/read.ts';
import { onChain } from '../index-state/finality.ts';

/** The lists of wallets outside their settlements. Most wallets are in none of them. */
const LISTS = ['agents', 'channels', 'offers', 'payees', 'relayers', 'rings'] as const;
type WalletList = (typeof LISTS)[number];

/** Which lists have rows of a wallet, asked once and before any of them is read: planning each of those reads takes 2 to 7 ms. */
export interface WalletLists {
  /** What `read` finds, or `nothing` where none of `lists` ever had the wallet. */
  read<Found>(lists: readonly WalletList[], nothing: Found, read: () => Promise<Found>): Promise<Found>;
}

export function lookUpLists(reader: Reader, wallet: Address): WalletLists {
  const found = readLists(reader, wallet);
  // Each read of a list gets the error, also one that begins later.
  found.catch(() => undefined);
  return {
    read: async (lists, nothing, read) => {
      const having = await found;
      return lists.some((list) => having.has(list)) ? read() : nothing;
    },
  };
}

/** Rows of any version: what a list had once may be gone, and its own read says so. */
async function readLists(reader: Reader, wallet: Address): Promise<ReadonlySet<string>> {
  const address = addressBytes(wallet);
  const { rows } = await ask(reader, 'wallets', {
    name: 'wallet-lists',
    maxSeconds: MAX_SECONDS,
    maxRows: LISTS.length + 1,
    sql: sql`(SELECT 'agents' AS list FROM agent_wallets WHERE wallet = ${address} LIMIT 1)
      UNION ALL (SELECT 'agents' FROM agent_claims WHERE wallet = ${address} LIMIT 1)
      UNION ALL (SELECT 'channels' FROM channel_rows WHERE ${partyIs({ wallet, role: 'any' })} LIMIT 1)
      UNION ALL (SELECT 'offers' FROM endpoint_offers WHERE pay_to = ${text(wallet)} LIMIT 1)
      UNION ALL (SELECT 'payees' FROM catalogued_payees WHERE address = ${address} LIMIT 1)
      UNION ALL (SELECT 'relayers' FROM facilitator_relayers WHERE address = ${address} LIMIT 1)
      UNION ALL (SELECT 'rings' FROM wallet_rings WHERE wallet = ${text(wallet)} LIMIT 1)`,
  });
  return new Set(rows.map((row) => textField(row[0])));
}

/** What the catalogues know of an address on a chain. An endpoint is a resource with an offer that is paid to it. */
export type WalletEntity =
  | {
      readonly kind: 'payee' | 'endpoint';
      readonly chain: Chain;
      readonly name: string;
      readonly resource: string;
      readonly source: string;
    }
  | {
      readonly kind: 'relayer';
      readonly chain: Chain;
      readonly facilitator: string;
      readonly name: string;
      /** YYYY-MM-DD: the relayer is named from this day on. */
      readonly since: string;
      readonly source: string;
    };

/** An address may be paid for thousands; `/endpoints?pay_to=` lists them all. */
export const WALLET_ENDPOINTS_MAX = 20;
const MAX_SECONDS = 5;
/** Two catalogues on more chains than a deployment lists. */
const ENTITIES_MAX = 2_000;

export async function readWalletEntities(
  reader: Reader,
  query: { readonly wallet: Address; readonly chain: Chain | undefined },
): Promise<WalletEntity[]> {
  const offered = allOf([sql`pay_to = ${text(query.wallet)} AND chain != ''`, ...onChain(query.chain)]);
  const known = allOf([sql`address = ${addressBytes(query.wallet)}`, ...onChain(query.chain)]);
  const { rows } = await ask(reader, 'wallets', {
    name: 'wallet-entities',
    maxSeconds: MAX_SECONDS,
    maxRows: ENTITIES_MAX,
    sql: sql`SELECT * FROM (
        SELECT 'payee' AS kind, toString(chain) AS on_chain, name, resource AS about, '' AS since, toString(source) AS origin
          FROM catalogued_payees FINAL WHERE ${known} AND del = 0
        UNION ALL
        SELECT 'relayer', toString(chain), toString(facilitator_name), toString(facilitator), toString(first_seen), toString(source)
          FROM facilitator_relayers FINAL WHERE ${known} AND del = 0
        UNION ALL
        SELECT 'endpoint', toString(chain), service_name, resource, '', toString(source)
          FROM endpoint_offers FINAL WHERE ${offered} AND del = 0
          ORDER BY resource, chain, source LIMIT 1 BY resource, chain LIMIT ${uint32(WALLET_ENDPOINTS_MAX)})
      ORDER BY indexOf(['payee', 'relayer', 'endpoint'], kind), on_chain, about LIMIT ${uint32(ENTITIES_MAX)}`,
  });
  return rows.map(decodeEntity);
}

function decodeEntity(row: readonly unknown[]): WalletEntity {
  const [kind, chainName, name, about, since, source] = row.map(textField);
  const common = { chain: chainName as Chain, name: name ?? '', source: source ?? '' }; // written by ingest from `Chain` values
  return kind === 'relayer'
    ? { kind, ...common, facilitator: about ?? '', since: since ?? '' }
    : { kind: kind === 'payee' ? kind : 'endpoint', ...common, resource: about ?? '' };
}

/** The agents that pay and are paid with a wallet, and those whose card alone names it. */
export interface WalletAgents {
  /** The most recently rated first, then by chain and the lowest id; those that only name it come last. */
  readonly shown: readonly AgentRow[];
  /** Those that use it. Counted among the first `WALLET_AGENTS_COUNTED_MAX` that ever had the wallet. */
  readonly total: number;
}

export const NO_AGENTS: WalletAgents = { shown: [], total: 0 };

/** Of a wallet: the rest is on `/agents`, by owner. */
export const WALLET_AGENTS_SHOWN_MAX = 20;
/** A wallet can register agents for as long as it pays for blocks: the first by chain and id are looked at. */
export const WALLET_AGENTS_COUNTED_MAX = 10_000;

/** Agents that name a wallet which are looked at: anybody may name any. */
const CLAIMS_MAX = 100;

/** An agent that had or named the wallet once is in these tables for good, so `agents` is asked whether it still does. */
export async function readWalletAgents(
  reader: Reader,
  { wallet, chain }: { readonly wallet: Address; readonly chain: Chain | undefined },
): Promise<WalletAgents> {
  const isWallet = sql`wallet = ${addressBytes(wallet)}`;
  const named = namespaceOfText(wallet) === 'eip155' ? sql`positionCaseInsensitive` : sql`position`;
  const isNamed = sql`${named}(services, ${text(`:${wallet}"`)}) > 0`;
  const isKey = allOf([isWallet, ...onChain(chain)]);
  const { rows } = await ask(reader, AGENTS_RESOURCE, {
    name: 'wallet-agents',
    maxSeconds: MAX_SECONDS,
    maxRows: WALLET_AGENTS_SHOWN_MAX,
    sql: sql`SELECT chain, toString(agent_id), countIf(${isWallet}) OVER () FROM (
        SELECT chain, agent_id, wallet, services, last_feedback_at, del FROM agents FINAL WHERE (chain, agent_id) IN (
          SELECT chain, agent_id FROM (SELECT chain, agent_id FROM agent_wallets WHERE ${isKey}
            ORDER BY wallet, chain, agent_id LIMIT 1 BY wallet, chain, agent_id LIMIT ${uint32(WALLET_AGENTS_COUNTED_MAX)})
          UNION ALL SELECT chain, agent_id FROM (SELECT chain, agent_id FROM agent_claims WHERE ${isKey}
            ORDER BY wallet, chain, agent_id LIMIT 1 BY wallet, chain, agent_id LIMIT ${uint32(CLAIMS_MAX)})))
      WHERE del = 0 AND (${isWallet} OR ${isNamed})
      ORDER BY ${isWallet} DESC, last_feedback_at DESC, chain, agent_id LIMIT ${uint32(WALLET_AGENTS_SHOWN_MAX)}`,
  });
  // Chains are written by ingest from `Chain` values only.
  const keys = rows.map((row) => ({ chain: textField(row[0]) as Chain, agentId: bigintField(row[1]) }));
  const found = await readAgents(reader, keys, {
    conditions: [sql`(${isWallet} OR ${isNamed})`],
    limit: keys.length,
  });
  const byKey = new Map(found.map((row) => [`${row.chain} ${row.agentId}`, row]));
  return {
    shown: keys.flatMap((key) => byKey.get(`${key.chain} ${key.agentId}`) ?? []),
    total: rows.length === 0 ? 0 : integerField(rows[0]?.[2]),
  };
}
