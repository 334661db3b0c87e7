import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Log } from '../src/log.ts';
import type { EngineAccess, EngineUser, Reader, Row, Rows, Statement, Writer } from './engine.ts';
import { type CallSignals, engineErrorOf, isBrokenConnection } from './engine-error.ts';
import { render, sql } from './sql.ts';

/** The ports over ClickHouse's HTTP interface, embedded or remote alike. */

const READER_CONNECTIONS_MAX = 32;
const WRITER_CONNECTIONS_MAX = 8;
/** The engine's own limit fires first; this one is for an engine that does not answer at all. */
const CLIENT_GRACE_MS = 3_000;
const PING_SECONDS = 3;
const INSERT_SECONDS_MAX = 120;
/** About what the embedded engine needs to be back after a crash (engine.md 7). */
const RETRY_AFTER_MS = 400;
/** Above every statement's own bound, so that only that one counts. */
const REQUEST_TIMEOUT_MS = 3_600_000;
const NAME = /^[a-z_][a-z0-9_]*$/;

type Settings = Readonly<Record<string, string | number>>;

/** Reads with the reader's credentials; every request is sent with readonly=2, whatever the user could do. */
export function createReader(access: EngineAccess, log?: Log): Reader {
  const client = connect(access, access.reader, READER_CONNECTIONS_MAX);
  return readerOver(client, log);
}

/** DDL and inserts with the writer's credentials. */
export function createWriter(access: EngineAccess, log?: Log): Writer {
  const client = connect(access, access.writer, WRITER_CONNECTIONS_MAX);
  return {
    ...readerOver(client, log),
    run: (statement) => runStatement(client, statement),
    insert: (name, table, columns, rowBinary) => insertRows(client, { name, table, columns, rowBinary }),
    load: (statement, body) => loadBody(client, statement, body),
    rowBinary: (statement, signal) => readRowBinary(client, statement, signal),
  };
}

export function connect(access: EngineAccess, { user, password }: EngineUser, connectionsMax: number) {
  const url = new URL(access.url);
  const { pathname } = url;
  url.pathname = '/'; // the client would take a path for the name of the database
  return createClient({
    url,
    ...(pathname === '/' ? {} : { pathname }),
    username: user,
    password,
    database: access.database,
    application: 'settlement-index',
    max_open_connections: connectionsMax,
    request_timeout: REQUEST_TIMEOUT_MS,
    log: { level: ClickHouseLogLevel.OFF },
  });
}

function readerOver(client: ClickHouseClient, log: Log | undefined): Reader {
  return {
    rows: (statement, signal) => readRows(client, statement, signal, log),
    async ping() {
      await readRows(
        client,
        { name: 'ping', sql: sql`SELECT 1`, maxSeconds: PING_SECONDS, maxRows: 1 },
        undefined,
        log,
      );
    },
    close: () => client.close(),
  };
}

async function readRows(
  client: ClickHouseClient,
  statement: Statement,
  signal: AbortSignal | undefined,
  log: Log | undefined,
): Promise<Rows> {
  const signals = signalsOf(statement.maxSeconds, signal);
  const began = performance.now();
  try {
    const answer = await retryOnce(
      () => fetchRows(client, statement, signals),
      (error) => {
        log?.debug({ statement: statement.name, reason: messageOf(error) }, 'read is retried');
      },
      signals,
    );
    return { ...answer, elapsedMs: performance.now() - began };
  } catch (error) {
    throw engineErrorOf(error, statement.name, signals);
  }
}

async function fetchRows(client: ClickHouseClient, statement: Statement, signals: CallSignals) {
  const { query, params } = render(statement.sql);
  const result = await client.query({
    query,
    query_params: params,
    format: 'JSONCompact',
    query_id: randomUUID(),
    abort_signal: eitherOf(signals),
    clickhouse_settings: { ...READ_SETTINGS, ...boundsOf(statement), ...statement.settings },
  });
  const body = await result.json<Row>();
  return {
    rows: body.data,
    readRows: body.statistics?.rows_read ?? 0,
    readBytes: body.statistics?.bytes_read ?? 0,
  };
}

/**
 * `wait_end_of_query` makes the engine answer an error that occurs half-way with its status and code instead of a torn body.
 * The cancel setting ends the query when the connection closes, which works for read-only requests only.
 */
const READ_SETTINGS: Settings = {
  readonly: 2,
  wait_end_of_query: 1,
  cancel_http_readonly_queries_on_client_close: 1,
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
};

