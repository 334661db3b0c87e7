import { IS_COUNTED } from '../../../clickhouse/engine/counted-rows.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import {
  allOf,
  dateTime,
  type Sql,
  sql,
  texts,
  trustedText,
  uint32,
} from '../../../clickhouse/engine/sql.ts';
import { closedHours, cutBy, openRows, type RollupCoverage } from '../../../clickhouse/tables/coverage.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { type Span, spansOf, type Window } from '../../../core/domain/window.ts';
import { ask } from '../ask.ts';
import type { PaymentOrder } from './orders.ts';
import type { RankedRow } from './row.ts';
import { pointsOf } from './sparklines.ts';
import { during, type Parts, partOf, RANKING_SETTINGS, sinceParts } from './windows.ts';

/**
 * Named facilitators by what they relayed. A facilitator is no party of a payment, so nothing is organic of it and no verdict is about it;
 * payments of a wallet to itself count nowhere.
 */

export interface FacilitatorQuery {
  readonly by: PaymentOrder;
}

interface FlowScope {
  readonly chains: readonly Chain[];
  /** Newest first; together without a gap. */
  readonly spans: readonly Span[];
  readonly coverage: RollupCoverage;
}

/** Growth compares two windows, and its previous rank the two before. */
export function facilitatorScope(
  { by, window }: { readonly by: PaymentOrder; readonly window: Window },
  {
    chains,
    nowMs,
    coverage,
  }: { readonly chains: readonly Chain[]; readonly nowMs: number; readonly coverage: RollupCoverage },
): FlowScope {
  const spans = spansOf(window, Math.floor(nowMs / 1_000), by === 'growth' ? 3 : 2);
  return { chains, spans, coverage: cutBy(coverage, window, spans) };
}

const RESOURCE = 'facilitators';
const MAX_SECONDS = 30;

/**
 * Columns facilitator, at (a moment inside the hour), n and usd without self-payments, and proven, which has them: no hour says how much of
 * its self-payments was proven, so nothing is ranked by it.
 */
function relayed({ chains, spans, coverage }: FlowScope): Sql {
  const from = dateTime(spans.at(-1)?.from ?? 0);
  const served = sql`chain IN ${texts(chains)}`;
  const closed = allOf([served, sql`hour >= toStartOfHour(${from})`, closedHours(coverage)]);
  const open = allOf([served, sql`block_time >= ${from}`, openRows(coverage)]);
  return sql`SELECT facilitator, hour AS at, toUInt64(settlement_count - self_count) AS n, settled_usd - self_usd AS usd, proven_usd AS proven
    FROM (SELECT * FROM chain_hour FINAL WHERE ${closed}) WHERE facilitator != '' AND settlement_count > 0
    UNION ALL
    SELECT facilitator, block_time, toUInt64(payer != payee), if(payer = payee, toDecimal128(0, 6), toDecimal128(amount_usd, 6)),
      if(method = 'facilitator_relay', toDecimal128(amount_usd, 6), toDecimal128(0, 6))
    FROM (SELECT chain, facilitator, payer, payee, block_time, amount_usd, method, del FROM settlements FINAL WHERE ${open})
    WHERE ${IS_COUNTED} AND facilitator != ''`;
}

function figureThatRanks(by: PaymentOrder, index: number, spans: number): Sql {
  const column = (figure: string, at: number): Sql =>
    at < spans ? trustedText(`${figure}${at}`) : sql`toDecimal128(0, 6)`;
  switch (by) {
    case 'settlements':
      return sql`toDecimal128(${column('n', index)}, 6)`;
    default:
      return sql`${column('usd', index)} - ${column('usd', index + 1)}`;
  }
}

export async function readFacilitatorRanking(
  reader: Reader,
  { by }: FacilitatorQuery,
  { scope, depth }: { readonly scope: FlowScope; readonly depth: number },
): Promise<RankedRow[]> {
  const count = scope.spans.length;
  const sums = scope.spans.map((span, index) => {
    const when = during(span);
    const name = (figure: string): Sql => trustedText(`${figure}${index}`);
    return sql`sumIf(n, ${when}) AS ${name('n')}, sumIf(usd, ${when}) AS ${name('usd')}, sumIf(proven, ${when}) AS ${name('proven')}`;
  });
  const enough = (index: number): Sql =>
    index < count ? sql`(value${trustedText(String(index))} > 0)` : sql`false`;
  const place = (index: number): Sql =>
    sql`row_number() OVER (ORDER BY ${enough(index)} DESC, value${trustedText(String(index))} DESC, facilitator)`;
  const { rows } = await ask(reader, RESOURCE, {
    name: 'ranking-facilitators',
    maxSeconds: MAX_SECONDS,
    maxRows: depth,
    settings: RANKING_SETTINGS,
    sql: sql`SELECT facilitator, rank, if(was_ranked, previous, 0), toString(value0), toString(value1), n0, toString(usd0), toString(proven0)
      FROM (
        SELECT *, ${place(0)} AS rank, ${place(1)} AS previous, ${enough(0)} AS is_ranked, ${enough(1)} AS was_ranked
        FROM (SELECT *, ${figureThatRanks(by, 0, count)} AS value0, ${figureThatRanks(by, 1, count)} AS value1
          FROM (SELECT facilitator, ${sums.reduce((all, next) => sql`${all}, ${next}`)} FROM (${relayed(scope)}) GROUP BY facilitator)))
      WHERE is_ranked ORDER BY rank LIMIT ${uint32(depth)}`,
  });
  return rows.map((row) => ({
    rank: integerField(row[1]),
    previousRank: integerField(row[2]) === 0 ? null : integerField(row[2]),
    subject: { facilitator: textField(row[0]) },
    value: microsFromDecimal(textField(row[3])),
    previousValue: count === 1 ? null : microsFromDecimal(textField(row[4])),
    figures: {
      organicUsdMicros: null,
      organicSettlements: null,
      provenUsdMicros: microsFromDecimal(textField(row[7])),
      counterparties: null,
      settlements: integerField(row[5]),
      settledUsdMicros: microsFromDecimal(textField(row[6])),
    },
    verdict: null,
  }));
}

export async function readFacilitatorSparklines(
  reader: Reader,
  { by }: FacilitatorQuery,
  {
    scope,
    rows,
    parts,
  }: { readonly scope: FlowScope; readonly rows: readonly RankedRow[]; readonly parts: Parts },
): Promise<ReadonlyMap<string, readonly bigint[]>> {
  const shown = rows.flatMap(({ subject }) => subject.facilitator ?? []);
  const amount = by === 'settlements' ? sql`toDecimal128(n, 6)` : sql`usd`;
  const { rows: read } = await ask(reader, RESOURCE, {
    name: 'ranking-facilitators-sparklines',
    maxSeconds: MAX_SECONDS,
    maxRows: shown.length,
    settings: RANKING_SETTINGS,
    sql: sql`SELECT facilitator, sumMapIf([toUInt32(${partOf(parts)})], [${amount}], ${sinceParts(parts)}) AS line, line.1, arrayMap(one -> toString(one), line.2)
      FROM (${relayed(scope)}) WHERE facilitator IN ${texts(shown)} GROUP BY facilitator`,
  });
  return new Map(read.map((row) => [` ${textField(row[0])}`, pointsOf(row[2], row[3], parts.count)]));
}
