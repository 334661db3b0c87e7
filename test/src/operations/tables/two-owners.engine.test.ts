import fc from 'fast-check';
import { expect } from 'vitest';
import { test } from '../../../kit/fixtures.ts';
import { jobsOf } from '../../../kit/jobs.ts';
import { lengthOf } from '../../../kit/lengths.ts';

/**
 * Two organizations keep tables under the same names, replace and delete them and ask for them, both at once. Whatever one does, an answer
 * of the other has its own rows and columns, or says that the table is not there.
 */

const NAMES = ['a', 'b'] as const;
type Name = (typeof NAMES)[number];

type Step =
  /** `columns`: tables of one name differ in their columns as well. */
  | { readonly does: 'put'; readonly name: Name; readonly value: number; readonly columns: 1 | 2 }
  | { readonly does: 'delete'; readonly name: Name }
  /** `maxAge`: a result that was kept may be answered, which organizations share. */
  | {
      readonly does: 'ask';
      readonly names: readonly Name[];
      readonly maxAge: boolean;
      readonly asJob: boolean;
    };

const name = fc.constantFrom(...NAMES);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    does: fc.constant('put' as const),
    name,
    value: fc.nat({ max: 3 }),
    columns: fc.constantFrom(1 as const, 2 as const),
  }),
  fc.record({ does: fc.constant('delete' as const), name }),
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('ask' as const),
      names: fc.uniqueArray(name, { minLength: 1 }),
      maxAge: fc.boolean(),
      asJob: fc.boolean(),
    }),
  },
);
/** Both end with a question for each table. */
const steps = fc
  .array(step, { minLength: 8, maxLength: 14 })
  .map((some) => [
    ...some,
    ...NAMES.map((one): Step => ({ does: 'ask', names: [one], maxAge: true, asJob: false })),
  ]);

/** A table as its owner wrote it: names of columns, and its only row. */
type Kept = readonly (readonly [column: string, value: string])[];

/** Takes the steps of one organization, and compares every answer with what it wrote itself. */
async function takeSteps(
  { send }: ReturnType<typeof jobsOf>,
  mark: string,
  taken: readonly Step[],
): Promise<void> {
  const kept = new Map<Name, Kept>();
  for (const one of taken) {
    if (one.does === 'put') {
      const row: Kept = [
        ['owner', mark],
        [`of_${mark}`, String(one.value)],
      ].slice(0, one.columns) as unknown as Kept; // pairs
      const rows = [row.map(([column]) => column), row.map(([, value]) => value)].join('\n');
      expect((await send('PUT', `/v0/tables/${one.name}`, { rows })).status).toBe(200);
      kept.set(one.name, row);
    } else if (one.does === 'delete') {
      const { status } = await send('DELETE', `/v0/tables/${one.name}`);
      expect(status).toBe(kept.delete(one.name) ? 200 : 404);
    } else await ask(one, kept, send);
  }
}

async function ask(
  { names, maxAge, asJob }: Extract<Step, { does: 'ask' }>,
  kept: ReadonlyMap<Name, Kept>,
  send: ReturnType<typeof jobsOf>['send'],
): Promise<void> {
  const [first = 'a', second] = names;
  const sql = `SELECT * FROM my.${first}${second === undefined ? '' : ` CROSS JOIN my.${second}`}`;
  const { status, body } = await send('POST', '/v0/sql', {
    ...{ sql, format: 'json_compact' },
    ...(maxAge && second === undefined ? { max_age: 600 } : {}),
    ...(asJob && second === undefined ? { wait_seconds: 50 } : {}),
  });
  const wanted = names.map((one) => kept.get(one));
  if (wanted.includes(undefined))
    return expect([sql, status, body.code]).toEqual([sql, 400, 'invalid_query']);
  const cells = wanted.flatMap((table = []) => table);
  expect([sql, status, body.rows]).toEqual([sql, 200, [cells.map(([, value]) => value)]]);
  if (second !== undefined) return; // columns of the same name are told apart by their table
  expect(body.columns.map((column: { readonly name: string }) => column.name)).toEqual(
    cells.map(([column]) => column),
  );
}

test('tables of two organizations under the same names never mix', async ({ sqlService: sql }) => {
  // Of each run: a tier has so many queries a minute.
  const owner = async () => jobsOf(sql.api, await sql.customer({ plan: 'pro', units: 100_000 }));
  await fc.assert(
    fc.asyncProperty(steps, steps, async (left, right) => {
      const [one, other] = await Promise.all([owner(), owner()]);
      // Settled, so that no step of one run goes on in the next.
      const taken = await Promise.allSettled([
        takeSteps(one, 'left', left),
        takeSteps(other, 'right', right),
      ]);
      for (const outcome of taken) if (outcome.status === 'rejected') throw outcome.reason;
    }),
    { numRuns: lengthOf('engineProperties'), endOnFailure: true },
  );
});
