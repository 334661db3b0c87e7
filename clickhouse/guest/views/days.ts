import { EVIDENCE_TIERS, type EvidenceTier, methodsOfTier } from '../../../core/domain/evidence.ts';
import { expressions } from '../../engine/account.ts';
import { countedText } from '../../engine/counted-rows.ts';
import { IS_CLOSED_TEXT, IS_OPEN_TEXT, SLICE_SECONDS_TEXT, SLICE_START_TEXT } from '../../tables/rollups.ts';
import { type WalletIdKey, walletIdText } from '../../tables/wallet-ids.ts';
import { known, type ViewBody } from './body.ts';
import { namesText, type PublicFacts } from './facts.ts';

/** What a row of a day table says, declared once for closed slices, for hours that are joined to days, and for rows. */
interface Figure {
  /** Of the column inside the view. */
  readonly name: string;
  /** In a row of the rollup. */
  readonly stored: string;
  /** The same column in a stored row of a whole day, which is shown unchanged. Absent: `stored`. */
  readonly whole?: string;
  /** Of all rows of a day in one open slice, over `settlements AS s`. */
  readonly live: string;
  /** Of the slices of a day. */
  readonly merged: string;
}

/** The subject of a row, together with its chain and day. */
interface Key {
  readonly name: string;
  readonly stored: string;
  readonly live: string;
}

const USD = "CAST(s.amount_usd, 'Decimal(38, 6)')";
const IS_SELF = 's.payer = s.payee';
const isOf = (tier: EvidenceTier): string =>
  `s.method IN (${methodsOfTier(tier)
    .map((method) => `'${method}'`)
    .join(', ')})`;

const total = (name: string, live: string, stored = name): Figure => ({
  name: `slice_${name}`,
  stored,
  live,
  merged: `sum(slice_${name})`,
});
const part = (name: string, condition: string): Figure[] => [
  total(`${name}_count`, `countIf(${condition})`),
  total(`${name}_usd`, `sumIf(${USD}, ${condition})`),
];
/** Rows of no other tier; the rollups do not keep their number. */
const STORED_TIERS = EVIDENCE_TIERS.filter((tier) => tier !== 'ungraded');
const TOTALS = [total('settlement_count', 'count()'), total('settled_usd', `sum(${USD})`)];
const PARTS = [...part('self', IS_SELF), ...STORED_TIERS.flatMap((tier) => part(tier, isOf(tier)))];
const times = (first: string, last: string): Figure[] => [
  { name: 'slice_first', stored: first, live: 'min(s.block_time)', merged: 'min(slice_first)' },
  { name: 'slice_last', stored: last, live: 'max(s.block_time)', merged: 'max(slice_last)' },
];
const ASSETS: Figure = {
  name: 'slice_assets',
  stored: 'assets',
  live: 'groupUniqArray(s.asset)',
  merged: 'arraySort(groupUniqArrayArray(slice_assets))',
};

/** The public columns over these figures. */
const totalColumns = {
  settlement_count: 't.slice_settlement_count',
  settled_usd: 't.slice_settled_usd',
} as const;
const selfColumns = {
  self_payment_count: 't.slice_self_count',
  self_payment_usd: 't.slice_self_usd',
} as const;
const tierColumns = {
  proven_count: 't.slice_proven_count',
  proven_usd: 't.slice_proven_usd',
  probable_count: 't.slice_probable_count',
  probable_usd: 't.slice_probable_usd',
  unproven_count: 't.slice_unproven_count',
  unproven_usd: 't.slice_unproven_usd',
  not_x402_count: 't.slice_not_x402_count',
  not_x402_usd: 't.slice_not_x402_usd',
  ungraded_count: `toUInt64(t.slice_settlement_count${STORED_TIERS.map((tier) => ` - t.slice_${tier}_count`).join('')})`,
  ungraded_usd: `t.slice_settled_usd${STORED_TIERS.map((tier) => ` - t.slice_${tier}_usd`).join('')}`,
} as const;
const timeColumns = { first_settled_at: 't.slice_first', last_settled_at: 't.slice_last' } as const;

export function merchantDaysBody(database: string, idKey: WalletIdKey): ViewBody<'merchant_days'> {
  return {
    columns: {
      ...partyColumns,
      payee: 't.key_payee',
      unique_payers: 't.slice_others',
      payee_id: walletIdText(idKey, 't.key_payee'),
    },
    from: partyDays(database, { wallet: 'payee', other: 'payer' }),
  };
}

export function payerDaysBody(database: string, idKey: WalletIdKey): ViewBody<'payer_days'> {
  return {
    columns: {
      ...partyColumns,
      payer: 't.key_payer',
      unique_payees: 't.slice_others',
      payer_id: walletIdText(idKey, 't.key_payer'),
    },
    from: partyDays(database, { wallet: 'payer', other: 'payee' }),
  };
}

const text = expressions.accountText;

const partyColumns = {
  ...totalColumns,
  ...selfColumns,
  ...tierColumns,
  ...timeColumns,
  assets: `arrayMap(asset -> ${text('asset')}, t.slice_assets)`,
} as const;

function partyDays(
  database: string,
  { wallet, other }: { readonly wallet: 'payee' | 'payer'; readonly other: 'payee' | 'payer' },
): string {
  const others: Figure = {
    name: 'slice_others',
    stored: `${other}s`,
    whole: `finalizeAggregation(${other}s)`,
    live: `uniqCombined64State(12)(s.${other})`,
    merged: 'uniqCombined64Merge(12)(slice_others)',
  };
  return daysFrom(database, `${wallet}_day`, {
    keys: [{ name: `key_${wallet}`, stored: wallet, live: text(`s.${wallet}`) }],
    figures: [...TOTALS, ...PARTS, ...times('first_time', 'last_time'), others, ASSETS],
  });
}

