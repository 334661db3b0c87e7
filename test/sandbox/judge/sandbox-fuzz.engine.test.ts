import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeReport } from '../../fuzz/sql/describe-report.ts';
import { fuzz } from '../../fuzz/sql/fuzz.ts';
import { type FuzzEngine, startFuzzEngine } from '../../fuzz/sql/fuzz-engine.ts';
import { lengthOf } from '../../kit/lengths.ts';

/**
 * The sandbox's fuzzer for a bounded time. One seed, so that a commit is judged by the same queries whenever it is judged;
 * `npm run fuzz -- sql` takes another one each time.
 */

const SECONDS = lengthOf('sqlFuzzSeconds');
const CASES_MAX = lengthOf('sqlFuzzCases');
const SEED = 5;
/** Starting the engine, the last batch, and cutting a finding down. */
const GRACE_MS = 90_000;
/** Below this the oracle has too little to look at, and the grammar needs care. */
const ACCEPTED_SHARE_MIN = 0.15;

let engine: FuzzEngine;

beforeAll(async () => {
  engine = await startFuzzEngine();
});
afterAll(() => engine?.close());

test(
  'whatever is accepted uses public tables and reviewed functions only, by the engine’s own log',
  async () => {
    const report = await fuzz(engine, { seed: SEED, seconds: SECONDS, casesMax: CASES_MAX });
    if (report.finding !== null) throw new Error(describeReport(report));
    expect(report.accepted / report.cases).toBeGreaterThan(ACCEPTED_SHARE_MIN);
    expect(engine.restarts()).toBe(0);
  },
  SECONDS * 1_000 + GRACE_MS,
);
