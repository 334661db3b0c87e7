import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { ClickHouseError } from '@clickhouse/client';
import { startEmbeddedEngine } from '../../../clickhouse/embedded/supervisor.ts';
import { publicDatabaseOf } from '../../../clickhouse/engine/databases.ts';
import type { Guest, Writer } from '../../../clickhouse/engine/engine.ts';
import { connect, createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { text as asText, sql } from '../../../clickhouse/engine/sql.ts';
import { createGuest } from '../../../clickhouse/guest/engine.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import { createLog } from '../../../core/log.ts';
import { BASE, insertSettlements, nameFacilitator, reportChain, settlement, wallet } from '../../kit/rows.ts';
import type { FuzzCase } from './selects.ts';

/** A real engine that keeps a log of what queries used, with a few rows, and with secrets that no answer may hold. */
export interface FuzzEngine {
  readonly writer: Writer;
  /** For the inspection. */
  readonly guest: Guest;
  readonly database: string;
  readonly secretFile: string;
  /** Content of the secret file, and what the engine knows about itself. */
  readonly secrets: readonly string[];
  /** Runs a text as the guest under an id that its log can be found by. */
  run(queryId: string, run: FuzzCase): Promise<RunOutcome>;
  restarts(): number;
  close(): Promise<void>;
}

/** `code` is the engine's error code, 0 when it answered; null when it was stopped for taking long. */
export interface RunOutcome {
  readonly code: number | null;
  /** The rows, or the engine's words. */
  readonly answer: string;
}

const MEGABYTES = 1_536;
const DATABASE = 'index_of_fuzz';
const ROWS = 12;
const LANES_MAX = 2;
/** An accepted query may be heavy; that is for limits to judge, not for this oracle. */
const RUN_MS_MAX = 2_000;
const KILL_SECONDS = 15;
/** The engine counts a query for a moment longer than its answer takes, so two lanes can meet its limit of two. */
export const OVERLOADED_RETRIES_MAX = 50;
const TOO_MANY_QUERIES = 202;

export async function startFuzzEngine(): Promise<FuzzEngine> {
  const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-fuzz-'));
  const log = createLog('error', 'fuzz');
  const secret = `canary-${randomBytes(16).toString('hex')}`;
  const secretFile = join(dataDir, 'secret');
  writeFileSync(secretFile, secret);
  const engine = await startEmbeddedEngine({
    dataDir: join(dataDir, 'engine'),
    database: DATABASE,
    maxMemoryMegabytes: MEGABYTES,
    nice: 0,
    queryLog: true,
    log,
  });
  await migrate(engine.access, log);
  const writer = createWriter(engine.access, log);
  await fill(writer);
  const guest = createGuest(engine.access);
  const client = connect(
    { ...engine.access, database: publicDatabaseOf(DATABASE) },
    engine.access.guest,
    LANES_MAX,
  );
  return {
    writer,
    guest,
    database: DATABASE,
    secretFile,
    secrets: [secret, engine.version],
    run: (queryId, { text, parameters }) => runAsGuest({ client, writer }, queryId, { text, parameters }),
    restarts: () => engine.restarts(),
    async close() {
      await Promise.all([writer.close(), guest.close(), client.close()]);
      await engine.stop();
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

/** Rows, so that functions run on something and not only on nothing. */
async function fill(writer: Writer): Promise<void> {
  await insertSettlements(
    writer,
    Array.from({ length: ROWS }, (_, index) =>
      settlement({ blockNumber: 1_000 + index, logIndex: index, payer: wallet(0xa1 + (index % 3)) }),
    ),
  );
  await nameFacilitator(writer, 'fuzz', 'Fuzz');
  await reportChain(writer, BASE);
}

interface Connections {
  readonly client: ReturnType<typeof connect>;
  readonly writer: Writer;
}

async function runAsGuest(
  { client, writer }: Connections,
  queryId: string,
  run: FuzzCase,
  retriesLeft = OVERLOADED_RETRIES_MAX,
): Promise<RunOutcome> {
  const timeout = AbortSignal.timeout(RUN_MS_MAX);
  try {
    const { stream } = await client.exec({
      query: run.text,
      query_params: run.parameters,
      query_id: queryId,
      abort_signal: timeout,
      // Words of the HTTP interface; a guest may send no settings.
      clickhouse_settings: { default_format: 'JSONCompactEachRow', wait_end_of_query: 1 },
    });
    return { code: 0, answer: await readText(stream) };
  } catch (error) {
    if (error instanceof ClickHouseError) {
      const code = Number(error.code);
      if (code !== TOO_MANY_QUERIES || retriesLeft === 0) return { code, answer: error.message };
      return runAsGuest({ client, writer }, queryId, run, retriesLeft - 1);
    }
    if (!timeout.aborted) throw error;
    // Gone from the client is not gone from the engine, where the guest may run few at once.
    await writer.run({
      name: 'fuzz-kill',
      sql: sql`KILL QUERY WHERE query_id = ${asText(queryId)} SYNC`,
      maxSeconds: KILL_SECONDS,
    });
    return { code: null, answer: '' };
  }
}
