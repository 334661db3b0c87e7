import { accountText, addressesBytes } from '../../../clickhouse/engine/account.ts';
import { IS_COUNTED } from '../../../clickhouse/engine/counted-rows.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, dateTime, type Sql, sql, texts, trustedText } from '../../../clickhouse/engine/sql.ts';
import {
  closedSlices,
  isClosed,
  isOpen,
  openFrom,
  openRows,
  type RollupCoverage,
  wholeDays,
} from '../../../clickhouse/tables/coverage.ts';
import { ask } from '../ask.ts';
import type { PaymentOrder } from './orders.ts';
import { type RankedPass, rankedWallets } from './passes.ts';
import type { RankedRow } from './row.ts';
import { decimalValue, roleOf, WALLETS_RESOURCE, type WalletQuery } from './wallets.ts';
import { type Parts, partOf, RANKING_SETTINGS } from './windows.ts';

/**
 * What each part of a window was worth to the wallets of a page: the days of these wallets, less what the pass excluded from their
 * organic figures on each day. So the page reads a range of the days of each wallet, never their pairs.
 */

const MAX_SECONDS = 10;

interface Sparklines {
  readonly pass: RankedPass;
  readonly coverage: RollupCoverage;
  readonly rows: readonly RankedRow[];
  readonly parts: Parts;
}

/** By `chain wallet`; the chain is that of an agent, else empty. */
export async function readWalletSparklines(
  reader: Reader,
  query: WalletQuery,
  page: Sparklines,
): Promise<ReadonlyMap<string, readonly bigint[]>> {
  const { rows, parts } = page;
  const { rows: read } = await ask(reader, WALLETS_RESOURCE, {
    name: `ranking-${query.of}-sparklines`,
    maxSeconds: MAX_SECONDS,
    maxRows: rows.length * Math.max(1, query.chains.length),
    settings: RANKING_SETTINGS,
    sql: sql`SELECT of_chain, wallet, sumMap([toUInt32(${partOf(parts)})], [amount]) AS line, line.1, arrayMap(one -> toString(one), line.2)
      FROM (${amounts(query, page)}) GROUP BY of_chain, wallet`,
  });
  return new Map(
    read.map((row) => [`${textField(row[0])} ${textField(row[1])}`, pointsOf(row[3], row[4], parts.count)]),
  );
}

/** Columns of_chain, wallet (text), at and amount; an excluded pair's amount is taken off. */
function amounts(query: WalletQuery, { pass, coverage: known, rows, parts }: Sparklines): Sql {
  const { of, by, chains } = query;
  const role = roleOf(of);
  const byChain = of === 'agents';
  const span = { from: parts.from, to: null };
  // A rolled up day has no hours.
  const coverage = wholeDays(pass.window === '24h' ? openFrom(known, parts.from) : known);
  const addresses = [...new Set(rows.flatMap(({ subject }) => subject.wallet ?? []))];
  const wallets = texts(addresses);
  const ofChain = byChain ? sql`chain` : sql`''`;
  const served = sql`chain IN ${texts(chains)}`;
  const among = sql`wallet IN ${addressesBytes(addresses)}`;
  const ranked = rankedWallets(pass, { role, chains, byChain }, [among]);
  const pair = role === 'payee' ? sql`wallet, other` : sql`other, wallet`;
  const excluded = sql`(SELECT ${byChain ? sql`chain, ` : sql``}${pair} FROM ${ranked} ARRAY JOIN excluded AS other)`;
  const own = trustedText(role);
  const since = sql`day >= toDate(${dateTime(parts.from)})`;
  const days = sql`SELECT ${ofChain} AS of_chain, ${own} AS wallet, toDateTime(day, 'UTC') AS at, ${amountOf(by, DAY_AMOUNTS)} AS amount
      FROM ${trustedText(`${role}_day`)} FINAL
      WHERE ${allOf([sql`${own} IN ${wallets}`, since, closedSlices(coverage), served])} AND settlement_count > 0
    UNION ALL
    SELECT ${ofChain}, ${accountText('wallet')}, toDateTime(toDate(day), 'UTC') AS lost_at, -amount
      FROM ${ranked} ARRAY JOIN lost_days AS day, ${amountOf(by, LOST_AMOUNTS)} AS amount
      WHERE lost_at >= toStartOfDay(${dateTime(parts.from)}) AND NOT ${openRows(coverage, sql`lost_at`)}`;
  // Sorted by time, a day or two of it: the log of wallets has small ranges of each, in every part.
  const during = allOf([sql`block_time >= ${dateTime(parts.from)}`, openRows(coverage)]);
  const live = sql`SELECT ${ofChain} AS of_chain, ${accountText(role)} AS wallet, block_time AS at, ${amountOf(by, ROW_AMOUNTS)} AS amount
      FROM (SELECT chain, block_time, payer, payee, amount_usd, method, kind, del FROM settlements FINAL WHERE ${during})
      WHERE ${allOf([
        IS_COUNTED,
        served,
        sql`${own} IN ${addressesBytes(addresses)}`,
        sql`block_time <= ${dateTime(Math.floor(pass.rankedAtMs / 1_000))}`,
      ])} AND (${byChain ? sql`chain, ` : sql``}payee, payer) NOT IN ${excluded}`;
  if (isOpen(coverage, span)) return live;
  return isClosed(coverage, span) ? days : sql`${days} UNION ALL ${live}`;
}

interface Amounts {
  readonly count: Sql;
  readonly usd: Sql;
  readonly proven: Sql;
}

const DAY_AMOUNTS: Amounts = {
  count: sql`toDecimal128(settlement_count, 6)`,
  usd: sql`settled_usd`,
  proven: sql`proven_usd`,
};
const LOST_AMOUNTS: Amounts = {
  count: sql`arrayMap(one -> toDecimal128(one, 6), lost_count)`,
  usd: sql`lost_usd`,
  proven: sql`lost_proven`,
};
const ROW_AMOUNTS: Amounts = {
  count: sql`toDecimal128(1, 6)`,
  usd: sql`toDecimal128(amount_usd, 6)`,
  proven: sql`if(method = 'facilitator_relay', toDecimal128(amount_usd, 6), toDecimal128(0, 6))`,
};

/** Of the figure that ranks where it adds up, of the settlements where it does not. */
function amountOf(by: PaymentOrder, { count, usd, proven }: Amounts): Sql {
  switch (by) {
    case 'settlements':
    case 'counterparties':
      return count;
    case 'proven_usd':
      return proven;
    default:
      return usd;
  }
}

export function pointsOf(places: unknown, amounts: unknown, count: number): bigint[] {
  if (!Array.isArray(places) || !Array.isArray(amounts)) throw new TypeError('a sparkline is no list');
  const points = Array<bigint>(count).fill(0n);
  for (const [index, place] of places.entries()) {
    const at = integerField(place);
    if (at < points.length) points[at] = decimalValue(amounts[index]);
  }
  return points;
}
