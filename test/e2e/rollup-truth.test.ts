import { afterEach, expect, test } from 'vitest';
import { type FaultSimulation, startFaultSimulation } from '../support/fault-simulation.ts';

const FAULTS = 110;
/** Any will do; a failure names it. `npx tsx bench/faults/main.ts` tries others. */
const SEED = 1;

let simulation: FaultSimulation | undefined;
afterEach(() => simulation?.remove());

test('rows, wallet log, rollups and a recount from receipts agree after every one of 110 random faults', async () => {
  simulation = await startFaultSimulation(SEED);
  const report = await simulation.run(FAULTS);
  expect(report['steps with a fault']).toBeGreaterThanOrEqual(FAULTS);
});
