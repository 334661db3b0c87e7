import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Log } from '../../core/log.ts';
import type {
  EngineAccess,
  EngineUser,
  Guard,
  Reader,
  RunStatement,
  Statement,
  WriteMarks,
  Writer,
} from './engine.ts';
import { createEngineOutage, engineErrorOf, withinSeconds } from './error.ts';
import { commentOf, guardedInsert, guardedStatement } from './guard.ts';
import { createEngineHttp } from './http.ts';
import { type RowSource, readRowBinary, readRows } from './http-rows.ts';
import { CLUSTER_SETTINGS, nodesOf } from './nodes.ts';
import { render, type Sql, sql, trustedText } from './sql.ts';

/** The ports over ClickHouse's HTTP interface, embedded or remote. Reads use plain HTTP (http.ts), writes the client library. */

const READER_CONNECTIONS_MAX = 32;
const WRITER_CONNECTIONS_MAX = 8;
const PING: Statement = { name: 'ping', sql: sql`SELECT 1`, maxSeconds: 3, maxRows: 1 };
const INSERT_SECONDS_MAX = 120;
/** Above every statement's own limit, so that only that limit takes effect. */
const REQUEST_TIMEOUT_MS = 3_600_000;
const NAME = /^[a-z_][a-z0-9_]*$/;

/**
 * Reads with the reader's credentials; every request is sent with readonly=2, regardless of the user's rights. `outageMaxMs`: how
 * long reads wait for an engine that this program restarts.
 */
export function createReader(access: EngineAccess, log?: Log, outageMaxMs = 0): Reader {
  const source = sourceOf(access, access.reader, READER_CONNECTIONS_MAX, log, outageMaxMs);
  return readerOver({ ...source, settings: { ...READER_SETTINGS, ...source.settings } });
}

/** DDL and inserts with the writer's credentials. */
export function createWriter(access: EngineAccess, log?: Log): Writer {
  const connection = writeConnection(access, WRITER_CONNECTIONS_MAX);
  const source = sourceOf(access, access.writer, WRITER_CONNECTIONS_MAX, log);
  const reader = readerOver(source);
  return {
    ...reader,
    run: (statement) => runStatement(connection, statement),
    insert: (name, table, columns, rowBinary, marks = {}) =>
      insertRows(connection, { name, table, columns, rowBinary, marks }),
    load: (statement, body) => loadBody(connection, statement, body),
    dropPartition: (statement) => dropPartition(access, connection, statement),
    rowBinary: (statement, signal) => readRowBinary(source, statement, signal),
    async close() {
      await Promise.all([reader.close(), connection.client.close()]);
    },
  };
}

/** The client library and the headers that each request carries. */
interface WriteConnection {
  readonly client: ClickHouseClient;
  /** Current trace headers: they link a statement to its span. */
  readonly headers: () => Readonly<Record<string, string>>;
}

const NO_HEADERS = {};

function writeConnection(access: EngineAccess, connectionsMax: number): WriteConnection {
  return {
    client: connect(access, access.writer, connectionsMax, ownSettingsOf(access)),
    headers: access.headers ?? (() => NO_HEADERS),
  };
}

type Settings = Readonly<Record<string, string | number>>;

/** The client library with a user's credentials. `settings` go with every statement; the user must be allowed to change them. */
export function connect(
  access: EngineAccess,
  { user, password }: EngineUser,
  connectionsMax: number,
  settings: Settings = clusterSettingsOf(access),
): ClickHouseClient {
  const url = new URL(access.url);
  const { pathname } = url;
  url.pathname = '/'; // the client would take a path as the database name
  return createClient({
    url,
    ...(pathname === '/' ? {} : { pathname }),
    username: user,
    password,
    database: access.database,
    application: 'settlement-index',
    max_open_connections: connectionsMax,
    clickhouse_settings: settings,
    request_timeout: REQUEST_TIMEOUT_MS,
    log: { level: ClickHouseLogLevel.OFF },
  });
}

function readerOver(source: RowSource): Reader {
  return {
    rows: (statement, signal) => readRows(source, statement, signal),
    async ping() {
      await readRows(source, PING, undefined);
    },
    close: async () => source.http.close(),
  };
}

function sourceOf(
  access: EngineAccess,
  user: EngineUser,
  connectionsMax: number,
  log: Log | undefined,
  outageMaxMs = 0,
): RowSource {
  return {
    http: createEngineHttp(access.url, user, connectionsMax, access.headers),
    database: access.database,
    settings: ownSettingsOf(access),
    onRetry: (statement, reason) => log?.debug({ statement, reason: messageOf(reason) }, 'read is retried'),
    outage: createEngineOutage(outageMaxMs),
  };
}

