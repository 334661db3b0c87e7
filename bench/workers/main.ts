import { shareHistory } from '../ingest/chain-history.ts';
import { runBench } from '../support/run-bench.ts';
import { sharedBackfill } from './shared-backfill.ts';

await runBench({
  name: 'workers',
  description:
    'Measures how the backfill of one chain from one node grows with the number of ingest processes over one Redis.',
  parts: [sharedBackfill(shareHistory())],
});
