import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../../core/config/config.ts';
import { UserError } from '../../../core/user-error.ts';
import { syncPath } from './manifest.ts';

/**
 * The secrets of a deployment that lie in files, and its configuration, which may hold others. What is set by environment variables
 * is not known here and not copied.
 */

type SecretsConfig = Pick<Config, 'dataDir' | 'configFile' | 'catalogue'>;

const FILE_MODE = 0o600;
/** Put back into the data directory. */
const KEY_FILES = ['cursor.key', 'key-issue.key'];

/** Answers the names of what was copied. */
export function backUpSecrets(config: SecretsConfig, directory: string): string[] {
  const { dataDir, configFile, catalogue } = config;
  const sources: (readonly [name: string, path: string | null])[] = [
    ...KEY_FILES.map((name) => [name, join(dataDir, name)] as const),
    ['settlement-index.config.json', configFile],
    ['catalogue.json', catalogue.file],
  ];
  const found = sources.filter(
    (source): source is [string, string] => source[1] !== null && existsSync(source[1]),
  );
  if (found.length > 0) mkdirSync(join(directory, 'secrets'), { mode: 0o700 });
  for (const [name, path] of found) copyPrivately(path, join(directory, 'secrets', name));
  return found.map(([name]) => name);
}

/** Throws `UserError` when the data directory has another key already. */
export function refuseOtherKeys(
  { dataDir }: SecretsConfig,
  directory: string,
  names: readonly string[],
): void {
  for (const name of names.filter((each) => KEY_FILES.includes(each))) {
    const target = join(dataDir, name);
    if (!existsSync(target)) continue;
    if (readFileSync(target).equals(readFileSync(join(directory, 'secrets', name)))) continue;
    throw new UserError(
      `the data directory has another ${name} already: a backup is put back where nothing is`,
    );
  }
}

/** Puts the keys back. The configuration stays where it is: the one that this command was given is in force. */
export function restoreKeys({ dataDir }: SecretsConfig, directory: string, names: readonly string[]): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  for (const name of names.filter((each) => KEY_FILES.includes(each)))
    copyPrivately(join(directory, 'secrets', name), join(dataDir, name));
}

function copyPrivately(from: string, to: string): void {
  copyFileSync(from, to);
  chmodSync(to, FILE_MODE);
  syncPath(to);
}
