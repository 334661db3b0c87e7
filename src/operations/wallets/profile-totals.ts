import { addressBytes } from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { dateTime, type Sql, sql, text, uint32, unionAll } from '../../../clickhouse/engine/sql.ts';
import { DAY_SECONDS, openRows, type RollupCoverage } from '../../../clickhouse/tables/coverage.ts';
import type { Address } from '../../../core/domain/account.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { ask } from '../ask.ts';
import { fromClosedRows, fromWalletRows, WALLETS_RESOURCE, type WalletScope } from './scope.ts';

/** Exact sums of a wallet: closed slices from the rollups, everything else from the wallet's rows, in one statement. */

interface Tally {
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

interface TotalsQuery extends WalletScope {
  readonly coverage: RollupCoverage;
  /** Unix seconds: from this day on, figures are also kept by day. */
  readonly chartFrom: number;
}

const MAX_SECONDS = 10;
/** Two directions on a thousand chains over a month and the units below it. */
export const GROUPS_MAX = 62_000;
const NOTHING: Tally = { count: 0, usdMicros: 0n, selfCount: 0, selfUsdMicros: 0n, provenUsdMicros: 0n };

interface ProfileGroup {
  readonly inbound: boolean;
  readonly chain: Chain;
  /** '' below the chart. */
  readonly day: string;
  readonly tally: Tally;
  readonly first: number;
  readonly last: number;
}

/** Totals with an estimate of the distinct wallets dealt with, the wallet itself among them if it paid itself. */
interface EstimatedTotals {
  readonly totals: ProfileTotals;
  /** Of the merged states of the rollups: standard error about 2 % (uniqCombined64 of 2^12 cells). */
  readonly partners: number;
}

/** For wallets too large to be read whole. */
export async function readProfileTotals(reader: Reader, query: TotalsQuery): Promise<EstimatedTotals> {
  const parts = unionAll([liveGroups(query), ...closedGroups(query)]);
  const { rows } = await ask(reader, WALLETS_RESOURCE, {
    name: 'profile-totals',
    maxSeconds: MAX_SECONDS,
    maxRows: GROUPS_MAX,
    sql: sql`SELECT ${GROUP_COLUMNS}, uniqCombined64Merge(12)(partners)
      FROM (${parts}) GROUP BY GROUPING SETS ((side, chain, chart_day), ())`,
  });
  const [all] = rows.filter(isOverAllGroups);
  const groups = rows.filter((row) => !isOverAllGroups(row));
  return {
    totals: totalsOf(groups.map(decodeGroup)),
    partners: all === undefined ? 0 : integerField(all.at(-1)),
  };
}

/** What one group of rows adds up to, from the rows of wallet_rows. */
export function rowFigures(wallet: Address): Sql {
  const isSelf = sql`counterparty = ${addressBytes(wallet)}`;
  return sql`count() AS n, sum(amount_usd) AS usd, countIf(${isSelf}) AS self_n, sumIf(amount_usd, ${isSelf}) AS self_usd,
    sumIf(amount_usd, method = 'facilitator_relay') AS proven_usd, min(block_time) AS first, max(block_time) AS last`;
}

/** The keys of a group: the direction, the chain, and the date of rows that the chart shows, '' below it. */
export function rowKeys(chartFrom: number): Sql {
  return sql`role = 'payee' AS side, chain, if(block_time >= ${dateTime(chartFrom)}, toString(toDate(block_time)), '') AS chart_day`;
}

/** The columns behind `decodeGroup`, of groups of figures. */
export const GROUP_COLUMNS: Sql = sql`side, chain, chart_day, sum(n), toString(sum(usd)), sum(self_n), toString(sum(self_usd)),
  toString(sum(proven_usd)), toUnixTimestamp(min(first)), toUnixTimestamp(max(last))`;

function liveGroups({ coverage, chartFrom, ...scope }: TotalsQuery): Sql {
  return sql`SELECT ${rowKeys(chartFrom)}, ${rowFigures(scope.wallet)}, uniqCombined64State(12)(counterparty) AS partners
    ${fromWalletRows(scope, openRows(coverage))} GROUP BY side, chain, chart_day`;
}

function closedGroups({ coverage, chartFrom, ...scope }: TotalsQuery): Sql[] {
  const { received, paid } = fromClosedRows(scope, coverage);
  const keys = sql`chain, if(toDateTime(day, 'UTC') >= ${dateTime(chartFrom)}, toString(day), '') AS chart_day`;
  const figures = sql`sum(settlement_count), sum(settled_usd), sum(self_count), sum(self_usd), sum(proven_usd),
    min(first_time), max(last_time)`;
  return [
    sql`SELECT toUInt8(1), ${keys}, ${figures}, uniqCombined64MergeState(12)(payers) ${received} GROUP BY chain, chart_day`,
    sql`SELECT toUInt8(0), ${keys}, ${figures}, uniqCombined64MergeState(12)(payees) ${paid} GROUP BY chain, chart_day`,
  ];
}

/**
 * Whether a row is of the grouping set without the keys: it has no chain. The engine's own `grouping()` would say the same, but some
 * versions refuse it over several nodes.
 */
export function isOverAllGroups(row: readonly unknown[]): boolean {
  return row[1] === '';
}

export function decodeGroup(row: readonly unknown[]): ProfileGroup {
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

export function totalsOf(groups: readonly ProfileGroup[]): ProfileTotals {
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

function groupBy<Key>(
  groups: readonly ProfileGroup[],
  keyOf: (group: ProfileGroup) => Key,
): Map<Key, ProfileGroup[]> {
  const grouped = new Map<Key, ProfileGroup[]>();
  for (const group of groups) {
    const key = keyOf(group);
    const part = grouped.get(key);
    if (part === undefined) grouped.set(key, [group]);
    else part.push(group);
  }
  return grouped;
}

function directionsOf(groups: readonly ProfileGroup[]): Directions {
  return {
    inbound: sumOf(groups.filter(({ inbound }) => inbound)),
    outbound: sumOf(groups.filter(({ inbound }) => !inbound)),
  };
}

function sumOf(groups: readonly ProfileGroup[]): Tally {
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

/** A cycle of payments that a wallet is part of: each member paid the next, the last paid the first. */
export interface WalletRing {
  /** Members, 2 to 4. */
  readonly length: number;
  /** From the smallest address on, in the direction of the payments. */
  readonly members: readonly Address[];
  /** The smallest sum that any member paid to the next in the window: what can have gone round. */
  readonly bottleneckUsdMicros: bigint;
  /** Unix seconds; the first that the window no longer covers. */
  readonly windowEnd: number;
  readonly methodVersion: string;
}

const RINGS_MAX_SECONDS = 5;
/** At least what a pass keeps for each wallet (ingest/rings/edges.ts). */
const RINGS_PER_WALLET_MAX = 32;

/**
 * The rings of one wallet as of the newest finished pass, strongest first; none when no pass has finished yet.
 * Throws `upstream_unavailable` when the engine fails.
 */
export async function readRings(reader: Reader, wallet: Address): Promise<WalletRing[]> {
  const { rows } = await ask(reader, WALLETS_RESOURCE, {
    name: 'wallet-rings',
    maxSeconds: RINGS_MAX_SECONDS,
    maxRows: RINGS_PER_WALLET_MAX,
    sql: sql`SELECT length, members, toString(bottleneck_usd), toUnixTimestamp(window_end), method_version
      FROM wallet_rings WHERE gen = (SELECT max(gen) FROM ring_passes) AND wallet = ${text(wallet)}
      ORDER BY bottleneck_usd DESC, length, members LIMIT ${uint32(RINGS_PER_WALLET_MAX)}`,
  });
  return rows.map(decodeRing);
}

function decodeRing(row: readonly unknown[]): WalletRing {
  const members = row[1];
  if (!Array.isArray(members)) throw new TypeError('wallet-rings: members are not a list');
  return {
    length: integerField(row[0]),
    members: members.map((member) => textField(member) as Address), // written by ingest from addresses only
    bottleneckUsdMicros: microsFromDecimal(textField(row[2])),
    windowEnd: integerField(row[3]),
    methodVersion: textField(row[4]),
  };
}
