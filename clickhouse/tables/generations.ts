import { GRAPH_EDGES_MAX } from '../../core/domain/payment-graph.ts';
import { ACCOUNT_TYPE } from '../engine/account.ts';
import {
  account,
  bigUint64,
  chain,
  float64,
  name,
  named,
  names,
  RISING,
  stored,
  text,
  texts,
  time,
  uint8,
  uint64,
  usd128,
  ZSTD,
} from './columns.ts';
import { type Definitions, onFirst, STATE, type Storage, type Table, type TableRow } from './table.ts';

/**
 * Tables that are computed anew as a whole: each pass writes its rows under a generation of its own (`gen`, which is also their
 * partition) and is seen once a row of the table of passes publishes it (ingest/passes/derived-table.ts).
 */

/** `about`: what a pass says of itself. */
const passesOf = <Name extends string>(name: Name, about: Definitions, order = 'gen', keptDays = 90) =>
  ({
    name,
    columns: {},
    filled: { gen: 'UInt64', ...about, finished_at: "DateTime('UTC') DEFAULT now()" },
    storage: { engine: 'MergeTree', order, ttl: `finished_at + toIntervalDay(${keptDays})` },
    placement: STATE,
    versions: ['gen'],
    backup: 'done',
  }) as const satisfies Table;

/** Partitioned by pass: an old one is dropped without rewriting anything. */
const byPass = (order: string, granule?: number): Storage => ({
  engine: 'MergeTree',
  partition: 'gen',
  order,
  ...(granule === undefined ? {} : { settings: { index_granularity: granule } }),
});

/** Computed by the engine. Not copied: passes that stand in a copy without their rows would not be computed again. */
const derivedRows = <Name extends string>(name: Name, why: string, filled: Definitions, storage: Storage) =>
  ({
    name,
    columns: {},
    filled,
    storage,
    placement: onFirst(why),
    versions: ['gen'],
    backup: 'derived',
  }) as const satisfies Table;
const derivedPasses = <Name extends string>(...of: Parameters<typeof passesOf<Name>>) =>
  ({ ...passesOf(...of), backup: 'derived' }) as const satisfies Table;

/** What each relayer did in all slices before a moment. */
export const RELAYER_TOTALS = {
  name: 'relayer_totals',
  columns: {},
  filled: {
    chain: 'LowCardinality(String)',
    relayer: `${ACCOUNT_TYPE} CODEC(ZSTD(1))`,
    settlement_count: 'UInt64 CODEC(ZSTD(1))',
    settled_usd: 'Decimal(38, 6) CODEC(ZSTD(1))',
    payers: `AggregateFunction(uniqCombined64(14), ${ACCOUNT_TYPE}) CODEC(ZSTD(1))`,
    payees: `AggregateFunction(uniqCombined64(14), ${ACCOUNT_TYPE}) CODEC(ZSTD(1))`,
    first_time: "DateTime('UTC') CODEC(ZSTD(1))",
    last_time: "DateTime('UTC') CODEC(ZSTD(1))",
    gen: 'UInt64 CODEC(Delta, ZSTD(1))',
  },
  storage: {
    engine: 'MergeTree',
    partition: 'gen',
    order: '(chain, relayer)',
    settings: { index_granularity: 8 },
  },
  placement: onFirst('one row of each relayer a pass'),
  versions: ['gen'],
} as const satisfies Table;

export const RELAYER_TOTAL_PASSES = passesOf('relayer_total_passes', {
  until: "DateTime('UTC')",
  basis: 'String',
});

/** The payment rings of each wallet; a ring stands under each of its members. */
export const WALLET_RINGS = {
  name: 'wallet_rings',
  columns: {
    wallet: stored(text, ZSTD),
    length: uint8,
    members: stored(texts, ZSTD),
    /** The smallest of the payments from member to member. */
    bottleneck_usd: stored(named('bottleneckUsdMicros', usd128), ZSTD),
    /** The sum of the payments from member to member. */
    ring_usd: stored(named('ringUsdMicros', usd128), ZSTD),
    window_start: stored(time, ZSTD),
    window_end: stored(time, ZSTD),
    method_version: name,
    gen: stored(bigUint64, RISING),
  },
  storage: { engine: 'MergeTree', partition: 'gen', order: '(wallet, length, members)' },
  placement: onFirst('the rings of one pass, some hundred thousand rows'),
  versions: ['gen'],
} as const satisfies Table;
export type WalletRingRow = TableRow<typeof WALLET_RINGS>;

export const RING_PASSES = passesOf('ring_passes', {
  window_start: "DateTime('UTC')",
  window_end: "DateTime('UTC')",
  method_version: 'LowCardinality(String)',
  wallets: 'UInt64',
  edges: 'UInt64',
  rings: 'UInt64',
  capped: 'Array(LowCardinality(String))',
});

