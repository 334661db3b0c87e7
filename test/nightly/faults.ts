import { parseArgs } from 'node:util';
import { startFaultSimulation } from '../kit/simulator/simulation.ts';

/**
 * The fault simulation of test/ingest/rollup-truth.e2e.test.ts for longer, by hand:
 * `npx tsx test/nightly/faults.ts --faults 1000 --seed 7`. Ends with the first difference, or with the number of faults survived.
 */
const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 1e6) },
  },
});
const simulation = await startFaultSimulation(Number(values.seed));
try {
  const began = performance.now();
  const report = await simulation.run(Number(values.faults));
  const seconds = Math.round((performance.now() - began) / 1_000);
  process.stdout.write(`${JSON.stringify({ seed: Number(values.seed), seconds, ...report }, null, 2)}\n`);
} finally {
  await simulation.remove();
}
