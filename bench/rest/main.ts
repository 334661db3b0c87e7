import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../core/process/free-port.ts';
import { tableOf, watchStatements } from '../../src/operate/doctor/statements.ts';
import { waitUntil } from '../../test/kit/wait-until.ts';
import { sharedHistory } from '../lab/chain-history.ts';
import { type Figure, judged } from '../lab/measure.ts';
import { processFigures, startProcess } from '../lab/processes.ts';
import { type BenchContext, type BenchPart, runBench } from '../lab/run.ts';
import { localChain, serviceConfig, startService } from '../lab/service.ts';

/** The processor time of a service that no caller asks. */

const WARM_UP_SECONDS = { full: 90, quick: 30 };
const WATCHED_SECONDS = { full: 120, quick: 30 };
const SETTLEMENTS = { full: 20_000, quick: 2_000 };
const BLOCK_SECONDS = 2;
const PAYMENTS_PER_BLOCK = 5;
/** Cores. */
const DEMO_ENGINE_GOAL = 0.15;
const ENGINE_GOAL = 0.1;
const PROCESS_GOAL = 0.03;

/** The processes of a service, by what their command lines hold. */
const PARTS = { engine: 'clickhouse/embedded/host.mjs', ingest: 'src/ingest-process.ts', api: 'src/main.ts' };
type Part = keyof typeof PARTS;

const idleDemo: BenchPart = {
  name: 'demo',
  summary:
    'the demo without a caller, with a block and a few payments a second, and without sample data to roll up',
  async run(context) {
    const { workspace } = context;
    const isUp = { now: false };
    const demo = startProcess(workspace, {
      command: process.execPath,
      args: [
        '--import',
        import.meta.resolve('tsx'),
        fileURLToPath(new URL('../../demo/main.ts', import.meta.url)),
        '--port',
        '0',
        '--no-history',
      ],
      onLine: (line) => {
        isUp.now ||= line.includes('http://127.0.0.1:');
      },
    });
    await waitUntil('the demo serves', () => isUp.now, 300_000);
    const cores = await watchCores(context, demo.pid);
    await demo.stop();
    return figuresOf('rest-demo', cores, DEMO_ENGINE_GOAL);
  },
};

const idleService: BenchPart = {
  name: 'service',
  summary: 'npm start on a chain with a block of five payments every two seconds',
  async run(context) {
    const { workspace, sized, say } = context;
    const history = await sharedHistory(context);
    await history.growTo(sized(SETTLEMENTS));
    const port = await freePort();
    const config = await serviceConfig(mkdtempSync(join(workspace.dir, 'data-')), {
      chains: [localChain(history.chain.url)],
      metrics: { port },
    });
    const service = startService(workspace, config);
    await service.untilPrepared();
    const mining = history.goOn(PAYMENTS_PER_BLOCK, BLOCK_SECONDS);
    const watching = sleep(sized(WARM_UP_SECONDS) * 1_000).then(() =>
      watchStatements({ host: '127.0.0.1', port }, sized(WATCHED_SECONDS)),
    );
    const cores = await watchCores(context, service.pid);
    for (const line of tableOf(await watching, sized(WATCHED_SECONDS))) say(line);
    await mining.stop();
    await service.stop();
    return figuresOf('rest-service', cores, ENGINE_GOAL);
  },
};

function figuresOf(name: string, cores: Readonly<Record<Part, number>>, engineGoal: number): Figure[] {
  const goals: Readonly<Record<Part, number>> = {
    engine: engineGoal,
    ingest: PROCESS_GOAL,
    api: PROCESS_GOAL,
  };
  return (Object.keys(PARTS) as Part[]).map((part) =>
    judged(`${name}-${part}`, cores[part], 'cores', '<=', goals[part]),
  );
}

/** Cores that each part of the service takes, of all processes that `root` started. */
async function watchCores(
  { sized, say }: BenchContext,
  root: number | undefined,
): Promise<Record<Part, number>> {
  await sleep(sized(WARM_UP_SECONDS) * 1_000);
  const parts = partsBelow(root);
  const secondsOf = (pids: readonly number[]): number =>
    pids.reduce((sum, pid) => sum + processFigures(pid).cpuSeconds, 0);
  const before = mapParts((part) => secondsOf(parts[part]));
  say(
    `watching for ${sized(WATCHED_SECONDS)} s: ${(Object.keys(PARTS) as Part[]).map((part) => `${part} ${parts[part].join(' ')}`).join(', ')}`,
  );
  await sleep(sized(WATCHED_SECONDS) * 1_000);
  return mapParts((part) => (secondsOf(parts[part]) - before[part]) / sized(WATCHED_SECONDS));
}

function mapParts<T>(of: (part: Part) => T): Record<Part, T> {
  return { engine: of('engine'), ingest: of('ingest'), api: of('api') };
}

/** Process ids of each part among `root` and what it started. Throws where a part is missing. */
function partsBelow(root: number | undefined): Record<Part, number[]> {
  const parents = new Map<number, number>();
  const lines = new Map<number, string>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d{1,10}$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
      lines.set(Number(name), readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' '));
    } catch {
      // It ended meanwhile.
    }
  }
  const isBelow = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at))
      if (at === root) return true;
    return false;
  };
  const found = mapParts((part) =>
    [...lines].filter(([pid, line]) => line.includes(PARTS[part]) && isBelow(pid)).map(([pid]) => pid),
  );
  for (const part of Object.keys(PARTS) as Part[])
    if (found[part].length === 0) throw new Error(`no process of ${PARTS[part]}`);
  return found;
}

await runBench({
  name: 'rest',
  description: 'Cores that engine, ingest and API of an idle service take.',
  parts: [idleDemo, idleService],
});
