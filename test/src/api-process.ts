import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENVIRONMENT } from '../../core/config/environment.ts';
import { compiledSources } from '../kit/compile-sources.ts';
import { watchedFile } from '../kit/secrets-watch.ts';
import { waitUntil } from '../kit/wait-until.ts';

/** The real API as a process of its own that can be killed and started again where it was. */
export interface ApiProcess {
  readonly url: string;
  /** `kill -9`; resolves when it is gone. */
  kill(): Promise<void>;
  /** Resolves when it answers. */
  start(): Promise<void>;
  /** A command of the same program over the same configuration, whether or not the API runs; its exit code and what it printed. */
  command(...words: string[]): Promise<{ readonly code: number | null; readonly printed: string }>;
}

const START_TIMEOUT_MS = 120_000;

interface ApiConfig {
  readonly dataDir: string;
  readonly http: { readonly port: number };
  readonly [section: string]: unknown;
}

/** `config` is the configuration file's content; the port in it stays the same over all starts. */
export async function startApiProcess(config: ApiConfig): Promise<ApiProcess> {
  const main = join(compiledSources(), 'src', 'main.js');
  mkdirSync(config.dataDir, { recursive: true });
  const file = join(config.dataDir, `config-${config.http.port}.json`);
  writeFileSync(file, JSON.stringify(config));
  const url = `http://127.0.0.1:${config.http.port}`;
  let child: ChildProcess | undefined;
  const endWithUs = (): void => void child?.kill('SIGKILL');
  process.once('exit', endWithUs);
  const api: ApiProcess = {
    url,
    async start() {
      const started = launch(main, file);
      child = started;
      await waitUntil(
        'the API answers',
        async () => {
          if (started.exitCode !== null) throw new Error(`the API ended with code ${started.exitCode}`);
          return fetch(`${url}/readyz`).then(
            ({ ok }) => ok,
            () => false, // not listening yet
          );
        },
        START_TIMEOUT_MS,
      );
    },
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    command: (...words) => runCommand([main, '--config', file, ...words]),
  };
  await api.start();
  return api;
}

async function runCommand(command: readonly string[]): ReturnType<ApiProcess['command']> {
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'], env: environment() });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  const [code] = (await once(child, 'close')) as [number | null]; // as Node declares it
  return { code, printed };
}

/** Ours, without what would override the configuration file. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !(name in ENVIRONMENT) && !name.startsWith('RPC_URL_'),
  );
  return Object.fromEntries(kept);
}

function launch(main: string, file: string): ChildProcess {
  const log = openSync(watchedFile('api.log'), 'w');
  const child = spawn(process.execPath, [main, 'start', '--config', file], {
    stdio: ['ignore', log, log],
    env: environment(),
  });
  closeSync(log);
  return child;
}
