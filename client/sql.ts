import { Call, type RepeatableOptions } from './call.ts';
import { type ApiRequest, type CallOptions, type Connection, send } from './send.ts';
import { SqlFile, type SqlFileFormat, SqlRows } from './sql-results.ts';
import type { SqlEstimate, SqlResult, SqlTier } from './wire.ts';

/** Queries: `POST /sql` in the form that fits what is done with the rows. */

/** A value of a placeholder `{name:Type}`. Numbers beyond 2^53 as texts. */
export type SqlParam = string | number | boolean | null | readonly SqlParam[];

export interface SqlOptions extends RepeatableOptions {
  /** Values of the placeholders `{name:Type}` by name. The engine binds them: what comes from elsewhere belongs here. */
  readonly params?: Readonly<Record<string, SqlParam>> | undefined;
  /** How long the query may run, and so what it may cost. Default `standard`. */
  readonly tier?: SqlTier | undefined;
  /**
   * The most that the query may cost, in Query Units, from 1 to the maximum of the tier, which is the default. Buys 5 seconds a unit;
   * paid over x402 it is the price: 0.01 USD a unit.
   */
  readonly maxQu?: number | undefined;
  /** Rows that the answer has at most; `truncated` says whether there are more. */
  readonly maxRows?: number | undefined;
}

export type SqlExplainOptions = CallOptions & Pick<SqlOptions, 'params' | 'tier' | 'maxQu'>;

/** A row by column name. Integers of 64 bits and more, and decimals, are texts: they are exact. */
export type SqlRow = Record<string, unknown>;

/** A JSON answer: `columns` with their types, `rows`, `truncated`, what it read and what it cost. */
export type SqlAnswer<Row> = Omit<SqlResult, 'rows'> & { rows: Row[] };

export interface SqlMethods {
  /**
   * Runs one SELECT and gives its rows with their columns, at most 10,000 of them. `Row` is what the caller says the query gives; it is
   * not checked. With `format: 'json_compact'` rows are arrays in the order of `columns`.
   *
   * Costs 1 Query Unit for every started 5 seconds of engine time, never more than `maxQu`; an invalid query costs nothing
   * (`invalid_query`), nor does one that fails before it read a row (`query_failed`).
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
   * Runs one SELECT and gives its rows one by one as they arrive, at most 1,000,000: `for await (const row of client.sqlRows(…))`. Reads
   * no faster than the loop. Leaving the loop closes the connection. Rejects with `connection_lost` where the answer breaks off, never
   * ends early in silence; `truncated` says, after the last row, whether a cap cut it.
   */
  sqlRows<Row = SqlRow>(text: string, options?: SqlOptions): SqlRows<Row>;

  /** Runs one SELECT and gives its answer as bytes: `csv`, `parquet`, `arrow` (a stream) or `ndjson`. */
  sqlFile(text: string, options: SqlOptions & { readonly format: SqlFileFormat }): Promise<SqlFile>;

  /** Judges a query without running it: the text that would run, what it would read and cost, warnings. Free, and needs no key. */
  explain(text: string, options?: SqlExplainOptions): Call<SqlEstimate>;
}

/** `maxRows` of an answer in lines. */
const LINES_MAX = 1_000_000;

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
      const rowsMax = Math.min(options.maxRows ?? LINES_MAX, LINES_MAX);
      // One more than the caller may have tells whether there are more.
      const maxRows = Math.min(rowsMax + 1, LINES_MAX);
      const open = (signal: AbortSignal) =>
        ask(text, { ...options, maxRows, signal }, { format: 'ndjson', reads: 'nothing' });
      return new SqlRows(open, { rowsMax, asked: maxRows, signal: options.signal });
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
  const { params, tier, maxQu, maxRows, idempotencyKey } = options;
  // What is undefined is not in the JSON.
  const body = { sql, tier, max_qu: maxQu, params, format, max_rows: maxRows, explain_only: explainOnly };
  return {
    method: 'POST',
    path: '/sql',
    body: JSON.stringify(body),
    // The format of the body decides; errors are JSON.
    accept: '*/*',
    reads,
    idempotencyKey,
    options,
  };
}
