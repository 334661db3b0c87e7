import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, type Sql, sql, text, uint32 } from '../../../clickhouse/engine/sql.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import { ENDPOINT_METHODS } from '../../../core/domain/capability.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { UnobservedReason } from '../../../core/domain/unobserved.ts';
import { ask } from '../ask.ts';

/**
 * The priced directory: what listings publish, one row per resource and method, most paid on its own terms first. Read from `endpoint_list`,
 * which ingest derives; the inner SELECT finds the page over narrow columns, the outer reads it by its keys.
 */

export interface EndpointFilter {
  /** Lower case; each must occur in the URL, the name, the description or a tag. */
  readonly words?: readonly string[];
  readonly capability?: string | undefined;
  /** An address, lower case on EVM networks. */
  readonly payTo?: string | undefined;
  /** The whole URL. */
  readonly resource?: string | undefined;
  /** CAIP-2 of a chain, under whichever name it was published. */
  readonly chain?: Chain | undefined;
  /** As published. */
  readonly network?: string | undefined;
  /** Of the headline offer; endpoints without a known price are above any. */
  readonly maxPriceMicros?: bigint | undefined;
  /** In any case. */
  readonly tag?: string | undefined;
}

export interface EndpointOfferRow {
  readonly scheme: string;
  readonly network: string;
  readonly chain: string;
  readonly asset: string;
  /** Atomic units; null where the listing does not say. */
  readonly amount: string | null;
  readonly priceUsdMicros: bigint | null;
  readonly payTo: string;
  readonly source: string;
  readonly maxTimeoutSeconds: number;
  /** Observed on its own terms, in the last 30 days; null where no payment for it can be observed. */
  readonly settlementCount: number | null;
  readonly unobserved: UnobservedReason | null;
}

/** An address that a listing of the resource, under any method, wants to be paid at. */
export interface EndpointClaimant {
  readonly payTo: string;
  /** By `/.well-known/x402` of the resource's own domain. */
  readonly isPublished: boolean;
  readonly settlementCount: number;
  /** Unix seconds. */
  readonly listedAt: number;
  readonly networks: readonly string[];
  readonly sources: readonly string[];
}

export interface ObservedPayments {
  readonly settlementCount: number;
  readonly uniquePayers: number;
  readonly settledUsdMicros: bigint;
  /** Unix seconds; null without a settlement. */
  readonly lastSettledAt: number | null;
}

export interface EndpointRow {
  readonly resource: string;
  readonly method: string;
  readonly serviceName: string;
  readonly description: string;
  readonly mimeType: string;
  readonly tags: readonly string[];
  readonly capabilities: readonly string[];
  /** Of the headline offer, as are `network` and `priceUsdMicros`. */
  readonly payTo: string;
  readonly network: string;
  readonly priceUsdMicros: bigint | null;
  /** Cheapest first; those without a known price last. */
  readonly offers: readonly EndpointOfferRow[];
  readonly sources: readonly string[];
  /** Why nothing can be observed of it; null where something can. */
  readonly unobserved: UnobservedReason | null;
  /** Of all its offers, or where it is contested of those to `payTo`; `since` (Unix seconds): when anyone first listed one of them. */
  readonly observed: ObservedPayments & { readonly since: number };
  /** Other resources of its origin on the same terms: what was observed may have been for them. */
  readonly sameTerms: number;
  /** Of the address of the headline offer, for anything. */
  readonly payeeObserved: ObservedPayments;
  /** Whether that address is paid for other resources too. */
  readonly isPayToShared: boolean;
  /** Whether the domain itself publishes the headline offer. */
  readonly isPublished: boolean;
  readonly isContested: boolean;
  /** Published ones first, then most paid. */
  readonly claimants: readonly EndpointClaimant[];
  /** When everything that is observed was counted: Unix seconds; null before the first count. */
  readonly countedAt: number | null;
  /** Unix seconds; null where no listing says. */
  readonly lastUpdated: number | null;
}

const RESOURCE = 'endpoints';
const MAX_SECONDS = 10;

/** At most `limit` of them, from `offset` on: by settlements of the last 30 days, then by resource and method. */
export async function readEndpoints(
  reader: Reader,
  filter: EndpointFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<EndpointRow[]> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'endpoints-page',
    maxSeconds: MAX_SECONDS,
    maxRows: limit,
    sql: sql`SELECT resource, method, service_name, description, mime_type, tags, capabilities, pay_to, network, toString(price_usd),
        offers, sources, shared_pay_to, settlement_count, unique_payers, toString(settled_usd), toUnixTimestamp(last_settled_at),
        toUnixTimestamp(last_updated), toUnixTimestamp(observed_since), same_terms, is_published, contested, claimants,
        payee_count, payee_payers, toString(payee_usd), toUnixTimestamp(payee_last),
        (SELECT toUnixTimestamp(max(counted_at)) FROM endpoint_counts), unobserved
      FROM endpoint_list FINAL
      WHERE del = 0 AND (resource, method) IN (
        SELECT resource, method FROM endpoint_list FINAL WHERE ${allOf([sql`del = 0`, ...conditions(filter)])}
        ORDER BY settlement_count DESC, resource, method LIMIT ${uint32(limit)} OFFSET ${uint32(offset)})
      ORDER BY settlement_count DESC, resource, method`,
  });
  return rows.map(decodeEndpoint);
}

