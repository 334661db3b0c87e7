import { spawnSync } from 'node:child_process';

/** `npm test` runs the static checks and every test. What stands behind `npm test --` goes to vitest, and the checks are left out. */
const args = process.argv.slice(2);
const steps = [
  ...(args.length === 0
    ? [['node', ['scripts/run-together.mjs', 'types', 'layers', 'gen:check', 'lint', 'dead']]]
    : []),
  ['vitest', ['run', ...args]],
];
for (const [command, words] of steps) {
  const { status } = spawnSync(command, words, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
