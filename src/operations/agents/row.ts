import { accountText, NO_ACCOUNT } from '../../../clickhouse/engine/account.ts';
import { addressField, bigintField, integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { type Sql, sql } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/account.ts';
import type { AgentService } from '../../../core/domain/agent.ts';
import type { Chain } from '../../../core/domain/chains.ts';

/** An ERC-8004 agent as the index has derived it. Times are Unix seconds; texts are safe to show. */
export interface AgentRow {
  readonly chain: Chain;
  readonly agentId: bigint;
  readonly owner: Address;
  /** Null when it was cleared. */
  readonly wallet: Address | null;
  readonly agentUri: string;
  readonly registeredAt: number;
  readonly updatedAt: number;
  readonly name: string;
  readonly description: string;
  readonly image: string;
  readonly services: readonly AgentService[];
  readonly supportedTrust: readonly string[];
  readonly capabilities: readonly string[];
  readonly x402Support: boolean;
  readonly active: boolean;
  readonly card: {
    /** none: never tried; good and failed: the newest try. */
    readonly status: 'none' | 'good' | 'failed';
    /** Why there is no newer card; '' when there is nothing to say. */
    readonly problem: string;
    /** When the card that is shown was fetched; null when there never was one. */
    readonly fetchedAt: number | null;
  };
  readonly domain: string;
  readonly domainProof: 'unchecked' | 'proven' | 'refuted' | 'unreachable';
  readonly feedbackCount: number;
  readonly distinctClients: number;
  /** Bayesian mean of the clients' ratings (core/domain/agent.ts), as exact decimal text; null without any rating. */
  readonly score: string | null;
  /** Without the prior. */
  readonly ratingMean: string | null;
  readonly ratingCount: number;
  readonly ratingClients: number;
  /** `score` of the ratings whose proof of payment holds. */
  readonly paidScore: string | null;
  readonly paidCount: number;
  readonly paidClients: number;
  /** Given by most clients first. */
  readonly tagScores: readonly TagScore[];
  /** Null without feedback. */
  readonly lastFeedbackAt: number | null;
}

/** The mean of a tag on its own scale. */
export interface TagScore {
  /** tag1 as it was logged; '' for none. */
  readonly tag: string;
  /** Exact decimal text. */
  readonly mean: string;
  readonly isRating: boolean;
  readonly feedbackCount: number;
  readonly distinctClients: number;
}

/** The columns behind `decodeAgent`, in its order. */
export const AGENT_COLUMNS: Sql = sql`chain, toString(agent_id), ${accountText('owner')}, if(wallet = ${NO_ACCOUNT}, '', ${accountText('wallet')}),
  agent_uri, toUnixTimestamp(registered_at), toUnixTimestamp(updated_at), name, description, image, services,
  supported_trust, capabilities, x402_support, active, toString(card_status), card_problem, toUnixTimestamp(card_at),
  domain, toString(domain_proof), feedback_count, distinct_clients, toString(score), toUnixTimestamp(last_feedback_at),
  toString(rating_mean), rating_count, rating_clients, toString(paid_score), paid_count, paid_clients, tag_scores`;

export function decodeAgent(row: readonly unknown[]): AgentRow {
  const feedbackCount = integerField(row[20]);
  return {
    chain: textField(row[0]) as Chain, // written by ingest from `Chain` values only
    agentId: bigintField(row[1]),
    owner: addressField(row[2]),
    wallet: row[3] === '' ? null : addressField(row[3]),
    agentUri: textField(row[4]),
    registeredAt: integerField(row[5]),
    updatedAt: integerField(row[6]),
    name: textField(row[7]),
    description: textField(row[8]),
    image: textField(row[9]),
    services: servicesField(row[10]),
    supportedTrust: textsField(row[11]),
    capabilities: textsField(row[12]),
    x402Support: integerField(row[13]) === 1,
    active: integerField(row[14]) === 1,
    card: {
      status: textField(row[15]) as AgentRow['card']['status'], // the column's enum
      problem: textField(row[16]),
      fetchedAt: timeOrNull(row[17]),
    },
    domain: textField(row[18]),
    domainProof: textField(row[19]) as AgentRow['domainProof'], // the column's enum
    feedbackCount,
    distinctClients: integerField(row[21]),
    score: textOrNull(row[22]),
    lastFeedbackAt: timeOrNull(row[23]),
    ratingMean: textOrNull(row[24]),
    ratingCount: integerField(row[25]),
    ratingClients: integerField(row[26]),
    paidScore: textOrNull(row[27]),
    paidCount: integerField(row[28]),
    paidClients: integerField(row[29]),
    tagScores: tagScoresField(row[30]),
  };
}

function textOrNull(field: unknown): string | null {
  return field === null ? null : textField(field);
}

/** JSON that the engine printed (ingest/agents/statements.ts), counts negative for their order; '' without feedback. */
export function tagScoresField(field: unknown): TagScore[] {
  const text = textField(field);
  const scores = text === '' ? [] : (JSON.parse(text) as readonly Record<string, unknown>[]);
  return scores.map((score) => ({
    tag: textField(score['tag']),
    mean: textField(score['mean']),
    isRating: score['is_rating'] === true,
    feedbackCount: -integerField(score['count']),
    distinctClients: -integerField(score['clients']),
  }));
}

function timeOrNull(field: unknown): number | null {
  const time = integerField(field);
  return time === 0 ? null : time;
}

function textsField(field: unknown): string[] {
  if (!Array.isArray(field)) throw new TypeError('expected a list of texts from the engine');
  return field.map(textField);
}

/** Written by the card reader from `AgentService[]`; '' for an agent without a card. */
function servicesField(field: unknown): readonly AgentService[] {
  const text = textField(field);
  return text === '' ? [] : (JSON.parse(text) as AgentService[]);
}
