import { type Sql, sql, texts, trustedText, uint32, uint64 } from '../../clickhouse/engine/sql.ts';
import { SYNTHETIC_PAYEES, syntheticAddress } from '../support/synthetic-rows.ts';
import { capabilities } from './synthetic-agents.ts';
import { logUniform, words } from './synthetic-words.ts';

/**
 * Listings made inside the engine: one way to pay for each resource, a second one for a quarter; paid to addresses that settle. Half of them
 * name a ceiling, which payments of synthetic amounts fit, and all are older than the payments.
 */

const SOURCES = ['bazaar:coinbase', 'bazaar:payai', 'well_known:merchant.example'] as const;
const N = trustedText('n');
const PAY_TO = sql`concat('0x', lower(hex(${syntheticAddress('payee', logUniform(N, 61, SYNTHETIC_PAYEES))})))`;
/** As in synthetic payments. */
const ASSET = sql`concat('0x', lower(hex(SHA1('usdc'))))`;
const LISTED_BEFORE_DAYS = 400;
const TAGS = sql`arrayMap(place -> concat('tag', toString(sipHash64(n, 63, place) % 50)), range(sipHash64(n, 63) % 4))`;

/** `[from, from + count)`: resource n, of which every fourth is also listed for Polygon. */
export function insertOffers(slice: {
  readonly from: number;
  readonly count: number;
  readonly time: number;
  readonly ver: bigint;
}): Sql[] {
  const time = sql`toDateTime(${uint32(slice.time)}, 'UTC')`;
  return [
    { network: 'base', chain: 'eip155:8453', of: sql`1` },
    { network: 'eip155:137', chain: 'eip155:137', of: sql`n % 4 = 0` },
  ].map(
    ({ network, chain, of }) => sql`INSERT INTO endpoint_offers
      (resource, method, source, network, scheme, asset, pay_to, chain, amount, price_usd, max_timeout_seconds, service_name, description,
       mime_type, tags, capabilities, rule_version, last_updated, first_seen, offer_id, content_id, ver, del)
      SELECT concat('https://api', toString(sipHash64(n, 60) % 20000), '.example/v1/', toString(n)) AS url, if(n % 3 = 0, 'POST', 'GET'),
        ${texts(SOURCES)}[1 + n % 3], ${trustedText(`'${network}'`)}, if(n % 2 = 0, 'upto', 'exact'), ${ASSET}, ${PAY_TO},
        ${trustedText(`'${chain}'`)}, toUInt256(toUInt64(exp(6 + sipHash64(n, 62) / 18446744073709551616. * 9)) AS atomic), toDecimal128(atomic / 1e6, 6),
        60, ${words(N, 64, 1, 3)}, ${words(N, 65, 5, 15)}, 'application/json', ${TAGS}, ${capabilities(66)}, 1, ${time}, ${time} - toIntervalDay(${uint32(LISTED_BEFORE_DAYS)}),
        reinterpretAsUInt128(sipHash128(url)), reinterpretAsUInt128(sipHash128(url, 1)), ${uint64(slice.ver)}, 0
      FROM (SELECT number + ${uint64(slice.from)} AS n FROM numbers(${uint64(slice.count)})) WHERE ${of}`,
  );
}

/** The sources as they answered last, a moment ago. */
export function insertSources(time: number, ver: bigint): Sql {
  const at = sql`toDateTime(${uint32(time)}, 'UTC')`;
  return sql`INSERT INTO endpoint_sources (source, kind, host, tried_at, good_at, problem, items, ver, del)
    SELECT arrayJoin(${texts(SOURCES)}) AS name, if(startsWith(name, 'bazaar'), 'bazaar', 'well_known'), 'bench.example', ${at}, ${at}, '', 1, ${uint64(ver)}, 0`;
}
