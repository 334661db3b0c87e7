import { runPart } from '../../scripts/run-part.ts';

/** `npm run fuzz -- <part>`. */
await runPart('fuzz', {
  sql: { summary: 'queries, good and hostile, through the sandbox', file: 'test/fuzz/sql/main.ts' },
  cost: {
    summary: 'the processor time of every text of a stranger, by its length',
    file: 'test/fuzz/cost/main.ts',
  },
  http: { summary: 'requests written from the OpenAPI document', file: 'test/fuzz/http/main.ts' },
});