export function pairDaysBody(database: string, idKey: WalletIdKey): ViewBody<'pair_days'> {
  const first = "toDateTime(day, 'UTC') + first_second";
  const party = (name: 'payer' | 'payee'): Key => ({
    name: `key_${name}`,
    stored: text(name),
    live: text(`s.${name}`),
  });
  return {
    columns: {
      ...totalColumns,
      payer: 't.key_payer',
      payee: 't.key_payee',
      is_self_payment: "CAST(t.key_payer = t.key_payee, 'Bool')",
      proven_count: tierColumns.proven_count,
      proven_usd: tierColumns.proven_usd,
      ...timeColumns,
      payer_id: walletIdText(idKey, 't.key_payer'),
      payee_id: walletIdText(idKey, 't.key_payee'),
    },
    from: daysFrom(database, 'pair_day', {
      keys: [party('payer'), party('payee')],
      figures: [
        total('settlement_count', 'count()'),
        total('settled_usd', `sum(${USD})`, 'proven_usd + other_usd'),
        ...part('proven', isOf('proven')),
        ...times(first, `${first} + span`),
      ],
    }),
  };
}

/** `chain_hour` has the hours of every day, so its rows are always joined to days. */
export function facilitatorDaysBody(database: string, facts: PublicFacts): ViewBody<'facilitator_days'> {
  const figures = [...TOTALS, ...PARTS];
  const closed = `(SELECT day, hour FROM ${database}.rollup_slices WHERE ${IS_CLOSED_TEXT})`;
  const keys: readonly Key[] = [{ name: 'key_facilitator', stored: 'facilitator', live: 's.facilitator' }];
  return {
    columns: {
      ...totalColumns,
      facilitator: known('key_facilitator'),
      facilitator_name: namesText(facts, 'key_facilitator'),
      ...selfColumns,
      ...tierColumns,
    },
    from: `(
  ${mergedDays({ keys, figures })} (
    SELECT chain, toDate(hour) AS day, ${named(keys)}, ${named(figures)}
    FROM ${database}.chain_hour FINAL
    WHERE settlement_count > 0
      AND ((toDate(hour), toInt8(-1)) IN ${closed} OR (toDate(hour), toInt8(toHour(hour))) IN ${closed})
    UNION ALL
    ${liveDays(database, { keys, figures })}
  ) GROUP BY chain, day, ${namesOf(keys)}
) AS t`,
  };
}

interface DayRows {
  readonly keys: readonly Key[];
  readonly figures: readonly Figure[];
}

/**
 * Reads the rollup for closed, clean slices and the rows themselves for all others: exact regardless of the rollup worker's progress.
 * A day that was closed as a whole already has one row for each key, so it is not grouped again: over years that is nearly
 * every day, and a hash table of all wallets and days would exceed the guest's memory. No day is in both halves.
 */
function daysFrom(database: string, table: string, { keys, figures }: DayRows): string {
  // If no day is closed by hours the set is empty, and the second read of the rollup reads nothing.
  const closed = (hours: string): string =>
    `settlement_count > 0 AND (day, hour) IN (SELECT day, hour FROM ${database}.rollup_slices WHERE ${IS_CLOSED_TEXT} AND ${hours})`;
  const whole = figures.map((figure) => ({ ...figure, stored: figure.whole ?? figure.stored }));
  return `(
  SELECT chain, day, ${named(keys)}, ${named(whole)}
  FROM ${database}.${table} FINAL
  WHERE ${closed('hour = -1')}
  UNION ALL
  ${mergedDays({ keys, figures })} (
    SELECT chain, day, ${named(keys)}, ${named(figures)}
    FROM ${database}.${table} FINAL
    WHERE ${closed('hour >= 0')}
    UNION ALL
    ${liveDays(database, { keys, figures })}
  ) GROUP BY chain, day, ${namesOf(keys)}
) AS t`;
}

const namesOf = (columns: readonly Key[]): string => columns.map(({ name }) => name).join(', ');
const named = (columns: readonly (Key | Figure)[]): string =>
  columns.map(({ name, stored }) => `${stored} AS ${name}`).join(', ');

/** Joins slices to days; FROM and GROUP BY follow. */
function mergedDays({ keys, figures }: DayRows): string {
  return `SELECT chain, day, ${namesOf(keys)}, ${figures.map(({ merged, name }) => `${merged} AS ${name}`).join(', ')} FROM`;
}

/** What open slices say: their rows, added up by day. */
function liveDays(database: string, { keys, figures }: DayRows): string {
  const slices = `FROM ${database}.rollup_slices WHERE ${IS_OPEN_TEXT}`;
  const open = `(SELECT groupArray((${SLICE_START_TEXT}, ${SLICE_SECONDS_TEXT})) ${slices})`;
  const isOpen = `arrayExists(slice -> s.block_time >= slice.1 AND s.block_time < slice.1 + slice.2, ${open})`;
  // The array selects the rows, but only the set of days uses the index.
  const inOpenDay = `toDate(s.block_time) IN (SELECT day ${slices})`;
  const live = [...keys, ...figures].map((column) => `${column.live} AS ${column.name}`).join(', ');
  return `SELECT s.chain, toDate(s.block_time) AS day, ${live}
    FROM ${database}.settlements AS s FINAL WHERE ${countedText('s.')} AND ${inOpenDay} AND ${isOpen}
    GROUP BY s.chain, day, ${namesOf(keys)}`;
}
