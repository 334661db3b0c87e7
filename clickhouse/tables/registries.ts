import { ATTESTATION_KINDS, type AttestationKind } from '../../core/domain/agent.ts';
import { ACCOUNT_TYPE } from '../engine/account.ts';
import { type Sql, sql, trustedText } from '../engine/sql.ts';
import {
  account,
  bigUint64,
  bytes,
  chain,
  enumeration,
  hash,
  int128,
  RANDOM,
  RISING,
  stored,
  text,
  time,
  transactionId,
  uint8,
  uint32,
  uint64,
  uint256,
  VERSIONED_TAIL,
  ZSTD,
  ZSTD_3,
} from './columns.ts';
import { definitionsOf, type EventRow, onFirst, type Table } from './table.ts';

/** What the logs of the ERC-8004 registries say, and what the engine makes of it as it arrives. */

export const REGISTRY_PLACEMENT = onFirst(
  'agents and attestations are derived from one another by joins; a thousandth of the settlements',
);

/** Logs of the identity registry. */
export const AGENT_EVENTS = {
  name: 'agent_events',
  columns: {
    chain,
    /** Token id in the identity registry of the chain; ids start at 0. */
    agent_id: uint256,
    block_number: stored(uint64, RISING),
    log_index: uint32,
    block_time: stored(time, RISING),
    block_hash: stored(hash, ZSTD),
    tx_hash: stored(transactionId, RANDOM),
    kind: enumeration({ registered: 1, uri_updated: 2, metadata_set: 3, wallet_set: 4, transferred: 5 }),
    /**
     * registered, transferred: the owner from now on; uri_updated: who did it; wallet_set: the wallet, zero when it was cleared;
     * metadata_set: zero.
     */
    account,
    /** registered, uri_updated: the URI; metadata_set: the key; else ''. */
    text: stored(text, ZSTD_3),
    /** metadata_set: the value; else nothing. */
    data: stored(bytes, ZSTD_3),
    ver: stored(VERSIONED_TAIL.ver, RISING),
    del: VERSIONED_TAIL.del,
  },
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    order: '(chain, agent_id, block_number, log_index)',
    indexes: { ix_block: 'block_number TYPE minmax GRANULARITY 1' },
    settings: { index_granularity: 256 },
  },
  placement: REGISTRY_PLACEMENT,
  versions: ['ver'],
  retraction: { tombstones: 'byTime' },
} as const satisfies Table;
export type AgentEvent = EventRow<typeof AGENT_EVENTS>;

const ATTESTATION_CODES = Object.fromEntries(
  ATTESTATION_KINDS.map((kind, index) => [kind, index + 1]),
) as Record<AttestationKind, number>; // every kind, by the line above

/** Logs of the reputation and the validation registry, by time; fields that a kind lacks are empty. */
export const ATTESTATIONS = {
  name: 'attestations',
  columns: {
    block_time: stored(time, RISING),
    chain,
    block_number: stored(uint64, RISING),
    log_index: uint32,
    block_hash: stored(hash, ZSTD),
    tx_hash: stored(transactionId, RANDOM),
    kind: enumeration<AttestationKind>(ATTESTATION_CODES),
    agent_id: uint256,
    /** feedback, revocation: the client; response: the responder; validations: the validator. */
    author: stored(account, ZSTD),
    /** Whose feedback it is about; zero for validations. */
    client: stored(account, ZSTD),
    /** 1-based, per agent and client; 0 for validations. */
    feedback_index: bigUint64,
    /** Of a validation_response 0 to 100. */
    value: int128,
    /** 0 to 18. */
    value_decimals: uint8,
    tag1: stored(text, ZSTD),
    tag2: stored(text, ZSTD),
    endpoint: stored(text, ZSTD),
    uri: stored(text, ZSTD_3),
    /** keccak-256 of the file, zero when none was given. */
    file_hash: stored(hash, ZSTD),
    request_hash: stored(hash, ZSTD),
    ver: stored(VERSIONED_TAIL.ver, RISING),
    del: VERSIONED_TAIL.del,
  },
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    partition: 'toYYYYMM(block_time)',
    order: '(block_time, chain, block_number, log_index)',
    indexes: {
      ix_kind: 'kind TYPE set(8) GRANULARITY 1',
      ix_client: 'client TYPE bloom_filter(0.001) GRANULARITY 1',
      ix_tags: '[tag1, tag2] TYPE bloom_filter(0.001) GRANULARITY 1',
    },
    settings: { index_granularity: 512 },
  },
  placement: REGISTRY_PLACEMENT,
  versions: ['ver'],
  retraction: { tombstones: 'byTime' },
} as const satisfies Table;
export type Attestation = EventRow<typeof ATTESTATIONS>;

