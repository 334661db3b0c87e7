import { partnerFigures, SCAN_SUMS } from '../../../clickhouse/engine/counterparty-scan.ts';
import type { Reader, Row, Statement } from '../../../clickhouse/engine/engine.ts';
import { bigintField, integerField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, commaList, dateTime, type Sql, sql, text, uint32 } from '../../../clickhouse/engine/sql.ts';
import { type JudgedRole, type Judgement, judge, METHOD_VERSION } from '../../../core/domain/data-quality.ts';
import { ask } from '../ask.ts';
import type { Rollups } from '../index-state/rollups.ts';
import type { WalletLists } from './owners.ts';
import {
  decodeGroup,
  GROUP_COLUMNS,
  GROUPS_MAX,
  isOverAllGroups,
  type ProfileTotals,
  readProfileTotals,
  readRings,
  rowFigures,
  rowKeys,
  startOfDay,
  totalsOf,
  type WalletRing,
} from './profile-totals.ts';
import {
  askKept,
  askSmallWallet,
  fromWalletRows,
  keyConditions,
  WALLETS_RESOURCE,
  type WalletScope,
  WHOLE_ROWS_READ_MAX,
} from './scope.ts';
import { coverageFor } from './window.ts';

/** The counterparties of a wallet, from its newest rows: shares, reciprocity and exact distinct counts, which daily sums do not have. */

/**
 * Rows of a wallet that a scan of its newest ones reads at most, versions included; these are merged and grouped in about 20 ms. Above the cap the totals come from the
 * rollups, which cost the same for any wallet; all rows of the hottest one at 50 M settlements took 388 ms.
 */
export const SCAN_ROWS_MAX = 20_000;

const MAX_SECONDS = 10;
/** Eight granules of wallet_rows. With the engine's own blocks of 65,409 a look-up over five parts read a tenth more. */
const FLOOR_BLOCK_ROWS = 8_192;
/** Rows looked at for each row that a scan of one chain may have: a chain with a quarter of a wallet's rows fills its scan. */
const LOOKED_AT_PER_ROW = 4;

export interface CounterpartyScan {
  /** Unix seconds, where a pass of the worker scanned them; null: as of now. */
  readonly scannedAt: number | null;
  /** Settlements scanned, in both directions, a payment to oneself once. */
  readonly settlements: number;
  /** Distinct other wallets in both directions. */
  readonly counterparties: number;
  /** The judged role only, without dust; dollars in millionths. */
  readonly inRole: {
    readonly settlements: number;
    readonly usdMicros: bigint;
    readonly selfUsdMicros: bigint;
    readonly largestUsdMicros: bigint;
    readonly squaredUsdMicros: bigint;
    readonly reciprocalUsdMicros: bigint;
  };
}

/** Of a wallet without settlements. */
export const NOBODY_SCANNED: CounterpartyScan = {
  scannedAt: null,
  settlements: 0,
  counterparties: 0,
  inRole: {
    settlements: 0,
    usdMicros: 0n,
    selfUsdMicros: 0n,
    largestUsdMicros: 0n,
    squaredUsdMicros: 0n,
    reciprocalUsdMicros: 0n,
  },
};

/**
 * The block time that a scan of at most `rowsMax` rows must stay above; null when all rows fit. Not merged: it counts versions,
 * in key order, and stops at the bound. Chain and block are no prefix of the key, so rows of others are passed over, up to a
 * bound: a rare chain would be looked for through all of a busy wallet. A whole second is either in or out, so no version of a
 * row is cut off from the others.
 */
export async function readScanFloor(
  reader: Reader,
  scope: WalletScope,
  rowsMax: number,
): Promise<number | null> {
  const [ofWallet, ...others] = keyConditions(scope);
  const lookedAtMax = others.length === 0 ? rowsMax : rowsMax * LOOKED_AT_PER_ROW;
  const { rows } = await ask(reader, WALLETS_RESOURCE, {
    name: 'profile-scan-floor',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    settings: { read_in_order_use_virtual_row: 1, max_block_size: FLOOR_BLOCK_ROWS },
    sql: sql`SELECT greatest(arrayReverseSort(groupArrayIf(time, counts))[${uint32(rowsMax + 1)}],
        if(count() > ${uint32(lookedAtMax)}, min(time), 0))
      FROM (SELECT toUnixTimestamp(block_time) AS time, ${allOf(others)} AS counts FROM wallet_rows WHERE ${ofWallet}
        ORDER BY wallet DESC, block_time DESC LIMIT ${uint32(lookedAtMax + 1)})`,
  });
  const floor = integerField(rows[0]?.[0]);
  return floor === 0 ? null : floor;
}

