import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENVIRONMENT } from '../../core/config/environment.ts';
import { compiledSources } from './compile-sources.ts';
import { watchedFile } from './secrets-watch.ts';

/** One of several processes with ROLE=ingest, as an operator starts them. */
export interface IngestProcess {
  readonly pid: number;
  isRunning(): boolean;
  /** `kill -9`; resolves when it is gone. */
  kill(): Promise<void>;
  /** Stops it from running, as a machine that hangs does, and lets it go on. */
  freeze(): void;
  thaw(): void;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** `config` is the content of its configuration file. */
export function startIngestProcess(
  name: string,
  config: { readonly dataDir: string; readonly [section: string]: unknown },
): IngestProcess {
  const main = join(compiledSources(), 'src', 'main.js');
  mkdirSync(config.dataDir, { recursive: true });
  const file = join(config.dataDir, `config-${name}.json`);
  writeFileSync(file, JSON.stringify({ ...config, role: 'ingest' }));
  const log = openSync(watchedFile(`${name}.log`), 'w');
  const child = spawn(process.execPath, [main, 'start', '--config', file], {
    stdio: ['ignore', log, log],
    env: environment(),
  });
  closeSync(log);
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  child.once('exit', () => process.removeListener('exit', endWithUs));
  return {
    pid: child.pid ?? 0,
    isRunning: () => isRunning(child),
    async kill() {
      await end(child, 'SIGKILL');
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop: () => end(child, 'SIGTERM'),
  };
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (!isRunning(child)) return child.exitCode;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
  return child.exitCode;
}

/** Ours, without what would override the configuration file. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !(name in ENVIRONMENT) && !name.startsWith('RPC_URL_'),
  );
  return Object.fromEntries(kept);
}
