import { createHash } from 'node:crypto';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { createWriter } from '../../clickhouse/engine/http-engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import { migrate } from '../../clickhouse/migrate/migrate.ts';
import type { Settlement } from '../../clickhouse/tables/settlements.ts';
import { address } from '../../core/domain/account.ts';
import { NO_ROWS } from '../../ingest/write/batch-rows.ts';
import { createBatchWriter } from '../../ingest/write/batch-writer.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { settlement } from '../../test/kit/rows.ts';
import { benchLog, emptyTables, requireSettlements, run, startBenchEngine } from '../lab/engine.ts';
import { inTurn, judged, median, shown, timed } from '../lab/measure.ts';
import type { BenchPart } from '../lab/run.ts';

const ROWS = { full: 1_000_000, quick: 200_000 };
const ROUNDS = 3;
/** About as many as a backfill window yields (ingest/follow/backfill.ts). */
const ROWS_PER_WINDOW = 5_000;
const RATIO_GOAL = 0.5;
const CHAIN = 'eip155:8453';

/**
 * Our write path (encode in JavaScript, HTTP, parse, insert, views) against the engine copying the same rows inside itself into
 * an identical schema. Both include the views, the sort and the fsync; the difference is how the rows get into the engine.
 */
export const writePath: BenchPart = {
  name: 'write-path',
  summary: 'encode and insert against the engine’s own INSERT … SELECT of the same rows',
  async run({ sized, workspace }) {
    const rows = sized(ROWS);
    const engine = await startBenchEngine(workspace, 'write-path');
    const log = benchLog();
    const access = { ...engine.access, database: 'settlement_index_copy' };
    await migrate(access, log);
    const copy = { writer: createWriter(access, log) };
    const settlements = madeUpSettlements(rows);
    const rate = (ms: number): number => rows / (ms / 1_000);
    const { ours, theirs } = await inTurn(
      {
        async ours() {
          await emptyTables(engine);
          await emptyTables(copy);
          const { ms } = await timed(() => writeAll(engine.writer, settlements));
          await requireSettlements(engine, rows);
          // A plain table of the same rows, in the same order as they were written.
          await run(engine, sql`DROP TABLE IF EXISTS settlement_index_copy.staging SYNC`);
          await run(
            engine,
            sql`CREATE TABLE settlement_index_copy.staging ENGINE = MergeTree ORDER BY (ver, block_number, log_index)
              AS SELECT * FROM settlement_index.settlements`,
          );
          return rate(ms);
        },
        async theirs() {
          const { ms } = await timed(() => run(copy, sql`INSERT INTO settlements SELECT * FROM staging`));
          await requireSettlements(copy, rows);
          return rate(ms);
        },
      },
      { rounds: ROUNDS },
    );
    await copy.writer.close();
    await engine.stop();
    // Round by round, so that a busy moment of the machine affects both.
    const ratio = median(ours.map((own, round) => own / (theirs[round] ?? Number.NaN)));
    return [
      shown('write-path-rate', median(ours), 'rows/s'),
      shown('write-path-insert-select-rate', median(theirs), 'rows/s'),
      judged('write-path-against-insert-select', ratio, 'x', '>=', RATIO_GOAL),
    ];
  },
};

/** The product's own batch writer, fed by windows as a backfill feeds it. */
async function writeAll(writer: Writer, settlements: readonly Settlement[]): Promise<void> {
  const { signal } = new AbortController();
  const deps = { chain: CHAIN, writer, versions: createVersions(0n), log: benchLog(), signal } as const;
  const batches = createBatchWriter(deps);
  const windows: Promise<void>[] = [];
  for (let from = 0; from < settlements.length; from += ROWS_PER_WINDOW) {
    windows.push(batches.write({ ...NO_ROWS, settlements: settlements.slice(from, from + ROWS_PER_WINDOW) }));
  }
  await Promise.all(windows);
}

/** Distinct hashes and amounts, three rows a block, two seconds a block, payers and payees that repeat. */
function madeUpSettlements(rows: number): Settlement[] {
  const asset = address('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913');
  const parties = Array.from({ length: 20_000 }, (_, index) =>
    address(`0x${digest(`party ${index}`).slice(0, 40)}`),
  );
  const party = (seed: number) => parties[seed % parties.length] ?? asset;
  return Array.from({ length: rows }, (_, index) => {
    const block = Math.floor(index / 3);
    const amount = BigInt(1_000 + (index % 1_000_000));
    const named = index % 3 !== 0;
    return settlement({
      ...{ chain: CHAIN, blockNumber: 20_000_000 + block, blockTime: 1_780_000_000 + 2 * block },
      ...{ txHash: `0x${digest(`tx ${index}`)}`, logIndex: 7 * (index % 3) + 1 },
      ...{ payer: party(index * 7_919), payee: party(index * 104_729 + 1), relayer: party(index % 50) },
      ...{ asset, assetSymbol: 'USDC', amount, amountUsdMicros: amount, seen: 21 },
      facilitator: named ? `fac-${index % 20}` : '',
      method: named ? 'facilitator_relay' : 'gasless_authorization',
    });
  });
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
