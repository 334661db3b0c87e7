import { randomUUID } from 'node:crypto';
import { retry } from '../../core/process/retry.ts';
import type { Row, Rows, Statement } from './engine.ts';
import {
  createEngineOutage,
  type EngineOutage,
  engineErrorOf,
  isBrokenConnection,
  isConnectionRefused,
  withinSeconds,
} from './error.ts';
import { type EngineHttp, isSuccess, refusalOf, WHOLE_ANSWER } from './http.ts';
import { render, type SqlValue } from './sql.ts';

/** SELECTs over plain HTTP. Answers are read whole into memory; the statement's `maxRows` bounds them. */
export interface RowSource {
  readonly http: EngineHttp;
  readonly database: string;
  /** Settings of every statement. */
  readonly settings: Readonly<Record<string, string | number>>;
  /** Called before a read is repeated. */
  readonly onRetry: (statement: string, reason: unknown) => void;
  readonly outage: EngineOutage;
}

/** About the time that the embedded engine needs to restart after a crash. */
const RETRY_AFTER_MS = 400;
/** Between two attempts to reach a restarting engine. */
const POLL_MS = 100;
/** Retries of a statement that the engine may have seen: a statement that crashes the engine must not do so again and again. */
const SEEN_MAX = 3;

/**
 * Requests the answer as a whole, so that a late error arrives with its status and code instead of a torn body. Sent with readonly=2,
 * regardless of the user's rights. The cancel setting ends the query when the connection closes; it works only for read-only
 * requests.
 */
const READ_WORDS = {
  ...WHOLE_ANSWER,
  readonly: 2,
  cancel_http_readonly_queries_on_client_close: 1,
  // Otherwise each statement also starts and waits for a formatting and a collecting thread: 0.4 ms per read.
  output_format_parallel_formatting: 0,
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
} as const;

/**
 * Rows of a statement without FORMAT. Retried once on a broken connection, and while the engine restarts. Throws `EngineError`.
 */
export async function readRows(
  source: RowSource,
  statement: Statement,
  caller: AbortSignal | undefined,
): Promise<Rows> {
  const began = performance.now();
  const answer = await readAs('JSONCompact', decodeRows, source, statement, caller);
  return { ...answer, elapsedMs: performance.now() - began };
}

/** The same as bytes, for rows whose JSON would cost more than the work on them. */
export function readRowBinary(
  source: RowSource,
  statement: Statement,
  caller: AbortSignal | undefined,
): Promise<Buffer> {
  return readAs('RowBinary', (bytes) => bytes, source, statement, caller);
}

/** The settings that bound a SELECT in the engine. */
function boundsOf({ name, maxSeconds, maxRows }: Statement): Record<string, string | number> {
  return {
    max_execution_time: maxSeconds,
    max_result_rows: maxRows,
    result_overflow_mode: 'throw',
    log_comment: name,
  };
}

async function readAs<Answer>(
  format: string,
  decode: (bytes: Buffer) => Answer,
  source: RowSource,
  statement: Statement,
  caller: AbortSignal | undefined,
): Promise<Answer> {
  const { query, params } = render(statement.sql);
  const words = {
    database: source.database,
    ...READ_WORDS,
    ...source.settings,
    ...boundsOf(statement),
    ...statement.settings,
    ...Object.fromEntries(Object.entries(params).map(([name, value]) => [`param_${name}`, wireText(value)])),
  };
  const text = `${query} FORMAT ${format}`;
  const read = async (signal: AbortSignal): Promise<Answer> => {
    const answer = await source.http.ask({ text, words: { ...words, query_id: randomUUID() } }, signal);
    if (!isSuccess(answer)) throw await refusalOf(answer, signal);
    return decode(answer.bytes);
  };
  return withinSeconds(statement.maxSeconds, caller, async (signals) => {
    const { either } = signals;
    try {
      either.throwIfAborted();
      const onRetry = (reason: unknown): void => source.onRetry(statement.name, reason);
      const outage = statement.waitsForRestart === false ? createEngineOutage(0) : source.outage;
      return await retried(() => read(either), { onRetry, outage }, either);
    } catch (error) {
      throw engineErrorOf(error, statement.name, signals);
    }
  });
}

async function retried<T>(
  attempt: () => Promise<T>,
  { onRetry, outage }: { readonly onRetry: (reason: unknown) => void; readonly outage: EngineOutage },
  signal: AbortSignal,
): Promise<T> {
  let seen = 0;
  const pauseMs = (error: unknown, failures: number): number | null => {
    if (!isConnectionRefused(error)) seen += 1;
    const patienceMs = isBrokenConnection(error) ? outage.patienceMs() : 0;
    const isFirst = failures === 1 && isBrokenConnection(error);
    if (seen >= SEEN_MAX || !(isFirst || patienceMs > 0)) return null;
    onRetry(error);
    return isFirst ? RETRY_AFTER_MS : POLL_MS;
  };
  const answer = await retry(attempt, { signal, pauseMs });
  outage.over();
  return answer;
}

/** The parts of a JSONCompact answer that we read. */
interface CompactAnswer {
  readonly data?: readonly Row[];
  readonly statistics?: { readonly rows_read?: number; readonly bytes_read?: number };
}

function decodeRows(bytes: Buffer): Omit<Rows, 'elapsedMs'> {
  const { data, statistics } = JSON.parse(bytes.toString()) as CompactAnswer; // the engine's; `data` is looked at
  if (!Array.isArray(data)) throw new TypeError('the engine did not answer in the format that was asked for');
  return { rows: data, readRows: statistics?.rows_read ?? 0, readBytes: statistics?.bytes_read ?? 0 };
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
};

/** A placeholder's value in the engine's wire format: a text is escaped like a field of a tab-separated file. */
function wireText(value: SqlValue['value']): string {
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return String(value);
  return `[${value.map((one) => (typeof one === 'string' ? `'${escaped(one)}'` : String(one))).join(',')}]`;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\'\t\n\r]/g, (letter) => ESCAPES[letter] ?? letter);
}
