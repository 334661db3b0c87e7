import { createHash } from 'node:crypto';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { createWriter } from '../../clickhouse/engine/http-engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import { migrate } from '../../clickhouse/migrate/migrate.ts';
import type { Settlement } from '../../clickhouse/tables/settlements.ts';
import { address } from '../../core/domain/address.ts';
import type { Hash } from '../../core/domain/settlement.ts';
import { NO_ROWS } from '../../ingest/write/batch-rows.ts';
import { createBatchWriter } from '../../ingest/write/batch-writer.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { settlement } from '../../test/kit/rows.ts';
import { benchLog, startBenchEngine } from '../support/bench-engine.ts';
import type { Figure } from '../support/figure.ts';
import { median, timed } from '../support/quantiles.ts';
import type { BenchContext, BenchPart } from '../support/run-bench.ts';

/**
 * Our write path (encode in JavaScript, HTTP, parse, insert, views) against the engine copying the same rows inside itself into
 * an identical schema. Both include the views, the sort and the fsync; the difference is how the rows get into the engine.
 */
export const writePath: BenchPart = {
  name: 'write-path',
  summary: 'encode and insert against the engine’s own INSERT … SELECT of the same rows',
  run: runWritePath,
};

const ROWS = 1_000_000;
const ROWS_QUICK = 200_000;
const ROUNDS = 3;
/** About as many as a backfill window yields (ingest/follow/backfill.ts). */
const ROWS_PER_WINDOW = 5_000;
const RATIO_GOAL = 0.5;
const COPY_SECONDS_MAX = 600;

async function runWritePath({ quick, workspace, say }: BenchContext): Promise<Figure[]> {
  const rows = quick ? ROWS_QUICK : ROWS;
  const engine = await startBenchEngine(workspace, 'write-path');
  const log = benchLog();
  const other = { ...engine.access, database: 'settlement_index_copy' };
  await migrate(other, log);
  const copying = createWriter(other, log);
  const settlements = madeUpSettlements(rows);

  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await emptyTables(engine.writer);
    await emptyTables(copying);
    const write = await timed(() => writeAll(engine.writer, settlements));
    await requireRows(engine.writer, rows);
    await stage(engine.writer);
    const copy = await timed(() => copyAll(copying));
    await requireRows(copying, rows);
    ours.push(rows / (write.ms / 1000));
    theirs.push(rows / (copy.ms / 1000));
    say(`round ${round + 1}: ours ${rate(ours.at(-1))}, INSERT … SELECT ${rate(theirs.at(-1))}`);
  }
  await copying.close();
  await engine.stop();
  // Round by round, so that a busy moment of the machine affects both.
  const ratio = median(ours.map((rate, round) => rate / (theirs[round] ?? Number.NaN)));
  return [
    { name: 'write-path-rate', value: median(ours), unit: 'rows/s', goal: '-', ok: true },
    { name: 'write-path-insert-select-rate', value: median(theirs), unit: 'rows/s', goal: '-', ok: true },
    {
      name: 'write-path-against-insert-select',
      value: ratio,
      unit: 'x',
      goal: `>=${RATIO_GOAL}`,
      ok: ratio >= RATIO_GOAL,
    },
  ];
}

/** The product's own batch writer, fed by windows as a backfill feeds it. */
async function writeAll(writer: Writer, settlements: readonly Settlement[]): Promise<void> {
  const chain = 'eip155:8453';
  const signal = new AbortController().signal;
  const batches = createBatchWriter({ chain, writer, versions: createVersions(0n), log: benchLog(), signal });
  const windows: Promise<void>[] = [];
  for (let at = 0; at < settlements.length; at += ROWS_PER_WINDOW) {
    windows.push(batches.write({ ...NO_ROWS, settlements: settlements.slice(at, at + ROWS_PER_WINDOW) }));
  }
  await Promise.all(windows);
}

/** A plain table of the same rows, in the same order as they were written. */
async function stage(writer: Writer): Promise<void> {
  await writer.run({
    name: 'bench-drop',
    maxSeconds: 60,
    sql: sql`DROP TABLE IF EXISTS settlement_index_copy.staging SYNC`,
  });
  await writer.run({
    name: 'bench-stage',
    maxSeconds: COPY_SECONDS_MAX,
    sql: sql`CREATE TABLE settlement_index_copy.staging ENGINE = MergeTree ORDER BY (ver, block_number, log_index)
      AS SELECT * FROM settlement_index.settlements`,
  });
}

async function copyAll(writer: Writer): Promise<void> {
  await writer.run({
    name: 'bench-copy',
    maxSeconds: COPY_SECONDS_MAX,
    sql: sql`INSERT INTO settlements SELECT * FROM staging`,
  });
}

async function emptyTables(writer: Writer): Promise<void> {
  for (const statement of [
    sql`TRUNCATE TABLE settlements SYNC`,
    sql`TRUNCATE TABLE wallet_rows SYNC`,
    sql`TRUNCATE TABLE hour_ver SYNC`,
  ]) {
    await writer.run({ name: 'bench-truncate', maxSeconds: 60, sql: statement });
  }
}

/** A write path that loses rows is infinitely fast. */
async function requireRows(writer: Writer, rows: number): Promise<void> {
  const answer = await writer.rows({
    name: 'bench-count',
    maxSeconds: 60,
    maxRows: 1,
    sql: sql`SELECT (SELECT count() FROM settlements), (SELECT count() FROM wallet_rows)`,
  });
  const [settlements, walletRows] = (answer.rows[0] ?? []).map(Number);
  if (settlements !== rows || walletRows !== 2 * rows) {
    throw new Error(`wrote ${rows} settlements, found ${settlements} and ${walletRows} wallet rows`);
  }
}

/** Distinct hashes and amounts, three rows a block, two seconds a block, payers and payees that repeat. */
function madeUpSettlements(rows: number): Settlement[] {
  const asset = address('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913');
  const parties = Array.from({ length: 20_000 }, (_, index) =>
    address(`0x${digest(`party ${index}`).slice(0, 40)}`),
  );
  const relayers = parties.slice(0, 50);
  const party = (seed: number): (typeof parties)[number] => parties[seed % parties.length] ?? asset;
  return Array.from({ length: rows }, (_, index) => {
    const block = Math.floor(index / 3);
    return settlement({
      chain: 'eip155:8453',
      blockNumber: 20_000_000 + block,
      blockTime: 1_780_000_000 + 2 * block,
      txHash: `0x${digest(`tx ${index}`)}` satisfies Hash,
      logIndex: 7 * (index % 3) + 1,
      payer: party(index * 7_919),
      payee: party(index * 104_729 + 1),
      asset,
      assetSymbol: 'USDC',
      amount: BigInt(1_000 + (index % 1_000_000)),
      amountUsdMicros: BigInt(1_000 + (index % 1_000_000)),
      relayer: relayers[index % relayers.length] ?? asset,
      facilitator: index % 3 === 0 ? '' : `fac-${index % 20}`,
      method: index % 3 === 0 ? 'gasless_authorization' : 'facilitator_relay',
      seen: 21,
    });
  });
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function rate(perSecond: number | undefined): string {
  return `${Math.round((perSecond ?? 0) / 1000)} krows/s`;
}
