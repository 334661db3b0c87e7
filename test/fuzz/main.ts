import { runPart } from '../../scripts/run-part.ts';

/** `npm run fuzz -- <part>`. */
await runPart('fuzz', {
  sql: { summary: 'queries, good and hostile, through the sandbox', file: 'test/fuzz/sql/main.ts' },
  http: { summary: 'requests written from the OpenAPI document', file: 'test/fuzz/http/main.ts' },
});
