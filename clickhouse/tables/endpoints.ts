import type { EndpointMethod } from '../../core/domain/capability.ts';
import type { UnobservedReason } from '../../core/domain/unobserved.ts';
import { type Span, spansOf, WINDOWS, type Window } from '../../core/domain/window.ts';
import {
  bigUint64,
  chainOrNull,
  digest128,
  enumeration,
  name,
  named,
  nameOf,
  names,
  nullable,
  stored,
  text,
  texts,
  time,
  uint16,
  uint32,
  uint64,
  uint256,
  usd128,
  VERSIONED_TAIL,
  ZSTD,
  ZSTD_3,
} from './columns.ts';
import { DAY_SECONDS, HOUR_SECONDS } from './coverage.ts';
import { onFirst, type Table, type TableRow } from './table.ts';

/** The priced directory: what bazaars, sellers and files list, and what was paid for it. */

const DIRECTORY = onFirst('offers are joined with each other, and there are some ten thousand');

/** One row for each way to pay a resource and each source that lists it; texts as they were published. */
export const ENDPOINT_OFFERS = {
  name: 'endpoint_offers',
  columns: {
    resource: stored(text, ZSTD),
    method: nameOf<EndpointMethod>(),
    source: name,
    network: name,
    scheme: name,
    asset: stored(text, ZSTD),
    pay_to: stored(text, ZSTD),
    /** Null for a network that is unknown here. */
    chain: chainOrNull,
    /** Atomic units; null where the listing gives none. */
    amount: nullable(uint256),
    price_usd: named('priceUsdMicros', nullable(usd128)),
    /** Every payee that its item names on the same kind of network, sorted. */
    item_pay_tos: texts,
    unobserved: nameOf<UnobservedReason | ''>(),
    max_timeout_seconds: uint32,
    service_name: stored(text, ZSTD),
    description: stored(text, ZSTD_3),
    mime_type: name,
    tags: names,
    capabilities: names,
    rule_version: uint16,
    /** JSON of what the listing says of input and output; '' where it says nothing. */
    discovery: stored(text, ZSTD_3),
    /** 0 where the listing does not say. */
    last_updated: time,
    first_seen: time,
    /** Since when it asks the amount that it asks now. */
    terms_since: stored(time, 'DEFAULT first_seen'),
    /** Of the key. */
    offer_id: digest128,
    /** Of everything else that was published. */
    content_id: digest128,
    ...VERSIONED_TAIL,
  },
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    order: '(resource, method, source, network, scheme, asset, pay_to)',
    indexes: {
      ix_pay_to: 'pay_to TYPE bloom_filter(0.001) GRANULARITY 1',
      ix_capability: 'capabilities TYPE bloom_filter(0.001) GRANULARITY 1',
    },
    settings: { index_granularity: 256 },
  },
  placement: DIRECTORY,
  versions: ['ver'],
} as const satisfies Table;

/** How each source answered last. */
export const ENDPOINT_SOURCES = {
  name: 'endpoint_sources',
  columns: {
    source: name,
    kind: enumeration({ bazaar: 1, well_known: 2, file: 3, contested: 4 }),
    host: text,
    tried_at: time,
    /** Of the last reading to the end; 0 without one. */
    good_at: time,
    /** A code, or '' for a last reading that was good. */
    problem: name,
    /** Offers that the last reading saw. */
    items: uint64,
    /** JSON: items that it did not read, by reason; '' before the first reading. */
    unread: text,
    ...VERSIONED_TAIL,
  },
  storage: { engine: 'ReplacingMergeTree(ver)', order: 'source' },
  placement: DIRECTORY,
  versions: ['ver'],
} as const satisfies Table;
export type EndpointSourceRow = TableRow<typeof ENDPOINT_SOURCES>;

/** What each listed address was paid in the last 30 days. */
export const PAYEE_ACTIVITY = {
  name: 'payee_activity',
  columns: {},
  filled: {
    pay_to: 'String CODEC(ZSTD(1))',
    chain: 'LowCardinality(String)',
    settlement_count: 'UInt64',
    unique_payers: 'UInt64',
    settled_usd: 'Decimal(38, 6)',
    last_settled_at: "DateTime('UTC')",
    counted_at: "DateTime('UTC')",
    ver: 'UInt64',
    del: 'UInt8',
  },
  storage: { engine: 'ReplacingMergeTree(ver)', order: '(pay_to, chain)' },
  placement: DIRECTORY,
  versions: ['ver'],
} as const satisfies Table;

/** Payments that fit the terms of an offer, by window. */
export const OFFER_ACTIVITY = {
  name: 'offer_activity',
  columns: {},
  filled: {
    pay_to: 'String CODEC(ZSTD(1))',
    chain: 'LowCardinality(String)',
    asset: 'String CODEC(ZSTD(1))',
    is_range: 'UInt8',
    amount: 'UInt256',
    origin: 'String CODEC(ZSTD(1))',
    since: "DateTime('UTC')",
    settlement_count: 'UInt64',
    unique_payers: 'UInt64',
    settled_usd: 'Decimal(38, 6)',
    last_settled_at: "DateTime('UTC')",
    span_counts: 'Array(UInt64)',
    span_payers: 'Array(UInt64)',
    span_usd: 'Array(Decimal(38, 6))',
    days: 'Array(Tuple(Date, UInt64))',
    hours: "Array(Tuple(DateTime('UTC'), UInt64))",
    counted_at: "DateTime('UTC')",
    ver: 'UInt64',
    del: 'UInt8',
  },
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    order: '(pay_to, chain, asset, is_range, amount, origin, since)',
  },
  placement: DIRECTORY,
  versions: ['ver'],
} as const satisfies Table;

