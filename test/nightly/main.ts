import { type Parts, runPart, spawnPart } from '../../scripts/run-part.ts';

/** `npm run test:nightly`: what takes too long for `npm test`. Each part also runs alone: `npm run test:nightly -- chaos --minutes 5`. */
const PARTS: Parts = {
  demo: { summary: 'an hour of the demo with visitors', file: 'test/nightly/demo-hour.ts' },
  chaos: {
    summary: 'processes killed, stopped and cut off',
    file: 'test/chaos/main.ts',
    args: ['--minutes', '30'],
  },
  faults: { summary: 'a thousand faults of ingest and rollup', file: 'bench/faults/main.ts' },
  'fuzz-sql': {
    summary: 'half an hour of queries',
    file: 'test/fuzz/sql/main.ts',
    args: ['--seconds', '1800'],
  },
  'fuzz-http': { summary: 'requests written from the OpenAPI document', file: 'test/fuzz/http/main.ts' },
  node24: { summary: 'npm ci and npm test on Node 24', file: 'test/nightly/node24.ts' },
};

await runPart('test:nightly', PARTS, async () => {
  const failed: string[] = [];
  for (const [name, part] of Object.entries(PARTS)) {
    process.stdout.write(`\n== ${name}: ${part.summary}\n`);
    if ((await spawnPart(part)) !== 0) failed.push(name);
  }
  process.stdout.write(failed.length === 0 ? '\nall parts passed\n' : `\nfailed: ${failed.join(', ')}\n`);
  return failed.length === 0 ? 0 : 1;
});
