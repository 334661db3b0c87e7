import { Call, type RepeatableOptions } from './call.ts';
import { type ApiRequest, type CallOptions, type Connection, send } from './send.ts';
import { SqlFile, type SqlFileFormat, SqlRows } from './sql-results.ts';
import type { SqlEstimate, SqlResult, SqlTier } from './wire.ts';

/** `POST /sql`: queries whose rows come as JSON, one by one, or as a file. */

/** A value of a placeholder `{name:Type}`. Numbers beyond 2^53 as texts. */
export type SqlParam = string | number | boolean | null | readonly SqlParam[];

export interface SqlOptions extends RepeatableOptions {
  /** Values of the placeholders `{name:Type}` by name. The engine binds them, so pass untrusted values here. */
  readonly params?: Readonly<Record<string, SqlParam>> | undefined;
  /** How long the query may run, and therefore what it may cost. Default `standard`. */
  readonly tier?: SqlTier | undefined;
  /**
   * The most that the query may cost, in Query Units, from 1 to the maximum of the tier, which is the default. A unit buys 5 seconds.
   * Over x402 this is the price, at 0.01 USD a unit.
   */
  readonly maxQu?: number | undefined;
  /** Most rows of the answer; `truncated` says whether there are more. Without it the answer has every row, or the query fails. */
  readonly maxRows?: number | undefined;
  /**
   * `native`: numbers of JSON where a double holds them, and decimals of 38 digits in Parquet and Arrow, where it is the default. `text`:
   * every digit as a text, the default in JSON.
   */
  readonly numbers?: 'text' | 'native' | undefined;
}

export type SqlExplainOptions = CallOptions & Pick<SqlOptions, 'params' | 'tier' | 'maxQu'>;

/** A row by column name. Integers of 64 bits and more, and decimals, are exact texts unless `numbers` is `native`. */
export type SqlRow = Record<string, unknown>;

/** A JSON answer: `columns` with their types, `rows`, `truncated`, and what the query read and cost. */
export type SqlAnswer<Row> = Omit<SqlResult, 'rows'> & { rows: Row[] };

export interface SqlMethods {
  /**
   * Runs one SELECT and returns its rows, at most 10,000, with their columns. `Row` is the caller’s claim about the rows and is not checked.
   With `format: 'json_compact'` rows are arrays in the order of `columns`.
   *
   * Costs 1 Query Unit for every started 5 seconds of engine work, never more than `maxQu`. An invalid query (`invalid_query`) and one
   * that fails before it reads a row (`query_failed`) cost nothing.
   */
  sql<Row = SqlRow>(
    text: string,
    options?: SqlOptions & { readonly format?: 'json' | undefined },
  ): Call<SqlAnswer<Row>>;
  sql<Row = unknown[]>(
    text: string,
    options: SqlOptions & { readonly format: 'json_compact' },
  ): Call<SqlAnswer<Row>>;

  /**
   * Runs one SELECT and yields its rows, at most 1,000,000, as they arrive: `for await (const row of client.sqlRows(…))`. It reads no faster
   * than the loop, and leaving the loop closes the connection. Rejects with `connection_lost` where the answer breaks off; `truncated`
   * says after the last row whether there are more than `maxRows`.
   */
  sqlRows<Row = SqlRow>(text: string, options?: SqlOptions): SqlRows<Row>;

  /** Runs one SELECT and returns its answer as bytes: `csv`, `parquet`, `arrow` (a stream) or `ndjson`. */
  sqlFile(text: string, options: SqlOptions & { readonly format: SqlFileFormat }): Promise<SqlFile>;

  /** Checks a query without running it: the text that would run, what it would read and cost, and warnings. Free, needs no key. */
  explain(text: string, options?: SqlExplainOptions): Call<SqlEstimate>;
}

export function createSqlMethods(connection: Connection): SqlMethods {
  const ask = (text: string, options: SqlOptions, more: AskOptions) =>
    send(connection, requestOf(text, options, more));
  return {
    sql: (
      text: string,
      options: SqlOptions & { readonly format?: 'json' | 'json_compact' | undefined } = {},
    ) => {
      const { format = 'json' } = options;
      return new Call<never>(() => ask(text, options, { format, reads: 'json' })); // typed by the overloads
    },
    sqlRows: (text, options = {}) => {
      const open = (signal: AbortSignal) =>
        ask(text, { ...options, signal }, { format: 'ndjson', reads: 'nothing' });
      return new SqlRows(open, options.signal);
    },
    sqlFile: async (text, options) =>
      new SqlFile(await ask(text, options, { format: options.format, reads: 'nothing' }), options.signal),
    explain: (text, options = {}) =>
      new Call(() => ask(text, options, { format: undefined, reads: 'json', explainOnly: true })),
  };
}

interface AskOptions extends Pick<ApiRequest, 'reads'> {
  readonly format: string | undefined;
  readonly explainOnly?: boolean;
}

function requestOf(sql: string, options: SqlOptions, { format, reads, explainOnly }: AskOptions): ApiRequest {
  const { numbers, idempotencyKey } = options;
  const body = { ...sqlFields(sql, options), format, numbers, explain_only: explainOnly };
  return {
    method: 'POST',
    path: '/sql',
    body: JSON.stringify(body),
    // `format` in the body decides; errors are JSON.
    accept: '*/*',
    reads,
    idempotencyKey,
    options,
  };
}

/** What every request to run a query says, by the names of the wire. JSON leaves undefined members out. */
export function sqlFields(
  sql: string,
  { tier, maxQu, params, maxRows }: Pick<SqlOptions, 'tier' | 'maxQu' | 'params' | 'maxRows'>,
) {
  return { sql, tier, max_qu: maxQu, params, max_rows: maxRows };
}