/** When both were last counted and what they say was listed, changed or not: one row. */
export const ENDPOINT_COUNTS = {
  name: 'endpoint_counts',
  columns: {
    of: name,
    counted_at: time,
    ver: bigUint64,
  },
  storage: { engine: 'ReplacingMergeTree(ver)', order: 'of' },
  placement: DIRECTORY,
  versions: ['ver'],
} as const satisfies Table;

/** The directory as it is listed: one row for each resource and method. */
export const ENDPOINT_LIST = {
  name: 'endpoint_list',
  columns: {},
  filled: {
    resource: 'String CODEC(ZSTD(1))',
    method: 'LowCardinality(String)',
    service_name: 'String CODEC(ZSTD(1))',
    description: 'String CODEC(ZSTD(3))',
    mime_type: 'LowCardinality(String)',
    tags: 'Array(LowCardinality(String))',
    capabilities: 'Array(LowCardinality(String))',
    pay_to: 'String CODEC(ZSTD(1))',
    network: 'LowCardinality(String)',
    price_usd: 'Nullable(Decimal(38, 6))',
    pay_tos: 'Array(String) CODEC(ZSTD(1))',
    networks: 'Array(LowCardinality(String))',
    chains: 'Array(LowCardinality(String))',
    sources: 'Array(LowCardinality(String))',
    offers: 'String CODEC(ZSTD(3))',
    search_text: 'String CODEC(ZSTD(1))',
    shared_pay_to: 'UInt8',
    settlement_count: 'UInt64',
    unique_payers: 'UInt64',
    settled_usd: 'Decimal(38, 6)',
    last_settled_at: "DateTime('UTC')",
    span_counts: 'Array(UInt64)',
    span_payers: 'Array(UInt64)',
    span_usd: 'Array(Decimal(38, 6))',
    days: 'Array(Tuple(Date, UInt64))',
    hours: "Array(Tuple(DateTime('UTC'), UInt64))",
    last_updated: "DateTime('UTC')",
    content: 'UInt64',
    ver: 'UInt64',
    del: 'UInt8',
    observed_since: "DateTime('UTC')",
    same_terms: 'UInt64',
    is_published: 'UInt8',
    contested: 'UInt8',
    claimants: 'String CODEC(ZSTD(3))',
    payee_count: 'UInt64',
    payee_payers: 'UInt64',
    payee_usd: 'Decimal(38, 6)',
    payee_last: "DateTime('UTC')",
    unobserved: 'LowCardinality(String)',
  },
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    order: '(resource, method)',
    settings: { index_granularity: 256 },
  },
  placement: DIRECTORY,
  versions: ['ver'],
} as const satisfies Table;

/** Today and the days before it, UTC, whose payments the directory shows. */
export const OBSERVED_DAYS = 30;

/** When these days begin, in Unix seconds. */
export function observedFrom(nowSeconds: number): number {
  return (Math.floor(nowSeconds / DAY_SECONDS) - (OBSERVED_DAYS - 1)) * DAY_SECONDS;
}

const WINDOWS_BACK = 2;

/** What `span_counts`, `span_payers` and `span_usd` are of, in their order: each window, then the one of the same length before it. */
export function observedSpans(nowSeconds: number): Span[] {
  return WINDOWS.flatMap((window) => spansOf(window, nowSeconds, WINDOWS_BACK));
}

/** The place of a window in these arrays, from 1. All of time has no window before; the place behind it is empty. */
export function placeOfSpan(window: Window, back: 0 | 1): number {
  return WINDOWS.indexOf(window) * WINDOWS_BACK + back + 1;
}

/** Whole hours, the one that is not over included. */
export const HOURS_KEPT = 24;

/** When they begin, in Unix seconds. */
export function hoursFrom(nowSeconds: number): number {
  return (Math.floor(nowSeconds / HOUR_SECONDS) - (HOURS_KEPT - 1)) * HOUR_SECONDS;
}

/** Over the columns of an offer, as texts too, because the statements that make views are texts. */
export const ORIGIN_TEXT = "extract(resource, '^[a-z]+://[^/?#]+')";
/** `exact` signs the amount itself, every other scheme a ceiling. */
const IS_RANGE_TEXT = "toUInt8(scheme != 'exact')";
/** Only sources of this kind are restricted to their own origin, so the domain itself publishes their offers. */
const IS_PUBLISHED_TEXT = "startsWith(source, 'well_known:')";

/**
 * The live offers with the terms that payments are matched by, and `since`: when anyone first listed the resource on these terms. A source
 * that lists it later, or lists it no more, changes nothing about that.
 */
export function offersText(table: string): string {
  return `(SELECT * FROM (
    SELECT *, ${ORIGIN_TEXT} AS origin, ${IS_RANGE_TEXT} AS is_range, ifNull(amount, 0) AS terms, ${IS_PUBLISHED_TEXT} AS published,
      min(terms_since) OVER (PARTITION BY resource, pay_to, chain, asset, is_range, terms) AS since
    FROM ${table} FINAL) WHERE del = 0)`;
}

/**
 * Why no payment for an offer can be observed, '' where one can: what is not read of its chain says nothing about its token, and an offer
 * without a payee or that settles elsewhere could not be matched on any chain.
 */
export function unobservedText(chains: string, offer: '' | 't.'): string {
  const own = `toString(${offer}unobserved)`;
  return `multiIf(${own} IN ('settles_off_chain', 'payee_not_published'), ${own}, ${offer}chain NOT IN (SELECT chain FROM ${chains}), 'chain_not_indexed', ${own})`;
}