/** Of the newest rows, those above `floor`: for wallets too large to be read whole. */
export async function scanCounterparties(
  reader: Reader,
  query: WalletScope & { readonly role: JudgedRole; readonly floor: number },
): Promise<CounterpartyScan> {
  const { wallet, role, floor } = query;
  const { rows } = await ask(reader, WALLETS_RESOURCE, {
    name: 'profile-counterparties',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT ${SCAN_COLUMNS} FROM (SELECT ${partnerFigures(wallet, role)}
      ${fromWalletRows(query, sql`block_time > ${dateTime(floor)}`)} GROUP BY counterparty)`,
  });
  return decodeScan(rows[0] ?? []);
}

/** The columns behind `decodeScan`, over all counterparties. */
const SCAN_COLUMNS: Sql = commaList(SCAN_SUMS.map((sum) => sql`toString(${sum})`));

function decodeScan(row: readonly unknown[], scannedAt: number | null = null): CounterpartyScan {
  return {
    scannedAt,
    settlements: integerField(row[0]),
    counterparties: integerField(row[1]),
    inRole: {
      settlements: integerField(row[2]),
      usdMicros: bigintField(row[3]),
      selfUsdMicros: bigintField(row[4]),
      largestUsdMicros: bigintField(row[5]),
      squaredUsdMicros: bigintField(row[6]),
      reciprocalUsdMicros: bigintField(row[7]),
    },
  };
}

/**
 * The same as the newest pass of verdicts by this method found it, up to an hour ago: null where the wallet was not large then, or only final
 * rows count.
 * So a profile of a busy wallet reads its days and today's rows, and not its newest 20,000.
 */
async function readKeptScan(
  reader: Reader,
  { role, ...scope }: WalletScope & { readonly role: JudgedRole },
): Promise<CounterpartyScan | null> {
  const rows = await askKept(reader, scope, {
    name: 'profile-kept-scan',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT settlements, counterparties, role_settlements, toString(usd), toString(self_usd), toString(largest_usd), toString(squared),
        toString(reciprocal_usd), toUnixTimestamp(judged_at)
      FROM large_wallets WHERE gen = (SELECT max(gen) FROM verdict_passes WHERE method_version = ${text(METHOD_VERSION)})
        AND wallet = ${text(scope.wallet)} AND chain = ${text(scope.chain ?? '')} AND role = ${text(role)}`,
  });
  const [row] = rows ?? [];
  return row === undefined ? null : decodeScan(row, integerField(row[8]));
}

/** Everything that the settlements say about one wallet in one role. */

/** Days of the chart, today included. */
export const CHART_DAYS = 30;

interface ProfileQuery extends WalletScope {
  readonly role: JudgedRole;
  readonly nowSeconds: number;
  readonly bounds: ProfileBounds;
}

export interface ProfileBounds {
  /** Rows of a wallet that a scan of its newest ones reads at most. A wallet without more is always read whole. */
  readonly scanRowsMax: number;
  /** Rows that a wallet may take to be read whole, whatever the number of its own. Of a snapshot it is another number. */
  readonly wholeRowsReadMax: number;
}

export const PROFILE_BOUNDS: ProfileBounds = {
  scanRowsMax: SCAN_ROWS_MAX,
  wholeRowsReadMax: WHOLE_ROWS_READ_MAX,
};

export interface Profile {
  readonly totals: ProfileTotals;
  readonly scan: CounterpartyScan;
  /** Older settlements than the scanned ones exist. */
  readonly scanTruncated: boolean;
  /** As of the newest finished pass, whatever the chain and finality asked for. */
  readonly rings: readonly WalletRing[];
  readonly counterparties: { readonly count: number; readonly exact: boolean };
}

/** The verdict on a wallet in the role that its profile was read for. */
export function judgeProfile({ totals, scan, rings }: Profile, role: JudgedRole): Judgement {
  const inRole = role === 'payee' ? totals.inbound : totals.outbound;
  return judge({ role, observed: inRole.count > 0, rings: rings.length, ...scan.inRole });
}

/**
 * A wallet that is read whole is counted from its rows, and everything about it is exact. The rollups only serve larger wallets,
 * whose totals stay exact while shares come from the newest rows.
 */
export async function readProfile(
  deps: { readonly reader: Reader; readonly rollups: Rollups; readonly lists: WalletLists },
  query: ProfileQuery,
): Promise<Profile> {
  const { reader, lists } = deps;
  const chartFrom = startOfDay(query.nowSeconds, CHART_DAYS - 1);
  const [counted, rings] = await Promise.all([
    readCounted(deps, { ...query, chartFrom }),
    lists.read<WalletRing[]>(['rings'], [], () => readRings(reader, query.wallet)),
  ]);
  return { ...counted, rings };
}

