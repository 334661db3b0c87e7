import { randomBytes } from 'node:crypto';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { loadConfig } from '../../core/config/load.ts';
import type { CursorKeys } from '../../core/domain/cursor.ts';
import { buildApp } from '../../src/http/app.ts';
import { keepRequestsYoung } from '../../src/http/server.ts';
import { openTestAccess } from '../../test/kit/access.ts';
import { CLOSED_SANDBOX } from '../../test/kit/closed-sandbox.ts';
import { benchLog } from './bench-engine.ts';
import type { Workspace } from './workspace.ts';

/** What one request cost. */
export interface Cost {
  /** At the client: network, routing, decoding, JSON. */
  readonly totalMs: number;
  /** Of these in the API process, from the request's headers to its answer (Server-Timing), in tenths. */
  readonly apiMs: number;
  /** Time with at least one statement under way: the bound for any API that asks the engine the same. */
  readonly engineMs: number;
  readonly statements: number;
  readonly rowsRead: number;
}

export interface Answer<T> {
  readonly body: T;
  readonly cost: Cost;
}

/** The real API on a loopback port. Requests go one after the other, so that each statement belongs to one of them. */
export interface MeasuredApi {
  get<T>(path: string): Promise<Answer<T>>;
  readonly cursorKeys: CursorKeys;
  readonly url: string;
  readonly key: string;
}

const REQUESTS_PER_MINUTE_MAX = 100_000_000;

export async function startMeasuredApi(
  reader: Reader,
  workspace: Workspace,
  clock: Clock = systemClock,
): Promise<MeasuredApi> {
  keepRequestsYoung();
  const spent = { engineMs: 0, statements: 0, rowsRead: 0 };
  let underWay = 0;
  let busySince = 0;
  const counting: Reader = {
    ...reader,
    async rows(statement, signal) {
      if (underWay++ === 0) busySince = performance.now();
      try {
        const answer = await reader.rows(statement, signal);
        spent.statements += 1;
        spent.rowsRead += answer.readRows;
        return answer;
      } finally {
        if (--underWay === 0) spent.engineMs += performance.now() - busySince;
      }
    },
  };
  const loaded = loadConfig({ env: { CHAINS: 'base,polygon,avalanche,sei,arbitrum' } });
  const free = { ...loaded.plans.free, requestsPerMinute: REQUESTS_PER_MINUTE_MAX };
  const config = { ...loaded, plans: { ...loaded.plans, free } };
  const cursorKeys: CursorKeys = { keys: [randomBytes(32)] };
  const log = benchLog();
  const { access, key, close } = await openTestAccess({ config, clock, log });
  workspace.defer(close);
  const app = buildApp({
    ...access,
    config,
    reader: counting,
    sandbox: CLOSED_SANDBOX,
    cursorKeys,
    log,
    clock,
    version: 'bench',
  });
  workspace.defer(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    cursorKeys,
    url,
    key,
    async get<T>(path: string) {
      Object.assign(spent, { engineMs: 0, statements: 0, rowsRead: 0 });
      const began = performance.now();
      const response = await fetch(`${url}${path}`, { headers: { 'x-api-key': key } });
      const text = await response.text();
      const totalMs = performance.now() - began;
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 500)}`);
      const apiMs = apiTime(response.headers.get('server-timing'));
      return { body: JSON.parse(text) as T, cost: { totalMs, apiMs, ...spent } }; // the caller names what the route answers
    },
  };
}

/** Milliseconds in the API process until its answer's headers leave, of a `Server-Timing` header. */
export function apiTime(serverTiming: string | null): number {
  const total = /total;dur=([\d.]+)/.exec(serverTiming ?? '')?.[1];
  if (total === undefined) throw new Error(`no total in Server-Timing: ${serverTiming}`);
  return Number(total);
}
