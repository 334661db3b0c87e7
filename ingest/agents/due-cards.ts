import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, type Sql, sql, trustedText } from '../../clickhouse/engine/sql.ts';
import { type Chain, isChain } from '../../core/domain/chain.ts';
import { NO_CARD, readStoredCard, STORED_CARD_COLUMNS, type StoredCard } from './card-row.ts';
import { type DueDocuments, type DueKind, type DueQuery, readDueDocuments } from './due-documents.ts';

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

/** Agents whose card is due. Those that were fetched since table `agents` was derived are left out. */
export function readDueCards(writer: Writer, query: DueQuery): Promise<DueDocuments<DueCard>> {
  return readDueDocuments(writer, CARDS, query);
}

/** Columns of `agent_cards` as c, the way `readStoredCard` takes them. */
export const STORED_CARD = STORED_CARD_COLUMNS.map((column): Sql => {
  if (column === 'good_at') return sql`toUnixTimestamp(c.good_at)`;
  return column === 'domain_proof' ? sql`toString(c.domain_proof)` : sql`c.${trustedText(column)}`;
}).reduce((all, next) => sql`${all}, ${next}`);

const CARDS: DueKind<DueCard> = {
  name: 'cards',
  table: sql`agents`,
  key: sql`chain, agent_id`,
  sampleBy: sql`agent_id`,
  isDue,
  select: (chosen, now) =>
    sql`SELECT a.chain, toString(a.agent_id), a.agent_uri, if(c.uri = a.agent_uri, c.failures, 0), ${STORED_CARD}
    FROM (SELECT chain, agent_id, agent_uri FROM agents FINAL WHERE ${isDue(now)} AND (chain, agent_id) IN ${chosen}) AS a
    LEFT JOIN (SELECT * FROM agent_cards FINAL WHERE (chain, agent_id) IN ${chosen}) AS c
      ON a.chain = c.chain AND a.agent_id = c.agent_id
    WHERE a.agent_uri != '' AND (c.uri != a.agent_uri OR c.next_try_at <= ${dateTime(now)})`,
  selected: { sampleBy: sql`a.agent_id`, uri: sql`a.agent_uri`, hostless: sql`a.agent_id` },
  read: readDue,
};

function isDue(now: number): Sql {
  return sql`del = 0 AND card_due_at <= ${dateTime(now)}`;
}

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
