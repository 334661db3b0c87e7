import { expressions } from '../../clickhouse/engine/account.ts';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, sql, trustedText, uint64 } from '../../clickhouse/engine/sql.ts';
import { PLAIN_MONTHS, PLAIN_SETTLEMENTS, plainColumns } from '../../clickhouse/tables/plain-settlements.ts';
import {
  addWalletIdKey,
  ensureWalletIdKey,
  type WalletIdKey,
  walletIdMark,
  walletIdText,
} from '../../clickhouse/tables/wallet-ids.ts';
import type { Clock } from '../../core/clock.ts';
import { VERSION_UNITS_PER_MS, versionTimeMs } from '../../core/domain/settlement.ts';
import type { Log } from '../../core/log.ts';
import { type DerivedTable, drawGeneration, dropOldGenerations, publish } from '../passes/derived-table.ts';
import type { Versions } from '../write/versions.ts';
import { COMPUTE_SETTINGS } from './close.ts';
import { HOUR_SECONDS, monthName } from './statements.ts';

/**
 * Copies months of settlements into plain_settlements, where scans need no FINAL (docs/design/storage.md). Analysts read a month from
 * its copy while plain_coverage says that nothing was written to it since, and from `settlements` otherwise: a copy that is late or
 * missing costs time, never a row.
 */

/** A million rows take about two seconds; a machine under load may need a multiple of it. */
const COPY_MAX_SECONDS = 300;
const LOOK_MAX_SECONDS = 30;
const MONTHS_MAX = 10_000;
/** Copies that were replaced longer ago are dropped: no query, and no other worker's copy, takes as long. */
const REPLACED_KEPT_MS = 30 * 60_000;
/** Two workers that begin at once must not write under one generation; a second, in its units. */
const GENERATIONS_SPREAD = 1_000_000_000;
/** Share of the time that copying one month may take: a large month is copied less often. */
const COPYING_SHARE = 1 / 50;

export interface PlainMonthLimits {
  /** How long ago an hour must have ended: blocks arrive late, and reorgs reach back minutes. */
  readonly closeAfterMs: number;
  /** How long nothing must have been written to the month's ended hours, so that a backfill does not have it copied for ever. */
  readonly quietMs: number;
  /** Minimum interval between two copies of a month. */
  readonly copyEveryMs: number;
}

export interface PlainMonthDeps {
  readonly writer: Writer;
  /** Reaches the wallets of all shards; default: `writer`. */
  readonly wholeIndex?: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly clock: Clock;
  readonly limits: PlainMonthLimits;
}

interface Month {
  /** Unix seconds. */
  readonly start: number;
  /** Unix seconds up to which it would be copied now. */
  readonly until: number;
  /** Inserts that have touched its hours before `until`. */
  readonly writes: bigint;
  /** The newest of them. */
  readonly ver: bigint;
  readonly isCurrent: boolean;
}

/** `changed`: the month was written to while it was copied. */
export type CopyOutcome = 'copied' | 'changed';

/** Remembers when it copied what; one for each worker. */
export function createMonthCopies(deps: PlainMonthDeps): {
  /** Copies the newest month that is due; null when none is. */
  refresh(): Promise<CopyOutcome | null>;
} {
  const { writer, clock, limits } = deps;
  const wholeIndex = deps.wholeIndex ?? writer;
  /** Of the views that this process made when it started. */
  let key: WalletIdKey | null = null;
  const notBefore = new Map<number, number>();
  const isDue = ({ start, isCurrent, ver }: Month, nowMs: number): boolean =>
    !isCurrent && nowMs - versionTimeMs(ver) >= limits.quietMs && nowMs >= (notBefore.get(start) ?? 0);
  return {
    async refresh() {
      const beganMs = clock.nowMs();
      await dropOldGenerations(writer, monthCopies(beganMs));
      const months = await readMonths(writer, beganMs - limits.closeAfterMs);
      const due = months.find((month) => isDue(month, beganMs));
      if (due === undefined) return null;
      key ??= await ensureWalletIdKey(wholeIndex);
      await checkIds(wholeIndex, deps.log, key);
      const outcome = await copyMonth(deps, due, key);
      const endedMs = clock.nowMs();
      notBefore.set(due.start, endedMs + Math.max(limits.copyEveryMs, (endedMs - beganMs) / COPYING_SHARE));
      return outcome;
    },
  };
}

