import { createHash } from 'node:crypto';
import type { Config } from './config/config.ts';
import type { CursorKeys } from './domain/cursor.ts';
import { loadOrMakeSecret } from './secret-file.ts';

/**
 * The keys that sign cursors: the configured ones, or one generated key that stays in the data directory, so that a walk
 * survives a restart. Several API processes must share configured keys.
 */
export function loadCursorKeys(config: Pick<Config, 'cursorSecrets' | 'dataDir'>): CursorKeys {
  const [newest, ...older] = config.cursorSecrets.map((secret) =>
    createHash('sha256').update(secret).digest(),
  );
  return {
    keys: newest === undefined ? [loadOrMakeSecret(config.dataDir, 'cursor.key')] : [newest, ...older],
  };
}
