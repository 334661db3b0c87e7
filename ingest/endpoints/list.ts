import { isEvmAccountText } from '../../clickhouse/engine/account.ts';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql, trustedText, uint64 } from '../../clickhouse/engine/sql.ts';
import { ENDPOINT_SOURCES, type EndpointSourceRow } from '../../clickhouse/tables/endpoints.ts';
import { insertRows, reading } from '../../clickhouse/tables/table.ts';
import type { FetchProblem } from '../fetch/document.ts';
import type { AskProblem } from '../fetch/facilitator.ts';
import { OFFERS, UNOBSERVED } from './offers.ts';

/**
 * Derives `endpoint_list`, one row per resource and method, from the offers, the payments on their terms, and the payments to their
 * addresses. A pure function of these tables, computed in the engine; `content` identifies changed rows, and only those are written.
 */

const MAX_SECONDS = 300;
/** Prices as text: a reader would turn a number into a double. */
const EXACT_JSON = { output_format_json_quote_decimals: 1 };

/** Takes two versions: a row that returns must win over its tombstone, however the statements overlap. */
export async function deriveList(writer: Writer, nextVer: () => bigint): Promise<void> {
  const derive = (name: string, statement: Sql) =>
    writer.run({ name, sql: statement, maxSeconds: MAX_SECONDS, settings: EXACT_JSON });
  await derive('endpoint-list-tombstone', tombstoneSql(nextVer()));
  await derive('endpoint-list-derive', deriveSql(nextVer()));
}

const LIVE_OFFERS = sql`endpoint_offers FINAL WHERE del = 0`;

/** If several sources describe a resource: the newest non-empty value. */
const said = (column: Sql): Sql => sql`argMax(${column}, (${column} != '', last_updated, source))`;
/** An offer whose price is known comes before one whose price is not. */
const CHEAPEST = sql`isNull(price_usd), ifNull(price_usd, 0), network, scheme, asset, pay_to, source`;
/**
 * The offer that represents its resource: first one that the domain itself publishes; then the one with the most payers; for a
 * contested resource the claimant listed first, because a later one only has to ask less; then the cheapest.
 */
const HEADLINE = sql`(NOT published, -toInt64(payers), -toInt64(n), if(contested, claimed_at, 0), ${CHEAPEST})`;

const OFFER = sql`CAST((isNull(price_usd), price_usd, network, scheme, asset, pay_to, source, toString(amount), chain, max_timeout_seconds, n, reason),
  'Tuple(is_unpriced Bool, price Nullable(Decimal(38, 6)), network String, scheme String, asset String, pay_to String, source String,
    amount Nullable(String), chain String, max_timeout_seconds UInt32, settlement_count UInt64, unobserved String)')`;

/**
 * Payments on an offer's terms since its listing: uses the counts from the first start that is not before it. None is for an offer that
 * settles off the chain, also where another one of the seller has the same terms.
 */
const ACTIVITY = sql`SELECT pay_to, chain, asset, is_range, amount AS terms, origin,
    arraySort(groupArray((since, settlement_count, unique_payers, settled_usd, last_settled_at, (span_counts, span_payers, span_usd, days, hours)))) AS counts
  FROM offer_activity FINAL WHERE del = 0 GROUP BY pay_to, chain, asset, is_range, terms, origin`;

const SEEN = sql`SELECT *, arrayFirst(one -> one.1 >= since AND reason != 'settles_off_chain', counts) AS own, own.2 AS n, own.3 AS payers, own.4 AS usd, own.5 AS last, own.6 AS spans,
    uniqExact(resource) OVER (PARTITION BY pay_to, chain, asset, is_range, terms, origin) - 1 AS same_terms,
    min(toUnixTimestamp(terms_since)) OVER (PARTITION BY resource, pay_to) AS claimed_at
  FROM (SELECT *, ${UNOBSERVED} AS reason
    FROM ${OFFERS}) AS offers
  LEFT JOIN (${ACTIVITY}) AS activity USING (pay_to, chain, asset, is_range, terms, origin)`;

