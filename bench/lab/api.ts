import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import type { CursorKeys } from '../../core/domain/cursor.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { type AppOptions, buildApp } from '../../src/http/app.ts';
import { keepRequestsYoung } from '../../src/http/server.ts';
import type { Access } from '../../src/open-access.ts';
import { openTestAccess } from '../../test/kit/access.ts';
import { CLOSED_SANDBOX } from '../../test/kit/closed-sandbox.ts';
import { benchLog } from './engine.ts';
import type { Workspace } from './run.ts';
import { benchConfig } from './service.ts';
import { SYNTHETIC_CHAIN_IDS } from './synthetic-rows.ts';

/** The real API on a loopback port, in the bench's own process. */
export interface BenchApi {
  readonly app: FastifyInstance;
  readonly url: string;
  /** Of an organization with units enough for any bench. */
  readonly key: string;
  readonly store: ControlStore;
  readonly cursorKeys: CursorKeys;
  /** The workspace closes it at the end where nothing else did. */
  close(): Promise<void>;
}

type AppParts = Pick<AppOptions, 'config' | 'reader'> &
  Partial<Pick<AppOptions, 'sandbox' | 'clock' | 'cursorKeys'>>;

export type ApiParts = Omit<AppParts, 'config'> & { readonly config?: Config };

/** The application of the product, without SQL where no sandbox is given. */
export function benchApp(access: Access, parts: AppParts): FastifyInstance {
  const { sandbox = CLOSED_SANDBOX, clock = systemClock, cursorKeys = newKeys() } = parts;
  return buildApp({ ...access, ...parts, sandbox, clock, cursorKeys, log: benchLog(), version: 'bench' });
}

const newKeys = (): CursorKeys => ({ keys: [randomBytes(32)] });

/** Over the chains of synthetic rows where no configuration is given. */
export async function startApi(workspace: Workspace, parts: ApiParts): Promise<BenchApi> {
  const { clock = systemClock, config = await benchConfig(workspace, SYNTHETIC_CHAIN_IDS) } = parts;
  const { access, key, close } = await openTestAccess({ config, clock, log: benchLog() });
  const cursorKeys = newKeys();
  const app = benchApp(access, { ...parts, config, cursorKeys });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  let closing: Promise<void> | undefined;
  const closeAll = (): Promise<void> => {
    closing ??= app.close().then(close);
    return closing;
  };
  workspace.defer(closeAll);
  return { app, url, key, store: access.store, cursorKeys, close: closeAll };
}

export interface Cost {
  /** At the client: network, routing, decoding, JSON. */
  readonly totalMs: number;
  /** Of these in the API process, from the request's headers to its answer (Server-Timing), in tenths. */
  readonly apiMs: number;
  /** Time with at least one statement under way: the bound for any API that asks the engine the same. */
  readonly engineMs: number;
  readonly rowsRead: number;
}

export interface Answer {
  readonly body: unknown;
  readonly cost: Cost;
}

/** Requests go one after the other, so that each statement belongs to one of them. */
export interface MeasuredApi extends BenchApi {
  get(path: string): Promise<Answer>;
}

export async function startMeasuredApi(
  workspace: Workspace,
  reader: Reader,
  clock: Clock = systemClock,
): Promise<MeasuredApi> {
  keepRequestsYoung();
  const spent = { engineMs: 0, rowsRead: 0 };
  let underWay = 0;
  let busySince = 0;
  const counting: Reader = {
    ...reader,
    async rows(statement, signal) {
      if (underWay++ === 0) busySince = performance.now();
      try {
        const answer = await reader.rows(statement, signal);
        spent.rowsRead += answer.readRows;
        return answer;
      } finally {
        if (--underWay === 0) spent.engineMs += performance.now() - busySince;
      }
    },
  };
  const api = await startApi(workspace, { reader: counting, clock });
  return {
    ...api,
    async get(path) {
      Object.assign(spent, { engineMs: 0, rowsRead: 0 });
      const { text, totalMs, apiMs } = await send(api.url + path, api.key);
      return { body: JSON.parse(text), cost: { totalMs, apiMs, ...spent } };
    },
  };
}

/** Sends a GET, or a POST of a JSON body; throws for any answer but a good one. */
export async function send(url: string, key: string, body?: object) {
  const began = performance.now();
  const response = await fetch(url, requestOf(key, body));
  const text = await response.text();
  const totalMs = performance.now() - began;
  if (!response.ok)
    throw new Error(`${new URL(url).pathname} answered ${response.status}: ${text.slice(0, 500)}`);
  return { text, totalMs, apiMs: apiTime(response.headers.get('server-timing')) };
}

export function requestOf(key: string, body?: object): RequestInit {
  if (body === undefined) return { headers: { 'x-api-key': key } };
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  return { method: 'POST', headers, body: JSON.stringify(body) };
}

/** Milliseconds in the API process until its answer's headers leave, of a `Server-Timing` header. */
function apiTime(serverTiming: string | null): number {
  const total = /total;dur=([\d.]+)/.exec(serverTiming ?? '')?.[1];
  if (total === undefined) throw new Error(`no total in Server-Timing: ${serverTiming}`);
  return Number(total);
}
