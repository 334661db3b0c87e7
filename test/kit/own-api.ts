import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import type { Config } from '../../core/config/config.ts';
import { loadConfig } from '../../core/config/load.ts';
import type { SqlSandbox } from '../../sandbox/sandbox.ts';
import { openSqliteStore } from '../../src/accounts/sqlite/store.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { buildApp } from '../../src/http/app.ts';
import type { McpResource } from '../../src/mcp/server.ts';
import { type Access, openAccess } from '../../src/open-access.ts';
import type { AnyOperation } from '../../src/operations/define.ts';
import { CURSOR_KEYS, type TestClock, testClock } from './api.ts';
import { CLOSED_SANDBOX } from './closed-sandbox.ts';
import { watchedLog } from './secrets-watch.ts';

/** The real application over a real SQLite file that is the test's own to damage, and over no index at all. */
export interface OwnApi {
  readonly app: FastifyInstance;
  readonly access: Access;
  readonly clock: TestClock;
  readonly config: Config;
  readonly store: ControlStore;
  readonly file: string;
  close(): Promise<void>;
}

const refuse = () => Promise.reject(new Error('this question is not about the index'));
const NO_INDEX: Reader = { rows: refuse, ping: refuse, close: () => Promise.resolve() };

export async function ownApi({
  config: over = {},
  sells = false,
  parts: change,
  ...rest
}: {
  readonly config?: Partial<Config>;
  /** Whether calls are sold over x402; the facilitator is not there, so that a test may put a lane of its own in its place. */
  readonly sells?: boolean;
  /** Parts to put in the place of the real ones. */
  readonly parts?: (access: Access, config: Config) => Partial<Pick<Access, 'gate' | 'accounts'>>;
  /** Operations that are served instead of the catalogue. */
  readonly operations?: readonly AnyOperation[];
  /** What agents may read instead of the documentation. */
  readonly resources?: readonly McpResource[];
  readonly sandbox?: SqlSandbox;
  /** How long a request may take to arrive. */
  readonly receiveMaxMs?: number;
} = {}): Promise<OwnApi> {
  const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-own-'));
  const config = { ...configOf(dataDir, sells), ...over };
  const clock = testClock();
  const log = watchedLog('own-api');
  const file = join(dataDir, 'control.db');
  const store = openSqliteStore({ path: file });
  await store.ping();
  const access = openAccess({ config, clock, log }, store);
  const app = buildApp({
    ...access,
    ...change?.(access, config),
    config,
    reader: NO_INDEX,
    sandbox: CLOSED_SANDBOX,
    cursorKeys: CURSOR_KEYS,
    log,
    clock,
    version: '9.9.9',
    ...rest,
  });
  await app.ready();
  return {
    app,
    access,
    clock,
    config,
    store,
    file,
    close: async () => {
      await app.close();
      await store.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const PAY_TO = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';

function configOf(dataDir: string, sells: boolean): Config {
  const file = join(dataDir, 'settlement-index.config.json');
  const payment = { facilitatorUrl: 'http://127.0.0.1:9', accept: [{ chain: 'base', payTo: PAY_TO }] };
  writeFileSync(file, JSON.stringify({ dataDir, ...(sells ? { payment } : {}) }));
  return loadConfig({ file, env: { PUBLIC_FACILITATORS: 'false' } });
}
