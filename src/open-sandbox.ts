import type { EngineAccess } from '../clickhouse/engine.ts';
import { createGuest } from '../clickhouse/guest-engine.ts';
import { createQueryKiller } from '../clickhouse/query-killer.ts';
import { createEngineParser } from '../sandbox/engine-parser.ts';
import { inspect } from '../sandbox/inspect.ts';
import {
  KILL_OBEYED_MAX_MS,
  KILL_POLL_MS,
  placesOf,
  QUEUE_MAX,
  QUEUE_MAX_PER_CALLER,
  QUEUE_RETRY_AFTER_SECONDS,
  QUEUE_WAIT_MAX_MS,
} from '../sandbox/limits.ts';
import { createPlaces } from '../sandbox/places.ts';
import { loadPolicy } from '../sandbox/policy.ts';
import { createRun, tierSeconds } from '../sandbox/run-query.ts';
import type { SqlSandbox } from '../sandbox/sql-sandbox.ts';
import { createWatchdog } from '../sandbox/watchdog.ts';
import type { Log } from './log.ts';

export interface SandboxOptions {
  readonly access: EngineAccess;
  readonly log: Log;
  /** Of the machine that the engine runs on. */
  readonly cores: number;
  /** Resolves when a new engine answers; null for an engine that is not ours to start. */
  readonly restartEngine: (() => Promise<void>) | null;
}

export interface OpenSandbox extends SqlSandbox {
  close(): Promise<void>;
}

/** The sandbox of an API process, over the guest of its engine. */
export function openSandbox({ access, log, cores, restartEngine }: SandboxOptions): OpenSandbox {
  const guest = createGuest(access);
  const killer = createQueryKiller(access);
  const deps = { parser: createEngineParser(guest), policy: loadPolicy() };
  const places = createPlaces({
    ...placesOf(cores),
    waitingMax: QUEUE_MAX,
    waitingMaxPerCaller: QUEUE_MAX_PER_CALLER,
    waitMaxMs: QUEUE_WAIT_MAX_MS,
    retryAfterSeconds: QUEUE_RETRY_AFTER_SECONDS,
  });
  const watchdog = createWatchdog({
    killer,
    restartEngine,
    log,
    obeyMaxMs: KILL_OBEYED_MAX_MS,
    pollMs: KILL_POLL_MS,
  });
  return {
    inspect: (text, parameters) => inspect(text, parameters, deps),
    run: createRun({ guest, places, watchdog, secondsOf: tierSeconds }),
    estimate: () => Promise.resolve({ rows: null, bytes: null, withoutKey: [], withoutTime: [] }),
    async close() {
      await Promise.all([guest.close(), killer.close()]);
    },
  };
}
