import {
  account,
  chain,
  day,
  earliestDay,
  enumeration,
  flag,
  float64,
  name,
  named,
  nameOf,
  stored,
  text,
  time,
  uint32,
  uint64,
  uint256,
  VERSIONED_TAIL,
} from './columns.ts';
import { STATE, type Table, type TableRow } from './table.ts';

/** What payments are graded by, and how far the rows have followed its changes (ingest/grading). */

/** The origin of an entry; stored with it. */
export type CatalogueSource = 'built-in' | 'configured' | 'file' | 'supported' | 'proposed' | 'bazaar';

/** Facilitators' relayers on each chain, each named from its first day on. */
export const FACILITATOR_RELAYERS = {
  name: 'facilitator_relayers',
  columns: {
    chain,
    address: account,
    facilitator: name,
    facilitator_name: name,
    first_seen: day,
    source: nameOf<CatalogueSource>(),
    ...VERSIONED_TAIL,
  },
  storage: { engine: 'ReplacingMergeTree(ver)', order: '(chain, address)' },
  placement: STATE,
  versions: ['ver'],
} as const satisfies Table;

/** Addresses that are paid for listed resources: a bare transfer to one of them is examined. */
export const CATALOGUED_PAYEES = {
  name: 'catalogued_payees',
  columns: {
    chain,
    address: account,
    name: text,
    resource: text,
    source: nameOf<CatalogueSource>(),
    ...VERSIONED_TAIL,
  },
  storage: { engine: 'ReplacingMergeTree(ver)', order: '(chain, address)' },
  placement: STATE,
  versions: ['ver'],
} as const satisfies Table;

/** ERC-8021 codes of facilitators. */
export const BUILDER_CODES = {
  name: 'builder_codes',
  columns: {
    code: name,
    facilitator: name,
    ...VERSIONED_TAIL,
  },
  storage: { engine: 'ReplacingMergeTree(ver)', order: 'code' },
  placement: STATE,
  versions: ['ver'],
} as const satisfies Table;

/** What facilitators' `/supported` answers showed, with the first day of each: the day must survive a restart. */
export const SUPPORTED_SIGNERS = {
  name: 'supported_signers',
  columns: {
    facilitator: name,
    chain,
    address: account,
    first_seen: earliestDay,
  },
  storage: { engine: 'AggregatingMergeTree', order: '(facilitator, chain, address)' },
  placement: STATE,
} as const satisfies Table;

/**
 * What was decided on proposed relayers (ingest/proposals). An operator refuses; the service accepts above the configured score. What an
 * operator accepts is in the catalogue file instead.
 */
export const RELAYER_DECISIONS = {
  name: 'relayer_decisions',
  columns: {
    chain,
    address: account,
    decision: nameOf<'accepted' | 'refused'>(),
    /** At the decision; 0 of one that was not proposed. */
    score: float64,
    /** From which day on an accepted relayer counts. */
    first_seen: day,
    decided_at: time,
    ...VERSIONED_TAIL,
  },
  storage: { engine: 'ReplacingMergeTree(ver)', order: '(chain, address)' },
  placement: STATE,
  versions: ['ver'],
} as const satisfies Table;

/** What the account of a relayer held when it was last read from the chain. */
export const RELAYER_ACCOUNTS = {
  name: 'relayer_accounts',
  columns: {
    chain,
    address: account,
    nonce: uint64,
    /** Wei. */
    gas_balance: uint256,
    enriched_at: time,
    ver: VERSIONED_TAIL.ver,
  },
  storage: { engine: 'ReplacingMergeTree(ver)', order: '(chain, address)' },
  placement: STATE,
  versions: ['ver'],
} as const satisfies Table;

/** Who first sent a relayer the coins that it pays for gas with; no account where no transaction did. Read once. */
export const RELAYER_FUNDERS = {
  name: 'relayer_funders',
  columns: { chain, address: account, funder: account, ver: VERSIONED_TAIL.ver },
  storage: { engine: 'ReplacingMergeTree(ver)', order: '(chain, address)' },
  placement: STATE,
  versions: ['ver'],
} as const satisfies Table;

/** Claims of the numbers of passes. */
export const CATALOGUE_PASSES = {
  name: 'catalogue_passes',
  columns: {},
  filled: {
    pass: 'UInt32',
    owner: 'String',
    created_at: "DateTime64(3, 'UTC') DEFAULT now64(3)",
  },
  storage: { engine: 'MergeTree', order: '(pass, owner)' },
  placement: STATE,
  backup: 'done',
} as const satisfies Table;

/** The keys that a pass must look at. What a kind has no use for is empty. */
export const CATALOGUE_CHANGES = {
  name: 'catalogue_changes',
  columns: {
    pass: uint32,
    kind: enumeration({ relayer: 1, payee: 2, code: 3 }),
    /** A chain, or ''. */
    chain: name,
    address: account,
    code: text,
  },
  filled: {
    created_at: "DateTime('UTC') DEFAULT now()",
  },
  storage: { engine: 'ReplacingMergeTree', order: '(pass, kind, chain, address, code)' },
  placement: STATE,
  backup: 'done',
} as const satisfies Table;

/** How far each pass is: every row from `done_from` on follows it. */
export const REGRADE_PROGRESS = {
  name: 'regrade_progress',
  columns: {
    pass: uint32,
    done_from: time,
    rows_looked_at: uint64,
    rows_total: uint64,
    rows_changed: uint64,
    finished: named('isFinished', flag),
    /** Whether it kept each row before it wrote it anew. */
    kept: stored(named('isKept', flag), 'DEFAULT 0'),
    ver: VERSIONED_TAIL.ver,
  },
  filled: {
    updated_at: "DateTime64(3, 'UTC') DEFAULT now64(3)",
  },
  storage: { engine: 'ReplacingMergeTree(ver)', order: 'pass' },
  placement: STATE,
  versions: ['ver'],
  backup: 'done',
} as const satisfies Table;
export type RegradeProgressRow = TableRow<typeof REGRADE_PROGRESS>;
