import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { trustedText } from '../../clickhouse/engine/sql.ts';
import { loadConfig } from '../../core/config/load.ts';
import { importFiles } from '../../ingest/import/command.ts';
import {
  type BenchEngine,
  benchLog,
  emptyTables,
  requireSettlements,
  rowsOf,
  run,
  startBenchEngine,
} from '../lab/engine.ts';
import { type Figure, inTurn, median, shown, timed } from '../lab/measure.ts';
import { type BenchContext, runBench } from '../lab/run.ts';

/**
 * An import end to end (footers, staging, decoding, grading, writing, checkpoints) against the engine's own read of the same
 * columns of the same files, which is the lower bound of any import.
 */

const FILES = { full: 12, quick: 1 };
const ROUNDS = { full: 3, quick: 2 };
const RATE_GOAL = 300_000;
const SHARE_GOAL = 0.6;

/** The columns that an import reads; lengths and maxima make the engine decode them and cost little beyond that. */
const READS = {
  logs: 'max(block_number), max(log_index), max(chain_id), sum(length(transaction_hash) + length(address) + length(topic0) + length(topic1) + length(topic2) + length(topic3) + length(data))',
  transactions:
    'max(block_number), max(chain_id), sum(length(transaction_hash) + length(from_address) + length(to_address) + length(input))',
  blocks: 'max(block_number), max(timestamp), max(chain_id), sum(length(block_hash))',
} as const;

async function measureImport({ sized, workspace, say }: BenchContext): Promise<Figure[]> {
  // It writes and reads files of the bench.
  const engine = await startBenchEngine(workspace, 'import', { without: ['landlock', 'own user'] });
  const files = sized(FILES);
  const made = await makeExport(engine, join(workspace.dir, 'export'), files);
  say(`${made.logs} logs in ${files} files, ${made.settlements} of them payments`);
  const rate = ({ ms }: { readonly ms: number }): number => made.logs / (ms / 1_000);
  const { reads, ours } = await inTurn(
    {
      reads: async () => rate(await timed(() => readByEngine(engine, made.directory))),
      async ours() {
        await emptyTables(engine);
        const once = await timed(() => importOnce(engine, workspace.dir, made.directory));
        await requireSettlements(engine, made.settlements);
        return rate(once);
      },
    },
    { rounds: sized(ROUNDS) },
  );
  await engine.stop();
  const share = median(ours.map((each, round) => each / (reads[round] ?? Number.NaN)));
  const ok = median(ours) >= RATE_GOAL || share >= SHARE_GOAL;
  return [
    { ...shown('import-rate', median(ours), 'logs/s'), goal: `>=${RATE_GOAL}|read>=${SHARE_GOAL}`, ok },
    shown('import-engine-read-rate', median(reads), 'logs/s'),
    shown('import-against-engine-read', share, 'x'),
  ];
}

async function readByEngine(engine: BenchEngine, directory: string): Promise<void> {
  for (const [kind, aggregates] of Object.entries(READS)) {
    const files = `${directory}/base__${kind}__*.parquet`;
    await rowsOf(engine, trustedText(`SELECT ${aggregates} FROM file('${files}', 'Parquet')`));
  }
}

