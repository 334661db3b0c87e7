import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Fastify from 'fastify';
import { inTurn } from './measure.ts';
import type { Workspace } from './run.ts';

/** Requests a second of a route over loopback, and of a bare Fastify that sends the same bytes. */

const LOADER = fileURLToPath(new URL('./load-process.ts', import.meta.url));
const CONNECTIONS = 64;

export interface Target {
  readonly url: string;
  readonly key: string;
}

export interface Speed {
  /** Good answers a second. */
  readonly rate: number;
  /** CPU time of this process for one of them, microseconds: less noisy on a busy machine than the rate. */
  readonly cpuMicros: number;
}

/** Loads a URL from a process of its own. */
export async function loadFor({ url, key }: Target, milliseconds: number): Promise<Speed> {
  const before = process.cpuUsage();
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--import', import.meta.resolve('tsx'), LOADER],
    ...[url, key, String(CONNECTIONS), String(milliseconds)],
  ]);
  const { user, system } = process.cpuUsage(before);
  const { good, bad, ms } = JSON.parse(stdout) as Readonly<Record<'good' | 'bad' | 'ms', number>>; // our own process prints it
  if (bad > 0) throw new Error(`${bad} of ${good + bad} requests were refused`);
  return { rate: (good / ms) * 1_000, cpuMicros: (user + system) / good };
}

/** Loads a route, and a bare one that returns the same bytes, in turn. The first round of each only warms up. */
export async function loadAgainstBare(
  workspace: Workspace,
  { url, key }: Target,
  { roundMs, rounds }: { readonly roundMs: number; readonly rounds: number },
) {
  const { pathname, search } = new URL(url);
  const page = await fetch(url, key === '' ? {} : { headers: { 'x-api-key': key } });
  const body = await page.text();
  const app = Fastify();
  app.get(pathname, (_request, reply) => reply.type('application/json; charset=utf-8').send(body));
  workspace.defer(() => app.close());
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const load = (target: string) => () => loadFor({ url: target, key }, roundMs);
  return inTurn({ ours: load(url), bare: load(address + pathname + search) }, { rounds, warmUp: 1 });
}
