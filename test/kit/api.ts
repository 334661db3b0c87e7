import type { FastifyInstance } from 'fastify';
import { inject } from 'vitest';
import type { EngineAccess, Reader } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import { loadConfig } from '../../core/config/load.ts';
import type { CursorKeys } from '../../core/domain/cursor.ts';
import type { Log } from '../../core/log.ts';
import type { SqlSandbox } from '../../sandbox/sandbox.ts';
import { buildApp } from '../../src/http/app.ts';
import type { RequestObservation } from '../../src/http/request-facts.ts';
import { openJobs } from '../../src/open-jobs.ts';
import { TAIL_TIMES, type TailTimes } from '../../src/operations/settlements/tail.ts';
import { keepTestStore, type OwnStore, openTestAccess, type TestAccess } from './access.ts';
import { CLOSED_SANDBOX } from './closed-sandbox.ts';
import { NOON } from './rows.ts';
import { watchedLog, watchText } from './secrets-watch.ts';
import { shareSerializers } from './serializers.ts';

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
  readonly access: TestAccess;
  /** The key that `get` sends, as headers for requests made otherwise. */
  readonly keyed: Readonly<Record<string, string>>;
  /** Sends the key of an organization with units, unless the headers hold a credential; `ANONYMOUS` holds none. */
  get(url: string, headers?: Record<string, string>): Promise<ApiAnswer>;
  close(): Promise<void>;
}

/** For a request without a key. */
export const ANONYMOUS: Readonly<Record<string, string>> = { 'x-api-key': '' };

const ALWAYS_NEW: TailTimes = { ...TAIL_TIMES, refreshAfterMs: 0, maxAgeMs: 0 };

const REQUESTS_PER_MINUTE = 1_000_000;

/** Every plan with a limit of its own making, so that tests do not run into one by chance. */
function withLimit(config: Config, requestsPerMinute: number): Config {
  const { free, pro, enterprise } = config.plans;
  return {
    ...config,
    http: { ...config.http, requestsPerMinute },
    plans: {
      free: { ...free, requestsPerMinute },
      pro: { ...pro, requestsPerMinute },
      enterprise: { ...enterprise, requestsPerMinute },
    },
  };
}

/** The real application over a reader and a real control store, two chains configured. */
export async function testApi(
  reader: Reader,
  options: {
    readonly http?: Partial<Config['http']>;
    /** Other parts of the configuration, such as `access` and `payment`. */
    readonly config?: Partial<Config>;
    readonly clock?: TestClock;
    readonly cursorKeys?: CursorKeys;
    readonly sandbox?: SqlSandbox;
    readonly log?: Log;
    /** By default every page has what was written before its request. */
    readonly tailTimes?: TailTimes;
    readonly observation?: RequestObservation;
    /** Whose results are kept, and jobs run; absent: none. */
    readonly jobsOver?: EngineAccess;
    /** In place of the store of the process; the caller closes it, after the application. */
    readonly ownStore?: OwnStore;
  } = {},
): Promise<TestApi> {
  const loaded = withLimit(
    loadConfig({ env: { CHAINS: 'base,polygon' } }),
    options.http?.requestsPerMinute ?? REQUESTS_PER_MINUTE,
  );
  const config = { ...loaded, http: { ...loaded.http, ...options.http }, ...options.config };
  const clock = options.clock ?? testClock();
  const log = options.log ?? watchedLog('api');
  keepTestStore(inject('scratch'));
  const access = await openTestAccess({ config, clock, log, ownStore: options.ownStore });
  const { jobsOver } = options;
  const { store, usage } = access.access;
  const jobs =
    jobsOver === undefined
      ? null
      : openJobs({
          config: { ...config, dataDir: access.dataDir },
          access: jobsOver,
          store,
          usage,
          clock,
          log,
        });
  const app = buildApp({
    ...access.access,
    kept: jobs,
    config,
    reader,
    sandbox: options.sandbox ?? CLOSED_SANDBOX,
    cursorKeys: options.cursorKeys ?? CURSOR_KEYS,
    log,
    clock,
    version: '9.9.9',
    tailTimes: options.tailTimes ?? ALWAYS_NEW,
    ...(options.observation === undefined ? {} : { observation: options.observation }),
  });
  shareSerializers(app);
  await app.ready();
  const keyed = { 'x-api-key': access.key };
  return {
    app,
    clock,
    access,
    keyed,
    get: async (url, headers = {}) => {
      const sent = 'authorization' in headers ? headers : { ...keyed, ...headers };
      const answer = await app.inject({ method: 'GET', url, headers: sent });
      if (answer.statusCode >= 400) watchText('refusals', answer.body);
      return {
        status: answer.statusCode,
        headers: answer.headers as Record<string, string | undefined>, // single-valued in our answers
        text: answer.body,
        body: /json/.test(String(answer.headers['content-type'])) ? answer.json() : undefined,
      };
    },
    close: async () => {
      await app.close();
      await jobs?.close();
      await access.close();
    },
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
    const list = body.flows ?? body.transactions ?? body.settlements ?? body.counterparties;
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
