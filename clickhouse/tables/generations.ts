import { randomInt } from 'node:crypto';
import { GRAPH_EDGES_MAX } from '../../core/domain/payment-graph.ts';
import type { Writer } from '../engine/engine.ts';
import { type Sql, sql, trustedText, uint64 } from '../engine/sql.ts';
import { bigUint64, name, named, text, texts, time, uint8, usd128 } from './columns.ts';
import { onFirst, STATE, type Table, type TableRow } from './table.ts';

/**
 * Tables that are computed anew as a whole: each pass writes its rows under a generation of its own (`gen`, which is also their
 * partition) and is seen once a row of the table of passes publishes it.
 */

/** What each relayer did in all slices before a moment. */
export const RELAYER_TOTALS = {
  name: 'relayer_totals',
  columns: {},
  placement: onFirst('one row of each relayer a pass'),
  versions: ['gen'],
} as const satisfies Table;

const passesOf = <Name extends string>(name: Name) =>
  ({ name, columns: {}, placement: STATE, versions: ['gen'], backup: 'done' }) as const satisfies Table;

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
export const WALLET_VERDICTS = {
  name: 'wallet_verdicts',
  columns: {},
  placement: onFirst('the verdicts of one pass, read by wallet with the table of passes'),
  versions: ['gen'],
  backup: 'derived',
} as const satisfies Table;

/** What profiles of large wallets are judged by, written by the pass of their verdicts. */
export const LARGE_WALLETS = {
  name: 'large_wallets',
  columns: {},
  placement: onFirst('some rows of each large wallet, of which there are few'),
  versions: ['gen'],
  backup: 'derived',
} as const satisfies Table;

/** What wallets too large to be read at once paid back, written by the pass of their verdicts. */
export const LARGE_WALLET_REFUNDS = {
  name: 'large_wallet_refunds',
  columns: {},
  placement: onFirst('a row of each large wallet and chain'),
  versions: ['gen'],
  backup: 'derived',
} as const satisfies Table;

/** The wallets that rankings list, by window (column `span`), role and chain. A pass is about one window. */
export const RANKED_WALLETS = {
  name: 'ranked_wallets',
  columns: {},
  placement: onFirst('the best wallets of one pass, some hundred thousand rows'),
  versions: ['gen'],
  backup: 'derived',
} as const satisfies Table;

/** The wallets that a pass which ranks wallets looks among for payments that are not organic. */
export const TWO_WAY_WALLETS = {
  name: 'two_way_wallets',
  columns: {},
  placement: onFirst('the wallets of one pass that pay and are paid, read by it alone'),
  versions: ['gen'],
  backup: 'derived',
} as const satisfies Table;

/** Facilitators by what they relayed, written and published by the pass that ranks wallets. */
export const RANKED_FACILITATORS = {
  name: 'ranked_facilitators',
  columns: {},
  placement: onFirst('a row of each facilitator, window and chain'),
  versions: ['gen'],
  backup: 'derived',
} as const satisfies Table;

/** Not copied without its rows: a pass that stands here is not computed again. */
export const VERDICT_PASSES = { ...passesOf('verdict_passes'), backup: 'derived' } as const satisfies Table;

export const RANKING_PASSES = { ...passesOf('ranking_passes'), backup: 'derived' } as const satisfies Table;

/** Wallets that a pass keeps of each chain and role by each order: twice as many as the pages of a ranking reach. */
export const RANKED_WALLETS_MAX = 20_000;

/** Who paid whom most in a number of whole days before a midnight (column `days`), by chain. The engine computes them (ingest/graphs). */
export const LARGEST_PAIRS = {
  name: 'largest_pairs',
  columns: {},
  placement: onFirst('the pairs that graphs show, some ten thousand rows a pass'),
  versions: ['gen'],
  backup: 'derived',
} as const satisfies Table;

export const LARGEST_PAIR_PASSES = {
  ...passesOf('largest_pair_passes'),
  backup: 'derived',
} as const satisfies Table;

/** Pairs that a pass keeps of each chain: the edges that a graph can show, and one that tells that there are others. */
export const LARGEST_PAIRS_MAX = GRAPH_EDGES_MAX + 1;

/** The rows of the passes, and the table that publishes them. */
export interface GenerationTables {
  readonly rows: Table;
  readonly passes: Table;
  /** Condition on both: which of several kinds of passes this is about. */
  readonly among?: Sql;
}

const MAX_SECONDS = 60;
/** There are more than a handful only where workers died again and again. */
const GENERATIONS_MAX = 10_000;

/**
 * A generation above `newest`, of any pass, whose clock may have been ahead of ours; at least `fresh`. It is drawn from `spread` numbers,
 * because the pass of another worker may be running unseen, and under one generation the rows of both would count as one pass.
 */
export function ownGeneration({
  fresh,
  newest,
  spread,
}: {
  readonly fresh: bigint;
  readonly newest: bigint;
  readonly spread: number;
}): bigint {
  return (fresh > newest ? fresh : newest + 1n) + BigInt(randomInt(spread));
}

/**
 * Drops the generations below the published one, but for the `kept` newest published ones, which readers may still be reading.
 * Generations above the published one belong to a pass that another worker is writing.
 */
export async function dropOldGenerations(
  writer: Writer,
  { rows, passes, among = sql`1` }: GenerationTables,
  kept: number,
): Promise<void> {
  const [table, published] = [trustedText(rows.name), trustedText(passes.name)];
  const statement = rows.name.replaceAll('_', '-');
  const old = await writer.rows({
    name: `${statement}-old`,
    maxSeconds: MAX_SECONDS,
    maxRows: GENERATIONS_MAX,
    sql: sql`SELECT DISTINCT gen FROM ${table}
      WHERE ${among} AND gen < (SELECT max(gen) FROM ${published} WHERE ${among})
        AND gen NOT IN (SELECT gen FROM ${published} WHERE ${among} ORDER BY gen DESC LIMIT ${uint64(kept)})`,
  });
  for (const [gen] of old.rows) {
    await writer.dropPartition({
      name: `${statement}-drop`,
      table: rows.name,
      partition: BigInt(String(gen)),
      maxSeconds: MAX_SECONDS,
    });
  }
}
