import { join } from 'node:path';
import { type EmbeddedEngineOptions, startEmbeddedEngine } from '../../clickhouse/embedded/supervisor.ts';
import type { EngineAccess, Reader, Row, Writer } from '../../clickhouse/engine/engine.ts';
import { createReader, createWriter } from '../../clickhouse/engine/http-engine.ts';
import { type Sql, sql, trustedText } from '../../clickhouse/engine/sql.ts';
import { migrate } from '../../clickhouse/migrate/migrate.ts';
import { createLog, type Log } from '../../core/log.ts';
import type { Workspace } from './run.ts';

/** A fresh embedded engine with our schema and no rows. */
export interface BenchEngine {
  readonly access: EngineAccess;
  readonly reader: Reader;
  readonly writer: Writer;
  pid(): number | undefined;
  stop(): Promise<void>;
}

export type EngineOptions = Partial<
  Pick<EmbeddedEngineOptions, 'dataDir' | 'queryLog' | 'without' | 'maxMemoryMegabytes'>
>;

type Asked = Pick<BenchEngine, 'writer'>;

const MAX_MEMORY_MEGABYTES = 4_096;
/** Of a statement that makes rows, merges or checks them: what is measured has bounds of its own. */
const STATEMENT_SECONDS_MAX = 3_600;
const ROWS_MAX = 10_000;

/** Errors only: a bench prints its own progress. */
export function benchLog(): Log {
  return createLog('error', 'bench');
}

/** Starts the engine in a directory of its own; the workspace stops it if it still runs at the end. */
export async function startBenchEngine(
  workspace: Workspace,
  name: string,
  /** `dataDir` may outlive the run. */
  options: EngineOptions = {},
): Promise<BenchEngine> {
  const log = benchLog();
  const engine = await startEmbeddedEngine({
    dataDir: join(workspace.dir, name),
    database: 'settlement_index',
    maxMemoryMegabytes: MAX_MEMORY_MEGABYTES,
    log,
    ...options,
  });
  workspace.defer(() => engine.stop());
  await migrate(engine.access, log);
  const reader = createReader(engine.access, log);
  const writer = createWriter(engine.access, log);
  return {
    access: engine.access,
    reader,
    writer,
    pid: engine.pid,
    async stop() {
      await Promise.all([reader.close(), writer.close()]);
      await engine.stop();
    },
  };
}

export function run({ writer }: Asked, statement: Sql): Promise<void> {
  return writer.run({ name: 'bench-run', sql: statement, maxSeconds: STATEMENT_SECONDS_MAX });
}

export async function rowsOf({ writer }: Asked, statement: Sql): Promise<readonly Row[]> {
  const limits = { maxSeconds: STATEMENT_SECONDS_MAX, maxRows: ROWS_MAX };
  return (await writer.rows({ name: 'bench-rows', sql: statement, ...limits })).rows;
}

export async function rowOf(engine: Asked, statement: Sql): Promise<Row> {
  return (await rowsOf(engine, statement))[0] ?? [];
}

/** The numbers of the first row. */
export async function numbersOf(engine: Asked, statement: Sql): Promise<number[]> {
  return (await rowOf(engine, statement)).map(Number);
}

/** Before a round that writes the same rows again. */
export async function emptyTables(engine: Asked): Promise<void> {
  for (const table of ['settlements', 'wallet_rows', 'hour_ver', 'checkpoints'])
    await run(engine, sql`TRUNCATE TABLE ${trustedText(table)} SYNC`);
}

/** A write that loses rows is infinitely fast. */
export async function requireSettlements(engine: Asked, expected: number): Promise<void> {
  const [settlements, walletRows] = await numbersOf(
    engine,
    sql`SELECT (SELECT count() FROM settlements), (SELECT count() FROM wallet_rows)`,
  );
  if (settlements !== expected || walletRows !== 2 * expected)
    throw new Error(`wrote ${expected} settlements, found ${settlements} and ${walletRows} wallet rows`);
}

/** A statement's answer straight from the engine's HTTP port, because the ports of this program hold results in memory. */
export async function streamOf({ url, writer }: EngineAccess, statement: string) {
  const headers = { authorization: basic(writer) };
  const answer = await fetch(url, { method: 'POST', headers, body: statement });
  if (!answer.ok || answer.body === null) throw new Error(`the engine refused: ${await answer.text()}`);
  return answer.body;
}

export function basic({ user, password }: { readonly user: string; readonly password: string }): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
