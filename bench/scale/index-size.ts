import { statfsSync } from 'node:fs';
import { sql, trustedText } from '../../clickhouse/engine/sql.ts';
import { closeDays } from '../entities/close-days.ts';
import { pickWallets } from '../entities/wallets.ts';
import { type BenchEngine, startBenchEngine } from '../support/bench-engine.ts';
import type { Figure } from '../support/figure.ts';
import { type MeasuredApi, startMeasuredApi } from '../support/measured-api.ts';
import type { BenchContext, BenchPart } from '../support/run-bench.ts';
import { seedHistory } from '../support/seed-history.ts';
import { processFigures } from './process-figures.ts';

/** The size of an index of so many settlements, and its growth. */

const SIZES = [1_000_000, 4_000_000, 16_000_000];
const SIZES_QUICK = [50_000, 200_000];
const DAYS_QUICK = 10;
const DAY_SECONDS = 86_400;
const MERGE_MAX_SECONDS = 3_600;
/** Twice what is left after merges, which hold old and new parts at once. */
const DISK_BYTES_PER_ROW = 700;
const ROUNDS = 12;
const ROUNDS_WARM = 2;
const TABLES_MAX = 1_000;
/** Bytes a settlement in all tables, from so many settlements on: below, fixed costs count. */
const DISK_MAX = 330;
const DISK_ROWS_FOR_GOAL = 16_000_000;
const MILLION = 1_000_000;
const MEBIBYTE = 1_048_576;

export const indexSize: BenchPart = {
  name: 'index',
  summary: 'disk per table, memory and processor of the engine, rows read per request, at three sizes',
  async run(context) {
    const { workspace, quick, say } = context;
    const sizes = quick ? SIZES_QUICK : SIZES;
    requireDisk(context, sizes.at(-1) ?? 0);
    const engine = await startBenchEngine(workspace, 'scale');
    const newestTime = Math.floor(Date.now() / 1_000 / DAY_SECONDS) * DAY_SECONDS + DAY_SECONDS / 2;
    const figures: Figure[] = [];
    let there = 0;
    for (const [layer, rows] of sizes.entries()) {
      const name = spellSize(rows);
      const before = processFigures(engine.pid());
      const history = { rows: rows - there, newestTime, layer, ...(quick ? { days: DAYS_QUICK } : {}) };
      await seedHistory(engine.writer, history, say);
      await closeDays(engine.writer, newestTime - DAY_SECONDS / 2, say);
      const closed = processFigures(engine.pid());
      say(`${rows} rows: merging everything`);
      await mergeAll(engine);
      const added = (rows - there) / MILLION;
      figures.push(
        shown(`seed-and-rollups-cpu-${name}`, (closed.cpuSeconds - before.cpuSeconds) / added, 's/million'),
        ...(await diskFigures(engine, rows, name)),
        ...memoryFigures(engine, name),
        ...(await requestFigures(engine, context, name)),
      );
      there = rows;
    }
    return figures;
  },
};

function requireDisk({ workspace }: BenchContext, rows: number): void {
  const { bavail, bsize } = statfsSync(workspace.dir);
  if (bavail * bsize < rows * DISK_BYTES_PER_ROW)
    throw new Error(
      `${workspace.dir} has too little room: ${Math.ceil((rows * DISK_BYTES_PER_ROW) / 1e9)} GB are needed`,
    );
}

