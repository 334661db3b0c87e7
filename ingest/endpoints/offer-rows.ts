import { createHash } from 'node:crypto';
import type { RowBinary } from '../../clickhouse/engine/row-binary.ts';
import { CAPABILITY_RULE_VERSION, capabilitiesOf } from '../../core/domain/capability.ts';
import type { EndpointOffer } from '../../core/domain/endpoint-offer.ts';

/** Offers as rows, and the digests by which a row is known and compared. */

const DIGEST_HEX_CHARS = 32;
/** Nullable columns travel behind a byte that says whether there is nothing. */
const PRESENT = 0;
const ABSENT = 1;

/** An offer as it is stored. */
export interface OfferRow {
  readonly source: string;
  readonly offer: EndpointOffer;
  readonly capabilities: readonly string[];
  /** 32 hex digits, of the key. */
  readonly offerId: string;
  /** 32 hex digits, of everything else but the times that we add. */
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
      rest.maxTimeoutSeconds,
      rest.serviceName,
      rest.description,
      rest.mimeType,
      rest.tags,
      rest.lastUpdated,
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
  /** Since when it asks the amount that it asks now. */
  readonly termsSince: number;
}

/** In the order of ENDPOINT_OFFER_COLUMNS. */
export function encodeOffer(
  out: RowBinary,
  { source, offer, ...row }: OfferRow,
  { firstSeen, termsSince }: OfferTimes,
  ver: bigint,
): void {
  out.string(offer.resource).string(offer.method).string(source).string(offer.network).string(offer.scheme);
  out
    .string(offer.asset)
    .string(offer.payTo)
    .string(offer.chain ?? '');
  if (offer.amount === null) out.u8(ABSENT);
  else out.u8(PRESENT).u256(offer.amount);
  if (offer.priceUsdMicros === null) out.u8(ABSENT);
  else out.u8(PRESENT).i128(offer.priceUsdMicros);
  out.u32(offer.maxTimeoutSeconds).string(offer.serviceName).string(offer.description).string(offer.mimeType);
  out.strings(offer.tags).strings(row.capabilities).u16(CAPABILITY_RULE_VERSION);
  out.dateTime(offer.lastUpdated).dateTime(firstSeen).dateTime(termsSince);
  for (const id of [row.offerId, row.contentId]) u128(out, id);
  out.u64(ver).u8(0);
}

/** The number that the hex digits spell, low half first. */
function u128(out: RowBinary, hex: string): void {
  out.u64(BigInt(`0x${hex.slice(16)}`)).u64(BigInt(`0x${hex.slice(0, 16)}`));
}

/** The 32 hex digits of a UInt128 in the engine's bytes. */
export function hexOfU128(bytes: Buffer, at: number): string {
  const [low, high] = [bytes.readBigUInt64LE(at), bytes.readBigUInt64LE(at + 8)];
  return high.toString(16).padStart(16, '0') + low.toString(16).padStart(16, '0');
}
