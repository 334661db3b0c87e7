import { accountBytes } from '../../clickhouse/engine/account.ts';
import { type Sql, sql } from '../../clickhouse/engine/sql.ts';

/** The payment rings of the newest pass that looked for them (ingest/rings), as rankings use them: wallets as bytes. */

const NEWEST = sql`gen = (SELECT max(gen) FROM ring_passes)`;
const WALLET = accountBytes(sql`wallet`);

/** Ordered pairs of different members of one ring. */
export const RING_PAIRS: Sql = sql`(SELECT DISTINCT pair.1, pair.2 FROM (
    SELECT arrayJoin(arrayFlatten(arrayMap(a -> arrayMap(b -> (a, b), members), members))) AS pair
    FROM (SELECT arrayMap(one -> ${accountBytes(sql`one`)}, members) AS members
      FROM wallet_rings WHERE ${NEWEST})))`;

/** In how many rings a wallet is: columns ringed, rings. */
export const RING_COUNTS: Sql = sql`(SELECT ${WALLET} AS ringed, count() AS rings FROM wallet_rings WHERE ${NEWEST} GROUP BY ringed)`;
