import type { Writer } from '../../clickhouse/engine/engine.ts';
import { RowBinary } from '../../clickhouse/engine/row-binary.ts';
import { sql, text, texts, uint64 } from '../../clickhouse/engine/sql.ts';
import { ENDPOINT_OFFER_COLUMNS, TABLES } from '../../clickhouse/tables/schema.ts';
import { encodeOffer, hexOfU128, type OfferRow, type OfferTimes } from './offer-rows.ts';

/** Table `endpoint_offers`: what a source lists by now, read as digests and written where it changed. */

const MAX_SECONDS = 60;
/** Two digests, two times, whether there is no amount, and the amount, in RowBinary. */
const KNOWN_ROW_BYTES = 73;
const CONTENT_AT = 16;
const FIRST_SEEN_AT = 32;
const TERMS_SINCE_AT = 36;
const AMOUNT_IS_NULL_AT = 40;
const AMOUNT_AT = 41;
const AMOUNT_WORDS = 4;
const WORD_BYTES = 8;
/** Above what one source may list (SYNC_LIMITS); some 100 bytes each in memory. */
const KNOWN_ROWS_MAX = 2_000_000;
/** Digests of one statement; they travel as a parameter. */
const IDS_PER_STATEMENT = 2_000;

export interface KnownOffer extends OfferTimes {
  readonly contentId: string;
  readonly amount: bigint | null;
}

/** By offer id. */
export type KnownOffers = Map<string, KnownOffer>;

export async function loadOffers(writer: Writer, source: string): Promise<KnownOffers> {
  const bytes = await writer.rowBinary({
    name: 'endpoint-offers-known',
    sql: sql`SELECT offer_id, content_id, first_seen, terms_since, isNull(amount), ifNull(amount, 0)
      FROM endpoint_offers FINAL WHERE source = ${text(source)} AND del = 0`,
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

/** Repeating it under a higher version changes nothing. */
export async function saveOffers(writer: Writer, rows: readonly SeenOffer[], ver: bigint): Promise<void> {
  if (rows.length === 0) return;
  const out = new RowBinary();
  for (const { row, ...times } of rows) encodeOffer(out, row, times, ver);
  await writer.insert('endpoint-offers-save', TABLES.endpointOffers, ENDPOINT_OFFER_COLUMNS, [out.finish()]);
}

/**
 * Buries offers of a source. The engine copies their keys, so that nobody has to hold them; from an inner SELECT, because a name
 * that REPLACE gives hides the column in the WHERE beside it.
 */
export async function buryOffers(
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