/** Every month with an hour that ended before `endedMs`, as it stands now. */
async function readMonths(writer: Writer, endedMs: number): Promise<Month[]> {
  const ended = Math.floor(endedMs / 1_000 / HOUR_SECONDS) * HOUR_SECONDS;
  const { rows } = await writer.rows({
    name: 'plain-months-due',
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: MONTHS_MAX,
    sql: sql`SELECT toUnixTimestamp(toDateTime(month, 'UTC')), toUnixTimestamp(until), writes, ver,
        (month, until) IN (SELECT month, until FROM plain_coverage WHERE is_plain)
      FROM (
        SELECT toStartOfMonth(hour) AS month, max(hour) + ${uint64(HOUR_SECONDS)} AS until, sum(hour_ver.writes) AS writes,
          max(hour_ver.ver) AS ver
        FROM hour_ver WHERE hour < ${dateTime(ended)} GROUP BY month)
      ORDER BY month DESC`,
  });
  return rows.map(([start, until, writes, ver, isCurrent]) => ({
    start: Number(start),
    until: Number(until),
    writes: BigInt(String(writes)),
    ver: BigInt(String(ver)),
    isCurrent: Number(isCurrent) === 1,
  }));
}

/**
 * Copies a month. Can be interrupted anywhere and repeated, by any number of workers: a copy is seen once it is recorded, and its
 * generation is of one attempt only. The writes were counted before the rows are read, so a write that the copy may lack makes it
 * outdated.
 */
async function copyMonth(
  { writer, versions, log, clock }: PlainMonthDeps,
  month: Month,
  key: WalletIdKey,
): Promise<CopyOutcome> {
  const began = performance.now();
  const copies = monthCopies(clock.nowMs());
  const gen = await drawGeneration(writer, copies, { fresh: versions.next(), spread: GENERATIONS_SPREAD });
  const columns = plainColumns(key);
  const visible = sql`FROM settlements FINAL
    WHERE del = 0 AND block_time >= ${dateTime(month.start)} AND block_time < ${dateTime(month.until)}`;
  await writer.run({
    name: `plain-copy ${monthName(month.start)}`,
    maxSeconds: COPY_MAX_SECONDS,
    settings: COMPUTE_SETTINGS,
    sql: sql`INSERT INTO ${trustedText(PLAIN_SETTLEMENTS.name)} (${trustedText(Object.keys(columns).join(', '))}, gen)
      SELECT ${trustedText(Object.values(columns).join(', '))}, ${uint64(gen)} ${visible}`,
  });
  // An insert whose answer was lost may have been sent again.
  const { rows } = await writer.rows({
    name: `plain-check ${monthName(month.start)}`,
    maxSeconds: COPY_MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT (SELECT count() FROM plain_settlements WHERE gen = ${uint64(gen)}), (SELECT count() ${visible})`,
  });
  const [copied, there] = (rows[0] ?? []).map(Number);
  const outcome: CopyOutcome = copied === there ? 'copied' : 'changed';
  if (outcome === 'copied')
    await publish(writer, copies, gen, {
      month: sql`toDate(${dateTime(month.start)})`,
      until: dateTime(month.until),
      writes: uint64(month.writes),
      id_key: trustedText(walletIdMark(key)),
    });
  const tookMs = Math.round(performance.now() - began);
  log.debug({ month: monthName(month.start), outcome, rows: copied, tookMs }, 'month copied for scans');
  return outcome;
}

/**
 * Looks for two wallets of one id among all that were ever seen. The chance is one in forty among a billion wallets, and one in 400,000
 * among ten million. If there are two, a new key is made; ids change when the processes start again, and until then only those two are wrong.
 */
async function checkIds(wholeIndex: Writer, log: Log, key: WalletIdKey): Promise<void> {
  const wallet = expressions.accountText('wallet');
  const id = trustedText(walletIdText(key, wallet));
  const { rows } = await wholeIndex.rows({
    name: 'wallet-id-check',
    maxSeconds: COPY_MAX_SECONDS,
    maxRows: 1,
    settings: COMPUTE_SETTINGS,
    sql: sql`SELECT ${trustedText(`min(${wallet}), max(${wallet})`)}
      FROM (SELECT wallet FROM wallet_seen GROUP BY wallet) GROUP BY ${id} HAVING count() > 1 LIMIT 1`,
  });
  if (rows.length === 0) return;
  await addWalletIdKey(wholeIndex, key.made + 1n);
  log.error(
    { wallets: rows[0] },
    'two wallets have one id: restart every process, which gives all wallets new ids',
  );
}

/**
 * Unlike the passes over one table, each month has a newest copy of its own, so how long ago a copy was begun tells whether it is old:
 * a generation is above that time (versions.ts).
 */
function monthCopies(nowMs: number): DerivedTable {
  const before = BigInt(nowMs - REPLACED_KEPT_MS) * VERSION_UNITS_PER_MS;
  return {
    name: 'plain',
    rows: [PLAIN_SETTLEMENTS],
    passes: PLAIN_MONTHS,
    isOld: sql`gen < ${uint64(before)} AND gen NOT IN (SELECT gen FROM plain_months FINAL)`,
  };
}