/** The state that the engine's own merges reach in time. */
async function mergeAll({ writer }: BenchEngine): Promise<void> {
  const { rows } = await writer.rows({
    name: 'bench-tables',
    sql: sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND total_rows > 0`,
    maxSeconds: 60,
    maxRows: TABLES_MAX,
  });
  for (const [table] of rows) {
    const statement = sql`OPTIMIZE TABLE ${trustedText(String(table))} FINAL`;
    await writer.run({ name: 'bench-merge', sql: statement, maxSeconds: MERGE_MAX_SECONDS });
  }
}

/**
 * Tables below one byte a settlement are left out of the lines and counted in the sum. `name`: of the size, at the end of the names of
 * the figures; '' for none.
 */
export async function diskFigures(
  { writer }: BenchEngine,
  settlements: number,
  name: string,
): Promise<Figure[]> {
  const { rows } = await writer.rows({
    name: 'bench-disk',
    sql: sql`SELECT table, sum(bytes_on_disk), sum(rows), sum(primary_key_bytes_in_memory_allocated)
      FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table ORDER BY 2 DESC`,
    maxSeconds: 60,
    maxRows: TABLES_MAX,
  });
  const tables = rows.map(([table, bytes, count, key]) => ({
    table: String(table).replaceAll('_', '-'),
    bytes: Number(bytes) / settlements,
    rows: Number(count) / settlements,
    key: Number(key),
  }));
  const end = name === '' ? '' : `-${name}`;
  const sum = (of: (table: (typeof tables)[number]) => number): number =>
    tables.reduce((total, table) => total + of(table), 0);
  return [
    ...tables
      .filter(({ bytes }) => bytes >= 1)
      .flatMap(({ table, bytes, rows: each }) => [
        shown(`disk-${table}${end}`, bytes, 'B/settlement'),
        shown(`rows-${table}${end}`, each, 'rows/settlement'),
      ]),
    judgedDisk(
      `disk-all${end}`,
      sum(({ bytes }) => bytes),
      settlements,
    ),
    shown(`primary-keys${end}`, sum(({ key }) => key) / MEBIBYTE, 'MiB'),
  ];
}

function judgedDisk(name: string, value: number, settlements: number): Figure {
  const ok = settlements < DISK_ROWS_FOR_GOAL || value <= DISK_MAX;
  return {
    name,
    value,
    unit: 'B/settlement',
    goal: settlements < DISK_ROWS_FOR_GOAL ? '-' : `<=${DISK_MAX}`,
    ok,
  };
}

function memoryFigures(engine: BenchEngine, name: string): Figure[] {
  const { residentMebibytes, highestMebibytes } = processFigures(engine.pid());
  return [
    shown(`engine-resident-${name}`, residentMebibytes, 'MiB'),
    shown(`engine-highest-${name}`, highestMebibytes, 'MiB'),
  ];
}

async function requestFigures(
  engine: BenchEngine,
  { workspace }: BenchContext,
  name: string,
): Promise<Figure[]> {
  const api = await startMeasuredApi(engine.reader, workspace);
  const { merchants, payers } = await pickWallets(engine.reader);
  const hot = merchants.hot[0] ?? '';
  const paths = {
    feed: () => '/v0/flows?limit=50',
    'wallet-page': (round: number) =>
      `/v0/entities/${payers.mid[round % payers.mid.length]}/settlements?limit=50`,
    'merchant-hot': () => `/v0/merchants/${hot}?chain=all`,
  };
  const figures: Figure[] = [];
  for (const [kind, pathOf] of Object.entries(paths))
    figures.push(...(await requestCost(api, engine, { name: `${kind}-${name}`, pathOf })));
  return figures;
}

async function requestCost(
  api: MeasuredApi,
  engine: BenchEngine,
  { name, pathOf }: { readonly name: string; readonly pathOf: (round: number) => string },
): Promise<Figure[]> {
  for (let round = 0; round < ROUNDS_WARM; round++) await api.get<unknown>(pathOf(round));
  const engineBefore = processFigures(engine.pid()).cpuSeconds;
  const own = process.cpuUsage();
  let rowsRead = 0;
  for (let round = 0; round < ROUNDS; round++)
    rowsRead += (await api.get<unknown>(pathOf(round))).cost.rowsRead;
  const { user, system } = process.cpuUsage(own);
  const engineSeconds = processFigures(engine.pid()).cpuSeconds - engineBefore;
  return [
    shown(`request-${name}-rows-read`, rowsRead / ROUNDS, 'rows'),
    shown(`request-${name}-engine-cpu`, (engineSeconds * 1_000) / ROUNDS, 'ms'),
    // Of the API and of the client that asks it, in one process.
    shown(`request-${name}-api-cpu`, (user + system) / 1_000 / ROUNDS, 'ms'),
  ];
}

function spellSize(rows: number): string {
  return rows >= MILLION ? `${rows / MILLION}m` : `${rows / 1_000}k`;
}

export function shown(name: string, value: number, unit: string): Figure {
  return { name, value, unit, goal: '-', ok: true };
}
