import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { UserError } from '../../../core/user-error.ts';
import { BUNDLE_KEYS_PATH, type PublicKey, readKeySet } from '../keys.ts';
import { fromJson, type RowColumn, type RowValues } from '../rows.ts';
import { type DaysOf, daysSelect, rowKey } from '../tables.ts';

/** An API as a stranger with a key sees it: SQL over the public tables, a page of rows at a time. */

export interface Api {
  /** Null where the service publishes none. */
  keys(): Promise<readonly PublicKey[] | null>;
  /** The rows of some days, in the order of their files. */
  rows(of: DaysOf, columns: readonly RowColumn[]): AsyncGenerator<RowValues>;
  close(): Promise<void>;
}

/** Of one query: below the million rows and the bytes that an answer may have, and few enough pages for a busy day. */
export const PAGE_ROWS = 50_000;
const ANSWER_MAX_MS = 120_000;
const RATE_LIMIT_WAITS_MAX = 20;
const WAIT_SECONDS_DEFAULT = 10;
const WAIT_SECONDS_MAX = 120;
const PROBLEM_MAX_BYTES = 64 * 1024;

export interface ApiOptions {
  readonly url: string;
  readonly key: string | null;
  readonly signal: AbortSignal;
  say(line: string): void;
}

export function openApi(options: ApiOptions): Api {
  const agent = new Agent({ headersTimeout: ANSWER_MAX_MS, bodyTimeout: ANSWER_MAX_MS });
  const base = options.url.replace(/(?<!\/)\/+$/, '').replace(/\/v0$/, '');
  const asked = { ...options, agent, base };
  return {
    async keys() {
      const { statusCode, body } = await request(`${base}${BUNDLE_KEYS_PATH}`, {
        dispatcher: agent,
        signal: options.signal,
      }).catch((cause: unknown) => {
        throw unreachable(base, cause);
      });
      const text = await body.text();
      return statusCode === 200 ? readKeySet(parsed(text)) : null;
    },
    rows: (of, columns) => pagedRows(asked, of, columns),
    // A comparison that ended early leaves an answer that is not read to its end.
    close: () => agent.destroy(),
  };
}

interface Asked extends ApiOptions {
  readonly agent: Agent;
  readonly base: string;
}

async function* pagedRows(
  asked: Asked,
  of: DaysOf,
  columns: readonly RowColumn[],
): AsyncGenerator<RowValues> {
  const key = rowKey(of.table).map((name) => columns.findIndex((column) => column.name === name));
  let after: readonly string[] | undefined;
  for (;;) {
    const sql = daysSelect(of, {
      columns: columns.map(({ name }) => name),
      limit: PAGE_ROWS,
      ...(after === undefined ? {} : { after }),
    });
    let count = 0;
    let last: RowValues = [];
    for await (const line of lines(asked, sql)) {
      const row = JSON.parse(line) as Record<string, unknown>; // one object on each line, by the format
      last = columns.map(({ name, kind }) => fromJson(row[name], kind));
      count += 1;
      yield last;
    }
    // A long page can be short because its bytes were cut: what comes behind its last row is asked for.
    if (count < SURELY_WHOLE_ROWS) return;
    after = key.map((at) => String(last[at] ?? ''));
  }
}

/** So few rows are never cut by their bytes: an attestation has 4 KiB of text at most. */
const SURELY_WHOLE_ROWS = 5_000;

async function* lines(asked: Asked, sql: string): AsyncGenerator<string> {
  const body = await answerOf(asked, sql);
  body.setEncoding('utf8');
  let rest = '';
  for await (const piece of body as AsyncIterable<string>) {
    const parts = `${rest}${piece}`.split('\n');
    rest = parts.pop() ?? '';
    yield* parts.filter((part) => part !== '');
  }
  if (rest !== '') throw new Error('the API ended its answer in the middle of a row');
}

type Body = Awaited<ReturnType<typeof request>>['body'];

async function answerOf(asked: Asked, sql: string): Promise<Body> {
  const { base, agent, key, signal, say } = asked;
  for (let waits = 0; ; waits++) {
    const { statusCode, headers, body } = await request(`${base}/v0/sql`, {
      method: 'POST',
      dispatcher: agent,
      signal,
      headers: { 'content-type': 'application/json', ...(key === null ? {} : { 'x-api-key': key }) },
      body: JSON.stringify({ sql, format: 'ndjson', numbers: 'text' }),
    }).catch((cause: unknown) => {
      throw unreachable(base, cause);
    });
    if (statusCode === 200) return body;
    const text = (await body.text()).slice(0, PROBLEM_MAX_BYTES);
    if ((statusCode !== 429 && statusCode !== 503) || waits === RATE_LIMIT_WAITS_MAX)
      throw new UserError(`${base} answered ${statusCode} to a query: ${detailOf(text)}`);
    const seconds = Math.min(Number(headers['retry-after']) || WAIT_SECONDS_DEFAULT, WAIT_SECONDS_MAX);
    say(`${base} asks to wait ${seconds} s`);
    await delay(seconds * 1_000, undefined, { signal });
  }
}

function unreachable(base: string, cause: unknown): UserError {
  return new UserError(
    `${base} cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`,
    {
      cause,
    },
  );
}

function detailOf(text: string): string {
  const problem = parsed(text);
  const detail: unknown =
    typeof problem === 'object' && problem !== null ? Reflect.get(problem, 'detail') : undefined;
  return typeof detail === 'string' ? detail : 'no reason was given';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