function boundsOf(statement: Statement): Settings {
  return {
    max_execution_time: statement.maxSeconds,
    max_result_rows: statement.maxRows,
    result_overflow_mode: 'throw',
    log_comment: statement.name,
  };
}

async function runStatement(client: ClickHouseClient, statement: Omit<Statement, 'maxRows'>): Promise<void> {
  const signals = signalsOf(statement.maxSeconds, undefined);
  const { query, params } = render(statement.sql);
  try {
    await client.command({
      query,
      query_params: params,
      query_id: randomUUID(),
      abort_signal: eitherOf(signals),
      clickhouse_settings: {
        wait_end_of_query: 1,
        max_execution_time: statement.maxSeconds,
        log_comment: statement.name,
        ...statement.settings,
      },
    });
  } catch (error) {
    throw engineErrorOf(error, statement.name, signals);
  }
}

interface Insert {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly rowBinary: Readable | readonly Uint8Array[];
}

async function insertRows(client: ClickHouseClient, insert: Insert): Promise<void> {
  const { name, table, columns, rowBinary } = insert;
  const unfit = [table, ...columns].find((identifier) => !NAME.test(identifier));
  if (unfit !== undefined) throw new TypeError(`${name}: ${JSON.stringify(unfit)} is not a table or column`);
  if (Array.isArray(rowBinary) && rowBinary.length === 0) return;
  const signals = signalsOf(INSERT_SECONDS_MAX, undefined);
  try {
    const { stream } = await client.exec({
      query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT RowBinary`,
      values: rowBinary instanceof Readable ? rowBinary : Readable.from(rowBinary),
      query_id: randomUUID(),
      abort_signal: eitherOf(signals),
      clickhouse_settings: {
        wait_end_of_query: 1,
        async_insert: 0,
        max_execution_time: INSERT_SECONDS_MAX,
        log_comment: name,
      },
    });
    for await (const _ of stream); // the acknowledgement is the end of the answer
  } catch (error) {
    throw engineErrorOf(error, name, signals);
  }
}

async function loadBody(
  client: ClickHouseClient,
  statement: Omit<Statement, 'maxRows'>,
  body: Readable,
): Promise<void> {
  const signals = signalsOf(statement.maxSeconds, undefined);
  const { query, params } = render(statement.sql);
  try {
    const { stream } = await client.exec({
      query,
      query_params: params,
      values: body,
      query_id: randomUUID(),
      abort_signal: eitherOf(signals),
      clickhouse_settings: {
        wait_end_of_query: 1,
        async_insert: 0,
        max_execution_time: statement.maxSeconds,
        log_comment: statement.name,
        ...statement.settings,
      },
    });
    for await (const _ of stream); // the acknowledgement is the end of the answer
  } catch (error) {
    throw engineErrorOf(error, statement.name, signals);
  }
}

async function readRowBinary(
  client: ClickHouseClient,
  statement: Statement,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  const signals = signalsOf(statement.maxSeconds, signal);
  const { query, params } = render(statement.sql);
  try {
    const { stream } = await client.exec({
      query: `${query} FORMAT RowBinary`,
      query_params: params,
      query_id: randomUUID(),
      abort_signal: eitherOf(signals),
      clickhouse_settings: { ...READ_SETTINGS, ...boundsOf(statement), ...statement.settings },
    });
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer); // the client's stream gives buffers
    return Buffer.concat(chunks);
  } catch (error) {
    throw engineErrorOf(error, statement.name, signals);
  }
}

function signalsOf(maxSeconds: number, caller: AbortSignal | undefined): CallSignals {
  return { timeout: AbortSignal.timeout(maxSeconds * 1000 + CLIENT_GRACE_MS), caller };
}

function eitherOf({ timeout, caller }: CallSignals): AbortSignal {
  return caller === undefined ? timeout : AbortSignal.any([timeout, caller]);
}

async function retryOnce<T>(
  attempt: () => Promise<T>,
  onRetry: (error: unknown) => void,
  signals: CallSignals,
): Promise<T> {
  eitherOf(signals).throwIfAborted(); // the client looks at the signal only once the request is under way
  try {
    return await attempt();
  } catch (error) {
    const ended = signals.timeout.aborted || signals.caller?.aborted === true;
    if (ended || !isBrokenConnection(error)) throw error;
    onRetry(error);
    await sleep(RETRY_AFTER_MS, undefined, { signal: eitherOf(signals) });
    return attempt();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
