import type { Figure } from '../support/figure.ts';
import { type BenchContext, runBench } from '../support/run-bench.ts';
import { measureCapacity } from './capacity.ts';
import { measureOverload } from './overload.ts';
import { openStage } from './stage.ts';
import { trafficOf } from './traffic.ts';
import { requireWrk } from './wrk.ts';

/** Capacity and overload are one part: the throughput under overload compares with the capacity of the same machine, measured just before. */
async function load(context: BenchContext): Promise<Figure[]> {
  requireWrk();
  const stage = await openStage(context);
  const traffic = await trafficOf(stage);
  context.say('at capacity');
  const capacity = await measureCapacity(context, stage, traffic);
  context.say('overloaded');
  return [...capacity.figures, ...(await measureOverload(context, stage, { traffic, capacity }))];
}

await runBench({
  name: 'load',
  description:
    'Loads one API process with mixed traffic for a minute, then with many times what it can serve. Needs wrk (apt-get install wrk).',
  parts: [{ name: 'load', summary: 'mixed traffic at capacity, then far above it', run: load }],
});
