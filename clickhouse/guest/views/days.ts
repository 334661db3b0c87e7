import { countedText } from '../../engine/counted-rows.ts';
import { IS_CLOSED_TEXT, IS_OPEN_TEXT, SLICE_SECONDS_TEXT, SLICE_START_TEXT } from '../../tables/rollups.ts';
import { type WalletIdKey, walletIdText } from '../../tables/wallet-ids.ts';
import type { ViewBody } from './body.ts';

const dayColumns = {
  chain: 't.chain',
  day: 't.day',
  settlement_count: 't.slice_count',
  settled_usd: 't.slice_usd',
  self_payment_count: 't.slice_self_count',
  self_payment_usd: 't.slice_self_usd',
  proven_count: 't.slice_proven_count',
  proven_usd: 't.slice_proven_usd',
  first_settled_at: 't.slice_first',
  last_settled_at: 't.slice_last',
} as const;
const OTHERS = 't.others';
/** Over `settlements AS s`; the one method of its tier, as the rollups count it. */
const IS_PROVEN = "s.method = 'facilitator_relay'";

export function merchantDaysBody(database: string, idKey: WalletIdKey): ViewBody<'merchant_days'> {
  return {
    columns: {
      ...dayColumns,
      payee: 't.wallet',
      unique_payers: OTHERS,
      payee_id: walletIdText(idKey, 't.wallet'),
    },
    from: daysFrom(database, { wallet: 'payee', other: 'payer' }),
  };
}

export function payerDaysBody(database: string, idKey: WalletIdKey): ViewBody<'payer_days'> {
  return {
    columns: {
      ...dayColumns,
      payer: 't.wallet',
      unique_payees: OTHERS,
      payer_id: walletIdText(idKey, 't.wallet'),
    },
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
  const usd = "CAST(s.amount_usd, 'Decimal(38, 6)')";
  const parts = `self_count AS slice_self_count, self_usd AS slice_self_usd, proven_count AS slice_proven_count,
    proven_usd AS slice_proven_usd, first_time AS slice_first, last_time AS slice_last`;
  return `(
  SELECT chain, day, ${wallet} AS wallet, settlement_count AS slice_count, settled_usd AS slice_usd, finalizeAggregation(${other}s) AS others,
    ${parts}
  FROM ${database}.${wallet}_day FINAL
  WHERE ${closed('hour = -1')}
  UNION ALL
  SELECT chain, day, wallet, sum(slice_count), sum(slice_usd), uniqCombined64Merge(12)(slice_others),
    sum(slice_self_count), sum(slice_self_usd), sum(slice_proven_count), sum(slice_proven_usd), min(slice_first), max(slice_last)
  FROM
  (
    SELECT chain, day, ${wallet} AS wallet, settlement_count AS slice_count, settled_usd AS slice_usd, ${other}s AS slice_others,
      ${parts}
    FROM ${database}.${wallet}_day FINAL
    WHERE ${closed('hour >= 0')}
    UNION ALL
    SELECT s.chain, toDate(s.block_time) AS day, ${owner} AS wallet, count(), sum(${usd}),
      uniqCombined64State(12)(s.${other}),
      countIf(s.payer = s.payee), sumIf(${usd}, s.payer = s.payee), countIf(${IS_PROVEN}), sumIf(${usd}, ${IS_PROVEN}),
      min(s.block_time), max(s.block_time)
    FROM ${database}.settlements AS s FINAL WHERE ${countedText('s.')} AND ${inOpenDay} AND ${isOpen}
    GROUP BY s.chain, day, wallet
  )
  GROUP BY chain, day, wallet
) AS t`;
}
