import { afterAll, beforeAll, expect, test } from 'vitest';
import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { createReader } from '../../../clickhouse/engine/http-engine.ts';
import { sql, uint64 } from '../../../clickhouse/engine/sql.ts';
import { testLog } from '../../kit/engine.ts';
import { type SandboxEngine, sandboxEngine } from '../../kit/sandbox-engine.ts';

let engine: SandboxEngine;
beforeAll(async () => {
  engine = await sandboxEngine();
});
afterAll(() => engine?.close());

/** A restart takes two seconds, and many times that on a busy machine. */
const OUTAGE_MAX_MS = 100_000;
const READS_AT_ONCE = 4;

/** Reads one after another until `work` is done; returns the outcome of each read. */
async function readDuring(work: (outcomes: readonly unknown[]) => Promise<void>) {
  const reader = createReader(engine.access, testLog, OUTAGE_MAX_MS);
  let isDone = false;
  const outcomes: unknown[] = [];
  const readOn = async (): Promise<void> => {
    for (let n = 0; !isDone; n += 1) {
      const statement = {
        name: 'test',
        maxSeconds: 10,
        maxRows: 1,
        sql: sql`SELECT count() + ${uint64(n)} FROM settlements`,
      };
      const outcome = await reader.rows(statement).then(
        ({ rows }) => Number(rows[0]?.[0]) === n,
        (error: unknown) => error,
      );
      outcomes.push(outcome);
    }
  };
  const reading = Array.from({ length: READS_AT_ONCE }, readOn);
  await work(outcomes);
  isDone = true;
  await Promise.all(reading);
  await reader.close();
  return outcomes;
}

test('reads while the engine restarts again and again are all answered', async () => {
  const outcomes = await readDuring(async (answered) => {
    for (let times = 0; times < 3; times += 1) {
      const before = answered.length;
      await engine.restart();
      await expect
        .poll(() => answered.length, { timeout: OUTAGE_MAX_MS })
        .toBeGreaterThanOrEqual(before + READS_AT_ONCE);
    }
  });
  expect(outcomes.filter((one) => one !== true)).toEqual([]);
});

test('an engine that stays away is unreachable once the patience of all reads is used up, and then at once', async () => {
  const reader = createReader({ ...engine.access, url: 'http://127.0.0.1:9' }, testLog, 1_000);
  const began = performance.now();
  await expect(reader.ping()).rejects.toBeInstanceOf(EngineError);
  const first = performance.now() - began;
  expect(first).toBeGreaterThan(900);
  await expect(reader.ping()).rejects.toBeInstanceOf(EngineError);
  expect(performance.now() - began - first).toBeLessThan(first);
  await reader.close();
});
