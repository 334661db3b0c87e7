import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../test/kit/wait-until.ts';
import { sharedHistory } from '../lab/chain-history.ts';
import { type Figure, judged, median, quantile, seconds, shown } from '../lab/measure.ts';
import { processFigures, startProcess } from '../lab/processes.ts';
import { type BenchContext, type BenchPart, runBench } from '../lab/run.ts';
import { localChain, type ServiceProcess, serviceConfig, startService } from '../lab/service.ts';
import { decode } from './decode.ts';
import { endToEnd } from './end-to-end.ts';
import { history } from './history.ts';
import { solana } from './solana.ts';
import { writePath } from './write-path.ts';

const SETTLEMENTS = { full: 100_000, quick: 20_000 };
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

/** The API's event loop while the service, in its default arrangement, backfills behind it: engine and worker are its children. */
const apiLag: BenchPart = {
  name: 'api-lag',
  summary: 'the API’s event loop while a backfill runs in another process',
  async run(context) {
    const { workspace, sized, say } = context;
    const history = await sharedHistory(context);
    await history.growTo(sized(SETTLEMENTS));
    const config = await serviceConfig(join(workspace.dir, 'api-lag'), {
      role: 'all',
      access: { anonymous: 'open' }, // the reader of the feed sends no key
      chains: [localChain(history.chain.url)],
    });
    const service = startService(workspace, config);
    await service.untilPrepared();
    const watched = await watchBackfill(context, service, history.settlements());
    const { rowsPerSecond, answersMs } = watched;
    const elapsed = seconds((history.settlements() / rowsPerSecond) * 1_000);
    say(`${history.settlements()} rows in ${elapsed}; ${answersMs.length} pages served at the same time`);
    const { highestMib } = processFigures(service.pid);
    await service.stop();
    return [...figuresOf(watched), shown('api-rss-max', highestMib, 'MiB')];
  },
};

async function watchBackfill({ workspace }: BenchContext, service: ServiceProcess, settlements: number) {
  await service.vitals({ watchesBlocking: true });
  const began = performance.now();
  const answersMs: number[] = [];
  let failures = 0;
  const poller = startProcess(workspace, {
    command: process.execPath,
    args: ['-e', POLLER, `${service.url}/v0/flows?limit=50`],
    onLine(line) {
      const [ms, status] = line.split(' ').map(Number);
      if (status === 200 && ms !== undefined) answersMs.push(ms);
      else failures++;
    },
  });
  const isBackfilled = async (): Promise<boolean> => {
    await sleep(TELEMETRY_EVERY_MS);
    const response = await fetch(`${service.url}/v0/telemetry`);
    if (!response.ok) return false;
    const { chains } = (await response.json()) as { chains: readonly { rows_written: number }[] }; // our own API
    return chains.reduce((sum, chain) => sum + chain.rows_written, 0) >= settlements;
  };
  await waitUntil('every row is written', isBackfilled, BACKFILL_TIMEOUT_MS);
  const elapsedMs = performance.now() - began;
  const vitals = await service.vitals();
  await poller.stop();
  return { vitals, answersMs, failures, rowsPerSecond: settlements / (elapsedMs / 1000) };
}

function figuresOf(watched: Awaited<ReturnType<typeof watchBackfill>>): Figure[] {
  const { vitals, answersMs, failures, rowsPerSecond } = watched;
  const { loopMaxMs, loopP99Ms, blockedMaxMs } = vitals;
  const blocked = blockedMaxMs ?? loopMaxMs;
  return [
    shown('backfill-behind-api', rowsPerSecond, 'rows/s'),
    shown('flows-during-backfill-p50', median(answersMs), 'ms'),
    shown('flows-during-backfill-p99', quantile(answersMs, 0.99), 'ms'),
    judged('flows-during-backfill-failures', failures, 'answers', '=', 0),
    shown('api-event-loop-p99', loopP99Ms, 'ms'),
    shown('api-event-loop-late-max', loopMaxMs, 'ms'),
    judged('api-event-loop-blocked-max', blocked, 'ms', '<=', LOOP_BLOCK_GOAL_MS),
  ];
}

await runBench({
  name: 'ingest',
  description:
    'The way of a settlement from the node’s answer to the served row, each step against a peer or a bound.',
  parts: [decode, writePath, endToEnd, history, solana, apiLag],
});
