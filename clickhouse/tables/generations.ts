import { GRAPH_EDGES_MAX } from '../../core/domain/payment-graph.ts';
import { bigUint64, name, named, text, texts, time, uint8, usd128 } from './columns.ts';
import { onFirst, STATE, type Table, type TableRow } from './table.ts';

/**
 * Tables that are computed anew as a whole: each pass writes its rows under a generation of its own (`gen`, which is also their
 * partition) and is seen once a row of the table of passes publishes it (ingest/passes/derived-table.ts).
 */

const passesOf = <Name extends string>(name: Name) =>
  ({ name, columns: {}, placement: STATE, versions: ['gen'], backup: 'done' }) as const satisfies Table;

/** Computed by the engine. Not copied: passes that stand in a copy without their rows would not be computed again. */
const derivedRows = <Name extends string>(name: Name, why: string) =>
  ({
    name,
    columns: {},
    placement: onFirst(why),
    versions: ['gen'],
    backup: 'derived',
  }) as const satisfies Table;
const derivedPasses = <Name extends string>(name: Name) =>
  ({ ...passesOf(name), backup: 'derived' }) as const satisfies Table;

/** What each relayer did in all slices before a moment. */
export const RELAYER_TOTALS = {
  name: 'relayer_totals',
  columns: {},
  placement: onFirst('one row of each relayer a pass'),
  versions: ['gen'],
} as const satisfies Table;

export const RELAYER_TOTAL_PASSES = passesOf('relayer_total_passes');

/** The payment rings of each wallet; a ring stands under each of its members. */
export const WALLET_RINGS = {
  name: 'wallet_rings',
  columns: {
    wallet: text,
    length: uint8,
    members: texts,
    /** The smallest of the payments from member to member. */
    bottleneck_usd: named('bottleneckUsdMicros', usd128),
    /** The sum of the payments from member to member. */
    ring_usd: named('ringUsdMicros', usd128),
    window_start: time,
    window_end: time,
    method_version: name,
    gen: bigUint64,
  },
  placement: onFirst('the rings of one pass, some hundred thousand rows'),
  versions: ['gen'],
} as const satisfies Table;
export type WalletRingRow = TableRow<typeof WALLET_RINGS>;

export const RING_PASSES = passesOf('ring_passes');

/** The verdict on each wallet in each role. The engine computes them (ingest/verdicts). */
export const WALLET_VERDICTS = derivedRows(
  'wallet_verdicts',
  'the verdicts of one pass, read by wallet with the table of passes',
);

/** What profiles of large wallets are judged by, written by the pass of their verdicts. */
export const LARGE_WALLETS = derivedRows(
  'large_wallets',
  'some rows of each large wallet, of which there are few',
);

/** What wallets too large to be read at once paid back, written by the pass of their verdicts. */
export const LARGE_WALLET_REFUNDS = derivedRows(
  'large_wallet_refunds',
  'a row of each large wallet and chain',
);

/** The wallets that rankings list, by window (column `span`), role and chain. A pass is about one window. */
export const RANKED_WALLETS = derivedRows(
  'ranked_wallets',
  'the best wallets of one pass, some hundred thousand rows',
);

/** The wallets that a pass which ranks wallets looks among for payments that are not organic. */
export const TWO_WAY_WALLETS = derivedRows(
  'two_way_wallets',
  'the wallets of one pass that pay and are paid, read by it alone',
);

/** Facilitators by what they relayed, written and published by the pass that ranks wallets. */
export const RANKED_FACILITATORS = derivedRows(
  'ranked_facilitators',
  'a row of each facilitator, window and chain',
);

export const VERDICT_PASSES = derivedPasses('verdict_passes');
export const RANKING_PASSES = derivedPasses('ranking_passes');

/** Wallets that a pass keeps of each chain and role by each order: twice as many as the pages of a ranking reach. */
export const RANKED_WALLETS_MAX = 20_000;

/** Who paid whom most in a number of whole days before a midnight (column `days`), by chain. The engine computes them (ingest/graphs). */
export const LARGEST_PAIRS = derivedRows(
  'largest_pairs',
  'the pairs that graphs show, some ten thousand rows a pass',
);

export const LARGEST_PAIR_PASSES = derivedPasses('largest_pair_passes');

/** Pairs that a pass keeps of each chain: the edges that a graph can show, and one that tells that there are others. */
export const LARGEST_PAIRS_MAX = GRAPH_EDGES_MAX + 1;
