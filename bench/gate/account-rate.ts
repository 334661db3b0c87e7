import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Fastify from 'fastify';
import { type EventLoopDelay, watchEventLoop } from '../support/event-loop.ts';
import type { Figure } from '../support/figure.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import type { Workspace } from '../support/workspace.ts';
import { openGatedApi } from './gated-api.ts';
import { openStore } from './stores.ts';

/** Requests a second of /v0/account over loopback, against a route of a bare Fastify that returns the same bytes. */

const PATH = '/v0/account';
const LOADER = fileURLToPath(new URL('./load-process.ts', import.meta.url));
const CONNECTIONS = 64;
const ROUND_MS = 4_000;
const ROUND_MS_QUICK = 1_200;
const ROUNDS = 5;
const ROUNDS_QUICK = 3;
const SHARE_GOAL = 0.5;

interface Target {
  readonly url: string;
  readonly key: string;
}

interface Speed {
  /** Good answers a second. */
  readonly rate: number;
  /** CPU time of this process for one of them, microseconds: less noisy on a busy machine than the rate. */
  readonly cpuMicros: number;
}

export async function measureAccountRate(context: BenchContext): Promise<Figure[]> {
  const { gated, key } = await openGatedApi(await openStore('sqlite', context), context);
  const url = `${await gated.listen({ host: '127.0.0.1', port: 0 })}${PATH}`;
  const loop = watchEventLoop();
  const figures: Figure[] = [];
  for (const [name, sent] of [
    ['organization', key],
    ['anonymous', ''],
  ] as const) {
    const headers = sent === '' ? {} : { 'x-api-key': sent };
    const { body } = await gated.inject({ method: 'GET', url: PATH, headers });
    const ours = { url, key: sent };
    const bare = { url: `${await startBare(context.workspace, PATH, body)}${PATH}`, key: sent };
    figures.push(...(await compare(context, `account-${name}`, { ours, bare })));
  }
  return [...figures, ...delayFigures(loop.stop())];
}

/** A Fastify whose only route answers this JSON. Returns its address. */
export async function startBare(workspace: Workspace, path: string, body: string): Promise<string> {
  const app = Fastify();
  app.get(path, (_request, reply) => reply.type('application/json; charset=utf-8').send(body));
  workspace.defer(() => app.close());
  return app.listen({ host: '127.0.0.1', port: 0 });
}

/** In turn, so that a busy moment of the machine affects both; the first round of each only warms up. */
async function compare(
  { quick, say }: BenchContext,
  prefix: string,
  targets: { readonly ours: Target; readonly bare: Target },
): Promise<Figure[]> {
  const ours: Speed[] = [];
  const bare: Speed[] = [];
  const roundMs = quick ? ROUND_MS_QUICK : ROUND_MS;
  for (let round = 0; round <= (quick ? ROUNDS_QUICK : ROUNDS); round++) {
    const speeds = [await loadFor(targets.ours, roundMs), await loadFor(targets.bare, roundMs)] as const;
    if (round === 0) continue;
    ours.push(speeds[0]);
    bare.push(speeds[1]);
  }
  const [own, peer] = [median(ours.map(({ rate }) => rate)), median(bare.map(({ rate }) => rate))];
  const share = own / peer;
  say(`${prefix}: ${own.toFixed(0)} requests a second, bare Fastify ${peer.toFixed(0)}`);
  const cpu = (speeds: readonly Speed[]): number => median(speeds.map(({ cpuMicros }) => cpuMicros));
  return [
    {
      name: `${prefix}-against-bare`,
      value: share,
      unit: 'x',
      goal: `>=${SHARE_GOAL}`,
      ok: share >= SHARE_GOAL,
    },
    { name: `${prefix}-rate`, value: own, unit: 'requests/s', goal: '-', ok: true },
    { name: `${prefix}-bare-rate`, value: peer, unit: 'requests/s', goal: '-', ok: true },
    { name: `${prefix}-cpu`, value: cpu(ours), unit: 'us', goal: '-', ok: true },
    { name: `${prefix}-bare-cpu`, value: cpu(bare), unit: 'us', goal: '-', ok: true },
  ];
}

/** Loads a URL from a process of its own. */
export async function loadFor({ url, key }: Target, milliseconds: number): Promise<Speed> {
  const before = process.cpuUsage();
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--import', import.meta.resolve('tsx'), LOADER],
    ...[url, key, String(CONNECTIONS), String(milliseconds)],
  ]);
  const { user, system } = process.cpuUsage(before);
  // Our own process prints it.
  const { good, bad, ms } = JSON.parse(stdout) as {
    readonly good: number;
    readonly bad: number;
    readonly ms: number;
  };
  if (bad > 0) throw new Error(`${bad} of ${good + bad} requests were refused`);
  return { rate: (good / ms) * 1_000, cpuMicros: (user + system) / good };
}

function delayFigures({ maxMs, p99Ms }: EventLoopDelay): Figure[] {
  return [
    { name: 'account-event-loop-max', value: maxMs, unit: 'ms', goal: '-', ok: true },
    { name: 'account-event-loop-p99', value: p99Ms, unit: 'ms', goal: '-', ok: true },
  ];
}
