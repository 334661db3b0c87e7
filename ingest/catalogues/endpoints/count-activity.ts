import { countedText } from '../../../clickhouse/counted-rows.ts';
import type { Writer } from '../../../clickhouse/engine.ts';
import { dateTime, type Sql, sql, texts, trustedText, uint64 } from '../../../clickhouse/sql.ts';
import type { Chain } from '../../../src/domain/chain.ts';

/**
 * Counts anew what listed addresses were paid: closed days from the rollups, everything else from the rows, so that the figures
 * are exact whatever the rollup worker has done (as the public views are, clickhouse/public-views.ts). All in one statement of
 * the engine, which holds no more than one entry for each address and writes those that changed.
 */

/** Today and the days before it, UTC. */
export const ACTIVITY_DAYS = 30;
const DAY_SECONDS = 86_400;
const MAX_SECONDS = 300;

/** True when anything is other than it was stored. `ver` must be above every one given before. */
export async function countActivity(
  writer: Writer,
  { chains, nowMs, ver }: { readonly chains: readonly Chain[]; readonly nowMs: number; readonly ver: bigint },
): Promise<boolean> {
  const now = Math.floor(nowMs / 1_000);
  const since = (Math.floor(now / DAY_SECONDS) - (ACTIVITY_DAYS - 1)) * DAY_SECONDS;
  await writer.run({
    name: 'endpoint-activity',
    sql: activitySql({ chains, since, now, ver }),
    maxSeconds: MAX_SECONDS,
    settings: { do_not_merge_across_partitions_select_final: 1 },
  });
  const { rows } = await writer.rows({
    name: 'endpoint-activity-written',
    sql: sql`SELECT count() FROM payee_activity WHERE ver = ${uint64(ver)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]) > 0;
}

interface Count {
  readonly chains: readonly Chain[];
  readonly since: number;
  readonly now: number;
  readonly ver: bigint;
}

/** What is counted and what is stored side by side; a pair whose two sides differ is written, one that lost all is buried. */
function activitySql({ chains, since, now, ver }: Count): Sql {
  const listed = sql`SELECT pay_to, chain FROM endpoint_offers FINAL WHERE del = 0 AND chain IN ${texts(chains)}`;
  return sql`INSERT INTO payee_activity
      (pay_to, chain, settlement_count, unique_payers, settled_usd, last_settled_at, counted_at, ver, del)
    SELECT pay_to, chain, maxIf(n, is_new), maxIf(payers, is_new), maxIf(usd, is_new), maxIf(last, is_new),
      ${dateTime(now)}, ${uint64(ver)}, countIf(is_new) = 0
    FROM (
      SELECT 1 AS is_new, pay_to, chain, sum(slice_n) AS n, uniqCombined64Merge(12)(slice_payers) AS payers, sum(slice_usd) AS usd,
        max(slice_last) AS last
      FROM (${closedSlices(since, listed)} UNION ALL ${openRows(since, listed)})
      GROUP BY pay_to, chain
      UNION ALL
      SELECT 0, pay_to, chain, settlement_count, unique_payers, settled_usd, last_settled_at FROM payee_activity FINAL WHERE del = 0)
    GROUP BY pay_to, chain
    HAVING countIf(is_new) != countIf(NOT is_new)
      OR (maxIf(n, is_new), maxIf(payers, is_new), maxIf(usd, is_new), maxIf(last, is_new))
        != (maxIf(n, NOT is_new), maxIf(payers, NOT is_new), maxIf(usd, NOT is_new), maxIf(last, NOT is_new))`;
}

const slices = (which: Sql): Sql => sql`FROM rollup_slices WHERE ${which}`;
const CLOSED = sql`ver <= rolled_ver`;
const OPEN = sql`ver > rolled_ver`;

function closedSlices(since: number, listed: Sql): Sql {
  return sql`SELECT payee AS pay_to, chain, settlement_count AS slice_n, payers AS slice_payers, settled_usd AS slice_usd,
      last_time AS slice_last
    FROM payee_day FINAL
    WHERE settlement_count > 0 AND day >= toDate(${dateTime(since)}) AND (payee, chain) IN (${listed})
      AND (day, hour) IN (SELECT day, hour ${slices(CLOSED)})`;
}

/** The array says which rows, but only the set of days uses the index. */
function openRows(since: number, listed: Sql): Sql {
  const open = sql`(SELECT groupArray((toDateTime(day, 'UTC') + if(hour < 0, 0, hour) * 3600, if(hour < 0, 86400, 3600))) ${slices(OPEN)})`;
  const payTo = sql`concat('0x', lower(hex(s.payee)))`;
  return sql`SELECT ${payTo} AS pay_to, s.chain, count(), uniqCombined64State(12)(s.payer), sum(toDecimal128(s.amount_usd, 6)),
      max(s.block_time)
    FROM settlements AS s FINAL
    WHERE ${trustedText(countedText('s.'))} AND s.block_time >= ${dateTime(since)} AND toDate(s.block_time) IN (SELECT day ${slices(OPEN)})
      AND arrayExists(slice -> s.block_time >= slice.1 AND s.block_time < slice.1 + slice.2, ${open})
      AND (${payTo}, s.chain) IN (${listed})
    GROUP BY pay_to, s.chain`;
}
