import fc from 'fast-check';
import { expect } from 'vitest';
import { regradeTest as test } from '../../../kit/fixtures-ingest.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import { drawnCatalogue, drawnRow, regradeHistory } from '../../../kit/regrade-history.ts';

const ROWS_MAX = 12;
const CHANGES_MAX = 4;

test('after any changes of the catalogue the engine has graded every row as a worker would have today', async ({
  world,
}) => {
  // Over all runs: each one grades the rows of those before anew.
  const history = regradeHistory(world);
  const step = fc.record({
    rows: fc.array(drawnRow, { maxLength: ROWS_MAX, size: 'max' }),
    wanted: drawnCatalogue,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: CHANGES_MAX, size: 'max' }), async (steps) => {
      for (const { rows, wanted } of steps) {
        await history.write(rows);
        await history.change(wanted);
        expect(await history.held()).toEqual(await history.expected());
      }
    }),
    // A smaller example would have to begin with an empty database.
    { numRuns: lengthOf('engineProperties'), endOnFailure: true },
  );
}, 300_000);
