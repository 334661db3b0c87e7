import { join } from 'node:path';
import { sql, trustedText } from '../../clickhouse/engine/sql.ts';
import { loadConfig } from '../../core/config/load.ts';
import { importFiles } from '../../ingest/import/command.ts';
import { type BenchEngine, benchLog, startBenchEngine } from '../support/bench-engine.ts';
import type { Figure } from '../support/figure.ts';
import { median, timed } from '../support/quantiles.ts';
import { type BenchContext, runBench } from '../support/run-bench.ts';
import { type MadeExport, makeExport } from './export-files.ts';

/**
 * An import end to end (footers, staging, decoding, grading, writing, checkpoints) against the engine's own read of the same
 * columns of the same files, which is the lower bound of any import.
 */

const FILES = 12;
const FILES_QUICK = 1;
const ROUNDS = 3;
const ROUNDS_QUICK = 2;
const RATE_GOAL = 300_000;
const SHARE_GOAL = 0.6;
const READ_SECONDS_MAX = 600;

/** The columns that an import reads; lengths and maxima make the engine decode them and cost little beyond that. */
const READS = {
  logs: 'max(block_number), max(log_index), max(chain_id), sum(length(transaction_hash) + length(address) + length(topic0) + length(topic1) + length(topic2) + length(topic3) + length(data))',
  transactions:
    'max(block_number), max(chain_id), sum(length(transaction_hash) + length(from_address) + length(to_address) + length(input))',
  blocks: 'max(block_number), max(timestamp), max(chain_id), sum(length(block_hash))',
} as const;

async function measureImport({ quick, workspace, say }: BenchContext): Promise<Figure[]> {
  const engine = await startBenchEngine(workspace, 'import');
  const made = await makeExport(engine.writer, join(workspace.dir, 'export'), quick ? FILES_QUICK : FILES);
  say(`${made.logs} logs in ${quick ? FILES_QUICK : FILES} files, ${made.settlements} of them payments`);
  const ours: number[] = [];
  const reads: number[] = [];
  for (let round = 0; round < (quick ? ROUNDS_QUICK : ROUNDS); round++) {
    const read = await timed(() => readByEngine(engine, made));
    await emptyTables(engine);
    const run = await timed(() => importOnce(engine, workspace.dir, made));
    await requireRows(engine, made.settlements);
    reads.push(made.logs / (read.ms / 1000));
    ours.push(made.logs / (run.ms / 1000));
    say(`round ${round + 1}: import ${krows(ours)}, engine’s own read ${krows(reads)}`);
  }
  await engine.stop();
  const rate = median(ours);
  const share = median(ours.map((each, round) => each / (reads[round] ?? Number.NaN)));
  const isReached = rate >= RATE_GOAL || share >= SHARE_GOAL;
  return [
    {
      name: 'import-rate',
      value: rate,
      unit: 'logs/s',
      goal: `>=${RATE_GOAL}|read>=${SHARE_GOAL}`,
      ok: isReached,
    },
    { name: 'import-engine-read-rate', value: median(reads), unit: 'logs/s', goal: '-', ok: true },
    { name: 'import-against-engine-read', value: share, unit: 'x', goal: '-', ok: true },
  ];
}

function krows(rates: readonly number[]): string {
  return `${Math.round((rates.at(-1) ?? 0) / 1000)} klogs/s`;
}

async function readByEngine({ writer }: BenchEngine, { directory }: MadeExport): Promise<void> {
  for (const [kind, aggregates] of Object.entries(READS)) {
    await writer.rows({
      name: `bench-read-${kind}`,
      sql: trustedText(`SELECT ${aggregates} FROM file('${directory}/base__${kind}__*.parquet', 'Parquet')`),
      maxSeconds: READ_SECONDS_MAX,
      maxRows: 1,
    });
  }
}

async function importOnce(
  { access }: BenchEngine,
  dataDir: string,
  { directory }: MadeExport,
): Promise<void> {
  await importFiles(
    {
      config: loadConfig({ env: { DATA_DIR: dataDir } }),
      openEngine: () => Promise.resolve(access),
      log: benchLog(),
      signal: new AbortController().signal,
      isTerminal: false,
      say: () => undefined,
    },
    { chain: 'base', parquet: [join(directory, '*.parquet')], assumeFinal: true, allContracts: true },
  );
}

async function emptyTables({ writer }: BenchEngine): Promise<void> {
  for (const statement of [
    sql`TRUNCATE TABLE settlements SYNC`,
    sql`TRUNCATE TABLE wallet_rows SYNC`,
    sql`TRUNCATE TABLE hour_ver SYNC`,
    sql`TRUNCATE TABLE checkpoints SYNC`,
  ]) {
    await writer.run({ name: 'bench-truncate', maxSeconds: 60, sql: statement });
  }
}

/** An import that loses rows is infinitely fast. */
async function requireRows({ writer }: BenchEngine, settlements: number): Promise<void> {
  const { rows } = await writer.rows({
    name: 'bench-count',
    maxSeconds: 60,
    maxRows: 1,
    sql: sql`SELECT (SELECT count() FROM settlements), (SELECT count() FROM wallet_rows)`,
  });
  const [found, wallets] = (rows[0] ?? []).map(Number);
  if (found !== settlements || wallets !== 2 * settlements)
    throw new Error(`${settlements} settlements imported, found ${found} and ${wallets} wallet rows`);
}

await runBench({
  name: 'import',
  description: 'Measures the import of a Parquet export into the embedded engine.',
  parts: [
    { name: 'import', summary: 'files to settlements, against the engine’s own read', run: measureImport },
  ],
});
