import { type Sql, sql, texts, trustedText, uint8, uint32, uint64 } from '../../clickhouse/engine/sql.ts';
import type { RATING_TAGS } from '../../core/domain/agent.ts';
import { AGENT_CHAIN, AGENT_ID, blockAt } from './synthetic-agents.ts';
import { logUniform } from './synthetic-words.ts';

/**
 * Feedback made inside the engine: log-uniform ranks of the two fifths of agents that have any (of 5 million rows the busiest
 * takes 270,000) and of 300,000 clients; of a hundred one is revoked, five are answered, one stands for a validation.
 */
export interface Feedback {
  readonly agents: number;
  /** Of feedback; revocations, answers and validations come on top. */
  readonly rows: number;
  /** Unix seconds, of the first row, and what block numbers count from. */
  readonly firstTime: number;
  readonly blocksFrom: number;
  readonly seconds: number;
  /** All of it of the agent with rank 1. */
  readonly busiestOnly?: boolean;
}

export interface FeedbackSlice {
  readonly from: number;
  readonly count: number;
  /** Take only every n-th row. */
  readonly every?: number;
  readonly ver: bigint;
  /** Takes the rows away. */
  readonly tombstone?: boolean;
}

const RATED_SHARE = 0.4;
const CLIENTS = 300_000;
const TAGS = 200;
/** In one row in 100,000, never on a row that is revoked or answered. */
export const RARE_TAG = 'bench-rare-tag';
const RARE_TAG_EVERY = 100_000;
const LOGS = 1_000;
/** Prime and above any rank times it: neighbours in rank are far apart in the table. */
const SPREAD = 48_271;

const I = trustedText('i');

/** The number of the agent with rank 1, 2, …: a permutation of all agents. */
export function agentOfRank(rank: Sql, agents: number): Sql {
  return sql`((${rank}) * ${uint64(SPREAD)} % ${uint64(agents)})`;
}

export function clientOfRank(rank: Sql): Sql {
  return sql`SHA1(concat('client', toString(${rank})))`;
}

const CLIENT = clientOfRank(logUniform(I, 42, CLIENTS));

interface Kind {
  readonly kind: string;
  readonly of: Sql;
  /** Seconds after the feedback, and where in its block. */
  readonly delay: number;
  readonly author: Sql;
  readonly value: Sql;
  readonly tag: Sql;
  readonly uri: Sql;
}

/** One of those that ratings have (core/domain/agent.ts). */
const RATING_TAG: (typeof RATING_TAGS)[number] = 'quality';

const NOTHING = sql`''`;
/** Half of the rows rate the agent; the others have a tag with a scale of its own, which makes no score. */
const TAG = sql`multiIf(i % ${uint32(RARE_TAG_EVERY)} = 77, ${texts([RARE_TAG])}[1], i % 2 = 0, ${texts([RATING_TAG])}[1], concat('tag-', toString(${logUniform(I, 43, TAGS)})))`;
const FILE = sql`if(sipHash64(i, 44) % 10 = 0, concat('ipfs://bench-', toString(i)), '')`;
/** Good ratings prevail; every fifth is out of five with two decimals. */
const VALUE = sql`if(i % 5 = 0, 100 + sipHash64(i, 45) % 401, 40 + sipHash64(i, 45) % 61)`;
const RESPONDER = sql`SHA1(concat('responder', toString(n)))`;

const KINDS: readonly Kind[] = [
  { kind: 'feedback', of: sql`1`, delay: 0, author: CLIENT, value: VALUE, tag: TAG, uri: FILE },
  {
    kind: 'revocation',
    of: sql`i % 100 = 50`,
    delay: 600,
    author: CLIENT,
    value: sql`0`,
    tag: NOTHING,
    uri: NOTHING,
  },
  {
    kind: 'response',
    of: sql`i % 20 = 3`,
    delay: 1_200,
    author: RESPONDER,
    value: sql`0`,
    tag: NOTHING,
    uri: NOTHING,
  },
  {
    kind: 'validation_response',
    of: sql`i % 100 = 60`,
    delay: 1_800,
    author: RESPONDER,
    value: sql`90`,
    tag: TAG,
    uri: NOTHING,
  },
];

/** Statements that write rows `[from, from + count)` of feedback with what follows them, the same rows whenever they run. */
export function insertFeedback(feedback: Feedback, slice: FeedbackSlice): Sql[] {
  return KINDS.map((kind, place) => insertKind(feedback, slice, kind, place));
}

function insertKind(feedback: Feedback, slice: FeedbackSlice, kind: Kind, place: number): Sql {
  const { agents, rows, firstTime, blocksFrom, seconds } = feedback;
  const { from, count, every = 1, ver, tombstone = false } = slice;
  const isFeedback = kind.kind === 'feedback';
  const ranked = feedback.busiestOnly === true ? sql`1` : logUniform(I, 41, Math.floor(agents * RATED_SHARE));
  return sql`INSERT INTO attestations
    (block_time, chain, block_number, log_index, block_hash, tx_hash, kind, agent_id, author, client, feedback_index, value, value_decimals,
     tag1, tag2, endpoint, uri, file_hash, request_hash, ver, del)
    SELECT toDateTime(ts, 'UTC'), ${AGENT_CHAIN}, ${blockAt(sql`ts`, blocksFrom)} AS block, toUInt32(i % ${uint32(LOGS)} + ${uint32(place * LOGS)}),
      SHA256(concat('block', toString(block))), SHA256(concat('feedback', toString(i))), ${trustedText(`'${kind.kind}'`)}, ${AGENT_ID},
      ${kind.author}, ${kind.kind === 'validation_response' ? sql`toFixedString('', 20)` : CLIENT}, ${kind.kind === 'validation_response' ? sql`0` : sql`i + 1`},
      toInt128(${kind.value}), ${isFeedback ? sql`if(i % 5 = 0, 2, 0)` : sql`0`}, ${kind.tag}, ${isFeedback ? sql`if(i % 3 = 0, 'x402', '')` : NOTHING},
      ${isFeedback ? sql`if(i % 4 = 0, concat('https://agents.example/', toString(n), '/mcp'), '')` : NOTHING}, ${kind.uri},
      toFixedString('', 32), toFixedString('', 32), ${uint64(ver)}, ${uint8(tombstone ? 1 : 0)}
    FROM (
      SELECT i, ${agentOfRank(ranked, agents)} AS n,
        toUInt32(${uint32(firstTime)} + i * (${uint32(seconds)} / ${uint32(rows)}) + ${uint32(kind.delay)}) AS ts
      FROM (SELECT number + ${uint64(from)} AS i FROM numbers(${uint64(count)})) WHERE i % ${uint32(every)} = 0 AND ${kind.of})`;
}
