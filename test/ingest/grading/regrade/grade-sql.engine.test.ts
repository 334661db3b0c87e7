import fc from 'fast-check';
import { expect } from 'vitest';
import { sql, uint64s } from '../../../../clickhouse/engine/sql.ts';
import { REASONS } from '../../../../core/domain/evidence.ts';
import { methodOf } from '../../../../ingest/grading/grade.ts';
import { methodSql } from '../../../../ingest/grading/regrade/grade-sql.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { engineTest as test } from '../../../kit/fixtures-ingest.ts';

const ALL_BITS = 2 ** REASONS.length - 1;

async function methodsInEngine(engine: TestEngine, seen: readonly number[]): Promise<unknown[]> {
  const { rows } = await engine.reader.rows({
    name: 'methods',
    sql: sql`SELECT ${methodSql(sql`seen`)} FROM (SELECT toUInt32(arrayJoin(${uint64s(seen)})) AS seen)`,
    maxSeconds: 10,
    maxRows: 100_000,
  });
  return rows.map(([method]) => method);
}

test('the engine grades every single set of observations as ingest does', async ({ engine }) => {
  const all = Array.from({ length: ALL_BITS + 1 }, (_, seen) => seen);
  const chunks = Array.from({ length: 16 }, (_, at) => all.filter((seen) => seen % 16 === at));
  for (const chunk of chunks) expect(await methodsInEngine(engine, chunk)).toEqual(chunk.map(methodOf));
});

test('bits that a later version may add change no grade, here and there alike', async ({ engine }) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 2 ** 31 - 1 }), { minLength: 1 }), async (seen) => {
      expect(await methodsInEngine(engine, seen)).toEqual(seen.map((bits) => methodOf(bits & ALL_BITS)));
    }),
    { numRuns: 20 },
  );
});