/** The verdict on each wallet in each role. The engine computes them (ingest/verdicts). */
export const WALLET_VERDICTS = derivedRows(
  'wallet_verdicts',
  'the verdicts of one pass, read by wallet with the table of passes',
  {
    wallet: 'String CODEC(ZSTD(1))',
    role: 'LowCardinality(String)',
    verdict: 'LowCardinality(String)',
    reasons: 'Array(LowCardinality(String))',
    rings: 'Array(Array(String)) CODEC(ZSTD(1))',
    settlement_count: 'UInt64 CODEC(ZSTD(1))',
    settled_usd: 'Decimal(38, 6) CODEC(ZSTD(1))',
    self_share: 'Int16 CODEC(ZSTD(1))',
    concentration: 'Int16 CODEC(ZSTD(1))',
    largest_share: 'Int16 CODEC(ZSTD(1))',
    reciprocal_share: 'Int16 CODEC(ZSTD(1))',
    judged_at: "DateTime('UTC') CODEC(ZSTD(1))",
    gen: 'UInt64 CODEC(Delta, ZSTD(1))',
  },
  byPass('(wallet, role)', 1024),
);

/** What profiles of large wallets are judged by, written by the pass of their verdicts. */
export const LARGE_WALLETS = derivedRows(
  'large_wallets',
  'some rows of each large wallet, of which there are few',
  {
    wallet: 'String CODEC(ZSTD(1))',
    chain: 'LowCardinality(String)',
    role: 'LowCardinality(String)',
    settlements: 'UInt64',
    counterparties: 'UInt64',
    role_settlements: 'UInt64',
    usd: 'Int256',
    self_usd: 'Int256',
    largest_usd: 'Int256',
    squared: 'Int256',
    reciprocal_usd: 'Int256',
    judged_at: "DateTime('UTC')",
    gen: 'UInt64',
  },
  byPass('(wallet, chain, role)'),
);

/** What wallets too large to be read at once paid back, written by the pass of their verdicts. */
export const LARGE_WALLET_REFUNDS = derivedRows(
  'large_wallet_refunds',
  'a row of each large wallet and chain',
  {
    wallet: 'String CODEC(ZSTD(1))',
    chain: 'LowCardinality(String)',
    payers: 'UInt64',
    settlements: 'UInt64',
    usd: 'Decimal(38, 6)',
    judged_at: "DateTime('UTC')",
    gen: 'UInt64',
  },
  byPass('(wallet, chain)'),
);

/** The wallets that rankings list, by window (column `span`), role and chain. A pass is about one window. */
export const RANKED_WALLETS = derivedRows(
  'ranked_wallets',
  'the best wallets of one pass, some hundred thousand rows',
  {
    span: 'LowCardinality(String)',
    role: 'LowCardinality(String)',
    chain: 'LowCardinality(String)',
    wallet: `${ACCOUNT_TYPE} CODEC(ZSTD(1))`,
    organic_usd0: 'Decimal(38, 6) CODEC(ZSTD(1))',
    organic_usd1: 'Decimal(38, 6) CODEC(ZSTD(1))',
    organic_usd2: 'Decimal(38, 6) CODEC(ZSTD(1))',
    organic_proven0: 'Decimal(38, 6) CODEC(ZSTD(1))',
    organic_proven1: 'Decimal(38, 6) CODEC(ZSTD(1))',
    organic_count0: 'UInt64 CODEC(ZSTD(1))',
    organic_count1: 'UInt64 CODEC(ZSTD(1))',
    parties0: 'UInt64 CODEC(ZSTD(1))',
    parties1: 'UInt64 CODEC(ZSTD(1))',
    other_usd: 'Decimal(38, 6) CODEC(ZSTD(1))',
    other_count: 'UInt64 CODEC(ZSTD(1))',
    verdict: 'LowCardinality(String)',
    excluded: `Array(${ACCOUNT_TYPE}) CODEC(ZSTD(1))`,
    lost_days: 'Array(UInt16) CODEC(ZSTD(1))',
    lost_count: 'Array(UInt64) CODEC(ZSTD(1))',
    lost_usd: 'Array(Decimal(38, 6)) CODEC(ZSTD(1))',
    lost_proven: 'Array(Decimal(38, 6)) CODEC(ZSTD(1))',
    gen: 'UInt64 CODEC(Delta, ZSTD(1))',
  },
  byPass('(role, chain, wallet)', 512),
);

/** The wallets that a pass which ranks wallets looks among for payments that are not organic. */
export const TWO_WAY_WALLETS = derivedRows(
  'two_way_wallets',
  'the wallets of one pass that pay and are paid, read by it alone',
  {
    span: 'LowCardinality(String)',
    wallet: `${ACCOUNT_TYPE} CODEC(ZSTD(1))`,
    gen: 'UInt64 CODEC(Delta, ZSTD(1))',
  },
  byPass('wallet'),
);

