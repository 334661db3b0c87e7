import { runBench } from '../support/run-bench.ts';
import { measureAggregates } from './aggregates.ts';
import { measureBombs } from './bombs.ts';
import { measureClickhouseInterface } from './clickhouse-interface.ts';
import { measureDuckdb } from './duckdb-peer.ts';
import { measureInspection } from './inspection.ts';
import { measurePredicates } from './predicates.ts';
import { measureStreaming } from './streaming.ts';

await runBench({
  name: 'sql',
  description:
    'Measures SQL over millions of synthetic settlements: what judging, streaming and the views cost, and what bombs do.',
  parts: [
    { name: 'inspection', summary: 'what judging a query adds', run: measureInspection },
    { name: 'streaming', summary: 'a million rows against the engine itself', run: measureStreaming },
    {
      name: 'clickhouse',
      summary: 'the ClickHouse interface against the engine’s own port',
      run: measureClickhouseInterface,
    },
    { name: 'predicates', summary: 'what WHERE payer = … reads', run: measurePredicates },
    {
      name: 'aggregates',
      summary: 'full scans through the view against a plain copy',
      run: measureAggregates,
    },
    { name: 'duckdb', summary: 'the ClickBench-shaped questions against DuckDB', run: measureDuckdb },
    { name: 'bombs', summary: 'point reads while the sandbox is under attack', run: measureBombs },
  ],
});
