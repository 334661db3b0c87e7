import { ADDRESS_INPUT_PATTERN } from '../../core/domain/account.ts';
import { ACCOUNT_TYPE, expressions, TRANSACTION_TYPE } from '../engine/account.ts';
import { dateTime, type Sql, sql, uint8 as uint8Value } from '../engine/sql.ts';
import {
  account,
  bigUint64,
  chain,
  enumeration,
  flag,
  hash,
  name,
  names,
  RANDOM,
  stored,
  text,
  time,
  transactionId,
  uint8,
  uint16,
  uint32,
  uint64,
  uint256,
  VERSIONED_TAIL,
  ZSTD,
  ZSTD_3,
} from './columns.ts';
import { REGISTRY_PLACEMENT } from './registries.ts';
import { definitionsOf, type Table, type TableRow } from './table.ts';

/** What was fetched for agents and their feedback, and agents as they are derived from all of it. */

/** The newest try of each agent's card, and the last card that could be read. */
export const AGENT_CARDS = {
  name: 'agent_cards',
  columns: {
    chain,
    agent_id: uint256,
    /** What was tried. */
    uri: stored(text, ZSTD_3),
    status: enumeration({ good: 1, failed: 2 }),
    /** Why it failed; '' when it did not. */
    problem: name,
    /** Tries of this URI that failed, one after the other. */
    failures: uint16,
    tried_at: time,
    next_try_at: time,
    good_uri: stored(text, ZSTD_3),
    /** 0 when there never was a card. */
    good_at: time,
    name: stored(text, ZSTD),
    description: stored(text, ZSTD_3),
    image: stored(text, ZSTD_3),
    /** JSON of `AgentService[]`. */
    services: stored(text, ZSTD_3),
    supported_trust: names,
    x402_support: flag,
    active: flag,
    capabilities: names,
    rule_version: uint16,
    /** Whether the card names this very agent among its registrations. */
    claims_agent: flag,
    domain: stored(text, ZSTD),
    domain_proof: enumeration({ unchecked: 0, proven: 1, refuted: 2, unreachable: 3 }),
    ...VERSIONED_TAIL,
  },
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    order: '(chain, agent_id)',
    settings: { index_granularity: 256 },
  },
  placement: REGISTRY_PLACEMENT,
  versions: ['ver'],
} as const satisfies Table;

/** The files that feedback names, by log. A view makes a row when the log arrives; the fetched file replaces it. */
export const FEEDBACK_FILES = {
  name: 'feedback_files',
  columns: {
    chain,
    block_number: uint64,
    log_index: uint32,
    agent_id: uint256,
    client: account,
    uri: stored(text, ZSTD_3),
    /** Zero when the log gives none. */
    file_hash: hash,
    status: enumeration({ new: 0, good: 1, failed: 2 }),
    /** Why it failed, or how the file contradicts the log; '' for neither. */
    problem: name,
    /** Tries that failed so far. */
    failures: uint16,
    next_try_at: time,
    /** True also when the log gives no hash: then nothing contradicts. */
    hash_matches: flag,
    /** The payment that the file names as its proof; '' and zeros without one. */
    proof_chain: name,
    proof_tx: transactionId,
    proof_from: account,
    proof_to: account,
    /** '' where the file has none, or is not the one that was logged. */
    comment: stored(text, ZSTD_3),
    /** The rule by which the comment was read; 0: by a release that read none. */
    comment_rule: uint8,
    ver: bigUint64,
    del: VERSIONED_TAIL.del,
  },
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    order: '(chain, block_number, log_index)',
    settings: { index_granularity: 256 },
  },
  filledBy: {
    feedback_files_mv: `SELECT chain, block_number, log_index, agent_id, client, uri, file_hash, ver, del
FROM attestations WHERE kind = 'feedback' AND uri != ''`,
  },
  placement: REGISTRY_PLACEMENT,
  versions: ['ver'],
  // By itself as well, because a view fills it. It has no time of the block.
  retraction: { tombstones: 'byNumber' },
} as const satisfies Table;
export type FeedbackFileRow = TableRow<typeof FEEDBACK_FILES>;

/** Raise when comments are read by another rule: files that were read before are then fetched once more. */
export const COMMENT_RULE = 1;
/** The last second that the engine's DateTime can hold: a file that need not be fetched again. */
const NEVER = 4_294_967_295;

/** Condition on a row: the file is to be fetched at this time, because it was not read yet, or by a release that read no comments. */
export function isFileDue(now: number): Sql {
  return sql`if(status = 'good', comment_rule < ${uint8Value(COMMENT_RULE)} AND (next_try_at <= ${dateTime(now)} OR next_try_at = ${dateTime(NEVER)}),
    next_try_at <= ${dateTime(now)})`;
}

/** The same rows by agent. A view fills it. */
export const AGENT_FEEDBACK_FILES = {
  name: 'agent_feedback_files',
  columns: {},
  filled: definitionsOf(FEEDBACK_FILES.columns),
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    order: '(chain, agent_id, block_number, log_index)',
    settings: { index_granularity: 256 },
  },
  filledBy: { agent_feedback_files_mv: 'SELECT * FROM feedback_files' },
  placement: REGISTRY_PLACEMENT,
  versions: ['ver'],
  retraction: { tombstones: 'byNumber' },
} as const satisfies Table;