/** Filled by a view, and so retracted by itself as well: a killed insert can have reached it and not the table of the view. */
const viewOfAttestations = <Name extends string>(
  name: Name,
  made: Pick<Table, 'filled' | 'storage' | 'filledBy'>,
) =>
  ({
    name,
    columns: {},
    ...made,
    placement: REGISTRY_PLACEMENT,
    versions: ['ver'],
    retraction: { tombstones: 'byTime' },
  }) as const satisfies Table;

/** The same rows by agent. */
export const AGENT_ATTESTATIONS = viewOfAttestations('agent_attestations', {
  filled: definitionsOf(ATTESTATIONS.columns),
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    partition: 'toYYYYMM(block_time)',
    order: '(chain, agent_id, block_time, block_number, log_index)',
    indexes: {
      ix_block: 'block_number TYPE minmax GRANULARITY 1',
      ix_kind: 'kind TYPE set(8) GRANULARITY 1',
    },
    settings: { index_granularity: 256 },
  },
  filledBy: { agent_attestations_mv: 'SELECT * FROM attestations' },
});

/** Which feedback was revoked, by what names it. */
export const FEEDBACK_REVOCATIONS = viewOfAttestations('feedback_revocations', {
  filled: {
    chain: 'LowCardinality(String)',
    agent_id: 'UInt256',
    client: ACCOUNT_TYPE,
    feedback_index: 'UInt64',
    block_time: "DateTime('UTC')",
    block_number: 'UInt64',
    log_index: 'UInt32',
    ver: 'UInt64',
    del: 'UInt8',
  },
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    order: '(chain, agent_id, client, feedback_index, block_time, block_number, log_index)',
    settings: { index_granularity: 256 },
  },
  filledBy: {
    feedback_revocations_mv: `SELECT chain, agent_id, client, feedback_index, block_time, block_number, log_index, ver, del
FROM attestations WHERE kind = 'revocation'`,
  },
});

const changesQuery = (table: string, condition?: string): string =>
  `SELECT chain, agent_id, count() AS changes, now('UTC') AS changed_at FROM ${table}${condition === undefined ? '' : ` WHERE ${condition}`} GROUP BY chain, agent_id`;

/** How often the rows that an agent is derived from were written. Views fill it. */
export const AGENT_CHANGES = {
  name: 'agent_changes',
  columns: {},
  filled: {
    chain: 'LowCardinality(String)',
    agent_id: 'UInt256',
    changes: 'SimpleAggregateFunction(sum, UInt64)',
    changed_at: "SimpleAggregateFunction(max, DateTime('UTC'))",
  },
  storage: { engine: 'AggregatingMergeTree', order: '(chain, agent_id)' },
  filledBy: {
    agent_changes_events_mv: changesQuery('agent_events'),
    agent_changes_attestations_mv: changesQuery('attestations'),
    agent_changes_cards_mv: changesQuery('agent_cards'),
    // A file that was read may prove a payment. The logs themselves make the agent due without this.
    agent_changes_files_mv: changesQuery('feedback_files', "status = 'good'"),
  },
  placement: REGISTRY_PLACEMENT,
  // Once more from what the tables hold, for the crash between the tombstones and the view. After all tombstones: an agent that is
  // derived before the last of them would not be due again.
  retraction: {
    notes: ({ byTime }) => [changesIn(AGENT_EVENTS, byTime), changesIn(ATTESTATIONS, byTime)],
  },
  backup: 'marks',
} as const satisfies Table;

function changesIn({ name }: Table, above: Sql): Sql {
  return sql`INSERT INTO agent_changes SELECT chain, agent_id, count() AS changes, now('UTC') AS changed_at
        FROM ${trustedText(name)} WHERE ${above} GROUP BY chain, agent_id`;
}
