import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineAccess } from '../../clickhouse/engine/engine.ts';
import type { Config } from '../../core/config/config.ts';
import { ENVIRONMENT } from '../../core/config/environment.ts';
import { loadConfig } from '../../core/config/load.ts';
import { freePort } from '../../core/process/free-port.ts';
import { KEPT_OPTION } from '../../src/keep-running.ts';
import { waitUntil } from '../../test/kit/wait-until.ts';
import type { Workspace } from './run.ts';

/** Memory and event loop of the service's process, as it reports them. */
export interface Vitals {
  /** MiB. */
  readonly rss: number;
  /** MiB of JavaScript objects; of living ones only, where a collection was asked for. */
  readonly heap: number;
  /** How late the loop was since the last question, milliseconds: by its own work, or because the machine gave it no core. */
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
  /** The same without the time for which the thread waited for a core; null where it was not asked for, or Linux does not tell. */
  readonly blockedMaxMs: number | null;
}

/** One process of the product, started from `src/main.ts` as an operator does. The workspace stops it. */
export interface ServiceProcess {
  readonly url: string;
  readonly pid: number | undefined;
  /** Settles with the end of its log once the process has ended. */
  readonly ended: Promise<string>;
  /** Resolves when its tables are there, its worker runs, where it has one, and its API answers. */
  untilPrepared(): Promise<void>;
  /** Its memory and event loop since the last question; after a collection where `collect` says so. */
  vitals(options?: { readonly collect?: boolean; readonly watchesBlocking?: boolean }): Promise<Vitals>;
  stop(): Promise<void>;
}

/** High, so that a bench measures the machine and not a quota. */
const CALLS_PER_MINUTE = 100_000_000;
/** A node on this machine needs no protection; everything else is the default of the product. */
const NODE_CALLS_PER_SECOND = 100_000;
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 20_000;
const LOG_CHARS = 2_000;
const PROBE = new URL('./service-probe.mjs', import.meta.url).href;
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export type ServiceConfig = Awaited<ReturnType<typeof serviceConfig>>;

/** Settings without limits of requests, for a service with files of its own in `dataDir`. */
export async function serviceConfig(dataDir: string, over: object) {
  const plan = { requestsPerMinute: CALLS_PER_MINUTE };
  mkdirSync(dataDir, { recursive: true });
  return {
    dataDir,
    logLevel: 'error',
    http: { host: '127.0.0.1', port: await freePort(), ...plan },
    plans: { free: plan, pro: plan, enterprise: plan },
    ...over,
  };
}

/** The chain of a node on this machine, as settings. */
export function localChain(rpcUrl: string): object {
  const requestsPerSecond = NODE_CALLS_PER_SECOND;
  return { chain: 'base-sepolia', rpcUrls: [rpcUrl], startBlock: 0, requestsPerSecond };
}

/** The place and the users of an engine, as settings. */
export function engineSettings({ url, database, writer, reader, guest }: EngineAccess): object {
  return { url, database, writer, reader, guest };
}

/** Writes them to a file and returns its name. */
function writeConfig(settings: ServiceConfig): string {
  const file = join(settings.dataDir, 'config.json');
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
  return file;
}

/** The product's own reading of such settings, for code that runs in this process. */
export async function benchConfig({ dir }: Workspace, chains: readonly (string | object)[]): Promise<Config> {
  const listed = chains.map((chain) => (typeof chain === 'string' ? { chain } : chain));
  const settings = await serviceConfig(mkdtempSync(join(dir, 'data-')), { chains: listed });
  return loadConfig({ file: writeConfig(settings), env: {} });
}

export function startService(
  workspace: Workspace,
  config: ServiceConfig,
  nodeFlags: readonly string[] = [],
): ServiceProcess {
  const logFile = join(config.dataDir, 'service.log');
  const log = openSync(logFile, 'w');
  const own = Object.entries(process.env).filter(
    ([name]) => !(name in ENVIRONMENT) && !name.startsWith('RPC_URL_'),
  );
  const flags = [...nodeFlags, '--expose-gc', '--import', import.meta.resolve('tsx'), '--import', PROBE];
  // The bench is the supervisor: with this option the service ends when its standard input does.
  const args = [MAIN, 'start', '--config', writeConfig(config), KEPT_OPTION];
  const options = { stdio: ['pipe' as const, log, log, 'ipc' as const], env: Object.fromEntries(own) };
  const child = spawn(process.execPath, [...flags, ...args], options);
  closeSync(log);
  const url = `http://127.0.0.1:${config.http.port}`;
  const ended = once(child, 'exit').then(() => readFileSync(logFile, 'utf8').slice(-LOG_CHARS));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(late);
  };
  workspace.defer(stop);
  return {
    url,
    pid: child.pid,
    ended,
    stop,
    async untilPrepared() {
      const died = ended.then((said): never => {
        throw new Error(`the service ended: ${said}`);
      });
      // It then prints what to open.
      const isPrepared = (): boolean => readFileSync(logFile, 'utf8').includes(url);
      await Promise.race([died, waitUntil('the service is prepared', isPrepared, START_TIMEOUT_MS)]);
    },
    async vitals(options = {}) {
      const said = once(child, 'message');
      child.send(options);
      return (await said)[0] as Vitals; // from our own probe
    },
  };
}
