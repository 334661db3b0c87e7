import type { FastifyInstance } from 'fastify';
import type { Reader } from '../../clickhouse/engine.ts';
import type { Clock } from '../../src/clock.ts';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { CursorKeys } from '../../src/domain/cursor.ts';
import { buildApp } from '../../src/http/app.ts';
import { createLog } from '../../src/log.ts';
import { NOON } from './rows.ts';

export const CURSOR_KEYS: CursorKeys = { keys: [Buffer.alloc(32, 7)] };

export interface TestClock extends Clock {
  advanceSeconds(seconds: number): void;
}

/** Stands at noon until it is moved: cached facts then age only when a test says so. */
export function testClock(startSeconds = NOON): TestClock {
  let nowMs = startSeconds * 1_000;
  return {
    nowMs: () => nowMs,
    advanceSeconds: (seconds) => {
      nowMs += seconds * 1_000;
    },
  };
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export interface TestApi {
  readonly app: FastifyInstance;
  readonly clock: TestClock;
  get(url: string, headers?: Record<string, string>): Promise<ApiAnswer>;
  close(): Promise<void>;
}

const REQUESTS_PER_MINUTE = 1_000_000;

/** The real application over a reader, two chains configured. */
export async function testApi(
  reader: Reader,
  options: {
    readonly http?: Partial<Config['http']>;
    readonly clock?: TestClock;
    readonly cursorKeys?: CursorKeys;
  } = {},
): Promise<TestApi> {
  const config = loadConfig({ env: { CHAINS: 'base,polygon' } });
  const clock = options.clock ?? testClock();
  const app = buildApp({
    config: { ...config, http: { ...config.http, requestsPerMinute: REQUESTS_PER_MINUTE, ...options.http } },
    reader,
    cursorKeys: options.cursorKeys ?? CURSOR_KEYS,
    log: createLog('silent', 'test'),
    clock,
    version: '9.9.9',
  });
  await app.ready();
  return {
    app,
    clock,
    get: async (url, headers = {}) => {
      const answer = await app.inject({ method: 'GET', url, headers });
      return {
        status: answer.statusCode,
        headers: answer.headers as Record<string, string | undefined>, // single-valued in our answers
        text: answer.body,
        body: /json/.test(String(answer.headers['content-type'])) ? answer.json() : undefined,
      };
    },
    close: () => app.close(),
  };
}

export interface WalkOptions {
  readonly limit: number;
  readonly query?: string;
  /** Runs between pages: rows arrive, reorgs happen. */
  readonly between?: (page: number) => Promise<void>;
}

const PAGES_MAX = 5_000;

/** Follows next_before to the end; gives every row in the order served, and how many pages there were. */
export async function walk(
  api: TestApi,
  path: string,
  { limit, query = '', between }: WalkOptions,
): Promise<{ readonly rows: Record<string, unknown>[]; readonly pages: number }> {
  const rows: Record<string, unknown>[] = [];
  let cursor = '';
  for (let page = 1; page <= PAGES_MAX; page++) {
    const before = cursor === '' ? '' : `&before=${encodeURIComponent(cursor)}`;
    const { status, body, text } = await api.get(`${path}?limit=${limit}${query}${before}`);
    if (status !== 200) throw new Error(`${status}: ${text}`);
    const list = body.flows ?? body.transactions ?? body.settlements;
    if (list.length > limit) throw new Error(`a page of ${list.length} rows for limit ${limit}`);
    rows.push(...list);
    if (body.next_before === null) return { rows, pages: page };
    cursor = body.next_before;
    await between?.(page);
  }
  throw new Error(`no end after ${PAGES_MAX} pages`);
}

/** Names a row by what makes it unique. */
export function rowKey(row: Record<string, unknown>): string {
  return `${row['chain']}/${row['block_number']}/${row['log_index']}/${row['tx_hash']}`;
}
