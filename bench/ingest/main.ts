import { runBench } from '../support/run-bench.ts';
import { apiDuringBackfill } from './api-during-backfill.ts';
import { shareHistory } from './chain-history.ts';
import { benchDecode } from './decode.ts';
import { endToEnd } from './end-to-end.ts';
import { writePath } from './write-path.ts';

const history = shareHistory();

await runBench({
  name: 'ingest',
  description:
    'Measures the way of a settlement from the node’s answer to the served row, each step against a peer or a bound.',
  parts: [
    {
      name: 'decode',
      summary: 'decode and grade against a generic ABI decode of the same logs',
      run: benchDecode,
    },
    writePath,
    endToEnd(history),
    apiDuringBackfill(history),
  ],
});
