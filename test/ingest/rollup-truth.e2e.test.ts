import { afterEach, expect, test } from 'vitest';
import { lengthOf } from '../kit/lengths.ts';
import { type FaultSimulation, startFaultSimulation } from '../kit/simulator/simulation.ts';

/** More faults and other seeds by hand: `npx tsx test/nightly/faults.ts --faults 1000 --seed 7`. */
const FAULTS = lengthOf('simulatedFaults');
/** Any will do; a failure names it. */
const SEED = 1;
/** The long run: under two minutes on two cores to itself; a machine that is busy with other things may take ten times that. */
const TIMEOUT_MS = 1_500_000;
/** Each kind must really have happened: a simulation that no longer hits anything would pass. */
const EVERY_KIND = [
  'kill-engine',
  'break-view',
  'lose-ack',
  'die',
  'pause',
  'reorg',
  'reorg across midnight',
] as const;

let simulation: FaultSimulation | undefined;
afterEach(() => simulation?.remove());

test(
  'rows, wallet log, rollups and a recount from receipts agree after every random fault',
  async () => {
    simulation = await startFaultSimulation(SEED);
    const report = await simulation.run(FAULTS, EVERY_KIND);
    expect(report['steps with a fault']).toBeGreaterThanOrEqual(FAULTS);
    expect(EVERY_KIND.filter((kind) => (report[kind] ?? 0) === 0)).toEqual([]);
  },
  TIMEOUT_MS,
);
