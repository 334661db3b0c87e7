import { setTimeout as sleep } from 'node:timers/promises';
import type { Reader, Writer } from '../../clickhouse/engine/engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import { SETTLEMENTS } from '../../clickhouse/tables/settlements.ts';
import { systemClock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import type { Tracer } from '../../core/meter.ts';
import { runIngest } from '../../ingest/worker.ts';
import { buildApp } from '../../src/http/app.ts';
import { openTestAccess } from '../../test/kit/access.ts';
import { CLOSED_SANDBOX } from '../../test/kit/closed-sandbox.ts';
import { benchLog, startBenchEngine } from '../support/bench-engine.ts';
import type { Workspace } from '../support/workspace.ts';
import { benchConfig } from './bench-config.ts';

const INDEX_TIMEOUT_MS = 600_000;
const PAGE_LIMIT = 100;

export interface IndexedIn {
  /** From the start of the worker until it first reads blocks. */
  readonly startUpMs: number;
  /** From then until every settlement is in the table. */
  readonly syncMs: number;
}

/**
 * Indexes the whole chain behind `rpcUrl` into a fresh engine with our own worker, and answers how long that took. Afterwards, off
 * the clock, walks the feed of the API to see that all are served.
 */
export async function indexHistory(
  workspace: Workspace,
  options: {
    readonly name: string;
    readonly rpcUrl: string;
    readonly settlements: number;
    /** Called when every settlement is in the table, before they are looked at. */
    readonly onIndexed?: (enginePid: number | undefined) => void;
  },
): Promise<IndexedIn> {
  const engine = await startBenchEngine(workspace, options.name);
  const config = benchConfig(workspace, options);
  const stopping = new AbortController();
  const began = performance.now();
  const written = watchWrites(engine.writer);
  const reads = watchReads();
  const running = runIngest({
    config,
    writer: written.writer,
    log: benchLog(),
    signal: stopping.signal,
    terminal: null,
    observation: { meter: null, tracer: reads.tracer },
  });
  try {
    await Promise.race([untilIndexed(engine.reader, written.next, options.settlements), running]);
    const ended = performance.now();
    options.onIndexed?.(engine.pid());
    await requireServed(engine.reader, config, options.settlements);
    const firstRead = reads.first() ?? ended;
    return { startUpMs: firstRead - began, syncMs: ended - firstRead };
  } finally {
    stopping.abort();
    await running.catch(() => undefined); // its failure has ended the race above
    await engine.stop();
  }
}

/** Notes when the worker first reads a range of blocks. */
function watchReads(): { readonly tracer: Tracer; first(): number | undefined } {
  let first: number | undefined;
  const span = { tell: () => undefined };
  return {
    first: () => first,
    tracer: {
      span(_name, _facts, work) {
        first ??= performance.now();
        return work(span);
      },
      request: () => ({ ...span, within: (work) => work(), end: () => undefined }),
      headers: () => ({}),
      close: () => Promise.resolve(),
    },
  };
}

/** Resolves `next()` at each acknowledged insert: polling would add load to the measurement. */
function watchWrites(writer: Writer): { readonly writer: Writer; next(): Promise<void> } {
  let waiting: (() => void)[] = [];
  return {
    next: () => new Promise((resolve) => waiting.push(resolve)),
    writer: {
      ...writer,
      async insert(name, table, ...rest) {
        await writer.insert(name, table, ...rest);
        if (table !== SETTLEMENTS.name) return;
        for (const resolve of waiting) resolve();
        waiting = [];
      },
    },
  };
}

async function untilIndexed(
  reader: Reader,
  nextWrite: () => Promise<void>,
  settlements: number,
): Promise<void> {
  const late = sleep(INDEX_TIMEOUT_MS, undefined, { ref: false });
  for (;;) {
    const written = nextWrite().then(() => 'written' as const);
    if ((await countRows(reader)) >= settlements) return;
    if ((await Promise.race([written, late])) === undefined) {
      throw new Error(`only ${await countRows(reader)} of ${settlements} settlements are indexed`);
    }
  }
}

async function countRows(reader: Reader): Promise<number> {
  const { rows } = await reader.rows({
    name: 'bench-count',
    sql: sql`SELECT count() FROM settlements`,
    maxSeconds: 10,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}

interface FlowsBody {
  readonly flows: readonly { readonly tx_hash: string; readonly log_index: number }[];
  readonly next_before: string | null;
}

const REQUESTS_PER_MINUTE_MAX = 1_000_000;

async function requireServed(reader: Reader, loaded: Config, settlements: number): Promise<void> {
  const free = { ...loaded.plans.free, requestsPerMinute: REQUESTS_PER_MINUTE_MAX };
  const config = { ...loaded, plans: { ...loaded.plans, free } };
  const { access, key, close } = await openTestAccess({ config, clock: systemClock, log: benchLog() });
  const app = buildApp({
    ...access,
    config,
    reader,
    sandbox: CLOSED_SANDBOX,
    cursorKeys: { keys: [Buffer.alloc(32, 1)] },
    log: benchLog(),
    clock: systemClock,
    version: 'bench',
  });
  const seen = new Set<string>();
  let before = '';
  do {
    const url = `/v0/flows?limit=${PAGE_LIMIT}${before === '' ? '' : `&before=${before}`}`;
    const response = await app.inject({ url, headers: { 'x-api-key': key } });
    if (response.statusCode !== 200)
      throw new Error(`/v0/flows answered ${response.statusCode}: ${response.body.slice(0, 300)}`);
    const body = response.json<FlowsBody>();
    for (const row of body.flows) seen.add(`${row.tx_hash} ${row.log_index}`);
    before = body.next_before ?? '';
  } while (before !== '');
  await app.close();
  await close();
  if (seen.size !== settlements)
    throw new Error(`the chain has ${settlements} settlements, the API serves ${seen.size}`);
}
