import { createHash } from 'node:crypto';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql, text, texts, trustedText, uint32, uint64 } from '../../clickhouse/engine/sql.ts';
import {
  ENDPOINT_OFFERS,
  ORIGIN_TEXT,
  offersText,
  unobservedText,
} from '../../clickhouse/tables/endpoints.ts';
import { insertRows, reading } from '../../clickhouse/tables/table.ts';
import { CAPABILITY_RULE_VERSION, capabilitiesOf, type EndpointOffer } from '../../core/domain/capability.ts';
import { VERSION_UNITS_PER_MS } from '../../core/domain/settlement.ts';
import type { Log } from '../../core/log.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';
import type { Versions } from '../write/versions.ts';

/** Offers as rows, and the digests that identify and compare them. */

const DIGEST_HEX_CHARS = 32;

/** An offer as it is stored. */
export interface OfferRow {
  readonly source: string;
  readonly offer: EndpointOffer;
  readonly capabilities: readonly string[];
  /** Digest of the key, 32 hex digits. */
  readonly offerId: string;
  /** Digest of everything else except the times that we add, 32 hex digits. */
  readonly contentId: string;
}

export function offerRow(source: string, offer: EndpointOffer): OfferRow {
  const { resource, method, network, scheme, asset, payTo, ...rest } = offer;
  const capabilities = capabilitiesOf({
    name: offer.serviceName,
    description: offer.description,
    url: resource,
    tags: offer.tags,
    skills: [],
  });
  return {
    source,
    offer,
    capabilities,
    offerId: digest([resource, method, source, network, scheme, asset, payTo]),
    contentId: digest([
      rest.chain,
      rest.amount === null ? null : String(rest.amount),
      rest.priceUsdMicros === null ? null : String(rest.priceUsdMicros),
      rest.itemPayTos,
      rest.unobserved,
      rest.maxTimeoutSeconds,
      rest.serviceName,
      rest.description,
      rest.mimeType,
      rest.tags,
      rest.lastUpdated,
      rest.discovery,
      capabilities,
      CAPABILITY_RULE_VERSION,
    ]),
  };
}

function digest(fields: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex').slice(0, DIGEST_HEX_CHARS);
}

/** When a listing was seen. Unix seconds. */
export interface OfferTimes {
  readonly firstSeen: number;
  /** Since when it has asked its current amount. */
  readonly termsSince: number;
}

/** The 32 hex digits of a UInt128 in the engine's bytes. */
export function hexOfU128(bytes: Buffer, at: number): string {
  const [low, high] = [bytes.readBigUInt64LE(at), bytes.readBigUInt64LE(at + 8)];
  return high.toString(16).padStart(16, '0') + low.toString(16).padStart(16, '0');
}

/** Table `endpoint_offers`: the current offers of a source, read as digests and written if changed. */

const MAX_SECONDS = 60;
/** Two digests, two times, whether it is gone, whether there is no amount, and the amount, in RowBinary. */
const KNOWN_ROW_BYTES = 74;
const CONTENT_AT = 16;
const FIRST_SEEN_AT = 32;
const TERMS_SINCE_AT = 36;
const IS_GONE_AT = 40;
const AMOUNT_IS_NULL_AT = 41;
const AMOUNT_AT = 42;
const AMOUNT_WORDS = 4;
const WORD_BYTES = 8;
/** Above what one source may list (SYNC_LIMITS); some 100 bytes each in memory. */
const KNOWN_ROWS_MAX = 2_000_000;
/** Digests of one statement; they travel as a parameter. */
const IDS_PER_STATEMENT = 2_000;

export interface KnownOffer extends OfferTimes {
  readonly contentId: string;
  readonly amount: bigint | null;
  /** Not in the last reading; its times are those that it had. */
  readonly isGone: boolean;
}

/** By offer id. */
export type KnownOffers = Map<string, KnownOffer>;

/** `goneSinceMs` (Unix time): offers that left the list after it are known too; null: only those on it. */
export async function loadOffers(
  writer: Writer,
  source: string,
  goneSinceMs: number | null,
): Promise<KnownOffers> {
  const isKnown =
    goneSinceMs === null
      ? sql`del = 0`
      : sql`(del = 0 OR ver >= ${uint64(BigInt(Math.max(0, goneSinceMs)) * VERSION_UNITS_PER_MS)})`;
  const bytes = await writer.rowBinary({
    name: 'endpoint-offers-known',
    sql: sql`SELECT offer_id, content_id, first_seen, terms_since, del, isNull(amount), ifNull(amount, 0)
      FROM endpoint_offers FINAL WHERE source = ${text(source)} AND ${isKnown}`,
    maxSeconds: MAX_SECONDS,
    maxRows: KNOWN_ROWS_MAX,
  });
  const known: KnownOffers = new Map();
  for (let at = 0; at + KNOWN_ROW_BYTES <= bytes.length; at += KNOWN_ROW_BYTES)
    known.set(hexOfU128(bytes, at), {
      contentId: hexOfU128(bytes, at + CONTENT_AT),
      firstSeen: bytes.readUInt32LE(at + FIRST_SEEN_AT),
      termsSince: bytes.readUInt32LE(at + TERMS_SINCE_AT),
      amount: bytes[at + AMOUNT_IS_NULL_AT] === 0 ? u256(bytes, at + AMOUNT_AT) : null,
      isGone: bytes[at + IS_GONE_AT] !== 0,
    });
  return known;
}

