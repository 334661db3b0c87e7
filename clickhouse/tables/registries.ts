import { ATTESTATION_KINDS, type AttestationKind } from '../../core/domain/agent.ts';
import { type Sql, sql, trustedText } from '../engine/sql.ts';
import {
  account,
  bigUint64,
  bytes,
  chain,
  enumeration,
  hash,
  int128,
  text,
  time,
  transactionId,
  uint8,
  uint32,
  uint64,
  uint256,
  VERSIONED_TAIL,
} from './columns.ts';
import { type EventRow, onFirst, type Table } from './table.ts';

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
    block_number: uint64,
    log_index: uint32,
    block_time: time,
    block_hash: hash,
    tx_hash: transactionId,
    kind: enumeration({ registered: 1, uri_updated: 2, metadata_set: 3, wallet_set: 4, transferred: 5 }),
    /**
     * registered, transferred: the owner from now on; uri_updated: who did it; wallet_set: the wallet, zero when it was cleared;
     * metadata_set: zero.
     */
    account,
    /** registered, uri_updated: the URI; metadata_set: the key; else ''. */
    text,
    /** metadata_set: the value; else nothing. */
    data: bytes,
    ...VERSIONED_TAIL,
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
    block_time: time,
    chain,
    block_number: uint64,
    log_index: uint32,
    block_hash: hash,
    tx_hash: transactionId,
    kind: enumeration<AttestationKind>(ATTESTATION_CODES),
    agent_id: uint256,
    /** feedback, revocation: the client; response: the responder; validations: the validator. */
    author: account,
    /** Whose feedback it is about; zero for validations. */
    client: account,
    /** 1-based, per agent and client; 0 for validations. */
    feedback_index: bigUint64,
    /** Of a validation_response 0 to 100. */
    value: int128,
    /** 0 to 18. */
    value_decimals: uint8,
    tag1: text,
    tag2: text,
    endpoint: text,
    uri: text,
    /** keccak-256 of the file, zero when none was given. */
    file_hash: hash,
    request_hash: hash,
    ...VERSIONED_TAIL,
  },
  placement: REGISTRY_PLACEMENT,
  versions: ['ver'],
  retraction: { tombstones: 'byTime' },
} as const satisfies Table;
export type Attestation = EventRow<typeof ATTESTATIONS>;

/** Filled by a view, and so retracted by itself as well: a killed insert can have reached it and not the table of the view. */
const viewOfAttestations = <Name extends string>(name: Name) =>
  ({
    name,
    columns: {},
    placement: REGISTRY_PLACEMENT,
    versions: ['ver'],
    retraction: { tombstones: 'byTime' },
  }) as const satisfies Table;

/** The same rows by agent. */
export const AGENT_ATTESTATIONS = viewOfAttestations('agent_attestations');

/** Which feedback was revoked, by what names it. */
export const FEEDBACK_REVOCATIONS = viewOfAttestations('feedback_revocations');

/** How often the rows that an agent is derived from were written. Views fill it. */
export const AGENT_CHANGES = {
  name: 'agent_changes',
  columns: {},
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
