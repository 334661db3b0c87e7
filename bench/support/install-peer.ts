import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startGuarded } from './guarded-process.ts';
import type { BenchContext } from './run-bench.ts';

const INSTALL_TIMEOUT_MS = 300_000;

/**
 * Installs the peer of a bench, a package of its own in `root`, when `file` does not exist yet. Resolves with the reason why it
 * cannot be installed, or with undefined when it is there: an offline machine can still run everything else.
 */
export async function installPeer(
  { workspace, say }: Pick<BenchContext, 'workspace' | 'say'>,
  { name, root, file }: { readonly name: string; readonly root: string; readonly file: string },
): Promise<string | undefined> {
  const isThere = (): boolean => existsSync(join(root, file));
  if (isThere()) return undefined;
  say(`installing ${name} (once, about a minute)`);
  const install = startGuarded({
    command: 'npm',
    args: ['ci', '--ignore-scripts', '--no-audit', '--no-fund'],
    cwd: root,
    environment: { npm_config_fetch_retries: '1' },
  });
  workspace.defer(() => install.stop());
  const late = setTimeout(() => void install.stop(), INSTALL_TIMEOUT_MS);
  const code = await install.exited;
  clearTimeout(late);
  if (code === 0 && isThere()) return undefined;
  const errors = install.lastLines().filter((line) => line.startsWith('npm error'));
  return errors.join(' ') || `npm ci ended with ${code}`;
}
