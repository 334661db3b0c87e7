import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { startGuarded } from './guarded-process.ts';
import type { Workspace } from './workspace.ts';

const READY = 'Ready to accept connections';
const PORT_FROM = 20_000;
const PORT_COUNT = 10_000;
const START_MAX_MS = 15_000;

/** A Redis on loopback that syncs every write, with nothing in it. The workspace stops it if it still runs at the end. */
export async function startRedis(
  workspace: Workspace,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const port = PORT_FROM + Math.floor(Math.random() * PORT_COUNT);
  let ready: () => void = () => undefined;
  const isReady = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const server = startGuarded({
    command: 'redis-server',
    args: [
      ...['--bind', '127.0.0.1', '--port', String(port), '--save', ''],
      ...['--dir', mkdtempSync(join(workspace.dir, 'redis-'))],
      ...['--appendonly', 'yes', '--appendfsync', 'always'],
    ],
    onLine: (line) => {
      if (line.includes(READY)) ready();
    },
  });
  workspace.defer(() => server.stop());
  const late = AbortSignal.timeout(START_MAX_MS);
  const failed = new Promise<never>((_resolve, reject) => {
    const fail = (): void =>
      reject(new Error(`redis-server did not start: ${server.lastLines().join(' / ')}`));
    late.addEventListener('abort', fail);
    void server.exited.then(fail);
  });
  failed.catch(() => undefined); // after a good start the server ends with the bench
  await Promise.race([isReady, failed]);
  return { url: `redis://127.0.0.1:${port}`, stop: () => server.stop() };
}
