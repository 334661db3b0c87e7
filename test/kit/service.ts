import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '../../core/config/load.ts';
import type { Service } from '../../src/service.ts';
import { importCompiled } from './compile-sources.ts';
import { watchedLog } from './secrets-watch.ts';
import { isRunning } from './wait-until.ts';

/** The whole service in this process's care: the real engine and the real worker as children, on free ports. */
export interface TestService extends Service {
  readonly url: string;
  readonly dataDir: string;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

const REQUESTS_PER_MINUTE = 1_000_000;

export async function startTestService(parts: {
  readonly chains: readonly object[];
  readonly catalogue?: object;
  readonly role?: string;
  readonly clickhouse?: object;
  readonly access?: object;
  readonly payment?: object;
  readonly metrics?: object;
  readonly tracing?: object;
  /** Of a service that was stopped, which is started again over what it left; a new directory when absent. */
  readonly dataDir?: string;
}): Promise<TestService> {
  const dataDir = parts.dataDir ?? mkdtempSync(join(tmpdir(), 'settlement-index-test-'));
  const file = join(dataDir, 'config.json');
  writeFileSync(
    file,
    JSON.stringify({
      dataDir,
      logLevel: 'error',
      http: { port: 0, requestsPerMinute: REQUESTS_PER_MINUTE },
      // What these tests ask about is the index: callers without a key are served on every route that takes any key.
      access: { anonymous: 'open' },
      ...parts,
    }),
  );
  const { startService } = await importCompiled<typeof import('../../src/service.ts')>('src/service.js');
  const service = await startService({
    config: loadConfig({ file, env: { PUBLIC_FACILITATORS: 'false' } }),
    log: watchedLog('service', 'error'),
    version: 'test',
  });
  await service.prepared;
  return Object.assign(service, {
    url: service.url ?? '',
    dataDir,
    async remove() {
      await service.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  });
}

/** Ends a process of the service with SIGKILL, as soon as it is there. */
export async function killLive(pidOf: () => number | undefined): Promise<void> {
  await until('the process to be killed is there', () => {
    const pid = pidOf();
    return pid !== undefined && isRunning(pid) && process.kill(pid, 'SIGKILL');
  });
}

const CONDITION_POLL_MS = 50;
/** A process that starts again after a pause: seconds on an idle machine. For work of random length there is `waitWhileItProgresses`. */
const CONDITION_WITHIN_MS = 120_000;

/** Waits on a condition, never on the clock alone; says what it waited for when it gives up. */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  withinMs = CONDITION_WITHIN_MS,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      if (await condition()) return;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await delay(CONDITION_POLL_MS);
  }
  throw new Error(`gave up waiting until ${what}`, { cause: last });
}
