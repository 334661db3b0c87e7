import { runBench } from '../support/run-bench.ts';
import { indexSize } from './index-size.ts';
import { ingestCost } from './ingest-cost.ts';
import { redisMemory } from './redis-memory.ts';

await runBench({
  name: 'scale',
  description:
    'Measures what a million settlements cost: bytes, rows, calls and processor seconds (docs/scale.md).',
  parts: [redisMemory, ingestCost, indexSize],
});
