import type { Row, Writer } from '../../clickhouse/engine/engine.ts';
import { sql, uint32 } from '../../clickhouse/engine/sql.ts';
import { microsFromDecimal } from '../../core/domain/amount.ts';
import { CAPABILITY_RULE_VERSION } from '../../core/domain/capability.ts';
import { type Chain, isChain } from '../../core/domain/chain.ts';
import type { EndpointMethod, EndpointOffer } from '../../core/domain/endpoint-offer.ts';
import type { Log } from '../../core/log.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import type { Versions } from '../write/versions.ts';
import { offerRow } from './offer-rows.ts';
import { type SeenOffer, saveOffers } from './offer-store.ts';

/**
 * Maps offers onto capabilities anew that an older rule has mapped. A reading does so by itself; this is for the sources that do
 * not answer. Must not run beside a reading: the row that is written last counts.
 */

const ROWS_PER_STEP = 2_000;
const MAX_SECONDS = 60;

/** How many were mapped anew. */
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

async function readOutdated(writer: Writer): Promise<SeenOffer[]> {
  const { rows } = await writer.rows({
    name: 'endpoint-offers-outdated',
    sql: sql`SELECT source, resource, method, network, chain, scheme, asset, pay_to, toString(amount), toString(price_usd),
        max_timeout_seconds, service_name, description, mime_type, tags, toUnixTimestamp(last_updated), toUnixTimestamp(first_seen),
        toUnixTimestamp(terms_since)
      FROM endpoint_offers FINAL WHERE del = 0 AND rule_version != ${uint32(CAPABILITY_RULE_VERSION)}
      LIMIT ${uint32(ROWS_PER_STEP)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: ROWS_PER_STEP,
  });
  return rows.map((row) => ({
    row: offerRow(String(row[0]), decodeOffer(row)),
    firstSeen: Number(row[16]),
    termsSince: Number(row[17]),
  }));
}

/** A row of our own table: written from an `EndpointOffer`, so it is one. */
function decodeOffer(row: Row): EndpointOffer {
  const [, resource, method, network, chain, scheme, asset, payTo] = row.map(String);
  const [amount, price, tags] = [row[8], row[9], row[14]];
  return {
    resource: resource ?? '',
    method: method as EndpointMethod,
    network: network ?? '',
    chain: chainOrNull(chain ?? ''),
    scheme: scheme ?? '',
    asset: asset ?? '',
    payTo: payTo ?? '',
    amount: typeof amount === 'string' ? BigInt(amount) : null,
    priceUsdMicros: typeof price === 'string' ? microsFromDecimal(price) : null,
    maxTimeoutSeconds: Number(row[10]),
    serviceName: String(row[11]),
    description: String(row[12]),
    mimeType: String(row[13]),
    tags: Array.isArray(tags) ? tags.map(String) : [],
    lastUpdated: Number(row[15]),
  };
}

function chainOrNull(text: string): Chain | null {
  return isChain(text) ? text : null;
}
