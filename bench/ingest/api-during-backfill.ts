import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { EventLoopDelay } from '../support/event-loop.ts';
import type { Figure } from '../support/figure.ts';
import { startGuarded } from '../support/guarded-process.ts';
import { startLineProcess } from '../support/line-process.ts';
import { median, quantile } from '../support/quantiles.ts';
import type { BenchContext, BenchPart } from '../support/run-bench.ts';
import { writeBenchConfig } from './bench-config.ts';
import type { SharedHistory } from './chain-history.ts';

const SETTLEMENTS = 100_000;
const SETTLEMENTS_QUICK = 20_000;
const LOOP_BLOCK_GOAL_MS = 50;
const BACKFILL_TIMEOUT_MS = 600_000;
const TELEMETRY_EVERY_MS = 250;

/**
 * A reader of the feed as a process of its own: its parsing must not count as the API's. 20 requests a second, each answer's
 * milliseconds and status on one line.
 */
const POLLER = `
const [url] = process.argv.slice(1);
const poll = async () => {
  const began = performance.now();
  const response = await fetch(url).catch(() => undefined);
  await response?.arrayBuffer().catch(() => undefined);
  console.log((performance.now() - began).toFixed(2) + ' ' + (response?.status ?? 0));
};
setInterval(poll, 50);
`;

/** The same clock in an idle process: the delay that the scheduler causes in every process. Prints its maximum so far. */
const IDLER = `
const { monitorEventLoopDelay } = require('node:perf_hooks');
const histogram = monitorEventLoopDelay({ resolution: 5 });
histogram.enable();
setInterval(() => console.log(Math.max(0, histogram.max / 1e6 - 5)), 100);
`;

/** The API's event loop while the service, in its default arrangement, backfills behind it. */
export function apiDuringBackfill(shared: SharedHistory): BenchPart {
  return {
    name: 'api-lag',
    summary: 'the API’s event loop while a backfill runs in another process',
    async run(context) {
      const history = await shared(context);
      await history.growTo(context.quick ? SETTLEMENTS_QUICK : SETTLEMENTS);
      return figuresOf(await watchBackfill(context, history.chain.url, history.settlements()));
    },
  };
}

interface Watched {
  readonly delay: EventLoopDelay;
  readonly idleMaxMs: number;
  readonly answersMs: readonly number[];
  readonly failures: number;
  readonly rowsPerSecond: number;
}

const API = fileURLToPath(new URL('./api-process.ts', import.meta.url));

/** The API has a process of its own, exactly as `npm start` builds it; engine and worker are its children. */
async function watchBackfill(
  { workspace, say }: BenchContext,
  rpcUrl: string,
  settlements: number,
): Promise<Watched> {
  const file = writeBenchConfig(workspace, { name: 'api-lag', rpcUrl });
  const api = startLineProcess(workspace, ['--import', import.meta.resolve('tsx'), API, file]);
  const { url } = await api.next<{ readonly url: string }>();
  const began = performance.now();
  const answersMs: number[] = [];
  let failures = 0;
  const poller = startGuarded({
    command: process.execPath,
    args: ['-e', POLLER, `${url}/v0/flows?limit=50`],
    onLine(line) {
      const [ms, status] = line.split(' ').map(Number);
      if (status === 200 && ms !== undefined) answersMs.push(ms);
      else failures++;
    },
  });
  workspace.defer(() => poller.stop());
  let idleMaxMs = 0;
  const idler = startGuarded({
    command: process.execPath,
    args: ['-e', IDLER],
    onLine: (line) => {
      idleMaxMs = Number(line);
    },
  });
  workspace.defer(() => idler.stop());
  await untilBackfilled(url, settlements);
  const elapsedMs = performance.now() - began;
  const delay = await api.ask<EventLoopDelay>('stop');
  await Promise.all([poller.stop(), idler.stop()]);
  say(
    `${settlements} rows in ${(elapsedMs / 1000).toFixed(1)} s; ${answersMs.length} pages served meanwhile`,
  );
  return { delay, idleMaxMs, answersMs, failures, rowsPerSecond: settlements / (elapsedMs / 1000) };
}

interface TelemetryBody {
  readonly chains: readonly { readonly rows_written: number }[];
}

async function untilBackfilled(url: string, settlements: number): Promise<void> {
  const deadline = performance.now() + BACKFILL_TIMEOUT_MS;
  for (;;) {
    const response = await fetch(`${url}/v0/telemetry`);
    if (response.ok) {
      const { chains } = (await response.json()) as TelemetryBody; // our own API
      if (chains.reduce((sum, chain) => sum + chain.rows_written, 0) >= settlements) return;
    }
    if (performance.now() > deadline) throw new Error('the backfill did not end in time');
    await sleep(TELEMETRY_EVERY_MS);
  }
}

function figuresOf({ delay, idleMaxMs, answersMs, failures, rowsPerSecond }: Watched): Figure[] {
  const shown = { goal: '-', ok: true };
  return [
    { name: 'backfill-behind-api', value: rowsPerSecond, unit: 'rows/s', ...shown },
    { name: 'flows-during-backfill-p50', value: median(answersMs), unit: 'ms', ...shown },
    { name: 'flows-during-backfill-p99', value: quantile(answersMs, 0.99), unit: 'ms', ...shown },
    {
      name: 'flows-during-backfill-failures',
      value: failures,
      unit: 'answers',
      goal: '=0',
      ok: failures === 0,
    },
    { name: 'api-rss-max', value: delay.rssMaxMib, unit: 'MiB', ...shown },
    { name: 'idle-event-loop-max', value: idleMaxMs, unit: 'ms', ...shown },
    { name: 'api-event-loop-p99', value: delay.p99Ms, unit: 'ms', ...shown },
    { name: 'api-event-loop-late-max', value: delay.maxMs, unit: 'ms', ...shown },
    {
      name: 'api-event-loop-blocked-max',
      value: delay.blockedMaxMs,
      unit: 'ms',
      goal: `<=${LOOP_BLOCK_GOAL_MS}`,
      ok: delay.blockedMaxMs <= LOOP_BLOCK_GOAL_MS,
    },
  ];
}
