import { spawnSync } from 'node:child_process';

/**
 * `npm test` runs the static checks and the first ring of tests (test/kit/rings.ts), `npm run test:all` installs what single tests drive
 * (scripts/install-peers.mjs) and runs the checks and every test. What stands behind `npm test --` goes to vitest over all files, and the checks are left out.
 */
const args = process.argv.slice(2);
const isAll = args[0] === '--all';
const named = isAll ? args.slice(1) : args;
const ring = isAll || named.length > 0 ? 'all' : 'first';
if (isAll) process.env.CI_REQUIRE_PEERS = '1';
const steps = [
  ...(isAll ? [['node', ['scripts/install-peers.mjs']]] : []),
  ...(named.length === 0
    ? [['node', ['scripts/run-together.mjs', 'types', 'layers', 'gen:check', 'lint', 'dead']]]
    : []),
  ['vitest', ['run', ...named]],
];
for (const [command, words] of steps) {
  const env = { ...process.env, TEST_RING: ring };
  const { status } = spawnSync(command, words, { stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
}