/** Facilitators by what they relayed, written and published by the pass that ranks wallets. */
export const RANKED_FACILITATORS = derivedRows(
  'ranked_facilitators',
  'a row of each facilitator, window and chain',
  {
    span: 'LowCardinality(String)',
    chain: 'LowCardinality(String)',
    facilitator: 'String',
    organic_usd0: 'Decimal(38, 6)',
    organic_usd1: 'Decimal(38, 6)',
    organic_usd2: 'Decimal(38, 6)',
    organic_proven0: 'Decimal(38, 6)',
    organic_proven1: 'Decimal(38, 6)',
    organic_count0: 'UInt64',
    organic_count1: 'UInt64',
    parties0: 'UInt64',
    parties1: 'UInt64',
    other_usd: 'Decimal(38, 6)',
    other_count: 'UInt64',
    line_at: 'Array(UInt32)',
    line_count: 'Array(UInt64)',
    line_usd: 'Array(Decimal(38, 6))',
    line_proven: 'Array(Decimal(38, 6))',
    gen: 'UInt64',
  },
  byPass('(chain, facilitator)'),
);

export const VERDICT_PASSES = derivedPasses('verdict_passes', {
  basis: 'String',
  method_version: 'LowCardinality(String)',
  verdicts: 'UInt64',
  judged_at: "DateTime('UTC')",
});
export const RANKING_PASSES = derivedPasses(
  'ranking_passes',
  { span: 'LowCardinality(String)', ranked_at: "DateTime('UTC')", wallets: 'UInt64', took_ms: 'UInt64' },
  '(span, gen)',
  30,
);

/** Wallets that a pass keeps of each chain and role by each order: twice as many as the pages of a ranking reach. */
export const RANKED_WALLETS_MAX = 20_000;

/** Who paid whom most in a number of whole days before a midnight (column `days`), by chain. The engine computes them (ingest/graphs). */
export const LARGEST_PAIRS = derivedRows(
  'largest_pairs',
  'the pairs that graphs show, some ten thousand rows a pass',
  {
    days: 'UInt16',
    chain: 'LowCardinality(String)',
    rank: 'UInt32 CODEC(Delta, ZSTD(1))',
    payer: `${ACCOUNT_TYPE} CODEC(ZSTD(1))`,
    payee: `${ACCOUNT_TYPE} CODEC(ZSTD(1))`,
    settlement_count: 'UInt64 CODEC(ZSTD(1))',
    settled_usd: 'Decimal(38, 6) CODEC(ZSTD(1))',
    first_time: "DateTime('UTC') CODEC(ZSTD(1))",
    last_time: "DateTime('UTC') CODEC(ZSTD(1))",
    gen: 'UInt64 CODEC(Delta, ZSTD(1))',
  },
  byPass('(chain, rank)', 512),
);

export const LARGEST_PAIR_PASSES = derivedPasses(
  'largest_pair_passes',
  { days: 'UInt16', until: "DateTime('UTC')", basis: 'String', took_ms: 'UInt64' },
  '(days, gen)',
  30,
);

/** Pairs that a pass keeps of each chain: the edges that a graph can show, and one that tells that there are others. */
export const LARGEST_PAIRS_MAX = GRAPH_EDGES_MAX + 1;

/**
 * Relayers that behave as a facilitator's do and that no catalogue names, with the figures behind the score
 * (core/domain/relayer-proposal.ts). Those that the service accepted stay among them, because the next pass decides whether they still do.
 */
export const PROPOSED_RELAYERS = {
  name: 'proposed_relayers',
  columns: {
    chain,
    address: account,
    score: float64,
    settlement_count: uint64,
    relayed_count: uint64,
    payer_count: uint64,
    payer_spread: float64,
    shared_payer_count: uint64,
    payee_count: uint64,
    shared_payee_count: uint64,
    shared_settlement_count: uint64,
    /** Ids of the facilitators that the shared payees are also paid through. */
    shared_with: names,
    supported_by: names,
    /** Id of the facilitator whose relayers were funded by the same account; empty where none were. */
    funded_with: name,
    first_seen: time,
    last_seen: time,
    gen: stored(bigUint64, RISING),
  },
  storage: { engine: 'MergeTree', partition: 'gen', order: '(chain, address)' },
  placement: onFirst('some hundred rows of one pass'),
  versions: ['gen'],
  backup: 'derived',
} as const satisfies Table;

export const PROPOSAL_PASSES = derivedPasses('proposal_passes', {
  proposed_at: "DateTime('UTC')",
  /** Relayers whose figures were read. */
  looked_at: 'UInt64',
  took_ms: 'UInt64',
});