/** Settings of the reader's and the writer's statements, whose work, unlike a guest's, is bounded. */
const OWN_SETTINGS = {
  // The engine compiles an expression when it meets it for the fourth time. That takes 30 ms and more, which a bounded statement
  // never earns back; a guest's full scans do.
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
  // Filters by the sort key before versions are merged and other columns are read: the granules of a wallet's log are full of other
  // wallets' rows. Safe because all versions of a row share the sort key.
  optimize_move_to_prewhere_if_final: 1,
  // A key that a grouping set omits is empty, regardless of the server's profile.
  group_by_use_nulls: 0,
} as const;

/**
 * A page reads a few granules of each part: a second thread costs a tenth to a third more CPU time, and many pages are read at once.
 * Rare large reads request more threads themselves.
 */
const READER_SETTINGS = { max_threads: 1 } as const;

function ownSettingsOf(access: EngineAccess): Settings {
  return { ...OWN_SETTINGS, ...clusterSettingsOf(access) };
}

function clusterSettingsOf({ cluster }: EngineAccess): Settings {
  return cluster === undefined ? {} : CLUSTER_SETTINGS;
}

/** A table over all nodes has no partitions: on a cluster each node drops its local one. */
async function dropPartition(
  access: EngineAccess,
  connection: WriteConnection,
  { table, partition, ...bounds }: Parameters<Writer['dropPartition']>[0],
): Promise<void> {
  const statement: RunStatement = {
    ...bounds,
    kind: 'other',
    sql: sql`ALTER TABLE ${trustedText(table)} DROP PARTITION ${trustedText(String(partition))}`,
  };
  if (access.cluster === undefined) return runStatement(connection, statement);
  for (const node of nodesOf(access)) {
    const own = writeConnection(node, 1);
    try {
      await runStatement(own, statement);
    } finally {
      await own.client.close();
    }
  }
}

async function runStatement({ client, headers }: WriteConnection, statement: RunStatement): Promise<void> {
  const { guards = [] } = statement;
  const { query, params } = render(guardedStatement(statement.sql, guards));
  await withinSeconds(statement.maxSeconds, undefined, async (signals) => {
    try {
      await client.command({
        query,
        query_params: params,
        query_id: randomUUID(),
        abort_signal: signals.either,
        http_headers: headers(),
        clickhouse_settings: {
          wait_end_of_query: 1,
          max_execution_time: statement.maxSeconds,
          log_comment: commentOf(statement.name, statement),
          ...statement.settings,
        },
      });
    } catch (error) {
      throw engineErrorOf(error, statement.name, signals);
    }
  });
}

interface Insert {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly rowBinary: Readable | readonly Uint8Array[];
  readonly marks: WriteMarks;
}

async function insertRows({ client, headers }: WriteConnection, insert: Insert): Promise<void> {
  const { name, table, columns, rowBinary, marks } = insert;
  const unfit = [table, ...columns].find((identifier) => !NAME.test(identifier));
  if (unfit !== undefined) throw new TypeError(`${name}: ${JSON.stringify(unfit)} is not a table or column`);
  if (Array.isArray(rowBinary) && rowBinary.length === 0) return;
  const { query, params } = render(
    insertSql(trustedText(table), trustedText(columns.join(', ')), marks.guards),
  );
  await withinSeconds(INSERT_SECONDS_MAX, undefined, async (signals) => {
    try {
      const { stream } = await client.exec({
        query,
        query_params: params,
        values: rowBinary instanceof Readable ? rowBinary : Readable.from(rowBinary),
        query_id: randomUUID(),
        abort_signal: signals.either,
        http_headers: headers(),
        clickhouse_settings: {
          wait_end_of_query: 1,
          async_insert: 0,
          max_execution_time: INSERT_SECONDS_MAX,
          log_comment: commentOf(name, marks),
        },
      });
      for await (const _ of stream); // the acknowledgement is the end of the answer
    } catch (error) {
      throw engineErrorOf(error, name, signals);
    }
  });
}

/** Names were checked before. */
function insertSql(table: Sql, columns: Sql, guards: readonly Guard[] = []): Sql {
  if (guards.length > 0) return guardedInsert(table, columns, guards);
  return sql`INSERT INTO ${table} (${columns}) FORMAT RowBinary`;
}

async function loadBody(
  { client, headers }: WriteConnection,
  statement: Omit<Statement, 'maxRows'>,
  body: Readable,
): Promise<void> {
  const { query, params } = render(statement.sql);
  await withinSeconds(statement.maxSeconds, undefined, async (signals) => {
    try {
      const { stream } = await client.exec({
        query,
        query_params: params,
        values: body,
        query_id: randomUUID(),
        abort_signal: signals.either,
        http_headers: headers(),
        clickhouse_settings: {
          wait_end_of_query: 1,
          async_insert: 0,
          max_execution_time: statement.maxSeconds,
          log_comment: commentOf(statement.name, statement),
          ...statement.settings,
        },
      });
      for await (const _ of stream); // the acknowledgement is the end of the answer
    } catch (error) {
      throw engineErrorOf(error, statement.name, signals);
    }
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