/** Addresses of one EVM chain are addresses of all; elsewhere every network has its own. Offers without a payee contest none. */
const FAMILY = sql`multiIf(pay_to = '', '', ${isEvmAccountText(sql`pay_to`)}, 'eip155', network)`;
const CLAIMANT = sql`CAST((NOT published, -toInt64(n), claimed_at, pay_to, networks, sources),
  'Tuple(is_unpublished Bool, rank Int64, listed_at UInt32, pay_to String, networks Array(String), sources Array(String))')`;

/**
 * The payee addresses of a resource in all its listings, under any method. It is contested where listings name different addresses of a family
 * and the domain does not publish all of them: a seller with several addresses lists them together, in every listing.
 */
const RESOURCES = sql`SELECT resource AS claimed, max(is_open) AS contested,
    toJSONString(arraySort(arrayFilter(one -> one.4 != '', groupArrayArray(family_claimants)))) AS claimants
  FROM (SELECT resource, groupArray(${CLAIMANT}) AS family_claimants,
      count() > 1 AND uniqExactArray(items) > 1 AND min(published) = 0 AS is_open
    FROM (SELECT resource, ${FAMILY} AS family, pay_to, max(published) AS published, max(n) AS n,
        groupUniqArray(if(empty(item_pay_tos), [pay_to], item_pay_tos)) AS items, min(claimed_at) AS claimed_at,
        arraySort(groupUniqArray(network)) AS networks, arraySort(groupUniqArray(source)) AS sources
      FROM (${SEEN}) GROUP BY resource, family, pay_to)
    GROUP BY resource, family)
  GROUP BY resource`;

/** The terms of an offer with what was paid on them, the same in every source that lists them. */
const PAID_TERMS = sql`(pay_to, chain, asset, is_range, terms, reason, n, payers, usd, last, since, spans)`;
/**
 * What was paid for a resource: the sum over its offers, or of a contested one over the headline's address alone. Arrays of one span or
 * time each are added up place by place.
 */
const sumOf = (figure: Sql): Sql => sql`arraySum(one -> ${figure}, paid_terms)`;
const sumOfSpans = (figure: Sql): Sql =>
  sql`arrayReduce('sumForEach', arrayMap(one -> ${figure}, paid_terms))`;
const sumByTime = (
  figure: Sql,
): Sql => sql`arrayZip(arrayReduce('sumMap', arrayMap(one -> ${figure}.1, paid_terms),
  arrayMap(one -> ${figure}.2, paid_terms)).1, arrayReduce('sumMap', arrayMap(one -> ${figure}.1, paid_terms),
  arrayMap(one -> ${figure}.2, paid_terms)).2)`;

