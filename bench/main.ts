import { type Parts, runPart } from '../scripts/run-part.ts';

/** `npm run bench -- <part>`. bench/README.md says what each measures. */

/** Batches live longer than a young generation of V8's default size. */
const LARGE_BATCHES = ['--max-semi-space-size=64'];

const PARTS: Parts = {
  entities: { summary: 'what a market asks, against PostgreSQL 15', file: 'bench/entities/main.ts' },
  gate: { summary: 'what keys, limits and units cost a call', file: 'bench/gate/main.ts' },
  identities: { summary: 'derivations and routes over ERC-8004 agents', file: 'bench/identities/main.ts' },
  import: {
    summary: 'an import of Parquet exports against the engine’s own read',
    file: 'bench/import/main.ts',
    nodeFlags: LARGE_BATCHES,
  },
  ingest: {
    summary: 'from a chain to rows, against Ponder and a plain reader',
    file: 'bench/ingest/main.ts',
    nodeFlags: LARGE_BATCHES,
  },
  load: { summary: 'one API process at capacity and far above it (needs wrk)', file: 'bench/load/main.ts' },
  scale: {
    summary: 'what a million settlements cost: docs/scale.md quotes it',
    file: 'bench/scale/main.ts',
    nodeFlags: LARGE_BATCHES,
  },
  sql: { summary: 'the SQL of callers', file: 'bench/sql/main.ts', nodeFlags: ['--expose-gc'] },
  'sql-parsers': {
    summary: 'the engine as the parser, against node-sql-parser',
    file: 'bench/sql-parsers/main.ts',
  },
  workers: {
    summary: 'several ingest processes sharing ranges',
    file: 'bench/workers/main.ts',
    nodeFlags: LARGE_BATCHES,
  },
};

await runPart('bench', PARTS);
