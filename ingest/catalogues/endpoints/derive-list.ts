import type { Writer } from '../../../clickhouse/engine.ts';
import { type Sql, sql, uint64 } from '../../../clickhouse/sql.ts';

/**
 * Derives `endpoint_list`, one row per resource and method, from the offers and the activity of their addresses. A pure function
 * of the two tables, computed in the engine; `content` tells which rows are other than before, and only those are written.
 */

const MAX_SECONDS = 300;
/** Prices as texts: a reader would make a double of a number. */
const EXACT_JSON = { output_format_json_quote_decimals: 1 };

/** Two versions are taken: a row that comes back must win over its burial, however the statements overlap. */
export async function deriveList(writer: Writer, nextVer: () => bigint): Promise<void> {
  const derive = (name: string, statement: Sql) =>
    writer.run({ name, sql: statement, maxSeconds: MAX_SECONDS, settings: EXACT_JSON });
  await derive('endpoint-list-bury', burySql(nextVer()));
  await derive('endpoint-list-derive', deriveSql(nextVer()));
}

const LIVE_OFFERS = sql`endpoint_offers FINAL WHERE del = 0`;

/** What several sources say of one resource: the newest that says anything. */
const said = (column: Sql): Sql => sql`argMax(${column}, (${column} != '', last_updated, source))`;
/** An offer whose price is known comes before one whose price is not. */
const CHEAPEST = sql`(isNull(price_usd), ifNull(price_usd, 0), network, scheme, asset, pay_to, source)`;

const OFFER = sql`CAST((isNull(price_usd), price_usd, network, scheme, asset, pay_to, source, toString(amount), chain, max_timeout_seconds),
  'Tuple(is_unpriced Bool, price Nullable(Decimal(38, 6)), network String, scheme String, asset String, pay_to String, source String,
    amount Nullable(String), chain String, max_timeout_seconds UInt32)')`;

const DERIVED = sql`SELECT resource, method,
    ${said(sql`service_name`)} AS service_name_, ${said(sql`description`)} AS description_, ${said(sql`mime_type`)} AS mime_type_,
    arraySort(groupUniqArrayArray(tags)) AS tags_, arraySort(groupUniqArrayArray(capabilities)) AS capabilities_,
    argMin(pay_to, ${CHEAPEST}) AS pay_to_, argMin(network, ${CHEAPEST}) AS network_, min(price_usd) AS price_usd_,
    arraySort(groupUniqArray(pay_to)) AS pay_tos_, arraySort(groupUniqArray(network)) AS networks_,
    arraySort(groupUniqArrayIf(chain, chain != '')) AS chains_, arraySort(groupUniqArray(source)) AS sources_,
    toJSONString(arraySort(groupArray(${OFFER}))) AS offers_,
    lowerUTF8(concat(resource, ' ', service_name_, ' ', description_, ' ', arrayStringConcat(tags_, ' '))) AS search_text_,
    max(shared) AS shared_,
    groupUniqArray((pay_to, chain, n, payers, usd)) AS paid,
    arraySum(one -> one.3, paid) AS settlement_count_, arraySum(one -> one.4, paid) AS unique_payers_,
    CAST(arraySum(one -> one.5, paid), 'Decimal(38, 6)') AS settled_usd_, max(last) AS last_settled_at_,
    max(last_updated) AS last_updated_
  FROM (
    SELECT offers.*, shared, n, payers, usd, last
    FROM (SELECT * FROM ${LIVE_OFFERS}) AS offers
    LEFT JOIN (SELECT pay_to AS paid_to, chain AS paid_on, settlement_count AS n, unique_payers AS payers, settled_usd AS usd,
        last_settled_at AS last FROM payee_activity FINAL WHERE del = 0) AS activity
      ON offers.pay_to = paid_to AND offers.chain = paid_on
    LEFT JOIN (SELECT pay_to AS shared_to, uniqExact(resource) > 1 AS shared FROM ${LIVE_OFFERS} GROUP BY pay_to) AS payees
      ON offers.pay_to = shared_to)
  GROUP BY resource, method`;

function deriveSql(ver: bigint): Sql {
  return sql`INSERT INTO endpoint_list
      (resource, method, service_name, description, mime_type, tags, capabilities, pay_to, network, price_usd, pay_tos, networks,
        chains, sources, offers, search_text, shared_pay_to, settlement_count, unique_payers, settled_usd, last_settled_at, last_updated,
        content, ver, del)
    SELECT resource, method, service_name_, description_, mime_type_, tags_, capabilities_, pay_to_, network_, price_usd_, pay_tos_,
      networks_, chains_, sources_, offers_, search_text_, shared_, settlement_count_, unique_payers_, settled_usd_, last_settled_at_,
      last_updated_, content_, ${uint64(ver)}, 0
    FROM (
      SELECT *, cityHash64(service_name_, description_, mime_type_, tags_, capabilities_, pay_to_, network_,
        toString(ifNull(price_usd_, -1)), pay_tos_, networks_, chains_, sources_, offers_, shared_, settlement_count_, unique_payers_,
        toString(settled_usd_), last_settled_at_, last_updated_) AS content_
      FROM (${DERIVED})) AS derived
    LEFT JOIN (SELECT resource, method, content, del AS is_buried FROM endpoint_list FINAL) AS listed USING (resource, method)
    WHERE content != content_ OR is_buried = 1`;
}

function burySql(ver: bigint): Sql {
  return sql`INSERT INTO endpoint_list
    SELECT * REPLACE(${uint64(ver)} AS ver, toUInt8(1) AS del) FROM (SELECT * FROM endpoint_list FINAL
      WHERE del = 0 AND (resource, method) NOT IN (SELECT resource, method FROM ${LIVE_OFFERS}))`;
}
