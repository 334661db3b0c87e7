import type { Figure } from '../support/figure.ts';
import { type BenchContext, runBench } from '../support/run-bench.ts';
import { measureCapacity } from './capacity.ts';
import { measureConsole } from './console.ts';
import { measureKept } from './kept.ts';
import { measureEightTimes, measureStorm } from './overload.ts';
import { openStage, type Stage } from './stage.ts';
import { mixesOf } from './traffic.ts';
import { requireWrk } from './wrk.ts';

/** Capacity and overload are one part: the throughput under overload compares with the capacity of the same machine, measured just before. */
async function load(context: BenchContext): Promise<Figure[]> {
  requireWrk();
  const stage = await stageOf(context);
  const [mix, ...others] = await mixesOf(stage);
  const figures: Figure[] = [];
  for (const other of others) figures.push(...(await measureCapacity(context, stage, other)).figures);
  const capacity = await measureCapacity(context, stage, mix);
  figures.push(...capacity.figures);
  context.say('eight times as much as it serves, from hundreds of callers');
  figures.push(...(await measureEightTimes(context, stage, { mix, capacity })));
  context.say('a crowd that never waits');
  return [...figures, ...(await measureStorm(context, stage, { mix, capacity }))];
}

let opened: Promise<Stage> | undefined;

/** One for both parts: making it takes most of their time. */
function stageOf(context: BenchContext): Promise<Stage> {
  opened ??= openStage(context);
  return opened;
}

await runBench({
  name: 'load',
  description:
    'Loads one API process with three mixes of traffic, then with eight times what it can serve, then with a crowd that never waits. Needs wrk (apt-get install wrk).',
  parts: [
    {
      name: 'kept',
      summary: 'answers that are kept: a result again, and a saved query',
      run: async (context) => measureKept(context, await stageOf(context)),
    },
    {
      name: 'console',
      summary: 'what a visitor of the console waits for (needs chromium)',
      run: async (context) => measureConsole(context, await stageOf(context)),
    },
    { name: 'load', summary: 'three mixes at capacity, then far above it', run: load },
  ],
});
