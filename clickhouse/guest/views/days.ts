import { countedText } from '../../engine/counted-rows.ts';
import { IS_CLOSED_TEXT, IS_OPEN_TEXT, SLICE_SECONDS_TEXT, SLICE_START_TEXT } from '../../tables/rollups.ts';
import type { ViewBody } from './body.ts';

const dayColumns = {
  chain: 't.chain',
  day: 't.day',
  settlement_count: 't.slice_count',
  settled_usd: 't.slice_usd',
} as const;
const OTHERS = 't.others';

export function merchantDaysBody(database: string): ViewBody<'merchant_days'> {
  return {
    columns: { ...dayColumns, payee: 't.wallet', unique_payers: OTHERS },
    from: daysFrom(database, { wallet: 'payee', other: 'payer' }),
  };
}

export function payerDaysBody(database: string): ViewBody<'payer_days'> {
  return {
    columns: { ...dayColumns, payer: 't.wallet', unique_payees: OTHERS },
    from: daysFrom(database, { wallet: 'payer', other: 'payee' }),
  };
}

/**
 * Reads the rollup for closed, clean slices and the rows themselves for all others: exact regardless of the rollup worker's progress.
 * A day that was closed as a whole already has one row per wallet and chain, so it is not grouped again: over years that is nearly
 * every day, and a hash table of all wallets and days would exceed the guest's memory. No day is in both halves.
 */
function daysFrom(
  database: string,
  { wallet, other }: { readonly wallet: 'payee' | 'payer'; readonly other: 'payee' | 'payer' },
): string {
  const slices = `FROM ${database}.rollup_slices WHERE`;
  // If no day is closed by hours the set is empty, and the second read of the rollup reads nothing.
  const closed = (hours: string): string =>
    `settlement_count > 0 AND (day, hour) IN (SELECT day, hour ${slices} ${IS_CLOSED_TEXT} AND ${hours})`;
  const open = `(SELECT groupArray((${SLICE_START_TEXT}, ${SLICE_SECONDS_TEXT})) ${slices} ${IS_OPEN_TEXT})`;
  const isOpen = `arrayExists(slice -> s.block_time >= slice.1 AND s.block_time < slice.1 + slice.2, ${open})`;
  // The array selects the rows, but only the set of days uses the index.
  const inOpenDay = `toDate(s.block_time) IN (SELECT day ${slices} ${IS_OPEN_TEXT})`;
  const owner = `concat('0x', lower(hex(s.${wallet})))`;
  return `(
  SELECT chain, day, ${wallet} AS wallet, settlement_count AS slice_count, settled_usd AS slice_usd, finalizeAggregation(${other}s) AS others
  FROM ${database}.${wallet}_day FINAL
  WHERE ${closed('hour = -1')}
  UNION ALL
  SELECT chain, day, wallet, sum(slice_count), sum(slice_usd), uniqCombined64Merge(12)(slice_others)
  FROM
  (
    SELECT chain, day, ${wallet} AS wallet, settlement_count AS slice_count, settled_usd AS slice_usd, ${other}s AS slice_others
    FROM ${database}.${wallet}_day FINAL
    WHERE ${closed('hour >= 0')}
    UNION ALL
    SELECT s.chain, toDate(s.block_time) AS day, ${owner} AS wallet, count(), sum(CAST(s.amount_usd, 'Decimal(38, 6)')),
      uniqCombined64State(12)(s.${other})
    FROM ${database}.settlements AS s FINAL WHERE ${countedText('s.')} AND ${inOpenDay} AND ${isOpen}
    GROUP BY s.chain, day, wallet
  )
  GROUP BY chain, day, wallet
) AS t`;
}
