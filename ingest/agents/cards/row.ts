import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { RowBinary } from '../../../clickhouse/engine/row-binary.ts';
import { dateTime, type Sql, sql, trustedText } from '../../../clickhouse/engine/sql.ts';
import { type Chain, isChain } from '../../../core/domain/chains.ts';
import { type DueDocuments, type DueKind, type DueQuery, readDueDocuments } from '../queue.ts';

/** One row of table `agent_cards`: the newest attempt, and the last readable card. Times are Unix seconds, UTC. */
export interface CardRow {
  readonly chain: Chain;
  readonly agentId: bigint;
  /** The URI of the attempt. */
  readonly uri: string;
  readonly status: 'good' | 'failed';
  /** Why it failed; '' on success. */
  readonly problem: string;
  /** Consecutive failed attempts with this URI. */
  readonly failures: number;
  readonly triedAt: number;
  readonly nextTryAt: number;
  readonly card: StoredCard;
}

/** The part of a row that failed attempts keep. */
export interface StoredCard {
  readonly goodUri: string;
  /** 0 when there never was a card. */
  readonly goodAt: number;
  readonly name: string;
  readonly description: string;
  readonly image: string;
  /** JSON of `AgentService[]`. */
  readonly services: string;
  readonly supportedTrust: readonly string[];
  readonly x402Support: boolean;
  readonly active: boolean;
  readonly capabilities: readonly string[];
  readonly ruleVersion: number;
  /** Whether the card names this very agent among its registrations. */
  readonly claimsAgent: boolean;
  readonly domain: string;
  readonly domainProof: DomainProof;
}

export const DOMAIN_PROOFS = ['unchecked', 'proven', 'refuted', 'unreachable'] as const;
export type DomainProof = (typeof DOMAIN_PROOFS)[number];

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

export const STORED_CARD_COLUMNS = [
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

export const CARD_COLUMNS = [
  'chain',
  'agent_id',
  'uri',
  'status',
  'problem',
  'failures',
  'tried_at',
  'next_try_at',
  ...STORED_CARD_COLUMNS,
  'ver',
  'del',
] as const;

const STATUS_CODES = { good: 1, failed: 2 } as const;
const FAILURES_MAX = 65_535;

/** RowBinary of `CARD_COLUMNS`. */
export function encodeCards(rows: readonly CardRow[], ver: bigint): Uint8Array {
  const out = new RowBinary();
  for (const { card, ...row } of rows) {
    out.string(row.chain).u256(row.agentId).string(row.uri);
    out.u8(STATUS_CODES[row.status]).string(row.problem).u16(Math.min(row.failures, FAILURES_MAX));
    out.dateTime(row.triedAt).dateTime(row.nextTryAt);
    out.string(card.goodUri).dateTime(card.goodAt).string(card.name).string(card.description);
    out.string(card.image).string(card.services).strings(card.supportedTrust);
    out.u8(Number(card.x402Support)).u8(Number(card.active));
    out.strings(card.capabilities).u16(card.ruleVersion).u8(Number(card.claimsAgent));
    out.string(card.domain).u8(DOMAIN_PROOFS.indexOf(card.domainProof)).u64(ver).u8(0);
  }
  return out.finish();
}

/** Reads what a SELECT of `STORED_CARD_COLUMNS`, times as Unix seconds and the proof as its name, answers. */
export function readStoredCard(columns: readonly unknown[]): StoredCard {
  const [goodUri, goodAt, name, description, image, services, supportedTrust, x402Support, active] = columns;
  const [capabilities, ruleVersion, claimsAgent, domain, proof] = columns.slice(9);
  if (Number(goodAt) === 0) return NO_CARD;
  return {
    goodUri: String(goodUri),
    goodAt: Number(goodAt),
    name: String(name),
    description: String(description),
    image: String(image),
    services: String(services),
    supportedTrust: textsOf(supportedTrust),
    x402Support: Number(x402Support) === 1,
    active: Number(active) === 1,
    capabilities: textsOf(capabilities),
    ruleVersion: Number(ruleVersion),
    claimsAgent: Number(claimsAgent) === 1,
    domain: String(domain),
    domainProof: DOMAIN_PROOFS.find((one) => one === proof) ?? 'unchecked',
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
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
