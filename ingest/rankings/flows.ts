import { IS_COUNTED, IS_DUST } from '../../clickhouse/engine/counted-rows.ts';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { allOf, dateTime, type Sql, sql, texts, trustedText } from '../../clickhouse/engine/sql.ts';
import { closedSlices, cutBy, openRows, type RollupCoverage } from '../../clickhouse/tables/coverage.ts';
import { PAIR_DAY, PAIR_DAY_BY_PAYEE } from '../../clickhouse/tables/rollups.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { JudgedRole } from '../../core/domain/data-quality.ts';
import { type Span, spansOf, type Window } from '../../core/domain/window.ts';

/** What was paid in the windows that a ranking compares. */

/** A window, the one before it, and the one before that, which growth of the window before is compared with. */
const SPANS = 3;

export interface FlowScope {
  readonly chains: readonly Chain[];
  /** Newest first; together without a gap. All of time is one. */
  readonly spans: readonly Span[];
  readonly coverage: RollupCoverage;
}

/** Windows that end at `atSeconds`. */
export function flowScope(
  window: Window,
  {
    chains,
    atSeconds,
    coverage,
  }: { readonly chains: readonly Chain[]; readonly atSeconds: number; readonly coverage: RollupCoverage },
): FlowScope {
  const spans = spansOf(window, atSeconds, SPANS);
  return { chains, spans, coverage: cutBy(coverage, window, spans) };
}

/**
 * Columns chain, payer, payee, at (a moment inside the slice), n, usd and proven, and without dust judged_n and judged_usd: a row for each closed
 * slice of a pair, and one for each settlement outside. `parties`: conditions on payer and payee alone. `sortedBy`: the party that is grouped or chosen by.
 */
export function flows(
  { chains, spans, coverage }: FlowScope,
  sortedBy: JudgedRole,
  parties: readonly Sql[] = [],
): Sql {
  const from = dateTime(spans.at(-1)?.from ?? 0);
  const pairDay = trustedText((sortedBy === 'payee' ? PAIR_DAY_BY_PAYEE : PAIR_DAY).name);
  const served = sql`chain IN ${texts(chains)}`;
  const closed = [sql`day >= toDate(${from})`, closedSlices(coverage), served, ...parties];
  const open = [sql`block_time >= ${from}`, openRows(coverage)];
  return sql`SELECT chain, payer, payee, toDateTime(day, 'UTC') + first_second AS at, settlement_count AS n,
      proven_usd + other_usd AS usd, proven_usd AS proven, toUInt64(settlement_count - dust_count) AS judged_n,
      proven_usd + other_usd - dust_proven_usd - dust_other_usd AS judged_usd
    FROM ${pairDay} FINAL WHERE ${allOf(closed)} AND settlement_count > 0
    UNION ALL
    SELECT chain, payer, payee, block_time, toUInt64(1), toDecimal128(amount_usd, 6),
      if(method = 'facilitator_relay', toDecimal128(amount_usd, 6), toDecimal128(0, 6)),
      toUInt64(NOT ${IS_DUST}), if(${IS_DUST}, toDecimal128(0, 6), toDecimal128(amount_usd, 6))
    FROM (SELECT chain, payer, payee, block_time, amount_usd, method, kind, del FROM settlements FINAL WHERE ${allOf(open)})
    WHERE ${allOf([IS_COUNTED, served, ...parties])}`;
}

const COUNT_MAX_SECONDS = 30;

/** About how many rows `flows` gives: rows of closed slices, and the settlements outside. */
export async function countPairs(writer: Writer, { spans, coverage }: FlowScope): Promise<number> {
  const from = dateTime(spans.at(-1)?.from ?? 0);
  const open = [sql`block_time >= ${from}`, openRows(coverage)];
  const { rows } = await writer.rows({
    name: 'ranking-pairs',
    maxSeconds: COUNT_MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT (SELECT count() FROM ${trustedText(PAIR_DAY.name)} WHERE day >= toDate(${from}))
      + (SELECT count() FROM settlements WHERE ${allOf(open)})`,
  });
  return Number(rows[0]?.[0]);
}

/** Condition that a moment lies in a span. */
export function during(at: Sql, { from, to }: Span): Sql {
  const since = sql`${at} >= ${dateTime(from)}`;
  return to === null ? sql`(${since})` : sql`(${since} AND ${at} < ${dateTime(to)})`;
}
