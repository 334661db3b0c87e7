import { type Part, runPart } from '../scripts/run-part.ts';

/** `npm run bench -- <part>`. bench/README.md says what each measures. */

const SUMMARIES = {
  entities: 'what a market asks, against PostgreSQL 15',
  facilitators: 'hidden relayers among decoys, found by their behaviour',
  gate: 'what keys, limits and units cost a call',
  identities: 'derivations and routes over ERC-8004 agents',
  import: 'an import of Parquet exports against the engine’s own read',
  ingest: 'from a chain to rows, against Ponder and a plain reader',
  load: 'one API process at capacity and far above it (needs wrk)',
  rest: 'cores that an idle service takes',
  scale: 'what a million settlements cost: docs/scale.md quotes it',
  sql: 'the SQL of callers',
  'sql-parsers': 'the engine as the parser, against node-sql-parser',
  workers: 'several ingest processes sharing ranges',
} as const;
/** Batches live longer than a young generation of V8's default size. */
const LARGE_BATCHES = ['import', 'ingest', 'scale', 'workers'];

function partOf([name, summary]: readonly [string, string]): [string, Part] {
  const nodeFlags = LARGE_BATCHES.includes(name) ? ['--max-semi-space-size=64'] : ['--expose-gc'];
  return [name, { summary, file: `bench/${name}/main.ts`, nodeFlags }];
}

await runPart('bench', Object.fromEntries(Object.entries(SUMMARIES).map(partOf)));
