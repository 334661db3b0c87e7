import { setTimeout as sleep } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, type Sql, sql, uint64 } from '../../clickhouse/engine/sql.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { insertSynthetic, type Slice, SYNTHETIC_CHAINS, type SyntheticHistory } from './synthetic-rows.ts';
import { timeLeft } from './time-left.ts';

const STATEMENT_SECONDS_MAX = 600;
/** At least. */
const BULK_INSERTS = 10;
/** An insert of four million rows during merges of ten million did not fit into the engine's 4 GiB. */
const BULK_ROWS_PER_INSERT_MAX = 1_000_000;
/** The newest rows arrive in inserts of the size a live index makes, and stay in small parts for a while. */
const RECENT_INSERTS = 30;
const RECENT_ROWS_PER_INSERT = 200;
/** One row in 200 is written again (a window that was repeated after a crash), one in 500 is gone (a reorg). */
const AGAIN_EVERY = 200;
const TOMBSTONE_EVERY = 499;
const QUIET_POLL_MS = 500;
const QUIET_POLLS = 3;
const QUIET_TIMEOUT_MS = 120_000;

export interface PartState {
  readonly settlements: number;
  readonly walletLog: number;
}

/**
 * Fills a migrated database: history in large inserts, merged by the engine itself in the background, then recent rows in small
 * inserts, repeated rows and tombstones. Nothing is optimised by hand, so FINAL has real work.
 */
export async function seedHistory(
  writer: Writer,
  history: SyntheticHistory,
  say: (line: string) => void,
): Promise<PartState> {
  const recent = RECENT_INSERTS * RECENT_ROWS_PER_INSERT;
  const bulk = history.rows - recent;
  const perInsert = Math.min(BULK_ROWS_PER_INSERT_MAX, Math.ceil(bulk / BULK_INSERTS));
  const began = performance.now();
  const versions = createVersions(0n);
  const insert = (slice: Omit<Slice, 'ver'>): Promise<void> =>
    run(writer, insertSynthetic(history, { ...slice, ver: versions.next() }));
  for (let from = 0; from < bulk; from += perInsert) {
    await insert({ from, count: Math.min(perInsert, bulk - from) });
    const done = Math.min(from + perInsert, bulk);
    say(`${done} of ${history.rows} rows${timeLeft(began, done, bulk)}`);
  }
  await insert({ from: 0, count: bulk, every: AGAIN_EVERY });
  await insert({ from: 0, count: bulk, every: TOMBSTONE_EVERY, tombstone: true });
  say('waiting for background merges');
  await untilMergesRest(writer);
  for (let from = bulk; from < history.rows; from += RECENT_ROWS_PER_INSERT) {
    await insert({ from, count: RECENT_ROWS_PER_INSERT });
  }
  const newest = { from: bulk, count: recent };
  await insert({ ...newest, every: AGAIN_EVERY });
  await insert({ ...newest, every: TOMBSTONE_EVERY, tombstone: true });
  await writeChainStatus(writer, history);
  return partState(writer);
}

async function untilMergesRest(writer: Writer): Promise<void> {
  const deadline = performance.now() + QUIET_TIMEOUT_MS;
  for (let quiet = 0; quiet < QUIET_POLLS && performance.now() < deadline; ) {
    quiet = (await count(writer, sql`SELECT count() FROM system.merges`)) === 0 ? quiet + 1 : 0;
    await sleep(QUIET_POLL_MS);
  }
}

/** Every chain is at its tip and final but for the newest quarter of an hour, as a live index would report. */
async function writeChainStatus(writer: Writer, { newestTime }: SyntheticHistory): Promise<void> {
  await run(
    writer,
    sql`INSERT INTO chain_status (chain, state, indexed_block, indexed_time, head_block, head_time, head_seen_at, finalized_block,
        rows_written, last_written_at, updated_at, ver)
      SELECT arrayJoin([${SYNTHETIC_CHAINS}]), 'following', tip.1, tip.2, tip.1, tip.2, ${dateTime(newestTime)}, tip.1 - 450, 1, tip.2, now64(3), ${uint64(1)}
      FROM (SELECT (max(block_number), max(block_time)) AS tip FROM settlements)`,
  );
}

async function partState(writer: Writer): Promise<PartState> {
  const parts = (table: Sql): Sql =>
    sql`SELECT count() FROM system.parts WHERE active AND database = currentDatabase() AND table = ${table}`;
  return {
    settlements: await count(writer, parts(sql`'settlements'`)),
    walletLog: await count(writer, parts(sql`'wallet_rows'`)),
  };
}

async function count(writer: Writer, statement: Sql): Promise<number> {
  const { rows } = await writer.rows({ name: 'bench-count', sql: statement, maxSeconds: 60, maxRows: 1 });
  return Number(rows[0]?.[0]);
}

function run(writer: Writer, statement: Sql): Promise<void> {
  return writer.run({ name: 'bench-seed', sql: statement, maxSeconds: STATEMENT_SECONDS_MAX });
}
