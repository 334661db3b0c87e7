import { spawn, spawnSync } from 'node:child_process';

/**
 * `npm test` runs the static checks and the first ring of tests (test/kit/rings.ts) side by side. `npm run test:all` installs what single tests
 * drive (scripts/install-peers.mjs) and does the same with every test; with `-- --shard=1/6` it runs a sixth of the tests and no checks; with `-- --write-long-files` it writes test/kit/long-files.json from
 * how long each file took. What stands behind `npm test --` goes to vitest over all files, and
 * the checks are left out.
 */
const WRITE_LONG_FILES = '--write-long-files';
const args = process.argv.slice(2).filter((word) => word !== WRITE_LONG_FILES);
const isAll = args[0] === '--all';
const named = isAll ? args.slice(1) : args;
const env = {
  ...process.env,
  TEST_RING: isAll || named.length > 0 ? 'all' : 'first',
  ...(isAll && process.argv.includes(WRITE_LONG_FILES) ? { TEST_WRITE_LONG_FILES: '1' } : {}),
};
if (isAll) {
  env.CI_REQUIRE_PEERS = '1';
  const { status } = spawnSync('node', ['scripts/install-peers.mjs'], { stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
}

const run = (command, words) =>
  new Promise((ended) => {
    const child = spawn(command, words, { stdio: 'inherit', env });
    child.once('error', (error) => {
      process.stderr.write(`${error.message}\n`);
      ended(1);
    });
    child.once('close', (code) => ended(code ?? 1));
  });

const CHECKS = ['types', 'layers', 'gen:check', 'lint', 'dead'];
// The tests wait now and then for a process that they started: the checks take that time, one after the other.
const checks = named.length > 0 ? [] : [run('node', ['scripts/run-together.mjs', '--one-by-one', ...CHECKS])];
const codes = await Promise.all([run('vitest', ['run', ...named]), ...checks]);
process.exitCode = codes.find((code) => code !== 0) ?? 0;
