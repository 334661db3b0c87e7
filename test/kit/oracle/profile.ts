import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import type { Address } from '../../../core/domain/account.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { DUST_BELOW_USD_MICROS } from '../../../core/domain/data-quality.ts';

/** A profile recounted the slow way: every live settlement, loops and bigints, no SQL. */

export type Role = 'payee' | 'payer';

export interface TruthQuery {
  readonly wallet: Address;
  readonly role: Role;
  readonly chain?: Chain;
  /** Newest final block of each chain; absent: every row counts. */
  readonly final?: Readonly<Record<string, number>>;
  readonly nowSeconds: number;
}

const usdOf = (rows: readonly Settlement[]): bigint =>
  rows.reduce((sum, { amountUsdMicros }) => sum + amountUsdMicros, 0n);
const iso = (seconds: number): string => new Date(seconds * 1_000).toISOString().replace('.000', '');
const dateOf = (row: Settlement): string => iso(row.blockTime).slice(0, 10);

/** The settlements that the profile is about, newest first. */
export function settlementsOf(
  rows: Iterable<Settlement>,
  { wallet, chain, final }: TruthQuery,
): Settlement[] {
  return [...rows]
    .filter((row) => row.payer === wallet || row.payee === wallet)
    .filter((row) => row.kind === 'payment')
    .filter((row) => chain === undefined || row.chain === chain)
    .filter((row) => final === undefined || row.blockNumber <= (final[row.chain] ?? -1))
    .sort((a, b) => b.blockTime - a.blockTime);
}

function flows(rows: readonly Settlement[], wallet: Address) {
  const inbound = rows.filter(({ payee }) => payee === wallet);
  const outbound = rows.filter(({ payer }) => payer === wallet);
  return {
    inbound_usd: usdNumber(usdOf(inbound)),
    inbound_count: inbound.length,
    outbound_usd: usdNumber(usdOf(outbound)),
    outbound_count: outbound.length,
  };
}

const otherOf = (row: Settlement, wallet: Address): Address => (row.payer === wallet ? row.payee : row.payer);

export function trueAggregates(all: Iterable<Settlement>, query: TruthQuery) {
  const { wallet, role, nowSeconds } = query;
  const rows = settlementsOf(all, query);
  const mine = rows.filter((row) => row[role] === wallet);
  const self = rows.filter(({ payer, payee }) => payer === payee);
  const today = Math.floor(nowSeconds / 86_400);
  return {
    ...flows(rows, wallet),
    distinct_counterparties: new Set(
      rows.map((row) => otherOf(row, wallet)).filter((other) => other !== wallet),
    ).size,
    self_payment_usd: usdNumber(usdOf(self)),
    organic_usd: usdNumber(usdOf(mine) - usdOf(self)),
    proven_usd: usdNumber(usdOf(mine.filter(({ method }) => method === 'facilitator_relay'))),
    chain_split: [...new Set(rows.map(({ chain }) => chain))].sort().map((chain) => ({
      chain,
      ...flows(
        rows.filter((row) => row.chain === chain),
        wallet,
      ),
    })),
    daily: Array.from({ length: 30 }, (_, index) => {
      const date = iso((today - 29 + index) * 86_400).slice(0, 10);
      const ofDay = rows.filter((row) => dateOf(row) === date);
      return ofDay.length === 0 ? [] : [{ date, ...flows(ofDay, wallet) }];
    }).flat(),
    daily_window: { since: iso((today - 29) * 86_400).slice(0, 10), until: iso(today * 86_400).slice(0, 10) },
  };
}

/** `first_seen` and `last_seen`. */
export function trueSeen(all: Iterable<Settlement>, query: TruthQuery) {
  const times = settlementsOf(all, query).map(({ blockTime }) => blockTime);
  return {
    known: times.length > 0,
    first_seen: times.length === 0 ? null : iso(Math.min(...times)),
    last_seen: times.length === 0 ? null : iso(Math.max(...times)),
  };
}

/** Values of the shares over the newest `scanned` settlements, without dust, at four decimals rounded down. */
export function trueShares(all: Iterable<Settlement>, query: TruthQuery, scanned = Number.POSITIVE_INFINITY) {
  const { wallet, role } = query;
  const rows = settlementsOf(all, query)
    .slice(0, scanned)
    .filter(({ amountUsdMicros }) => amountUsdMicros >= DUST_BELOW_USD_MICROS);
  const mine = rows.filter((row) => row[role] === wallet);
  const others = mine.filter(({ payer, payee }) => payer !== payee);
  const back = new Set(
    rows.filter((row) => row[role] !== wallet && row.payer !== row.payee).map((row) => otherOf(row, wallet)),
  );
  const sums = new Map<Address, bigint>();
  for (const row of others)
    sums.set(otherOf(row, wallet), (sums.get(otherOf(row, wallet)) ?? 0n) + row.amountUsdMicros);
  const organic = usdOf(others);
  const share = (part: bigint, whole: bigint): number | null =>
    whole === 0n ? null : Number((part * 10_000n) / whole) / 10_000;
  return {
    self: share(usdOf(mine) - organic, usdOf(mine)),
    concentration: share(
      [...sums.values()].reduce((total, sum) => total + sum * sum, 0n),
      organic * organic,
    ),
    dominance: share([...sums.values()].sort((a, b) => (a < b ? 1 : -1))[0] ?? 0n, organic),
    reciprocity: share(usdOf(others.filter((row) => back.has(otherOf(row, wallet)))), organic),
  };
}
