import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import { SETTLEMENTS } from '../../clickhouse/tables/settlements.ts';
import type { Tracer } from '../../core/meter.ts';
import { runIngest } from '../../ingest/worker.ts';
import { type ApiParts, send, startApi } from './api.ts';
import type { ChainHistory } from './chain-history.ts';
import { type BenchEngine, benchLog, numbersOf, startBenchEngine } from './engine.ts';
import { processFigures } from './processes.ts';
import { at, listed } from './questions.ts';
import type { Workspace } from './run.ts';
import { benchConfig, localChain } from './service.ts';

/** What reads the whole of a chain: our worker, or a program that it is compared with. */
export interface Indexer {
  /** Throws where it does not find every settlement of the chain. */
  index(): Promise<IndexedIn>;
}

export interface IndexedIn {
  /** Before the first block is read, where that is known. */
  readonly startUpMs: number;
  /** From then until every settlement is there. */
  readonly syncMs: number;
}

const INDEX_TIMEOUT_MS = 600_000;
const PAGE_LIMIT = 100;
let runs = 0;

/**
 * Indexes the chain, perhaps on another way to its node, into a fresh engine with our own worker. Afterwards, off the clock, walks the feed
 * of the API to see that all settlements are served.
 */
export function ourWorker(workspace: Workspace, history: ChainHistory, rpcUrl = history.chain.url) {
  return {
    /** With processor seconds until every settlement was there: of this process, in which the worker runs, and of the engine's. */
    async index() {
      const before = process.cpuUsage();
      runs += 1;
      const config = await benchConfig(workspace, [localChain(rpcUrl)]);
      const engine = await startBenchEngine(workspace, `engine-${runs}`);
      const settlements = history.settlements();
      const stopping = new AbortController();
      const { signal } = stopping;
      const began = performance.now();
      const { writer, next } = watchWrites(engine.writer);
      const { tracer, first } = watchReads();
      const observation = { meter: null, tracer };
      const running = runIngest({ config, writer, log: benchLog(), signal, terminal: null, observation });
      try {
        await Promise.race([untilIndexed(engine, next, settlements), running]);
        const ended = performance.now();
        const { user, system } = process.cpuUsage(before);
        const engineSeconds = processFigures(engine.pid()).cpuSeconds;
        await requireServed(workspace, { reader: engine.reader, config }, settlements);
        const firstRead = first() ?? ended;
        return {
          ...{ startUpMs: firstRead - began, syncMs: ended - firstRead },
          ...{ workerSeconds: (user + system) / 1e6, engineSeconds },
        };
      } finally {
        stopping.abort();
        await running.catch(() => undefined); // its failure has ended the race above
        await engine.stop();
      }
    },
  };
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

async function untilIndexed(engine: BenchEngine, nextWrite: () => Promise<void>, settlements: number) {
  const late = sleep(INDEX_TIMEOUT_MS, 'late' as const, { ref: false });
  for (;;) {
    const written = nextWrite();
    const [rows = 0] = await numbersOf(engine, sql`SELECT count() FROM settlements`);
    if (rows >= settlements) return;
    if ((await Promise.race([written, late])) === 'late')
      throw new Error(`only ${rows} of ${settlements} settlements are indexed`);
  }
}

async function requireServed(workspace: Workspace, parts: ApiParts, settlements: number): Promise<void> {
  const { url, key, close } = await startApi(workspace, parts);
  const seen = new Set<string>();
  let before: unknown = '';
  do {
    const page = `/v0/flows?limit=${PAGE_LIMIT}${before === '' ? '' : `&before=${before}`}`;
    const body: unknown = JSON.parse((await send(url + page, key)).text);
    for (const line of listed('flows', 'tx_hash', 'log_index')(body)) seen.add(line);
    before = at(body, 'next_before') ?? '';
  } while (before !== '');
  await close();
  if (seen.size !== settlements)
    throw new Error(`the chain has ${settlements} settlements, the API serves ${seen.size}`);
}

/** A reader's requests to a node: the bodies in order, and how many were in flight at once. */
export interface Recording {
  readonly requests: readonly string[];
  readonly inFlightMax: number;
}

/** Lets our worker index the chain through a proxy that forwards and records every request. */
export async function recordWorker(workspace: Workspace, history: ChainHistory): Promise<Recording> {
  const requests: string[] = [];
  let inFlight = 0;
  let inFlightMax = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    requests.push(body);
    inFlight++;
    inFlightMax = Math.max(inFlightMax, inFlight);
    try {
      const answer = await postJson(history.chain.url, body);
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(Buffer.from(await answer.arrayBuffer()));
    } finally {
      inFlight--;
    }
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy()); // the reader sees a broken connection and asks again
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  workspace.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  await ourWorker(workspace, history, `http://127.0.0.1:${port}`).index();
  return { requests, inFlightMax };
}

/**
 * Fetches the recorded answers again, as parallel as they were, and discards them. It parses the JSON, because only that tells a JSON-RPC
 * answer from an error, and reads nothing else of it.
 */
export function fetchOnly(history: ChainHistory, { requests, inFlightMax }: Recording): Indexer {
  return {
    async index() {
      const began = performance.now();
      let next = 0;
      const work = async (): Promise<void> => {
        for (let body = requests[next++]; body !== undefined; body = requests[next++]) {
          const answer = await postJson(history.chain.url, body);
          await answer.json();
        }
      };
      await Promise.all(Array.from({ length: inFlightMax }, work));
      return { startUpMs: 0, syncMs: performance.now() - began };
    },
  };
}

function postJson(url: string, body: string): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}
