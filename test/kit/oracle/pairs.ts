import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import type { Address } from '../../../core/domain/account.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';

/** What wallets paid each other, recounted the slow way: every live settlement, loops and bigints, no SQL. */

interface PairScope {
  readonly chain?: Chain | undefined;
  /** Newest final block of each chain; absent: every row counts. */
  readonly final?: Readonly<Record<string, number>> | undefined;
  /** Unix seconds, from included, to excluded. */
  readonly from: number;
  readonly to: number;
}

export type Order = 'usd' | 'count' | 'last';

const usdOf = (rows: readonly Settlement[]): bigint =>
  rows.reduce((sum, { amountUsdMicros }) => sum + amountUsdMicros, 0n);
const iso = (seconds: number): string => new Date(seconds * 1_000).toISOString().replace('.000', '');
const dateOf = ({ blockTime }: Settlement): string => iso(blockTime).slice(0, 10);
const isProven = ({ method }: Settlement): boolean => method === 'facilitator_relay';
const newest = (rows: readonly Settlement[]): number => Math.max(...rows.map(({ blockTime }) => blockTime));
const oldest = (rows: readonly Settlement[]): number => Math.min(...rows.map(({ blockTime }) => blockTime));

function countedRows(all: Iterable<Settlement>, { chain, final, from, to }: PairScope): Settlement[] {
  return [...all].filter(
    (row) =>
      row.kind === 'payment' &&
      (chain === undefined || row.chain === chain) &&
      (final === undefined || row.blockNumber <= (final[row.chain] ?? -1)) &&
      row.blockTime >= from &&
      row.blockTime < to,
  );
}

function flowsOf(rows: readonly Settlement[], wallet: Address) {
  const inbound = rows.filter(({ payee }) => payee === wallet);
  const outbound = rows.filter(({ payer }) => payer === wallet);
  return {
    inbound_usd: usdNumber(usdOf(inbound)),
    inbound_count: inbound.length,
    outbound_usd: usdNumber(usdOf(outbound)),
    outbound_count: outbound.length,
  };
}

/** Every counterparty of a wallet in the order asked for, and what they add up to. */
export function trueCounterparties(
  all: Iterable<Settlement>,
  query: PairScope & {
    readonly wallet: Address;
    readonly role: 'payer' | 'payee' | 'any';
    readonly order: Order;
  },
) {
  const { wallet, role, order } = query;
  const rows = countedRows(all, query).filter(
    ({ payer, payee }) =>
      payer !== payee && ((payee === wallet && role !== 'payer') || (payer === wallet && role !== 'payee')),
  );
  const groups = new Map<Address, Settlement[]>();
  for (const row of rows) {
    const other = row.payer === wallet ? row.payee : row.payer;
    groups.set(other, [...(groups.get(other) ?? []), row]);
  }
  const rankOf = (group: readonly Settlement[]): bigint =>
    ({ usd: usdOf(group), count: BigInt(group.length), last: BigInt(newest(group)) })[order];
  const sorted = [...groups].sort((a, b) => {
    const [x, y] = [rankOf(a[1]), rankOf(b[1])];
    if (x !== y) return x > y ? -1 : 1;
    return a[0] > b[0] ? -1 : 1;
  });
  return {
    counterparty_count: sorted.length,
    totals: flowsOf(rows, wallet),
    counterparties: sorted.map(([other, group]) => ({
      wallet: other,
      ...flowsOf(group, wallet),
      proven_usd: usdNumber(usdOf(group.filter(isProven))),
      days_active: new Set(group.map(dateOf)).size,
      first_seen: iso(oldest(group)),
      last_seen: iso(newest(group)),
    })),
  };
}

function figuresOf(rows: readonly Settlement[]) {
  const proven = rows.filter(isProven);
  return {
    settlement_count: rows.length,
    settled_usd: usdNumber(usdOf(rows)),
    proven_count: proven.length,
    proven_usd: usdNumber(usdOf(proven)),
  };
}

function directionOf(rows: readonly Settlement[]) {
  return {
    ...figuresOf(rows),
    days_active: new Set(rows.map(dateOf)).size,
    first_seen: rows.length === 0 ? null : iso(oldest(rows)),
    last_seen: rows.length === 0 ? null : iso(newest(rows)),
  };
}

/** One wallet's payments to another and back; `dailySince`: the first day of `daily`. */
export function truePair(
  all: Iterable<Settlement>,
  query: PairScope & { readonly payer: Address; readonly payee: Address; readonly dailySince: string },
) {
  const { payer, payee, dailySince } = query;
  const rows = countedRows(all, query);
  const paid = rows.filter((row) => row.payer === payer && row.payee === payee);
  const back = payer === payee ? [] : rows.filter((row) => row.payer === payee && row.payee === payer);
  const days = [...new Set(paid.map(dateOf))].filter((date) => date >= dailySince).sort();
  return {
    paid: directionOf(paid),
    paid_back: directionOf(back),
    daily: days.map((date) => ({ date, ...figuresOf(paid.filter((row) => dateOf(row) === date)) })),
  };
}

/** What a wallet paid back, within the scope, to wallets that had paid it: of each at most what it had paid. */
export function trueRefunds(all: Iterable<Settlement>, query: PairScope & { readonly wallet: Address }) {
  const { wallet } = query;
  const rows = countedRows(all, query).filter(({ payer, payee }) => payer !== payee);
  const refunded = [...new Set(rows.filter(({ payer }) => payer === wallet).map(({ payee }) => payee))]
    .map((other) => ({
      paid: rows.filter(({ payer, payee }) => payer === other && payee === wallet),
      back: rows.filter(({ payer, payee }) => payer === wallet && payee === other),
    }))
    .filter(({ paid, back }) => paid.length > 0 && newest(back) >= oldest(paid));
  return {
    payers: refunded.length,
    settlement_count: refunded.reduce((sum, { back }) => sum + back.length, 0),
    usd: usdNumber(
      refunded.reduce((sum, { paid, back }) => {
        const [least = 0n] = [usdOf(paid), usdOf(back)].sort((a, b) => Number(a - b));
        return sum + least;
      }, 0n),
    ),
  };
}

/** Of the newest so many settlements that a wallet received: what others paid. */
export function trueUsualPrice(
  all: Iterable<Settlement>,
  {
    wallet,
    chain,
    final,
    newest: limit,
  }: Omit<PairScope, 'from' | 'to'> & { readonly wallet: Address; readonly newest: number },
) {
  const amounts = [...all]
    .filter((row) => row.payee === wallet && (chain === undefined || row.chain === chain))
    .filter((row) => final === undefined || row.blockNumber <= (final[row.chain] ?? -1))
    .sort(
      (a, b) =>
        b.blockTime - a.blockTime ||
        (a.chain < b.chain ? 1 : -1) * Number(a.chain !== b.chain) ||
        b.blockNumber - a.blockNumber ||
        b.logIndex - a.logIndex,
    )
    .slice(0, limit)
    .filter(({ payer, payee, kind }) => payer !== payee && kind === 'payment')
    .map(({ amountUsdMicros }) => usdNumber(amountUsdMicros))
    .sort((a, b) => a - b);
  return {
    payments: amounts.length,
    min_usd: amounts[0] ?? null,
    median_usd: amounts[Math.ceil(amounts.length / 2) - 1] ?? null,
    max_usd: amounts.at(-1) ?? null,
  };
}
