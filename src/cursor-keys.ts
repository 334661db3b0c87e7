import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config/config.ts';
import type { CursorKeys } from './domain/cursor.ts';

const KEY_BYTES = 32;

/**
 * The keys that sign cursors: the configured ones, or one generated key that stays in the data directory, so that a walk
 * survives a restart. Several API processes must share configured keys.
 */
export function loadCursorKeys(config: Pick<Config, 'cursorSecrets' | 'dataDir'>): CursorKeys {
  const [newest, ...older] = config.cursorSecrets.map((secret) =>
    createHash('sha256').update(secret).digest(),
  );
  if (newest !== undefined) return { keys: [newest, ...older] };
  const path = join(config.dataDir, 'cursor.key');
  mkdirSync(config.dataDir, { recursive: true });
  try {
    // Exclusive: of two processes that start at once, one writes and both read the same key.
    writeFileSync(path, randomBytes(KEY_BYTES), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const key = readFileSync(path);
  if (key.length !== KEY_BYTES)
    throw new Error(`${path} is damaged: expected ${KEY_BYTES} bytes; remove it to make a new key`);
  return { keys: [key] };
}
