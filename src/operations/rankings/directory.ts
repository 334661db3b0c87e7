import { accountText } from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import {
  allOf,
  type Sql,
  sql,
  text,
  texts,
  trustedText,
  uint32,
  uint64,
} from '../../../clickhouse/engine/sql.ts';
import { HOUR_SECONDS } from '../../../clickhouse/tables/coverage.ts';
import { HOURS_KEPT, hoursFrom, placeOfSpan } from '../../../clickhouse/tables/endpoints.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import { CAPABILITIES } from '../../../core/domain/capability.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Window } from '../../../core/domain/window.ts';
import { ask } from '../ask.ts';
import { type RankedPass, rankedWallets } from './passes.ts';
import { type RankedRow, subjectKey } from './row.ts';
import { pointsOf } from './sparklines.ts';
import { verdictField } from './wallets.ts';
import { type Parts, partOf, partsOf, RANKING_SETTINGS, sinceParts } from './windows.ts';

/**
 * Listed resources and capabilities by what was observed of their headline offers, which ingest counts by window without self-payments
 * (ingest/endpoints/activity.ts).
 */

export interface DirectoryQuery {
  readonly of: 'endpoints' | 'capabilities';
  readonly by: 'settlements' | 'counterparties';
  readonly window: Window;
  /** Undefined: every network. */
  readonly chain: Chain | undefined;
  readonly capability: string | undefined;
  readonly minCounterparties: number;
  readonly includeFlagged: boolean;
}

interface Read {
  /** That judged the payees; null before the first one: then none is known to be suspect. */
  readonly pass: RankedPass | null;
  readonly chains: readonly Chain[];
  readonly depth: number;
}

const MAX_SECONDS = 30;

function listed({ chain, capability }: Pick<DirectoryQuery, 'chain' | 'capability'>): Sql {
  return allOf([
    sql`del = 0`,
    ...(chain === undefined ? [] : [sql`has(chains, ${text(chain)})`]),
    ...(capability === undefined ? [] : [sql`has(capabilities, ${text(capability)})`]),
  ]);
}

/** The entry of an array of spans that is of the window, `back` windows before the newest one. */
function ofSpan(column: 'span_counts' | 'span_payers' | 'span_usd', window: Window, back: 0 | 1): Sql {
  return trustedText(`${column}[${placeOfSpan(window, back)}]`);
}

interface Ranked {
  /** Columns: the columns of `shown`, and count0, count1, parties0, parties1, usd0. */
  readonly from: Sql;
  /** Which row it is, and what orders rows of one value. */
  readonly key: Sql;
  readonly shown: Sql;
  readonly by: DirectoryQuery['by'];
  readonly minCounterparties: number;
  readonly depth: number;
}

/** With the place that a row had one window earlier, 0 for none: columns value0, value1, count0, parties0, usd0, place and the shown ones. */
function rankingSql({ from, key, shown, by, minCounterparties, depth }: Ranked): Sql {
  const figure = by === 'settlements' ? 'count' : 'parties';
  const [value, before] = [trustedText(`${figure}0`), trustedText(`${figure}1`)];
  const enough = uint64(minCounterparties);
  return sql`SELECT ${value}, ${before}, count0, parties0, toString(usd0), place, ${shown}
    FROM (SELECT *, ${before} > 0 AND parties1 >= ${enough} AS was_ranked,
        if(was_ranked, row_number() OVER (ORDER BY was_ranked DESC, ${before} DESC, ${key}), 0) AS place
      FROM (${from}))
    WHERE ${value} > 0 AND parties0 >= ${enough} ORDER BY ${value} DESC, ${key} LIMIT ${uint32(depth)}`;
}

export async function readEndpointRanking(
  reader: Reader,
  query: DirectoryQuery,
  { pass, chains, depth }: Read,
): Promise<RankedRow[]> {
  const { window, includeFlagged } = query;
  const verdicts =
    pass === null
      ? sql`SELECT '' AS payee, '' AS verdict`
      : sql`SELECT ${accountText('wallet')} AS payee, toString(verdict) AS verdict
        FROM ${rankedWallets(pass, { role: 'payee', chains, byChain: false })}`;
  const offers = sql`SELECT resource, method, pay_to, service_name, ${ofSpan('span_counts', window, 0)} AS count0,
      ${ofSpan('span_counts', window, 1)} AS count1, ${ofSpan('span_payers', window, 0)} AS parties0,
      ${ofSpan('span_payers', window, 1)} AS parties1, ${ofSpan('span_usd', window, 0)} AS usd0
    FROM endpoint_list FINAL WHERE ${listed(query)} AND (count0 > 0 OR count1 > 0)`;
  const { rows } = await ask(reader, 'endpoints', {
    name: 'ranking-endpoints',
    maxSeconds: MAX_SECONDS,
    maxRows: depth,
    settings: RANKING_SETTINGS,
    sql: rankingSql({
      ...query,
      from: sql`SELECT * FROM (${offers}) AS offers LEFT JOIN (${verdicts}) AS payees ON pay_to = payee
        ${includeFlagged ? sql`` : sql`WHERE verdict != 'suspect'`}`,
      key: sql`resource, method`,
      shown: sql`resource, method, pay_to, service_name, verdict`,
      depth,
    }),
  });
  return rows.map((row, index) => {
    const name = textField(row[9]);
    return {
      ...rankedFields(row, index + 1, window),
      subject: {
        resource: textField(row[6]),
        method: textField(row[7]),
        payTo: textField(row[8]),
        ...(name === '' ? {} : { name }),
      },
      verdict: verdictField(row[10]),
    };
  });
}

