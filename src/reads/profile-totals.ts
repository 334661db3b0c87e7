import type { Reader } from '../../clickhouse/engine.ts';
import { dateTime, type Sql, sql, text } from '../../clickhouse/sql.ts';
import { microsFromDecimal } from '../domain/amount.ts';
import type { Chain } from '../domain/chain.ts';
import { ask } from './ask.ts';
import { integerField, textField } from './decode.ts';
import { closedRows, PROFILE_RESOURCE, type ProfileScope, unionAll, walletRows } from './profile-scope.ts';
import { DAY_SECONDS, openRows, type RollupCoverage } from './rollup-coverage.ts';

/** Exact sums of a wallet: closed slices from the rollups, everything else from the wallet's rows, in one statement. */

export interface Tally {
  readonly count: number;
  readonly usdMicros: bigint;
  /** The part with payer = payee, which is in both directions. */
  readonly selfCount: number;
  readonly selfUsdMicros: bigint;
  readonly provenUsdMicros: bigint;
}

/** `inbound`: the wallet was paid. Both directions include payments to itself. */
export interface Directions {
  readonly inbound: Tally;
  readonly outbound: Tally;
}

export interface ProfileTotals extends Directions {
  /** Only chains with settlements, in order of their names. */
  readonly chains: readonly ({ readonly chain: Chain } & Directions)[];
  /** By date (YYYY-MM-DD), the newest days only; days without settlements are absent. */
  readonly days: ReadonlyMap<string, Directions>;
  /** Unix seconds; null without settlements. */
  readonly firstSeen: number | null;
  readonly lastSeen: number | null;
}

export interface TotalsQuery extends ProfileScope {
  readonly coverage: RollupCoverage;
  /** Unix seconds: from this day on, figures are also kept by day. */
  readonly chartFrom: number;
}

/** Everything from the rows: for wallets small enough that the rollups would only cost more (9 ms against 44, engine.md 4.2). */
export const ALL_LIVE: RollupCoverage = { open: [{ from: 0, to: null }], splitDays: [] };

const MAX_SECONDS = 10;
/** Two directions, open and closed, on five hundred chains over a month. */
const GROUPS_MAX = 62_000;
const NOTHING: Tally = { count: 0, usdMicros: 0n, selfCount: 0, selfUsdMicros: 0n, provenUsdMicros: 0n };

export const NO_FLOWS: Directions = { inbound: NOTHING, outbound: NOTHING };

interface Group {
  readonly inbound: boolean;
  readonly chain: Chain;
  /** '' below the chart. */
  readonly day: string;
  readonly tally: Tally;
  readonly first: number;
  readonly last: number;
}

export async function readProfileTotals(reader: Reader, query: TotalsQuery): Promise<ProfileTotals> {
  const parts = [liveGroups(query)];
  if (query.coverage !== ALL_LIVE) parts.push(...closedGroups(query));
  const { rows } = await ask(reader, PROFILE_RESOURCE, {
    name: 'profile-totals',
    maxSeconds: MAX_SECONDS,
    maxRows: GROUPS_MAX,
    sql: unionAll(parts),
  });
  return totalsOf(rows.map(decodeGroup));
}

function liveGroups({ wallet, coverage, chartFrom, ...scope }: TotalsQuery): Sql {
  const isSelf = sql`counterparty = unhex(${text(wallet.slice(2))})`;
  return sql`SELECT role = 'payee' AS side, chain,
      if(block_time >= ${dateTime(chartFrom)}, toString(toDate(block_time)), '') AS chart_day,
      count(), toString(sum(amount_usd)), countIf(${isSelf}), toString(sumIf(amount_usd, ${isSelf})),
      toString(sumIf(amount_usd, method = 'facilitator_relay')),
      toUnixTimestamp(min(block_time)), toUnixTimestamp(max(block_time))
    FROM ${walletRows({ wallet, ...scope }, openRows(coverage))} GROUP BY side, chain, chart_day`;
}

function closedGroups({ coverage, chartFrom, ...scope }: TotalsQuery): Sql[] {
  const { received, paid } = closedRows(scope, coverage);
  const figures = sql`chain, if(toDateTime(day, 'UTC') >= ${dateTime(chartFrom)}, toString(day), '') AS chart_day,
    sum(settlement_count), toString(sum(settled_usd)), sum(self_count), toString(sum(self_usd)),
    toString(sum(proven_usd)), toUnixTimestamp(min(first_time)), toUnixTimestamp(max(last_time))`;
  return [
    sql`SELECT toUInt8(1) AS side, ${figures} FROM ${received} GROUP BY chain, chart_day`,
    sql`SELECT toUInt8(0) AS side, ${figures} FROM ${paid} GROUP BY chain, chart_day`,
  ];
}

function decodeGroup(row: readonly unknown[]): Group {
  return {
    inbound: integerField(row[0]) !== 0,
    chain: textField(row[1]) as Chain, // written by ingest from `Chain` values only
    day: textField(row[2]),
    tally: {
      count: integerField(row[3]),
      usdMicros: microsFromDecimal(textField(row[4])),
      selfCount: integerField(row[5]),
      selfUsdMicros: microsFromDecimal(textField(row[6])),
      provenUsdMicros: microsFromDecimal(textField(row[7])),
    },
    first: integerField(row[8]),
    last: integerField(row[9]),
  };
}

function totalsOf(groups: readonly Group[]): ProfileTotals {
  const byChain = groupBy(groups, ({ chain }) => chain);
  const byDay = groupBy(
    groups.filter(({ day }) => day !== ''),
    ({ day }) => day,
  );
  return {
    ...directionsOf(groups),
    chains: [...byChain]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([chain, part]) => ({ chain, ...directionsOf(part) })),
    days: new Map([...byDay].map(([day, part]) => [day, directionsOf(part)])),
    firstSeen:
      groups.length === 0 ? null : groups.reduce((least, { first }) => Math.min(least, first), Infinity),
    lastSeen: groups.length === 0 ? null : groups.reduce((most, { last }) => Math.max(most, last), 0),
  };
}

function groupBy<Key>(groups: readonly Group[], keyOf: (group: Group) => Key): Map<Key, Group[]> {
  const grouped = new Map<Key, Group[]>();
  for (const group of groups) {
    const key = keyOf(group);
    const part = grouped.get(key);
    if (part === undefined) grouped.set(key, [group]);
    else part.push(group);
  }
  return grouped;
}

function directionsOf(groups: readonly Group[]): Directions {
  return {
    inbound: sumOf(groups.filter(({ inbound }) => inbound)),
    outbound: sumOf(groups.filter(({ inbound }) => !inbound)),
  };
}

function sumOf(groups: readonly Group[]): Tally {
  return groups.reduce<Tally>(
    (sum, { tally }) => ({
      count: sum.count + tally.count,
      usdMicros: sum.usdMicros + tally.usdMicros,
      selfCount: sum.selfCount + tally.selfCount,
      selfUsdMicros: sum.selfUsdMicros + tally.selfUsdMicros,
      provenUsdMicros: sum.provenUsdMicros + tally.provenUsdMicros,
    }),
    NOTHING,
  );
}

/** Start of the UTC day that `time` is in, `daysBack` days earlier. */
export function startOfDay(time: number, daysBack = 0): number {
  return (Math.floor(time / DAY_SECONDS) - daysBack) * DAY_SECONDS;
}