const DERIVED = sql`SELECT resource, method,
    ${said(sql`service_name`)} AS service_name_, ${said(sql`description`)} AS description_, ${said(sql`mime_type`)} AS mime_type_,
    arraySort(groupUniqArrayArray(tags)) AS tags_, arraySort(groupUniqArrayArray(capabilities)) AS capabilities_,
    argMin((pay_to, network, price_usd, published), ${HEADLINE}) AS headline,
    argMin((shared, paid_n, paid_payers, paid_usd, paid_last), ${HEADLINE}) AS payee,
    headline.1 AS pay_to_, headline.2 AS network_, headline.3 AS price_usd_, headline.4 AS is_published_,
    any(contested) AS contested_, any(claimants) AS claimants_,
    arraySort(arrayFilter(one -> NOT contested_ OR one.1 = pay_to_, groupUniqArray(${PAID_TERMS}))) AS paid_terms,
    ${sumOf(sql`one.7`)} AS settlement_count_, ${sumOf(sql`one.8`)} AS unique_payers_, ${sumOf(sql`one.9`)} AS settled_usd_,
    arrayMax(one -> one.10, paid_terms) AS last_settled_at_, arrayMin(one -> one.11, paid_terms) AS observed_since_,
    if(arrayExists(one -> one.6 = '', paid_terms), '', paid_terms[1].6) AS unobserved_, max(same_terms) AS same_terms_,
    ${sumOfSpans(sql`one.12.1`)} AS span_counts_, ${sumOfSpans(sql`one.12.2`)} AS span_payers_, ${sumOfSpans(sql`one.12.3`)} AS span_usd_,
    ${sumByTime(sql`one.12.4`)} AS days_, ${sumByTime(sql`one.12.5`)} AS hours_,
    payee.1 AS shared_, payee.2 AS payee_count_, payee.3 AS payee_payers_, payee.4 AS payee_usd_, payee.5 AS payee_last_,
    arraySort(groupUniqArrayIf(pay_to, pay_to != '')) AS pay_tos_, arraySort(groupUniqArray(network)) AS networks_,
    arraySort(groupUniqArrayIf(chain, chain != '')) AS chains_, arraySort(groupUniqArray(source)) AS sources_,
    toJSONString(arraySort(groupArray(${OFFER}))) AS offers_,
    lowerUTF8(concat(resource, ' ', service_name_, ' ', description_, ' ', arrayStringConcat(tags_, ' '))) AS search_text_,
    max(last_updated) AS last_updated_
  FROM (
    SELECT seen.*, contested, claimants, shared, paid_n, paid_payers, paid_usd, paid_last
    FROM (${SEEN}) AS seen
    INNER JOIN (${RESOURCES}) AS resources ON seen.resource = claimed
    LEFT JOIN (SELECT pay_to AS paid_to, chain AS paid_on, settlement_count AS paid_n, unique_payers AS paid_payers,
        settled_usd AS paid_usd, last_settled_at AS paid_last FROM payee_activity FINAL WHERE del = 0) AS payments
      ON seen.pay_to = paid_to AND seen.chain = paid_on
    LEFT JOIN (SELECT pay_to AS shared_to, pay_to != '' AND uniqExact(resource) > 1 AS shared FROM ${LIVE_OFFERS} GROUP BY pay_to) AS payees
      ON seen.pay_to = shared_to)
  GROUP BY resource, method`;

/** The derived columns of the list, after its key. */
const COLUMNS = [
  ...['service_name', 'description', 'mime_type', 'tags', 'capabilities', 'pay_to', 'network', 'price_usd'],
  ...[
    'pay_tos',
    'networks',
    'chains',
    'sources',
    'offers',
    'search_text',
    'shared_pay_to',
    'settlement_count',
  ],
  ...[
    'unique_payers',
    'settled_usd',
    'last_settled_at',
    'observed_since',
    'unobserved',
    'same_terms',
    'is_published',
    'contested',
  ],
  ...['claimants', 'payee_count', 'payee_payers', 'payee_usd', 'payee_last', 'last_updated'],
  ...['span_counts', 'span_payers', 'span_usd', 'days', 'hours'],
] as const;
const LISTED = trustedText(COLUMNS.join(', '));
const OF_DERIVED = trustedText(
  COLUMNS.map((name) => (name === 'shared_pay_to' ? 'shared_' : `${name}_`)).join(', '),
);

function deriveSql(ver: bigint): Sql {
  return sql`INSERT INTO endpoint_list (resource, method, ${LISTED}, content, ver, del)
    SELECT resource, method, ${OF_DERIVED}, content_, ${uint64(ver)}, 0
    FROM (SELECT *, cityHash64(toString(tuple(${OF_DERIVED}))) AS content_ FROM (${DERIVED})) AS derived
    LEFT JOIN (SELECT resource, method, content, del AS is_gone FROM endpoint_list FINAL) AS listed USING (resource, method)
    WHERE content != content_ OR is_gone = 1`;
}

function tombstoneSql(ver: bigint): Sql {
  return sql`INSERT INTO endpoint_list
    SELECT * REPLACE(${uint64(ver)} AS ver, toUInt8(1) AS del) FROM (SELECT * FROM endpoint_list FINAL
      WHERE del = 0 AND (resource, method) NOT IN (SELECT resource, method FROM ${LIVE_OFFERS}))`;
}

