import { NO_ACCOUNT } from '../../clickhouse/engine/account.ts';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, type Sql, sql, text, trustedText, uint32, uint64 } from '../../clickhouse/engine/sql.ts';
import { DAY_SECONDS, type TimeRange } from '../../clickhouse/tables/coverage.ts';
import {
  LARGEST_PAIR_PASSES,
  LARGEST_PAIRS,
  LARGEST_PAIRS_MAX,
} from '../../clickhouse/tables/generations.ts';
import {
  IS_OPEN,
  PAIR_DAY,
  ROLLUP_STATE,
  rollupBasis,
  SLICE_SECONDS_TEXT,
  sliceStart,
} from '../../clickhouse/tables/rollups.ts';
import type { Clock } from '../../core/clock.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { GRAPH_DAYS_KEPT } from '../../core/domain/payment-graph.ts';
import type { Log } from '../../core/log.ts';
import { type DerivedTable, deriveIfChanged, runInTurn } from '../passes/derived-table.ts';
import { type Pass, type PassOutcome, restOf } from '../passes/repeat.ts';
import { COMPUTE_SETTINGS } from '../rollup/close.ts';

/**
 * The largest pairs of whole days before today, computed from the rollups once a day and again when something was written to these days, so
 * that a graph reads what it shows and not every pair of a month.
 *
 * A pass reads the basis first, then checks that no slice of its days is open, then reads the rollups. So a write in the basis is in the
 * rollups; any other write, or a slice computed anew in between, changes the basis, and readers pass over what was computed from the old one.
 */

const REST = restOf({ perPass: 30, minMs: 15_000 });
/** While a slice of the days is open: the day before, for a quarter of an hour after midnight, or what a backfill writes to. */
const OPEN_POLL_MS = 15_000;
/** 90 days of 10 million settlements take three seconds a chain; a machine under load may need a multiple of it. */
const COMPUTE_MAX_SECONDS = 600;
const LOOK_MAX_SECONDS = 30;

interface GraphPassDeps {
  readonly writer: Writer;
  /** That are served; besides, all chains together. */
  readonly chains: readonly Chain[];
  readonly clock: Clock;
  /** Tests lower it. */
  readonly pairsMax?: number;
}

/** One for each number of days that is kept. */
export function graphPasses(deps: GraphPassDeps & { readonly log: Log }): Pass[] {
  return GRAPH_DAYS_KEPT.map((days) => ({
    name: `graph-${days}d`,
    failureText: 'adding up the largest pairs failed; graphs of these days are read from the rollups',
    restMs: REST,
    pollMs: OPEN_POLL_MS,
    async run(signal) {
      const startedMs = performance.now();
      const outcome = await graphPass(deps, days, signal);
      const tookMs = Math.round(performance.now() - startedMs);
      if (outcome === 'done') deps.log.debug({ days, tookMs }, 'largest pairs added up');
      return outcome;
    },
  }));
}

/**
 * `current`: published already. `waiting`: a slice of the days is open. May be interrupted anywhere and repeated, by any number of workers.
 */
export async function graphPass(
  { writer, chains, clock, pairsMax = LARGEST_PAIRS_MAX }: GraphPassDeps,
  days: number,
  signal?: AbortSignal,
): Promise<PassOutcome> {
  const startedMs = performance.now();
  const nowMs = clock.nowMs();
  const until = Math.floor(nowMs / 1_000 / DAY_SECONDS) * DAY_SECONDS;
  const span = { from: until - days * DAY_SECONDS, to: until };
  const outcome = await deriveIfChanged(writer, largestPairs(days), {
    fresh: BigInt(nowMs),
    basis: {
      of: rollupBasis(sql`${dateTime(span.to)}`, sql`${dateTime(span.from)}`),
      until,
      isReady: async () => !(await hasOpenSlices(writer, span)),
    },
    async write(gen) {
      const statements = [null, ...chains].map((chain) => ({
        name: `largest-pairs ${days}`,
        maxSeconds: COMPUTE_MAX_SECONDS,
        settings: COMPUTE_SETTINGS,
        sql: largestInto(gen, { span, days, chain, pairsMax }),
      }));
      await runInTurn(writer, statements, signal);
      return { took_ms: uint64(Math.round(performance.now() - startedMs)) };
    },
  });
  return typeof outcome === 'bigint' ? 'done' : outcome;
}

const largestPairs = (days: number): DerivedTable => ({
  name: 'largest-pairs',
  rows: [LARGEST_PAIRS],
  passes: LARGEST_PAIR_PASSES,
  kind: { column: 'days', value: uint32(days) },
});

interface DaySpan extends TimeRange {
  readonly to: number;
}

async function hasOpenSlices(writer: Writer, { from, to }: DaySpan): Promise<boolean> {
  const end = sql`${sliceStart} + ${trustedText(SLICE_SECONDS_TEXT)}`;
  const { rows } = await writer.rows({
    name: 'largest-pairs-open',
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT count() FROM rollup_slices WHERE ${IS_OPEN} AND ${sliceStart} < ${dateTime(to)} AND ${end} > ${dateTime(from)}`,
  });
  return Number(rows[0]?.[0]) > 0;
}

/** Every row of the passes carries its rank, so that a reader of fewer edges reads fewer rows. */
function largestInto(
  gen: bigint,
  {
    span: { from, to },
    days,
    chain,
    pairsMax,
  }: {
    readonly span: DaySpan;
    readonly days: number;
    readonly chain: Chain | null;
    readonly pairsMax: number;
  },
): Sql {
  const during = sql`day >= toDate(${dateTime(from)}) AND day < toDate(${dateTime(to)})`;
  const isForm = sql`(hour >= 0) = (day IN (SELECT day FROM ${trustedText(ROLLUP_STATE.name)} WHERE hour >= 0))`;
  const ofChain = chain === null ? sql`1` : sql`chain = ${text(chain)}`;
  const rows = sql`SELECT payer, payee, settlement_count, proven_usd + other_usd AS settled_usd,
      toDateTime(day, 'UTC') + first_second AS first_time, first_time + span AS last_time
    FROM ${trustedText(PAIR_DAY.name)} FINAL WHERE ${during} AND ${isForm} AND ${ofChain} AND settlement_count > 0`;
  const sums = sql`sum(settlement_count) AS n, sum(settled_usd) AS usd, min(first_time) AS first, max(last_time) AS last`;
  return sql`INSERT INTO largest_pairs (days, chain, rank, payer, payee, settlement_count, settled_usd, first_time, last_time, gen)
    SELECT ${uint32(days)}, ${text(chain ?? '')}, rank, payer, payee, n, usd, first, last, ${uint64(gen)} FROM (
      SELECT toUInt32(rowNumberInAllBlocks() + 1) AS rank, payer, payee, n, usd, first, last FROM (
        SELECT payer, payee, ${sums} FROM (${rows}) WHERE payer != payee GROUP BY payer, payee
        ORDER BY usd DESC, payer, payee LIMIT ${uint32(pairsMax)})
      UNION ALL
      SELECT 0, ${NO_ACCOUNT}, ${NO_ACCOUNT}, ${sums} FROM (${rows}) WHERE payer = payee)`;
}
