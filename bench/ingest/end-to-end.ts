import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../core/process/free-port.ts';
import { type ChainHistory, sharedHistory } from '../lab/chain-history.ts';
import { fetchOnly, type IndexedIn, type Indexer, ourWorker, recordWorker } from '../lab/indexers.ts';
import { attempt, type Figure, inTurn, judged, median, seconds, shown } from '../lab/measure.ts';
import { installPeer, startProcess } from '../lab/processes.ts';
import type { BenchContext, BenchPart } from '../lab/run.ts';
import { envioIndexer } from './envio-indexer.ts';

const SETTLEMENTS = { full: 100_000, quick: 10_000 };
const ROUNDS = { full: 3, quick: 2 };
const PONDER_GOAL = 10;
const ENVIO_GOAL = 2;
const FETCH_ONLY_GOAL = 1.5;

/** From a node's first answer to served rows, against Ponder and against a reader that discards the answers. */
export const endToEnd: BenchPart = {
  name: 'end-to-end',
  summary: 'index a chain from anvil against Ponder and Envio, and against only fetching the same answers',
  async run(context) {
    const { workspace, sized, say } = context;
    const history = await sharedHistory(context);
    await history.growTo(sized(SETTLEMENTS));
    // One run through a recorder, which also warms up, then our worker and the bare replay of its calls in turn.
    const recording = await recordWorker(workspace, history);
    const indexers = { ours: ourWorker(workspace, history), fetchOnly: fetchOnly(history, recording) };
    const sides = { ours: () => indexers.ours.index(), fetchOnly: () => indexers.fetchOnly.index() };
    const race = await inTurn(sides, { rounds: sized(ROUNDS) });
    const of = (runs: readonly IndexedIn[], what: keyof IndexedIn) => median(runs.map((run) => run[what]));
    const own = of(race.ours, 'syncMs');
    const fetching = of(race.fetchOnly, 'syncMs');
    say(
      `indexed in ${seconds(own)}, the ${recording.requests.length} requests alone in ${seconds(fetching)}`,
    );
    const figures: Figure[] = [];
    const ponder = await attempt('end-to-end-ponder', { figures, say }, async () => {
      const indexer = ponderIndexer(context, history);
      return indexer === null ? Number.NaN : (await indexer.index()).syncMs;
    });
    const envio = await attempt('end-to-end-envio', { figures, say }, async () => {
      const indexer = envioIndexer(context, history);
      return indexer === null ? Number.NaN : (await indexer.index()).syncMs;
    });
    const overFetching = own / fetching;
    const overPonder = (ponder ?? Number.NaN) / own;
    // One of the two goals suffices: both lines are ok when either holds, so that the exit code is right.
    const ok = overFetching <= FETCH_ONLY_GOAL || overPonder >= PONDER_GOAL;
    const rate = (name: string, ms: number) => shown(name, history.settlements() / (ms / 1_000), 'rows/s');
    const against = (name: string, value: number, goal: string) => ({ ...shown(name, value, 'x'), goal, ok });
    if (overPonder > 0)
      figures.push(
        rate('end-to-end-ponder', overPonder * own),
        against('end-to-end-against-ponder', overPonder, `>=${PONDER_GOAL}|fetch<=${FETCH_ONLY_GOAL}`),
      );
    const overEnvio = (envio ?? Number.NaN) / own;
    if (overEnvio > 0)
      figures.push(
        rate('end-to-end-envio', overEnvio * own),
        judged('end-to-end-against-envio', overEnvio, 'x', '>=', ENVIO_GOAL),
      );
    const goal = `<=${FETCH_ONLY_GOAL}|ponder>=${PONDER_GOAL}`;
    return [
      shown('end-to-end-start-up', of(race.ours, 'startUpMs'), 'ms'),
      rate('end-to-end', own),
      rate('end-to-end-fetch-only', fetching),
      ...figures,
      against('end-to-end-time-against-fetch-only', overFetching, goal),
    ];
  },
};

const ROOT = fileURLToPath(new URL('./ponder', import.meta.url));
const BINARY = 'node_modules/ponder/dist/esm/bin/ponder.js';
const RUN_TIMEOUT_MS = 900_000;
const SYNC_STARTED = /^Started '.*' historical sync/;
const READY = /responses from \/ready endpoint/;

/**
 * Ponder with a fresh database of its own. Its time is from the start of its sync to the moment it says ready; start-up and table creation
 * are not counted. Null where it cannot be installed.
 */
function ponderIndexer(context: BenchContext, history: ChainHistory): Indexer | null {
  const problem = installPeer(ROOT, BINARY);
  if (problem === undefined) return { index: () => runPonder(context, history) };
  context.say(`Ponder cannot be installed, so only the fetch-only bound counts: ${problem}`);
  return null;
}

async function runPonder({ workspace }: BenchContext, history: ChainHistory): Promise<IndexedIn> {
  const port = await freePort();
  const { from, to } = history.range();
  const times: { started?: number; ready?: number } = {};
  let markReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    markReady = resolve;
  });
  const ponder = startProcess(workspace, {
    command: process.execPath,
    args: [
      ...[join(ROOT, BINARY), 'start', '--root', ROOT, '--schema', 'bench', '--log-format', 'json'],
      ...['--port', String(port), '--hostname', '127.0.0.1'],
    ],
    cwd: ROOT,
    environment: {
      PONDER_TELEMETRY_DISABLED: 'true',
      PONDER_BENCH_DIR: mkdtempSync(join(workspace.dir, 'ponder-')),
      PONDER_BENCH_RPC_URL: history.chain.url,
      PONDER_BENCH_TOKEN: history.token,
      PONDER_BENCH_FROM: String(from),
      PONDER_BENCH_TO: String(to),
    },
    onLine(line) {
      if (!line.startsWith('{')) return;
      const { time, msg = '' } = JSON.parse(line) as { time?: number; msg?: string }; // pino's format
      if (time === undefined) return;
      if (SYNC_STARTED.test(msg)) times.started = time;
      if (!READY.test(msg)) return;
      times.ready = time;
      markReady();
    },
  });
  const late = sleep(RUN_TIMEOUT_MS, 'late' as const, { ref: false });
  const ended = ponder.exited.then((code) => `ended with ${code}: ${ponder.lastLines().join(' ')}`);
  try {
    const problem = await Promise.race([ready, ended, late]);
    if (problem !== undefined) throw new Error(`Ponder is ${problem}`.slice(0, 1_000));
    if (times.started === undefined || times.ready === undefined)
      throw new Error('Ponder did not log its sync');
    const response = await fetch(`http://127.0.0.1:${port}/count`);
    const { settlements } = (await response.json()) as { settlements: number }; // ponder/src/api/index.ts
    if (settlements !== history.settlements())
      throw new Error(`Ponder indexed ${settlements} of ${history.settlements()} settlements`);
    return { startUpMs: 0, syncMs: times.ready - times.started };
  } finally {
    await ponder.stop();
  }
}