/** Resources of one origin on the same terms show the same payments, so these count once for each capability: the payments of the one listed first. */
function offersOfCapabilities(query: DirectoryQuery, figures: Sql): Sql {
  return sql`SELECT slug, pay_to, ${figures}
    FROM (SELECT arrayJoin(capabilities) AS slug, pay_to, network, price_usd, resource, span_counts, span_usd, days, hours
      FROM endpoint_list FINAL WHERE ${listed(query)})
    WHERE slug IN ${texts(CAPABILITIES.map(({ slug }) => slug))}
    GROUP BY slug, pay_to, network, price_usd, domain(resource)`;
}

/** `counterparties` are the addresses that were paid for it. */
export async function readCapabilityRanking(
  reader: Reader,
  query: DirectoryQuery,
  depth: number,
): Promise<RankedRow[]> {
  const { window } = query;
  const newest = (column: Sql): Sql => sql`argMax(${column}, ${ofSpan('span_counts', 'all', 0)})`;
  const offers = offersOfCapabilities(
    query,
    sql`${newest(ofSpan('span_counts', window, 0))} AS n0, ${newest(ofSpan('span_counts', window, 1))} AS n1,
      ${newest(ofSpan('span_usd', window, 0))} AS usd`,
  );
  const { rows } = await ask(reader, 'capabilities', {
    name: 'ranking-capabilities',
    maxSeconds: MAX_SECONDS,
    maxRows: depth,
    settings: RANKING_SETTINGS,
    sql: rankingSql({
      ...query,
      from: sql`SELECT slug, sum(n0) AS count0, sum(n1) AS count1, uniqExactIf(pay_to, n0 > 0) AS parties0,
          uniqExactIf(pay_to, n1 > 0) AS parties1, sum(usd) AS usd0
        FROM (${offers}) GROUP BY slug`,
      key: sql`slug`,
      shown: sql`slug`,
      depth,
    }),
  });
  return rows.map((row, index) => {
    const capability = textField(row[6]);
    const name = CAPABILITIES.find(({ slug }) => slug === capability)?.name;
    return {
      ...rankedFields(row, index + 1, window),
      subject: { capability, ...(name === undefined ? {} : { name }) },
      verdict: null,
    };
  });
}

/** Of the columns of `rankingSql`. */
function rankedFields(row: readonly unknown[], rank: number, window: Window) {
  const place = integerField(row[5]);
  return {
    rank,
    previousRank: place === 0 ? null : place,
    value: BigInt(integerField(row[0])) * MILLIONTHS,
    previousValue: window === 'all' ? null : BigInt(integerField(row[1])) * MILLIONTHS,
    figures: {
      ...NO_ORGANIC,
      counterparties: integerField(row[3]),
      settlements: integerField(row[2]),
      settledUsdMicros: microsFromDecimal(textField(row[4])),
    },
  };
}

const MILLIONTHS = 1_000_000n;
const NO_ORGANIC = { organicUsdMicros: null, provenUsdMicros: null, organicSettlements: null } as const;

/** The parts of a window of the directory, which keeps whole hours of the last day and whole days before. */
export function directoryParts(window: Window, nowSeconds: number, firstDay: number): Parts {
  return window === '24h'
    ? { from: hoursFrom(nowSeconds), stepSeconds: HOUR_SECONDS, count: HOURS_KEPT }
    : partsOf(window, nowSeconds, firstDay);
}

/** The payments of each part of the window. */
export async function readDirectorySparklines(
  reader: Reader,
  query: DirectoryQuery,
  { rows, parts }: { readonly rows: readonly RankedRow[]; readonly parts: Parts },
): Promise<ReadonlyMap<string, readonly bigint[]>> {
  const times = query.window === '24h' ? sql`hours` : sql`days`;
  const keys = texts(rows.map(({ subject }) => subjectKey(subject)));
  const isOfEndpoints = query.of === 'endpoints';
  const offers = isOfEndpoints
    ? sql`SELECT concat(method, ' ', resource) AS key, ${times} AS times FROM endpoint_list FINAL WHERE ${listed(query)}`
    : sql`SELECT slug AS key, times FROM (${offersOfCapabilities(query, sql`argMax(${times}, ${ofSpan('span_counts', 'all', 0)}) AS times`)})`;
  const { rows: read } = await ask(reader, query.of, {
    name: `ranking-${query.of}-sparklines`,
    maxSeconds: MAX_SECONDS,
    maxRows: rows.length,
    settings: RANKING_SETTINGS,
    sql: sql`SELECT key, sumMapIf([toUInt32(${partOf(parts)})], [amount], ${sinceParts(parts)}) AS line, line.1, arrayMap(one -> toString(one), line.2)
      FROM (SELECT key, toDateTime(one.1, 'UTC') AS at, toDecimal128(one.2, 6) AS amount
        FROM (${offers}) ARRAY JOIN times AS one WHERE key IN ${keys})
      GROUP BY key`,
  });
  return new Map(read.map((row) => [textField(row[0]), pointsOf(row[2], row[3], parts.count)]));
}
