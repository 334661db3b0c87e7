import { runBench } from '../support/run-bench.ts';
import { measureAccepted } from './accepted.ts';
import { showBlindSpots } from './blind-spots.ts';
import { measureUnclosedBrackets } from './unclosed-brackets.ts';

await runBench({
  name: 'sql-parsers',
  description:
    'Measures node-sql-parser against the engine’s own parser, on questions that must be answered and on attacks.',
  parts: [
    { name: 'accepted', summary: 'what comes back with the same meaning', run: measureAccepted },
    { name: 'blind-spots', summary: 'what its list of tables does not show', run: showBlindSpots },
    { name: 'unclosed', summary: 'brackets that are never closed', run: measureUnclosedBrackets },
  ],
});
