import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Command } from 'commander';

/**
 * Prints the name of every test with its file, one a line and sorted, so that two trees can be compared:
 *
 *     node scripts/test-names.mjs > before      (then the change)      node scripts/test-names.mjs > after      diff before after
 *
 * vitest itself lists them, because most names are made by loops. It loads the files for that and runs no test; tests that only the
 * nightly run makes are listed as well.
 */
const command = new Command('node scripts/test-names.mjs')
  .description(
    'Prints "file > name" of every test of the tree, sorted, without running one. Takes a minute or two.',
  )
  .argument('[filters...]', 'only files whose path contains one of these')
  .parse();

const directory = mkdtempSync(join(tmpdir(), 'settlement-index-names-'));
const listed = join(directory, 'names.json');
try {
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'list', `--json=${listed}`, ...command.args],
    { env: { ...process.env, TEST_LENGTH: 'nightly' }, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (status !== 0) command.error(`vitest list ended with ${status}`);
  // Names of temporary directories differ from run to run.
  const lines = JSON.parse(readFileSync(listed, 'utf8')).map(
    ({ file, name }) =>
      `${relative('.', file)} > ${name.replaceAll(/\s+/g, ' ').replaceAll(tmpdir(), 'TMP')}`,
  );
  process.stdout.write(`${lines.sort().join('\n')}\n`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
