import { setTimeout as sleep } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, type Sql, sql, uint64 } from '../../clickhouse/engine/sql.ts';
import { closeSlice, mergeRelayerTotals } from '../../ingest/rollup/close.ts';
import { formOf, loadDirtySlices, ROLLUP_LIMITS } from '../../ingest/rollup/due.ts';
import type { Slice } from '../../ingest/rollup/statements.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import {
  type BenchEngine,
  benchLog,
  type EngineOptions,
  numbersOf,
  rowsOf,
  run,
  startBenchEngine,
} from './engine.ts';
import { type Figure, judged, seconds, shown, timed, timeLeft } from './measure.ts';
import type { BenchContext } from './run.ts';
import { insertSynthetic, type RowSlice, SYNTHETIC_CHAINS, type SyntheticHistory } from './synthetic-rows.ts';

/** An index of a certain size, as ingest leaves it. */
export interface BenchIndex {
  readonly engine: BenchEngine;
  readonly rows: number;
  /** Milliseconds of inserting all rows, with their merges. */
  readonly seedMs: number;
  /** The cost of closing every day but the newest. */
  readonly closing: { readonly slices: number; readonly ms: number };
}

type Say = BenchContext['say'];

export const DAY_SECONDS = 86_400;
/** At least. */
const BULK_INSERTS = 10;
/** An insert of four million rows during merges of ten million did not fit into the engine's 4 GiB. */
const BULK_ROWS_PER_INSERT_MAX = 1_000_000;
/** The newest rows arrive in inserts of the size a live index makes, and stay in small parts for a while. */
const RECENT_INSERTS = 30;
const RECENT_ROWS_PER_INSERT = 200;
/** One row in 200 is written again (a window that was repeated after a crash), one in 500 is gone (a reorg). */
export const AGAIN_EVERY = 200;
export const TOMBSTONE_EVERY = 499;
const QUIET_POLL_MS = 500;
const QUIET_POLLS = 3;
const QUIET_TIMEOUT_MS = 120_000;
const REPORT_EVERY_MS = 5_000;

/** Unix seconds, 00:00 UTC. */
export function startOfToday(): number {
  return Math.floor(Date.now() / 1_000 / DAY_SECONDS) * DAY_SECONDS;
}

/** Starts an engine, fills it and closes every day before that of the newest row. */
export async function openIndex(
  { workspace, say }: Pick<BenchContext, 'workspace' | 'say'>,
  history: SyntheticHistory,
  options?: EngineOptions,
): Promise<BenchIndex> {
  const engine = await startBenchEngine(workspace, 'index', options);
  const { rows, newestTime } = history;
  const { ms: seedMs } = await timed(() => seedHistory(engine, history, say));
  say(`${rows} rows in ${seconds(seedMs)}`);
  const closing = await closeDays(engine, newestTime - (newestTime % DAY_SECONDS), say);
  return { engine, rows, seedMs, closing };
}

/**
 * Fills a migrated database: history in large inserts, merged by the engine itself in the background, then recent rows in small
 * inserts, repeated rows and tombstones. Nothing is optimised by hand, so FINAL has real work.
 */
export async function seedHistory(engine: BenchEngine, history: SyntheticHistory, say: Say): Promise<void> {
  const recent = RECENT_INSERTS * RECENT_ROWS_PER_INSERT;
  const bulk = history.rows - recent;
  const perInsert = Math.min(BULK_ROWS_PER_INSERT_MAX, Math.ceil(bulk / BULK_INSERTS));
  const began = performance.now();
  const versions = createVersions(0n);
  const insert = (slice: Omit<RowSlice, 'ver'>): Promise<void> =>
    run(engine, insertSynthetic(history, { ...slice, ver: versions.next() }));
  for (let from = 0; from < bulk; from += perInsert) {
    await insert({ from, count: Math.min(perInsert, bulk - from) });
    const done = Math.min(from + perInsert, bulk);
    say(`${done} of ${history.rows} rows${timeLeft(began, done, bulk)}`);
  }
  await insert({ from: 0, count: bulk, every: AGAIN_EVERY });
  await insert({ from: 0, count: bulk, every: TOMBSTONE_EVERY, tombstone: true });
  say('waiting for background merges');
  await untilMergesRest(engine);
  for (let from = bulk; from < history.rows; from += RECENT_ROWS_PER_INSERT) {
    await insert({ from, count: RECENT_ROWS_PER_INSERT });
  }
  const newest = { from: bulk, count: recent };
  await insert({ ...newest, every: AGAIN_EVERY });
  await insert({ ...newest, every: TOMBSTONE_EVERY, tombstone: true });
  await run(engine, chainStatus(history));
}

async function untilMergesRest(engine: BenchEngine): Promise<void> {
  const until = performance.now() + QUIET_TIMEOUT_MS;
  for (let quiet = 0; quiet < QUIET_POLLS && performance.now() < until; ) {
    const [merges] = await numbersOf(engine, sql`SELECT count() FROM system.merges`);
    quiet = merges === 0 ? quiet + 1 : 0;
    await sleep(QUIET_POLL_MS);
  }
}

/** Every chain is at its tip and final but for the newest quarter of an hour, as a live index would report. */
function chainStatus({ newestTime }: SyntheticHistory): Sql {
  return sql`INSERT INTO chain_status (chain, state, indexed_block, indexed_time, head_block, head_time, head_seen_at, finalized_block,
        rows_written, last_written_at, updated_at, ver)
      SELECT arrayJoin([${SYNTHETIC_CHAINS}]), 'following', tip.1, tip.2, tip.1, tip.2, ${dateTime(newestTime)}, tip.1 - 450, 1, tip.2, now64(3), ${uint64(1)}
      FROM (SELECT (max(block_number), max(block_time)) AS tip FROM settlements)`;
}

