import type { Writer } from '../../clickhouse/engine.ts';
import { dateTime, type Sql, sql, trustedText, uint32, uint64 } from '../../clickhouse/sql.ts';
import { type Chain, isChain } from '../../src/domain/chain.ts';
import { NO_CARD, readStoredCard, STORED_CARD_COLUMNS, type StoredCard } from './card-row.ts';

/** An agent whose card is to be fetched. */
export interface DueCard {
  readonly chain: Chain;
  readonly agentId: bigint;
  readonly uri: string;
  /** Tries of this very URI that failed so far. */
  readonly failures: number;
  /** The last good card, of whichever URI. */
  readonly card: StoredCard;
}

export interface DueCards {
  readonly due: readonly DueCard[];
  /** All that are due, these among them. */
  readonly total: number;
}

const MAX_SECONDS = 60;
const SETTINGS = { max_threads: 1 } as const;
/** Looked at for one batch: enough hosts to choose from. */
const LOOKED_AT_MAX = 2_000;
/** Of one host in a batch: a host with a hundred thousand agents is fetched beside the others, not before them. */
const PER_HOST_MAX = 20;

/** What is looked for: up to `filesMax` files that are due at `now` (Unix seconds), in rows of a version above `since`. */
export interface DueQuery {
  readonly filesMax: number;
  readonly now: number;
  /** 0 for all rows. */
  readonly since: bigint;
}

/**
 * Agents that are due, in no order: they are drawn by lot, so that every host gets on in proportion. Those that were fetched
 * since table `agents` was derived are left out.
 */
export async function readDueCards(writer: Writer, query: DueQuery): Promise<DueCards> {
  const counted = query.since === 0n ? await countDue(writer, query.now) : null;
  if (counted === 0) return { due: [], total: 0 };
  const { rows } = await writer.rows({
    name: 'cards-due',
    sql: dueSql(query),
    maxSeconds: MAX_SECONDS,
    maxRows: query.filesMax,
    settings: SETTINGS,
  });
  return { due: rows.flatMap(readDue), total: counted ?? rows.length };
}

async function countDue(writer: Writer, now: number): Promise<number> {
  const { rows } = await writer.rows({
    name: 'cards-due-count',
    sql: sql`SELECT count() FROM agents FINAL WHERE ${isDue(now)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    settings: SETTINGS,
  });
  return Number(rows[0]?.[0] ?? 0);
}

function isDue(now: number): Sql {
  return sql`del = 0 AND card_due_at <= ${dateTime(now)}`;
}

function dueSql({ filesMax, now, since }: DueQuery): Sql {
  const lot = (id: Sql): Sql => sql`cityHash64(${id}, ${uint32(now)})`;
  // Keys first: the URIs of half a million agents are not read for a few hundred. Of what was written lately, rows that were
  // replaced since may be among them; they are judged by their newest version below, and no merge of the whole is waited for.
  const rows = since === 0n ? sql`agents FINAL WHERE` : sql`agents WHERE ver > ${uint64(since)} AND`;
  const chosen = sql`(SELECT chain, agent_id FROM ${rows} ${isDue(now)} ORDER BY ${lot(sql`agent_id`)} LIMIT ${uint32(LOOKED_AT_MAX)})`;
  return sql`SELECT a.chain, toString(a.agent_id), a.agent_uri, if(c.uri = a.agent_uri, c.failures, 0), ${STORED_CARD}
    FROM (SELECT chain, agent_id, agent_uri FROM agents FINAL WHERE ${isDue(now)} AND (chain, agent_id) IN ${chosen}) AS a
    LEFT JOIN (SELECT * FROM agent_cards FINAL WHERE (chain, agent_id) IN ${chosen}) AS c
      ON a.chain = c.chain AND a.agent_id = c.agent_id
    WHERE a.agent_uri != '' AND (c.uri != a.agent_uri OR c.next_try_at <= ${dateTime(now)})
    ORDER BY ${lot(sql`a.agent_id`)}
    LIMIT ${uint32(PER_HOST_MAX)} BY if(startsWith(lower(a.agent_uri), 'http'), domain(a.agent_uri), toString(a.agent_id))
    LIMIT ${uint32(filesMax)}`;
}

/** Columns of `agent_cards` as c, the way `readStoredCard` takes them. */
export const STORED_CARD = STORED_CARD_COLUMNS.map((column): Sql => {
  if (column === 'good_at') return sql`toUnixTimestamp(c.good_at)`;
  return column === 'domain_proof' ? sql`toString(c.domain_proof)` : sql`c.${trustedText(column)}`;
}).reduce((all, next) => sql`${all}, ${next}`);

function readDue(row: readonly unknown[]): DueCard[] {
  const [chain, agentId, uri, failures, ...stored] = row;
  if (typeof chain !== 'string' || !isChain(chain)) return [];
  const card = readStoredCard(stored);
  return [
    {
      chain,
      agentId: BigInt(String(agentId)),
      uri: String(uri),
      failures: Number(failures),
      card: card.goodAt === 0 ? NO_CARD : card,
    },
  ];
}