/** Agents as they are now. The engine derives them (ingest/agents/derive.ts). */
export const AGENTS = {
  name: 'agents',
  columns: {},
  filled: {
    chain: 'LowCardinality(String)',
    agent_id: 'UInt256',
    owner: `${ACCOUNT_TYPE} CODEC(ZSTD(1))`,
    wallet: `${ACCOUNT_TYPE} CODEC(ZSTD(1))`,
    agent_uri: 'String CODEC(ZSTD(3))',
    registered_at: "DateTime('UTC')",
    registered_block: 'UInt64',
    registered_tx: `${TRANSACTION_TYPE} ${RANDOM}`,
    updated_at: "DateTime('UTC')",
    name: 'String CODEC(ZSTD(1))',
    description: 'String CODEC(ZSTD(3))',
    image: 'String CODEC(ZSTD(3))',
    services: 'String CODEC(ZSTD(3))',
    supported_trust: 'Array(LowCardinality(String))',
    x402_support: 'UInt8',
    active: 'UInt8',
    capabilities: 'Array(LowCardinality(String))',
    card_status: "Enum8('none' = 0, 'good' = 1, 'failed' = 2)",
    card_problem: 'LowCardinality(String)',
    card_at: "DateTime('UTC')",
    card_due_at: "DateTime('UTC')",
    domain: 'String CODEC(ZSTD(1))',
    domain_proof: "Enum8('unchecked' = 0, 'proven' = 1, 'refuted' = 2, 'unreachable' = 3)",
    feedback_count: 'UInt64',
    distinct_clients: 'UInt64',
    score: 'Nullable(Decimal(76, 18))',
    last_feedback_at: "DateTime('UTC')",
    derived_changes: 'UInt64',
    ver: 'UInt64',
    del: 'UInt8',
    rating_mean: 'Nullable(Decimal(76, 18))',
    rating_count: 'UInt64',
    rating_clients: 'UInt64',
    paid_score: 'Nullable(Decimal(76, 18))',
    paid_count: 'UInt64',
    paid_clients: 'UInt64',
    tag_scores: 'String CODEC(ZSTD(3))',
  },
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    order: '(chain, agent_id)',
    indexes: {
      ix_owner: 'owner TYPE bloom_filter(0.001) GRANULARITY 1',
      ix_capability: 'capabilities TYPE bloom_filter(0.001) GRANULARITY 1',
      ix_words: String.raw`replaceRegexpAll(replaceRegexpAll(lowerUTF8(concat(name, ' ', description)), '[^\\p{L}\\p{M}\\p{N}]+', ' '), '[\\p{Han}\\p{Hiragana}\\p{Katakana}]', ' \\0 ') TYPE text(tokenizer = 'splitByNonAlpha') GRANULARITY 100000000`,
    },
    settings: { index_granularity: 256 },
  },
  placement: REGISTRY_PLACEMENT,
  versions: ['ver'],
} as const satisfies Table;

/** The agents of one derivation. */
export const AGENTS_DUE = {
  name: 'agents_due',
  columns: {},
  filled: {
    batch: 'UInt64',
    chain: 'LowCardinality(String)',
    agent_id: 'UInt256',
    changes: 'UInt64',
    written_at: "DateTime('UTC') DEFAULT now()",
  },
  storage: { engine: 'MergeTree', order: '(batch, chain, agent_id)', ttl: 'written_at + toIntervalHour(1)' },
  placement: REGISTRY_PLACEMENT,
} as const satisfies Table;

/** Which agents ever had a wallet. A view fills it. */
export const AGENT_WALLETS = {
  name: 'agent_wallets',
  columns: {},
  filled: {
    wallet: ACCOUNT_TYPE,
    chain: 'LowCardinality(String)',
    agent_id: 'UInt256',
  },
  storage: {
    engine: 'ReplacingMergeTree',
    order: '(wallet, chain, agent_id)',
    settings: { index_granularity: 256 },
  },
  filledBy: {
    agent_wallets_mv: `SELECT wallet, chain, agent_id FROM agents WHERE del = 0 AND wallet != ${expressions.noAccount}`,
  },
  placement: REGISTRY_PLACEMENT,
  backup: 'marks',
} as const satisfies Table;

/** In the JSON of `services`. */
const NAMED_ACCOUNT = `"endpoint":"(?:eip155:[0-9]{1,16}|solana:[1-9A-HJ-NP-Za-km-z]{32}):${ADDRESS_INPUT_PATTERN.slice(1, -1)}"`;

/**
 * Which agents ever named a wallet on their card, as a service whose endpoint is its account (CAIP-10). Apart from the wallets that agents
 * have: anybody may name any wallet, and must not push those aside. A view fills it.
 */
export const AGENT_CLAIMS = {
  ...AGENT_WALLETS,
  name: 'agent_claims',
  filledBy: {
    agent_claims_mv: `SELECT arrayJoin(arrayMap(account -> ${expressions.accountBytes('account')}, extractAll(services, '${NAMED_ACCOUNT}'))) AS wallet, chain, agent_id
FROM agents WHERE del = 0`,
  },
} as const satisfies Table;
