import type { Browser } from 'playwright-core';
import { createReader } from '../../clickhouse/engine/http-engine.ts';
import { loadConfig } from '../../core/config/load.ts';
import { keyDigest, mintApiKey } from '../../core/domain/caller.ts';
import { type OpenSandbox, openSandbox } from '../../sandbox/open.ts';
import { sqlTierSeconds } from '../../src/operations/prices.ts';
import { createOrganization } from './access.ts';
import { type TestApi, testApi } from './api.ts';
import { startBrowser } from './browser.ts';
import { type SandboxEngine, sandboxEngine } from './sandbox-engine.ts';
import { watchedLog, watchSecret } from './secrets-watch.ts';

/** The real application with its console, over an engine of its own, listening, and a browser to look at it. One for a test file. */
export interface ConsoleWorld {
  readonly origin: string;
  readonly api: TestApi;
  readonly engine: SandboxEngine;
  readonly sandbox: OpenSandbox;
  readonly browser: Browser;
  /** The key that the console lends to visitors; its organization has the plan `pro`. */
  readonly visitorKey: string;
  readonly organizationId: string;
  close(): Promise<void>;
}

/** Another key of the organization of a world, which manages its keys: the one that visitors are lent does not. */
export async function addManagerKey({ api, organizationId }: ConsoleWorld): Promise<string> {
  const key = mintApiKey('live');
  watchSecret(key);
  await api.access.access.store.accounts.addKey({
    id: 'key_manager',
    digest: keyDigest(key),
    kind: 'live',
    organizationId,
    label: 'manager',
    createdAtMs: 0,
    expiresAtMs: null,
    revokedAtMs: null,
  });
  return key;
}

const UNITS = 10_000;
const CORES = 2;

/** `seed` writes rows before anybody asks. The clock is the machine’s: SQL’s `now()` is too. `lendsKey: false` is a deployment without a visitor key. */
export async function openConsole({
  seed,
  lendsKey = true,
  runsJobs = false,
  chains = 'base,polygon',
}: {
  seed(engine: SandboxEngine): Promise<void>;
  readonly lendsKey?: boolean;
  /** Whether results are kept and jobs are run. */
  readonly runsJobs?: boolean;
  /** Short names of those that are configured. */
  readonly chains?: string;
}): Promise<ConsoleWorld> {
  const [engine, browser] = await Promise.all([sandboxEngine(), startBrowser()]);
  await seed(engine);
  const log = watchedLog('console');
  const reader = createReader(engine.access, log);
  const sandbox = openSandbox({
    access: engine.access,
    log,
    cores: CORES,
    restartEngine: null,
    secondsOf: sqlTierSeconds,
  });
  const visitorKey = mintApiKey('live');
  watchSecret(visitorKey);
  const { console: lent, chains: configured } = loadConfig({ env: { CHAINS: chains } });
  const api = await testApi(reader, {
    sandbox,
    log,
    jobsOver: engine.access,
    clock: { nowMs: () => Date.now(), advanceSeconds: () => undefined },
    config: { console: { ...lent, visitorKey: lendsKey ? visitorKey : null }, chains: configured },
    ...(runsJobs ? { jobsOver: engine.access } : {}),
  });
  const { store } = api.access.access;
  const organizationId = await createOrganization(store, { units: UNITS, plan: 'pro' });
  await store.accounts.addKey({
    id: 'key_visitor',
    digest: keyDigest(visitorKey),
    kind: 'live',
    organizationId,
    label: 'visitors',
    createdAtMs: 0,
    expiresAtMs: null,
    revokedAtMs: null,
  });
  const origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  return {
    origin,
    api,
    engine,
    sandbox,
    browser,
    visitorKey,
    organizationId,
    close: async () => {
      await browser.close();
      await api.close();
      await sandbox.close();
      await reader.close();
      await engine.close();
    },
  };
}
