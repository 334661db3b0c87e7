import { runBench } from '../support/run-bench.ts';
import { measureAccountRate } from './account-rate.ts';
import { measureAddedTime } from './added-time.ts';
import { measureBurst } from './burst.ts';

await runBench({
  name: 'gate',
  description: 'Measures what keys, limits and units cost a call, on SQLite and on a local Redis.',
  parts: [
    { name: 'added', summary: 'what the gate adds to a keyed and to a metered call', run: measureAddedTime },
    { name: 'burst', summary: 'a thousand metered calls at once', run: measureBurst },
    { name: 'account', summary: 'requests a second of /v0/account', run: measureAccountRate },
  ],
});
