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
  text,
  time,
  transactionId,
  uint8,
  uint16,
  uint32,
  uint64,
  uint256,
  VERSIONED_TAIL,
} from './columns.ts';
import { REGISTRY_PLACEMENT } from './registries.ts';
import type { Table, TableRow } from './table.ts';

/** What was fetched for agents and their feedback, and agents as they are derived from all of it. */

/** The newest try of each agent's card, and the last card that could be read. */
export const AGENT_CARDS = {
  name: 'agent_cards',
  columns: {
    chain,
    agent_id: uint256,
    /** What was tried. */
    uri: text,
    status: enumeration({ good: 1, failed: 2 }),
    /** Why it failed; '' when it did not. */
    problem: name,
    /** Tries of this URI that failed, one after the other. */
    failures: uint16,
    tried_at: time,
    next_try_at: time,
    good_uri: text,
    /** 0 when there never was a card. */
    good_at: time,
    name: text,
    description: text,
    image: text,
    /** JSON of `AgentService[]`. */
    services: text,
    supported_trust: names,
    x402_support: flag,
    active: flag,
    capabilities: names,
    rule_version: uint16,
    /** Whether the card names this very agent among its registrations. */
    claims_agent: flag,
    domain: text,
    domain_proof: enumeration({ unchecked: 0, proven: 1, refuted: 2, unreachable: 3 }),
    ...VERSIONED_TAIL,
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
    uri: text,
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
    comment: text,
    /** The rule by which the comment was read; 0: by a release that read none. */
    comment_rule: uint8,
    ver: bigUint64,
    del: VERSIONED_TAIL.del,
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
  placement: REGISTRY_PLACEMENT,
  versions: ['ver'],
  retraction: { tombstones: 'byNumber' },
} as const satisfies Table;

/** Agents as they are now. The engine derives them (ingest/agents/derive.ts). */
export const AGENTS = {
  name: 'agents',
  columns: {},
  placement: REGISTRY_PLACEMENT,
  versions: ['ver'],
} as const satisfies Table;

/** The agents of one derivation. */
export const AGENTS_DUE = {
  name: 'agents_due',
  columns: {},
  placement: REGISTRY_PLACEMENT,
} as const satisfies Table;

/** Which agents ever had a wallet. A view fills it. */
export const AGENT_WALLETS = {
  name: 'agent_wallets',
  columns: {},
  placement: REGISTRY_PLACEMENT,
  backup: 'marks',
} as const satisfies Table;