/** Closes every dirty slice before `todayStart` (Unix seconds), one by one, and merges relayers, as the rollup worker does. */
export async function closeDays({ writer }: BenchEngine, todayStart: number, say: Say) {
  const dirty = (await loadDirtySlices(writer)).filter(({ dayStart }) => dayStart < todayStart);
  const began = performance.now();
  let reported = began;
  let slices = 0;
  for (const [index, day] of dirty.entries()) {
    for (const slice of await formOf(writer, day, ROLLUP_LIMITS)) {
      await closeOne(writer, slice);
      slices += 1;
    }
    if (performance.now() - reported < REPORT_EVERY_MS) continue;
    reported = performance.now();
    say(`${index + 1} of ${dirty.length} days closed${timeLeft(began, index + 1, dirty.length)}`);
  }
  const merging = await timed(() => mergeRelayerTotals({ writer, versions: createVersions(0n) }));
  const ms = performance.now() - began;
  say(`relayers merged in ${seconds(merging.ms)}, ${dirty.length} days closed in ${seconds(ms)}`);
  return { slices, ms };
}

/** Computes one slice anew, whether it is dirty or not. */
export async function closeOne(writer: Writer, slice: Slice): Promise<void> {
  const { signal } = new AbortController();
  const outcome = await closeSlice({ writer, versions: createVersions(0n), log: benchLog(), signal }, slice);
  if (outcome !== 'closed') throw new Error(`a slice that only this bench computes is ${outcome}`);
}

/** Wallets by their number of settlements; the same ones are asked for after the index has grown. */
export interface BenchWallets {
  /** Paid most; at rank 1,000; paid least. */
  readonly merchants: Readonly<Record<WalletKind, readonly string[]>>;
  /** Paying most; a few hundred times; at most three times. */
  readonly payers: Readonly<Record<WalletKind, readonly string[]>>;
}

export const WALLET_KINDS = ['hot', 'mid', 'cold'] as const;
export type WalletKind = (typeof WALLET_KINDS)[number];

/** Counted over the settlements themselves, live rows only: rows of undone blocks are no activity of a wallet. */
export async function pickWallets(engine: BenchEngine): Promise<BenchWallets> {
  const pick = async (party: Sql, choice: Sql): Promise<string[]> => {
    const wallets = await rowsOf(
      engine,
      sql`SELECT concat('0x', lower(hex(${party}))), count() AS events
        FROM (SELECT payer, payee, del FROM settlements FINAL) WHERE del = 0 GROUP BY ${party} ${choice}`,
    );
    if (wallets.length === 0) throw new Error('no wallet of this kind');
    return wallets.map(([wallet]) => String(wallet));
  };
  const hot = sql`ORDER BY events DESC LIMIT 3`;
  const [payee, payer] = [sql`payee`, sql`payer`];
  return {
    merchants: {
      hot: await pick(payee, hot),
      mid: await pick(payee, sql`ORDER BY events DESC, cityHash64(payee) LIMIT 20 OFFSET 1000`),
      cold: await pick(payee, sql`ORDER BY events, cityHash64(payee) LIMIT 20`),
    },
    payers: {
      hot: await pick(payer, hot),
      mid: await pick(payer, sql`ORDER BY abs(toInt64(events) - 250), cityHash64(payer) LIMIT 20`),
      cold: await pick(payer, sql`HAVING events <= 3 ORDER BY cityHash64(payer) LIMIT 20`),
    },
  };
}

/** Bytes a settlement in all tables, from so many settlements on: below, fixed costs count. */
const DISK_MAX = 330;
const DISK_ROWS_FOR_GOAL = 16_000_000;
const MEBIBYTE = 1_048_576;

/**
 * What the tables take for each settlement. Tables below one byte are left out of the lines and counted in the sum. `size` ends the names
 * of the figures; '' for none.
 */
export async function diskFigures(engine: BenchEngine, settlements: number, size: string): Promise<Figure[]> {
  const rows = await rowsOf(
    engine,
    sql`SELECT table, sum(bytes_on_disk), sum(rows), sum(primary_key_bytes_in_memory_allocated)
      FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table ORDER BY 2 DESC`,
  );
  const tables = rows.map(([table, bytes, count, key]) => ({
    table: String(table).replaceAll('_', '-'),
    bytes: Number(bytes) / settlements,
    rows: Number(count) / settlements,
    key: Number(key),
  }));
  const end = size === '' ? '' : `-${size}`;
  const sum = (of: 'bytes' | 'key'): number => tables.reduce((total, table) => total + table[of], 0);
  const most = settlements < DISK_ROWS_FOR_GOAL ? undefined : DISK_MAX;
  return [
    ...tables
      .filter(({ bytes }) => bytes >= 1)
      .flatMap(({ table, bytes, rows: each }) => [
        shown(`disk-${table}${end}`, bytes, 'B/settlement'),
        shown(`rows-${table}${end}`, each, 'rows/settlement'),
      ]),
    judged(`disk-all${end}`, sum('bytes'), 'B/settlement', '<=', most),
    shown(`primary-keys${end}`, sum('key') / MEBIBYTE, 'MiB'),
  ];
}