/** Low word first. */
function u256(bytes: Buffer, at: number): bigint {
  let value = 0n;
  for (let word = AMOUNT_WORDS - 1; word >= 0; word--)
    value = (value << 64n) | bytes.readBigUInt64LE(at + word * WORD_BYTES);
  return value;
}

/** An offer as it is written. */
export interface SeenOffer extends OfferTimes {
  readonly row: OfferRow;
}

/** Idempotent: repeating it with a higher version changes nothing. */
export function saveOffers(writer: Writer, seen: readonly SeenOffer[], ver: bigint): Promise<void> {
  return insertRows(writer, {
    name: 'endpoint-offers-save',
    table: ENDPOINT_OFFERS,
    rows: seen.map(({ row: { offer, ...row }, firstSeen, termsSince }) => ({
      ...offer,
      ...row,
      firstSeen,
      termsSince,
    })),
    fixed: { ruleVersion: CAPABILITY_RULE_VERSION, ver, del: 0 },
  });
}

/**
 * Writes tombstones for offers of a source. The engine copies their keys, so that this process need not hold them. The inner SELECT
 * is needed because a name set by REPLACE hides the column in the WHERE of the same SELECT.
 */
export async function tombstoneOffers(
  writer: Writer,
  { source, offerIds }: { readonly source: string; readonly offerIds: readonly string[] },
  nextVer: () => bigint,
): Promise<void> {
  for (let at = 0; at < offerIds.length; at += IDS_PER_STATEMENT) {
    const ids = offerIds.slice(at, at + IDS_PER_STATEMENT).map((id) => BigInt(`0x${id}`).toString());
    await writer.run({
      name: 'endpoint-offers-tombstone',
      sql: sql`INSERT INTO endpoint_offers
        SELECT * REPLACE(${uint64(nextVer())} AS ver, toUInt8(1) AS del) FROM (SELECT * FROM endpoint_offers FINAL
          WHERE source = ${text(source)} AND del = 0 AND offer_id IN (SELECT toUInt128(arrayJoin(${texts(ids)}))))`,
      maxSeconds: MAX_SECONDS,
    });
  }
}

/**
 * The terms of an offer, as expressions over table `endpoint_offers`: a payment matches by payee, chain, asset and amount. Payments
 * cannot distinguish offers of one origin with the same terms, so these share them; offers of two origins must not.
 */

/** Scheme, host and port of the resource. */
export const ORIGIN: Sql = trustedText(ORIGIN_TEXT);
/** Live offers with `origin`, `is_range`, `terms`, `published` and `since`. */
export const OFFERS: Sql = trustedText(offersText('endpoint_offers'));
/** Why no payment for an offer can be observed, '' where one can. */
export const UNOBSERVED: Sql = trustedText(unobservedText('chain_status', ''));

/**
 * Maps the offers of an older rule version to capabilities again. Reading a source does that too; this is for sources that do not
 * answer. Must not run during a reading, because the last row written wins.
 */

const ROWS_PER_STEP = 2_000;

/** Returns the number of remapped offers. */
export async function remapOffers(deps: {
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
}): Promise<number> {
  const { writer, versions, log, signal } = deps;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  for (let mapped = 0; ; ) {
    const rows = await acknowledged(() => readOutdated(writer));
    if (rows.length === 0) return mapped;
    await acknowledged(() => saveOffers(writer, rows, versions.next()));
    mapped += rows.length;
  }
}

const STORED = reading(ENDPOINT_OFFERS, [
  'source',
  'resource',
  'method',
  'network',
  'chain',
  'scheme',
  'asset',
  'pay_to',
  'amount',
  'price_usd',
  'item_pay_tos',
  'unobserved',
  'max_timeout_seconds',
  'service_name',
  'description',
  'mime_type',
  'tags',
  'last_updated',
  'discovery',
  'first_seen',
  'terms_since',
]);

async function readOutdated(writer: Writer): Promise<SeenOffer[]> {
  const { rows } = await writer.rows({
    name: 'endpoint-offers-outdated',
    sql: sql`SELECT ${STORED.columns}
      FROM endpoint_offers FINAL WHERE del = 0 AND rule_version != ${uint32(CAPABILITY_RULE_VERSION)}
      LIMIT ${uint32(ROWS_PER_STEP)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: ROWS_PER_STEP,
  });
  return rows.map((row) => {
    const { source, firstSeen, termsSince, ...offer } = STORED.read(row);
    return { row: offerRow(source, offer), firstSeen, termsSince };
  });
}
