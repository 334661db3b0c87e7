import { spawn } from 'node:child_process';
import { parseOptions, RUNS_VARIABLE, SEED_VARIABLE } from './options.ts';

/** `npm run fuzz -- http`: the test of the suite with other numbers, in the surroundings that the suite gives it. */

const TEST = 'test/src/http/openapi-fuzz.engine.test.ts';

const { seed, runs } = parseOptions(process.argv);
process.stdout.write(`seed ${seed}, ${runs} requests\n`);
const vitest = spawn('npx', ['vitest', 'run', '--project', 'engine', TEST], {
  stdio: 'inherit',
  env: { ...process.env, [SEED_VARIABLE]: String(seed), [RUNS_VARIABLE]: String(runs) },
});
vitest.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
