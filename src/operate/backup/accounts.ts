import {
  chmodSync,
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { Config } from '../../../core/config/config.ts';
import { UserError } from '../../../core/user-error.ts';

import {
  type CopyLine,
  copiedForm,
  copyRedis,
  loadRedis,
  openRedisForCopy,
  REDIS_COPY_FORM,
  type RedisCopyCounts,
} from '../../accounts/redis/copy.ts';
import { hasAccounts as hasRedisAccounts } from '../../accounts/redis/layout.ts';
import { copyDatabase, newestSchema } from '../../accounts/sqlite/database.ts';
import { type AccountsManifest, syncPath } from './manifest.ts';

/** Organizations, keys, units and payments. They exist nowhere else. */

type AccountsConfig = Pick<Config, 'control' | 'dataDir'>;

const FILE_MODE = 0o600;
const SQLITE_FILE = 'control.db';
const REDIS_FILE = 'redis.jsonl.gz';

function accountsFile(directory: string, kind: AccountsManifest['kind']): string {
  return join(directory, 'accounts', kind === 'sqlite' ? SQLITE_FILE : REDIS_FILE);
}

/** Null when there are none yet. */
export async function backUpAccounts(
  { control, dataDir }: AccountsConfig,
  directory: string,
): Promise<AccountsManifest | null> {
  const source = join(dataDir, SQLITE_FILE);
  if (control.redisUrl === null && !existsSync(source)) return null;
  mkdirSync(join(directory, 'accounts'), { mode: 0o700 });
  if (control.redisUrl === null)
    return { kind: 'sqlite', ...copyDatabase(source, accountsFile(directory, 'sqlite')) };
  const counts: RedisCopyCounts = { organizations: 0, ledgerRows: 0, payments: 0 };
  const redis = await openRedisForCopy(control.redisUrl);
  try {
    const { keyPrefix } = control;
    const form = await copiedForm(redis, keyPrefix);
    await pipeline(
      Readable.from(textOf(copyRedis({ redis, keyPrefix, counts }, form))),
      createGzip(),
      createWriteStream(accountsFile(directory, 'redis'), { mode: FILE_MODE }),
    );
    return { kind: 'redis', schema: form, ...counts };
  } finally {
    redis.disconnect();
  }
}

async function* textOf(lines: AsyncIterable<CopyLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}

/** Throws `UserError` when these accounts cannot be put back here; nothing has been changed then. */
export async function refuseAccounts(
  { control, dataDir }: AccountsConfig,
  accounts: AccountsManifest,
): Promise<void> {
  const kind = control.redisUrl === null ? 'sqlite' : 'redis';
  if (accounts.kind !== kind) {
    throw new UserError(
      `the accounts of the backup were kept in ${accounts.kind}, the configuration keeps them in ${kind}`,
    );
  }
  const known = kind === 'sqlite' ? newestSchema() : REDIS_COPY_FORM;
  if (accounts.schema > known) {
    throw new UserError(
      `the accounts of the backup have form ${accounts.schema}, this program knows ${known}: restore it with the version that made it`,
    );
  }
  if (await hasAccounts({ control, dataDir }))
    throw new UserError(`there are accounts already in ${kind}: a backup is put back where nothing is`);
}

async function hasAccounts({ control, dataDir }: AccountsConfig): Promise<boolean> {
  if (control.redisUrl === null)
    return ['', '-wal', '-shm', '-journal'].some((end) => existsSync(join(dataDir, `${SQLITE_FILE}${end}`)));
  const redis = await openRedisForCopy(control.redisUrl);
  try {
    return await hasRedisAccounts((command) => command(redis), control.keyPrefix);
  } finally {
    redis.disconnect();
  }
}

/** To be called after `refuseAccounts`. */
export async function restoreAccounts(
  { control, dataDir }: AccountsConfig,
  directory: string,
  kind: AccountsManifest['kind'],
): Promise<void> {
  const source = accountsFile(directory, kind);
  if (control.redisUrl === null) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const target = join(dataDir, SQLITE_FILE);
    copyFileSync(source, target);
    chmodSync(target, FILE_MODE);
    syncPath(target);
    syncPath(dataDir);
    return;
  }
  const redis = await openRedisForCopy(control.redisUrl);
  try {
    await loadRedis(redis, control.keyPrefix, linesOf(source));
  } finally {
    redis.disconnect();
  }
}

async function* linesOf(path: string): AsyncGenerator<CopyLine> {
  const text = createReadStream(path).pipe(createGunzip());
  for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) {
    yield JSON.parse(line) as CopyLine; // written by backUpAccounts, and its digest was checked
  }
}

/**
 * The secrets of a deployment that lie in files, and its configuration, which may hold others. Settings in environment variables
 * is not known here and not copied.
 */

type SecretsConfig = Pick<Config, 'dataDir' | 'configFile' | 'catalogue'>;

/** Put back into the data directory. */
const KEY_FILES = ['bundle.key', 'cursor.key', 'key-issue.key'];

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