async function importOnce({ access }: BenchEngine, dataDir: string, directory: string) {
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

const LOGS_PER_BLOCK = 50;
const LOGS_PER_FILE = 500_000;
const FIRST_BLOCK = 30_000_000;
const USDC = '833589fcd6edb6e08f4c7c32d4f71b54bda02913';
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const AUTHORIZATION_USED = '98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';

const word = (address: string): string => `concat(unhex('${'00'.repeat(12)}'), ${address})`;
const party = (role: string, number: string, count: number): string =>
  `substring(SHA256(concat('${role}', toString(cityHash64(${number}, '${role}') % ${count}))), 1, 20)`;
const payer = (group: string): string => party('payer', group, 20_000);
const payee = (group: string): string => party('payee', group, 2_000);
const value = (number: string): string => `unhex(leftPad(hex(1000 + ${number} % 1000000), 64, '0'))`;
const transactionHash = (number: string): string => `SHA256(concat('tx', toString(${number})))`;

/** `n` is the number of the log. The first two of ten share a transaction; numbers of transactions run on. */
const LOGS = `SELECT toUInt32(${FIRST_BLOCK} + intDiv(n, ${LOGS_PER_BLOCK})) AS block_number, toUInt32(t % 45) AS transaction_index,
  toUInt32(n % ${LOGS_PER_BLOCK}) AS log_index, concat(${transactionHash('t')}, '') AS transaction_hash, unhex('${USDC}') AS address,
  unhex(if(r = 0, '${AUTHORIZATION_USED}', '${TRANSFER}')) AS topic0,
  ${word(payer('p'))} AS topic1, if(r = 0, concat(SHA256(concat('nonce', toString(g))), ''), ${word(payee('p'))}) AS topic2,
  CAST(NULL, 'Nullable(String)') AS topic3, if(r = 0, '', ${value('p')}) AS data, toUInt32(length(data)) AS n_data_bytes,
  toUInt64(8453) AS chain_id
  FROM (SELECT number AS n, intDiv(n, 10) AS g, n % 10 AS r, g * 9 + greatest(r, 1) - 1 AS t, if(r < 2, g * 10, n) AS p FROM numbers({from}, {count}))`;

const TRANSACTIONS = `SELECT toUInt32(${FIRST_BLOCK} + intDiv(n, ${LOGS_PER_BLOCK})) AS block_number, toUInt64(t % 45) AS transaction_index,
  concat(${transactionHash('t')}, '') AS transaction_hash, toUInt64(t) AS nonce,
  if(isPayment, ${party('relayer', 'g', 50)}, ${payer('n')}) AS from_address, unhex('${USDC}') AS to_address, '0' AS value_string,
  toFloat64(0) AS value_f64,
  if(isPayment,
    concat(unhex('e3ee160e'), ${word(payer('n'))}, ${word(payee('n'))}, ${value('n')}, unhex('${'00'.repeat(32)}'),
      unhex('${'00'.repeat(28)}7fffffff'), SHA256(concat('nonce', toString(g))), unhex('${'00'.repeat(31)}1b'), SHA256(toString(g)), SHA256(toString(t))),
    concat(unhex('a9059cbb'), ${word(payee('n'))}, ${value('n')})) AS input,
  toUInt64(90000) AS gas_limit, toUInt64(80000) AS gas_used, toUInt64(t % 1000000) AS gas_price, toUInt32(2) AS transaction_type,
  true AS success, toUInt32(length(input)) AS n_input_bytes, toUInt64(8453) AS chain_id
  FROM (SELECT number AS t, intDiv(t, 9) AS g, t % 9 = 0 AS isPayment, g * 10 + if(isPayment, 0, t % 9 + 1) AS n FROM numbers({from}, {count}))`;

const BLOCKS = `SELECT concat(SHA256(concat('block', toString(number))), '') AS block_hash, unhex('${USDC}') AS author,
  toUInt32(${FIRST_BLOCK} + number) AS block_number, toUInt64(20000000) AS gas_used, '' AS extra_data,
  toUInt32(1770000000 + 2 * number) AS timestamp, toUInt64(1000) AS base_fee_per_gas, toUInt64(8453) AS chain_id
  FROM numbers({from}, {count})`;

const AS_CRYO =
  "output_format_parquet_string_as_string = 0, output_format_parquet_compression_method = 'zstd'";

/**
 * An export in cryo's layout, made by the engine: all logs of USDC on Base, every transaction that they belong to, every block. Of ten logs,
 * two are one x402 payment (a direct `transferWithAuthorization`) and eight are plain transfers, each in a transaction of its own. The share
 * is an assumption: the fewer payments, the faster an import.
 */
async function makeExport(engine: BenchEngine, directory: string, files: number) {
  mkdirSync(directory, { recursive: true });
  const blocksPerFile = LOGS_PER_FILE / LOGS_PER_BLOCK;
  const kinds = [
    { kind: 'logs', select: LOGS, rows: LOGS_PER_FILE },
    { kind: 'transactions', select: TRANSACTIONS, rows: (LOGS_PER_FILE / 10) * 9 },
    { kind: 'blocks', select: BLOCKS, rows: blocksPerFile },
  ];
  for (let file = 0; file < files; file++) {
    const from = FIRST_BLOCK + file * blocksPerFile;
    for (const { kind, select, rows } of kinds) {
      const path = join(directory, `base__${kind}__${from}_to_${from + blocksPerFile - 1}.parquet`);
      const query = select.replace('{from}', String(file * rows)).replace('{count}', String(rows));
      const target = `INSERT INTO FUNCTION file('${path}', 'Parquet') SETTINGS ${AS_CRYO}`;
      await run(engine, trustedText(`${target} ${query}`));
    }
  }
  const logs = files * LOGS_PER_FILE;
  return { directory, logs, settlements: logs / 10 };
}

await runBench({
  name: 'import',
  description: 'The import of a Parquet export into the embedded engine.',
  parts: [
    { name: 'import', summary: 'files to settlements, against the engine’s own read', run: measureImport },
  ],
});
