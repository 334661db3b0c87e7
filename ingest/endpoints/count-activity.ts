import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, type Sql, sql, uint64 } from '../../clickhouse/engine/sql.ts';
import type { Chain } from '../../core/domain/chain.ts';
import { observedPayments, paymentsOfOffers } from './observed-payments.ts';

/**
 * Counts anew what offers and their addresses were paid, from the rows themselves, so that the figures follow every reorg and
 * regrade. All of it in statements of the engine, which reads the payments of listed addresses and writes what changed.
 */

/** Today and the days before it, UTC. */
export const ACTIVITY_DAYS = 30;
const DAY_SECONDS = 86_400;
const MAX_SECONDS = 300;
const MEBIBYTE = 1024 * 1024;
/** Readers and the chains come first; how often this runs depends on how long it took (follow-endpoints.ts). */
const SETTINGS = {
  max_threads: 2,
  max_memory_usage: 2_048 * MEBIBYTE,
  max_bytes_before_external_group_by: 512 * MEBIBYTE,
} as const;

interface Count {
  readonly chains: readonly Chain[];
  readonly nowMs: number;
  /** Above every one given before. */
  readonly ver: bigint;
}

/** True when anything is other than it was stored. */
export async function countActivity(writer: Writer, { chains, nowMs, ver }: Count): Promise<boolean> {
  const now = Math.floor(nowMs / 1_000);
  const since = (Math.floor(now / DAY_SECONDS) - (ACTIVITY_DAYS - 1)) * DAY_SECONDS;
  const observed = { chains, since };
  let written = 0;
  for (const [name, statement] of [
    ['payee_activity', storeSql(OF_PAYEES, observedPayments(observed), { now, ver })],
    ['offer_activity', storeSql(OF_OFFERS, paymentsOfOffers(observed), { now, ver })],
  ] as const) {
    await writer.run({
      name: `endpoint-${name}`,
      sql: statement,
      maxSeconds: MAX_SECONDS,
      settings: SETTINGS,
    });
    written += await countWritten(writer, name, ver);
  }
  return written > 0;
}

async function countWritten(
  writer: Writer,
  table: 'payee_activity' | 'offer_activity',
  ver: bigint,
): Promise<number> {
  const { rows } = await writer.rows({
    name: 'endpoint-activity-written',
    sql:
      table === 'payee_activity'
        ? sql`SELECT count() FROM payee_activity WHERE ver = ${uint64(ver)}`
        : sql`SELECT count() FROM offer_activity WHERE ver = ${uint64(ver)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}

/** A table of activity: its key, and where each part of the key is found in a payment. */
interface ActivityTable {
  readonly table: Sql;
  readonly key: Sql;
  readonly keyOfPayment: Sql;
}

const OF_PAYEES: ActivityTable = {
  table: sql`payee_activity`,
  key: sql`pay_to, chain`,
  keyOfPayment: sql`pay_to, chain`,
};
/** A payment counts once from each time at which an offer on its terms began. */
const OF_OFFERS: ActivityTable = {
  table: sql`offer_activity`,
  key: sql`pay_to, chain, asset, is_range, amount, origin, since`,
  keyOfPayment: sql`pay_to, chain, asset, is_range, terms AS amount, origin, arrayJoin(starts) AS since`,
};

/** What is counted and what is stored side by side; a key whose two sides differ is written, one that lost all is buried. */
function storeSql(
  { table, key, keyOfPayment }: ActivityTable,
  payments: Sql,
  { now, ver }: { readonly now: number; readonly ver: bigint },
): Sql {
  return sql`INSERT INTO ${table}
      (${key}, settlement_count, unique_payers, settled_usd, last_settled_at, counted_at, ver, del)
    SELECT ${key}, maxIf(n, is_new), maxIf(payers, is_new), maxIf(paid, is_new), maxIf(last, is_new),
      ${dateTime(now)}, ${uint64(ver)}, countIf(is_new) = 0
    FROM (
      SELECT 1 AS is_new, ${keyOfPayment}, count() AS n, uniqCombined64(12)(payer) AS payers,
        sum(toDecimal128(usd, 6)) AS paid, max(at) AS last
      FROM (${payments}) GROUP BY ${key}
      UNION ALL
      SELECT 0, ${key}, settlement_count, unique_payers, settled_usd, last_settled_at FROM ${table} FINAL WHERE del = 0)
    GROUP BY ${key}
    HAVING countIf(is_new) != countIf(NOT is_new)
      OR (maxIf(n, is_new), maxIf(payers, is_new), maxIf(paid, is_new), maxIf(last, is_new))
        != (maxIf(n, NOT is_new), maxIf(payers, NOT is_new), maxIf(paid, NOT is_new), maxIf(last, NOT is_new))`;
}