async function readCounted(
  deps: { readonly reader: Reader; readonly rollups: Rollups },
  query: ProfileQuery & { readonly chartFrom: number },
): Promise<Omit<Profile, 'rings'>> {
  const { reader } = deps;
  const { scanRowsMax, wholeRowsReadMax } = query.bounds;
  // Most wallets are small, and then this is all.
  const small = await readSmallWallet(reader, { ...query, wholeRowsReadMax });
  if (small !== null) return wholly(small);
  // What the engine finds too large nearly always is, so its totals are read at once.
  const [{ totals, partners }, scan] = await Promise.all([
    coverageFor({ reader, index: deps }, query).then((coverage) =>
      readProfileTotals(reader, { ...query, coverage }),
    ),
    readKeptScan(reader, query).then((kept) => kept ?? scanNewest(reader, query, scanRowsMax)),
  ]);
  if (scan === null) return wholly(await readWholeWallet(reader, query));
  // Rows of a rare chain are looked for no further than a bound, and then the scan may have seen all there are.
  if (scan.settlements >= settlementsOf(totals))
    return { totals, scan, scanTruncated: false, counterparties: exactly(scan) };
  const itself = totals.inbound.selfCount > 0 ? 1 : 0;
  const counterparties = { count: Math.max(0, partners - itself), exact: false };
  return { totals, scan, scanTruncated: true, counterparties };
}

/** Null where all rows fit into a scan. */
async function scanNewest(
  reader: Reader,
  query: WalletScope & { readonly role: JudgedRole },
  rowsMax: number,
): Promise<CounterpartyScan | null> {
  const floor = await readScanFloor(reader, query, rowsMax);
  return floor === null ? null : scanCounterparties(reader, { ...query, floor });
}

function wholly({ totals, scan }: WholeWallet): Omit<Profile, 'rings'> {
  return { totals, scan, scanTruncated: false, counterparties: exactly(scan) };
}

function exactly({ counterparties }: CounterpartyScan): Profile['counterparties'] {
  return { count: counterparties, exact: true };
}

/** A payment to oneself, which is in both directions, once. */
function settlementsOf({ inbound, outbound }: ProfileTotals): number {
  return inbound.count + outbound.count - inbound.selfCount;
}

/** Columns before the columns of the scan: the ten of a group. */
const SCAN_FROM = 10;

interface WholeWallet {
  readonly totals: ProfileTotals;
  readonly scan: CounterpartyScan;
}

type WholeWalletQuery = WalletScope & { readonly role: JudgedRole; readonly chartFrom: number };

/**
 * Totals and counterparties of a wallet from all of its rows, exact, in one pass over its log: reading it is most of the work, and
 * for a wallet that fits into a scan rollups would only cost more (9 ms against 44).
 */
export async function readWholeWallet(reader: Reader, query: WholeWalletQuery): Promise<WholeWallet> {
  return decodeWhole((await ask(reader, WALLETS_RESOURCE, wholeStatement(query))).rows);
}

/** The same, or null where that would read more than is reasonable without knowing how much the wallet did. */
export async function readSmallWallet(reader: Reader, query: WholeWalletQuery): Promise<WholeWallet | null> {
  const rows = await askSmallWallet(reader, query, [wholeStatement(query)]);
  return rows === null ? null : decodeWhole(rows);
}

function wholeStatement(query: WholeWalletQuery): Statement {
  const { wallet, role, chartFrom } = query;
  return {
    name: 'profile-whole-wallet',
    maxSeconds: MAX_SECONDS,
    maxRows: GROUPS_MAX,
    sql: sql`SELECT ${GROUP_COLUMNS}, ${SCAN_COLUMNS} FROM (
        SELECT ${rowKeys(chartFrom)}, ${rowFigures(wallet)}, ${partnerFigures(wallet, role)}
        ${fromWalletRows(query, sql`1`)} GROUP BY GROUPING SETS ((side, chain, chart_day), (counterparty)))
      GROUP BY side, chain, chart_day`,
  };
}

function decodeWhole(rows: readonly Row[]): WholeWallet {
  const [scan] = rows.filter(isOverAllGroups);
  const groups = rows.filter((row) => !isOverAllGroups(row));
  return {
    totals: totalsOf(groups.map(decodeGroup)),
    scan: scan === undefined ? NOBODY_SCANNED : decodeScan(scan.slice(SCAN_FROM)),
  };
}
