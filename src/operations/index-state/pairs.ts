import { addressBytes } from '../../../clickhouse/engine/account.ts';
import { IS_COUNTED, IS_DUST } from '../../../clickhouse/engine/counted-rows.ts';
import { allOf, type Sql, sql, text, trustedText } from '../../../clickhouse/engine/sql.ts';
import {
  closedSlices,
  daysDuring,
  EVERYTHING_OPEN,
  isClosed,
  isOpen,
  openAround,
  openRows,
  type RollupCoverage,
  rowsDuring,
  type TimeRange,
} from '../../../clickhouse/tables/coverage.ts';
import { PAIR_DAY, PAIR_DAY_BY_PAYEE } from '../../../clickhouse/tables/rollups.ts';
import type { Address } from '../../../core/domain/account.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { type FinalBlock, onChain, onFinalChain, onlyFinal } from './finality.ts';

/** Which payments between wallets: every field narrows them. */
export interface PairFilter {
  readonly payer?: Address | undefined;
  readonly payee?: Address | undefined;
  readonly chain?: Chain | undefined;
  /** Only rows up to these blocks; then `coverage` must be that of `finalCoverage`. */
  readonly final?: readonly FinalBlock[] | undefined;
  /** The party by which closed slices are sorted, for conditions and groups of the caller's own; that of the filter by default. */
  readonly sortedBy?: 'payer' | 'payee';
}

/**
 * The table of every payment between two wallets in a span of time, to be put behind FROM. Closed slices come from `pair_day`, everything
 * else from the rows, so the sums are exact at any state of the rollup worker. Columns:
 *
 * - `payer`, `payee`: bytes of accounts; `chain`; `day`: Date
 * - `settlement_count`, `proven_count`: UInt64
 * - `settled_usd`, `proven_usd`: Decimal(38, 6); proven is a part of settled
 * - `dust_count`, `dust_usd`, `dust_proven_usd`: the parts that are too small to count for a reason (core/domain/data-quality.ts)
 * - `first_time`, `last_time`: DateTime('UTC')
 *
 * A pair has a row for each closed slice and chain, and one for each settlement outside: add them up (`GROUP BY payer, payee`). Payments of
 * a wallet to itself are in it, once each. Channel deposits are not.
 *
 *   const pairs = pairsBetween({ from, to: null }, { payee }, await rollups.coverage());
 *   sql`SELECT ${accountText('payer')}, sum(settlement_count), toString(sum(settled_usd)) FROM ${pairs} GROUP BY payer`
 *
 * What it reads depends on the filter: with a payee its range of `pair_day_by_payee`; with neither party the days of `pair_day`; with a payer
 * alone that wallet's rows in `wallet_rows`, because a wallet pays fewer wallets than a shop has payers. Rows read at 10 million
 * settlements in 180 days, for 30 days: 2,048 of a payee with some hundred payments and 80,000 of the busiest; 24,576 and 121,000 of such
 * payers; for all pairs as many as there are pairs and days, 1.5 million. Send `PAIR_SETTINGS` with the statement. A span that begins or
 * ends inside a day reads that day from the rows.
 */
export function pairsBetween(span: TimeRange, filter: PairFilter, coverage: RollupCoverage): Sql {
  const around = openAround(coverage, span);
  if (filter.payer !== undefined && filter.payee === undefined)
    return sql`(${openPairs(span, filter, EVERYTHING_OPEN)})`;
  const open = openPairs(span, filter, around);
  // The engine cannot tell from the condition that no closed slice is left, and would read the days for nothing.
  if (isOpen(around, span)) return sql`(${open})`;
  const closed = closedPairs(span, filter, around);
  return isClosed(around, span) ? sql`(${closed})` : sql`(${closed} UNION ALL ${open})`;
}

/** A month has its own partition, and no row is in two of them. */
export const PAIR_SETTINGS = { do_not_merge_across_partitions_select_final: 1 } as const;

function closedPairs(span: TimeRange, filter: PairFilter, coverage: RollupCoverage): Sql {
  const { payer, payee, chain, final } = filter;
  const { sortedBy = payee === undefined ? 'payer' : 'payee' } = filter;
  const table = sortedBy === 'payee' ? PAIR_DAY_BY_PAYEE : PAIR_DAY;
  const conditions = [
    ...addressIs('payer', payer),
    ...addressIs('payee', payee),
    ...daysDuring(span),
    ...onChain(chain),
    ...onFinalChain(final),
    closedSlices(coverage),
  ];
  return sql`SELECT payer, payee, chain, day, settlement_count, proven_count, proven_usd + other_usd AS settled_usd, proven_usd,
      dust_count, dust_proven_usd + dust_other_usd AS dust_usd, dust_proven_usd, toDateTime(day, 'UTC') + first_second AS first_time, first_time + span AS last_time
    FROM ${trustedText(table.name)} FINAL WHERE ${allOf(conditions)} AND settlement_count > 0`;
}

/** One row for each settlement. Filters on anything but the sort key come after versions are merged. */
function openPairs(span: TimeRange, filter: PairFilter, coverage: RollupCoverage): Sql {
  const { payer, payee, chain, final } = filter;
  const during = [...rowsDuring(span), openRows(coverage), ...onChain(chain), ...onlyFinal(final)];
  const isProven = sql`method = 'facilitator_relay'`;
  const figures = sql`chain, toDate(block_time) AS day, toUInt64(1) AS settlement_count, toUInt64(${isProven}) AS proven_count,
    toDecimal128(amount_usd, 6) AS settled_usd, if(${isProven}, settled_usd, toDecimal128(0, 6)) AS proven_usd,
    toUInt64(${IS_DUST}) AS dust_count, if(${IS_DUST}, settled_usd, toDecimal128(0, 6)) AS dust_usd,
    if(${IS_DUST}, proven_usd, toDecimal128(0, 6)) AS dust_proven_usd, block_time AS first_time, block_time AS last_time`;
  const [own, other] = payer === undefined ? [payee, undefined] : [payer, payee];
  if (own === undefined) {
    return sql`SELECT payer, payee, ${figures} FROM (SELECT * FROM settlements FINAL WHERE ${allOf(during)}) WHERE ${IS_COUNTED}`;
  }
  const [role, parties] =
    payer === undefined
      ? [sql`'payee'`, sql`counterparty AS payer, ${addressBytes(own)} AS payee`]
      : [sql`'payer'`, sql`${addressBytes(own)} AS payer, counterparty AS payee`];
  return sql`SELECT ${parties}, ${figures}
    FROM (SELECT * FROM wallet_rows FINAL WHERE wallet = ${text(own)} AND role = ${role} AND ${allOf(during)})
    WHERE ${allOf([IS_COUNTED, ...addressIs('counterparty', other)])}`;
}

function addressIs(column: 'payer' | 'payee' | 'counterparty', wallet: Address | undefined): Sql[] {
  return wallet === undefined ? [] : [sql`${trustedText(column)} = ${addressBytes(wallet)}`];
}
