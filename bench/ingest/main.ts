import { runBench } from '../support/run-bench.ts';
import { writePath } from './write-path.ts';

await runBench({
  name: 'ingest',
  description:
    'Measures the way of a settlement from the node’s answer to the served row, each step against a peer or a bound.',
  parts: [writePath],
});
