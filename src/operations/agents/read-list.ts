import { addressBytes } from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { bigintField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, type Sql, sql, text, texts, uint8, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/account.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { AgentPosition } from '../../../core/domain/cursor.ts';
import { ask } from '../ask.ts';
import { saysAllWords } from './params.ts';
import { AGENT_COLUMNS, type AgentRow, decodeAgent } from './row.ts';

/**
 * One page of agents, by (chain, agent_id) descending: the newest registration of a chain first. In two steps. The first reads
 * the keys of rows that match, in the order of the table and without merging their versions, so it ends as soon as it has
 * enough; rare matches are found by the indexes. Whatever matches now is among them, because its newest version does. The second
 * merges the versions of these keys alone and keeps what still matches.
 */

export interface AgentFilter {
  /** Every word must be a word of the name or the description. */
  readonly phrase?: string | undefined;
  readonly agentId?: bigint | undefined;
  readonly owner?: Address | undefined;
  readonly capability?: string | undefined;
  /** Whether the card declares x402. */
  readonly x402Support?: boolean | undefined;
  /** What the card says; an agent without a card is neither. */
  readonly active?: boolean | undefined;
}

export interface AgentListQuery {
  /** Agents wanted, 1 to 100. */
  readonly limit: number;
  readonly before: AgentPosition | undefined;
  /** At least one. */
  readonly chains: readonly Chain[];
  readonly filter: AgentFilter;
}

interface AgentListPage {
  readonly rows: readonly AgentRow[];
  /** Where the next page starts; undefined at the end of the list. */
  readonly nextBefore: AgentPosition | undefined;
}

export const AGENTS_RESOURCE = 'agents';
const MAX_SECONDS = 10;
/** Versions that are not merged yet, and agents that matched once: a few more than the page wants. */
const SPARE_KEYS = 16;
const KEYS_GROWTH = 4;
const KEYS_MAX = 2_000;
/** Reached where long runs of agents were retracted or match no more: the page then ends early, with a cursor to go on from. */
const ROUNDS_MAX = 6;

export async function readAgentList(reader: Reader, query: AgentListQuery): Promise<AgentListPage> {
  const { limit, chains, filter } = query;
  const conditions = filterConditions(filter);
  const rows: AgentRow[] = [];
  let below = query.before;
  let keysWanted = limit + 1 + SPARE_KEYS;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const keys = await readKeys(reader, { chains, below, conditions, limit: keysWanted });
    rows.push(...(await readAgents(reader, keys, { conditions, limit: limit + 1 - rows.length })));
    if (rows.length > limit) {
      const page = rows.slice(0, limit);
      return { rows: page, nextBefore: page.at(-1) };
    }
    if (keys.length < keysWanted) return { rows, nextBefore: undefined };
    below = keys.at(-1);
    keysWanted = Math.min(keysWanted * KEYS_GROWTH, KEYS_MAX);
  }
  return { rows, nextBefore: below };
}

function filterConditions(filter: AgentFilter): Sql[] {
  const { phrase, agentId, owner, capability, x402Support, active } = filter;
  return [
    ...(agentId === undefined ? [] : [sql`agent_id = toUInt256(${text(String(agentId))})`]),
    ...(owner === undefined ? [] : [sql`owner = ${addressBytes(owner)}`]),
    ...(capability === undefined ? [] : [sql`has(capabilities, ${text(capability)})`]),
    ...(x402Support === undefined ? [] : [sql`x402_support = ${uint8(Number(x402Support))}`]),
    ...(active === undefined
      ? []
      : [sql`active = ${uint8(Number(active))} AND toUnixTimestamp(card_at) > 0`]),
    ...(phrase === undefined ? [] : [saysAllWords(phrase)]),
  ];
}

interface KeysQuery {
  readonly chains: readonly Chain[];
  readonly below: AgentPosition | undefined;
  readonly conditions: readonly Sql[];
  readonly limit: number;
}

/**
 * Plain rows: over distinct ones the engine reads to the end of the table. The order is spelled by both columns and the cursor as
 * a range of each chain: a comparison of tuples reads every granule of the chain above it (measured).
 */
async function readKeys(
  reader: Reader,
  { chains, below, conditions, limit }: KeysQuery,
): Promise<AgentPosition[]> {
  const { rows } = await ask(reader, AGENTS_RESOURCE, {
    name: 'agents-keys',
    maxSeconds: MAX_SECONDS,
    maxRows: limit,
    settings: { read_in_order_use_virtual_row: 1 },
    sql: sql`SELECT chain, toString(agent_id) FROM agents WHERE ${allOf([underKey(chains, below), sql`del = 0`, ...conditions])}
      ORDER BY chain DESC, agent_id DESC LIMIT ${uint32(limit)}`,
  });
  // Chains are written by ingest from `Chain` values only.
  return rows.map((row) => ({ chain: textField(row[0]) as Chain, agentId: bigintField(row[1]) }));
}

function underKey(chains: readonly Chain[], below: AgentPosition | undefined): Sql {
  if (below === undefined) return sql`chain IN ${texts(chains)}`;
  const { chain, agentId } = below;
  const lower = sql`chain IN ${texts(chains.filter((other) => other < chain))}`;
  return chains.includes(chain)
    ? sql`(chain = ${text(chain)} AND agent_id < toUInt256(${text(String(agentId))}) OR ${lower})`
    : lower;
}

/** The agents of these keys as they are now, in the order of the list; those that are gone or do not match are missing. */
export async function readAgents(
  reader: Reader,
  keys: readonly AgentPosition[],
  { conditions, limit }: { readonly conditions: readonly Sql[]; readonly limit: number },
): Promise<AgentRow[]> {
  if (keys.length === 0) return [];
  const chains = texts(keys.map(({ chain }) => chain));
  const ids = texts(keys.map(({ agentId }) => String(agentId)));
  const among = sql`(SELECT key.1, toUInt256(key.2) FROM (SELECT arrayJoin(arrayZip(${chains}, ${ids})) AS key))`;
  const { rows } = await ask(reader, AGENTS_RESOURCE, {
    name: 'agents-rows',
    maxSeconds: MAX_SECONDS,
    maxRows: limit,
    sql: sql`SELECT ${AGENT_COLUMNS} FROM (SELECT * FROM agents FINAL WHERE (chain, agent_id) IN ${among})
      WHERE ${allOf([sql`del = 0`, ...conditions])}
      ORDER BY chain DESC, agent_id DESC LIMIT ${uint32(limit)}`,
  });
  return rows.map(decodeAgent);
}