/** What listings say of a call of one resource, by method. */
export type EndpointCalls = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

export const NO_CALLS: EndpointCalls = new Map();

/** If several sources say it: the newest. Read for one resource alone, because it is long. */
export async function readEndpointCalls(reader: Reader, resource: string): Promise<EndpointCalls> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'endpoint-calls',
    maxSeconds: MAX_SECONDS,
    maxRows: ENDPOINT_METHODS.length,
    sql: sql`SELECT method, argMax(discovery, (last_updated, source)) FROM endpoint_offers FINAL
      WHERE del = 0 AND resource = ${text(resource)} AND discovery != '' GROUP BY method`,
  });
  // An object that ingest printed (ingest/endpoints/discovery.ts).
  return new Map(rows.map(([method, json]) => [textField(method), JSON.parse(textField(json))]));
}

function conditions(filter: EndpointFilter): Sql[] {
  const { words = [], capability, payTo, resource, chain, network, maxPriceMicros, tag } = filter;
  const has = (list: Sql, value: string | undefined): Sql[] =>
    value === undefined ? [] : [sql`has(${list}, ${text(value)})`];
  return [
    ...(resource === undefined ? [] : [sql`resource = ${text(resource)}`]),
    ...has(sql`capabilities`, capability),
    ...has(sql`pay_tos`, payTo),
    ...has(sql`chains`, chain),
    ...has(sql`networks`, network),
    ...(tag === undefined
      ? []
      : [sql`arrayExists(one -> lowerUTF8(one) = ${text(tag.toLowerCase())}, tags)`]),
    ...(maxPriceMicros === undefined
      ? []
      : [sql`price_usd <= toDecimal128(${text(decimalText(maxPriceMicros))}, 6)`]),
    ...words.map((word) => sql`position(search_text, ${text(word)}) > 0`),
  ];
}

function decimalText(micros: bigint): string {
  return `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')}`;
}

function decodeEndpoint(row: readonly unknown[]): EndpointRow {
  return {
    resource: textField(row[0]),
    method: textField(row[1]),
    serviceName: textField(row[2]),
    description: textField(row[3]),
    mimeType: textField(row[4]),
    tags: textsField(row[5]),
    capabilities: textsField(row[6]),
    payTo: textField(row[7]),
    network: textField(row[8]),
    priceUsdMicros: priceField(row[9]),
    offers: readOffers(textField(row[10])),
    sources: textsField(row[11]),
    isPayToShared: integerField(row[12]) !== 0,
    observed: { ...paymentsField(row.slice(13, 17)), since: integerField(row[18]) },
    lastUpdated: timeField(row[17]),
    sameTerms: integerField(row[19]),
    isPublished: integerField(row[20]) !== 0,
    isContested: integerField(row[21]) !== 0,
    claimants: readClaimants(textField(row[22])),
    payeeObserved: paymentsField(row.slice(23, 27)),
    countedAt: timeField(row[27]),
    unobserved: reasonField(row[28]),
  };
}

function paymentsField([count, payers, usd, last]: readonly unknown[]): ObservedPayments {
  return {
    settlementCount: integerField(count),
    uniquePayers: integerField(payers),
    settledUsdMicros: microsFromDecimal(textField(usd)),
    lastSettledAt: timeField(last),
  };
}

/** Written by ingest from the closed list; '' where payments can be observed. */
function reasonField(field: unknown): UnobservedReason | null {
  return field === '' ? null : (textField(field) as UnobservedReason);
}

function textsField(field: unknown): readonly string[] {
  if (!Array.isArray(field)) throw new TypeError('expected a list of texts from the engine');
  return field.map(textField);
}

function priceField(field: unknown): bigint | null {
  return field === null ? null : microsFromDecimal(textField(field));
}

/** 1970 stands for never. */
function timeField(field: unknown): number | null {
  const time = integerField(field);
  return time === 0 ? null : time;
}

/** JSON that the engine printed from its own columns (ingest/endpoints/list.ts). */
function readOffers(json: string): EndpointOfferRow[] {
  const offers = JSON.parse(json) as readonly Record<string, unknown>[];
  return offers.map((offer) => ({
    scheme: textField(offer['scheme']),
    network: textField(offer['network']),
    chain: textField(offer['chain']),
    asset: textField(offer['asset']),
    amount: offer['amount'] === null ? null : textField(offer['amount']),
    priceUsdMicros: priceField(offer['price']),
    payTo: textField(offer['pay_to']),
    source: textField(offer['source']),
    maxTimeoutSeconds: integerField(offer['max_timeout_seconds']),
    // Rows that an earlier release derived do not have these, until ingest derives them anew.
    settlementCount: offer['unobserved'] ? null : integerField(offer['settlement_count'] ?? 0),
    unobserved: reasonField(offer['unobserved'] ?? ''),
  }));
}

/** Likewise; '' in a row that an earlier release derived. */
function readClaimants(json: string): EndpointClaimant[] {
  if (json === '') return [];
  const claimants = JSON.parse(json) as readonly Record<string, unknown>[];
  return claimants.map((claimant) => ({
    payTo: textField(claimant['pay_to']),
    isPublished: claimant['is_unpublished'] !== true,
    settlementCount: 0 - integerField(claimant['rank']),
    listedAt: integerField(claimant['listed_at']),
    networks: textsField(claimant['networks']),
    sources: textsField(claimant['sources']),
  }));
}
