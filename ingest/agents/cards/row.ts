import type { Row, Writer } from '../../../clickhouse/engine/engine.ts';
import { bigintField, integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { dateTime, type Sql, sql } from '../../../clickhouse/engine/sql.ts';
import { AGENT_CARDS } from '../../../clickhouse/tables/agents.ts';
import { insertRows, reading } from '../../../clickhouse/tables/table.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { type DueDocuments, type DueKind, type DueQuery, readDueDocuments } from '../queue.ts';

/** The part of a row of `agent_cards` that failed attempts keep. */
const CARD_COLUMNS = [
  'good_uri',
  'good_at',
  'name',
  'description',
  'image',
  'services',
  'supported_trust',
  'x402_support',
  'active',
  'capabilities',
  'rule_version',
  'claims_agent',
  'domain',
  'domain_proof',
] as const;
const TRY_COLUMNS = [
  'chain',
  'agent_id',
  'uri',
  'status',
  'problem',
  'failures',
  'tried_at',
  'next_try_at',
] as const;

const CARD = reading(AGENT_CARDS, CARD_COLUMNS, 'c.');
const TRY = reading(AGENT_CARDS, TRY_COLUMNS, 'c.');

export type StoredCard = ReturnType<typeof CARD.read>;
export type DomainProof = StoredCard['domainProof'];

/** One row of table `agent_cards`: the newest attempt, and the last readable card. Times are Unix seconds, UTC. */
export interface CardRow extends ReturnType<typeof TRY.read> {
  readonly card: StoredCard;
}

export const NO_CARD: StoredCard = {
  goodUri: '',
  goodAt: 0,
  name: '',
  description: '',
  image: '',
  services: '[]',
  supportedTrust: [],
  x402Support: false,
  active: true,
  capabilities: [],
  ruleVersion: 0,
  claimsAgent: false,
  domain: '',
  domainProof: 'unchecked',
};

const FAILURES_MAX = 65_535;

export function saveCardRows(
  writer: Writer,
  { name, rows, ver }: { readonly name: string; readonly rows: readonly CardRow[]; readonly ver: bigint },
): Promise<void> {
  return insertRows(writer, {
    name,
    table: AGENT_CARDS,
    rows: rows.map(({ card, ...tried }) => ({
      ...card,
      ...tried,
      failures: Math.min(tried.failures, FAILURES_MAX),
    })),
    fixed: { ver, del: 0 },
  });
}

/** The columns of `agent_cards` as c that `readCardRow` takes. */
export const CARD_ROW = sql`${TRY.columns}, ${CARD.columns}`;

export function readCardRow(row: Row): CardRow {
  return { ...TRY.read(row), card: CARD.read(row.slice(TRY_COLUMNS.length)) };
}

/** An agent whose card is to be fetched. */
export interface DueCard {
  readonly chain: Chain;
  readonly agentId: bigint;
  readonly uri: string;
  /** Failed attempts with this URI so far. */
  readonly failures: number;
  /** The last good card, from any URI. */
  readonly card: StoredCard;
}

/** Agents whose card is due, except those fetched since table `agents` was derived. */
export function readDueCards(writer: Writer, query: DueQuery): Promise<DueDocuments<DueCard>> {
  return readDueDocuments(writer, CARDS, query);
}

const CARDS: DueKind<DueCard> = {
  name: 'cards',
  table: sql`agents`,
  key: sql`chain, agent_id`,
  sampleBy: sql`agent_id`,
  isDue,
  select: (chosen, now) =>
    sql`SELECT a.chain, toString(a.agent_id), a.agent_uri, if(c.uri = a.agent_uri, c.failures, 0), ${CARD.columns}
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

/** The first four columns of the statement, and the card of a join that may have found none. */
function readDue(row: Row): DueCard[] {
  const [chain, agentId, uri, failures, ...stored] = row;
  const card = CARD.read(stored);
  return [
    {
      chain: AGENT_CARDS.columns.chain.read(chain),
      agentId: bigintField(agentId),
      uri: textField(uri),
      failures: integerField(failures),
      card: card.goodAt === 0 ? NO_CARD : card,
    },
  ];
}