/** A listing while it is read: its items, passed on in pieces, and how the reading ended. */

/** Problems of reading a list, in addition to the problems of a request. */
export const LISTING_PROBLEMS = {
  no_listing: 'The host answers, and publishes no list.',
  not_json: 'The answer is no JSON.',
  not_a_list: 'The answer holds no list of resources.',
  ended_early: 'The list ended before the number of resources that it states.',
  repeats_itself: 'A page came a second time: the host does not turn pages.',
  too_many_items: 'The list is longer than is read.',
} as const;

/** Why a source was not read completely; a code that may be stored, logged and shown. */
export type ListingProblem = keyof typeof LISTING_PROBLEMS | AskProblem | FetchProblem;

export interface ListingOutcome {
  /** Null for a completely read source. */
  readonly problem: ListingProblem | null;
  /** Whether the whole list was seen: only then do missing offers count as removed. */
  readonly isWhole: boolean;
}

/** Takes items in the order of the listing; resolves when they are stored, so that only one page is in memory. */
export type TakeItems = (items: readonly unknown[]) => Promise<void>;

export function partly(problem: ListingProblem): ListingOutcome {
  return { problem, isWhole: false };
}

export const WHOLE: ListingOutcome = { problem: null, isWhole: true };

/** Table `endpoint_sources`: the last outcome of each source. */

const LISTING_MAX_SECONDS = 30;
const SOURCES_MAX = 100_000;

export type SourceKind = EndpointSourceRow['kind'];
const SOURCE_KINDS: readonly SourceKind[] = ['bazaar', 'well_known', 'file'];

export interface SourceState extends Omit<EndpointSourceRow, 'problem' | 'ver' | 'del'> {
  /** Null if the last reading succeeded. */
  readonly problem: ListingProblem | null;
}

const STATE = reading(ENDPOINT_SOURCES, [
  'source',
  'kind',
  'host',
  'tried_at',
  'good_at',
  'problem',
  'items',
  'unread',
]);

/** Includes sources whose first reading was interrupted before its state was stored: their offers must be removed like others. */
export async function loadSourceStates(writer: Writer): Promise<SourceState[]> {
  const stored = await readStates(writer);
  const { rows } = await writer.rows({
    name: 'endpoint-sources-without-state',
    sql: sql`SELECT DISTINCT source FROM endpoint_offers FINAL
      WHERE del = 0 AND source NOT IN (SELECT source FROM endpoint_sources FINAL WHERE del = 0)`,
    maxSeconds: LISTING_MAX_SECONDS,
    maxRows: SOURCES_MAX,
  });
  return [...stored, ...rows.map(([source]) => neverRead(String(source)))];
}

function neverRead(source: string): SourceState {
  const kind = SOURCE_KINDS.find((known) => source === known || source.startsWith(`${known}:`)) ?? 'file';
  return { source, kind, host: '', triedAt: 0, goodAt: 0, problem: null, items: 0, unread: '' };
}

async function readStates(writer: Writer): Promise<SourceState[]> {
  const { rows } = await writer.rows({
    name: 'endpoint-sources-load',
    sql: sql`SELECT ${STATE.columns} FROM endpoint_sources FINAL WHERE del = 0 ORDER BY source`,
    maxSeconds: LISTING_MAX_SECONDS,
    maxRows: SOURCES_MAX,
  });
  return rows.map((row) => {
    const state = STATE.read(row);
    const problem = state.problem === '' ? null : (state.problem as ListingProblem); // decoder of our own column
    return { ...state, problem };
  });
}

export function saveSourceState(
  writer: Writer,
  state: SourceState,
  { ver, isGone }: { readonly ver: bigint; readonly isGone: boolean },
): Promise<void> {
  return insertRows(writer, {
    name: 'endpoint-sources-save',
    table: ENDPOINT_SOURCES,
    rows: [{ ...state, problem: state.problem ?? '' }],
    fixed: { ver, del: isGone ? 1 : 0 },
  });
}
