import { createHash } from 'node:crypto';
import type { Config } from './config/config.ts';
import type { CursorKeys } from './domain/cursor.ts';
import { loadOrMakeSecrets } from './secret-file.ts';

export const CURSOR_KEY_FILE = 'cursor.key';
const DAY_MS = 86_400_000;
/** Cursors of a key that was rotated are good for so long. A walk is a matter of minutes; somebody may have noted one down. */
export const CURSOR_KEY_KEPT_DAYS = 7;
export const CURSOR_KEY_KEPT_MS = CURSOR_KEY_KEPT_DAYS * DAY_MS;

/**
 * The keys that sign cursors: the configured ones, or one generated key that stays in the data directory with those that it replaced
 * lately, so that a walk survives a restart and a rotation. Several API processes must share configured keys.
 */
export function loadCursorKeys(
  config: Pick<Config, 'cursorSecrets' | 'dataDir'>,
  nowMs: number = Date.now(),
): CursorKeys {
  const [newest, ...older] = config.cursorSecrets.map((secret) =>
    createHash('sha256').update(secret).digest(),
  );
  if (newest !== undefined) return { keys: [newest, ...older] };
  return { keys: loadOrMakeSecrets(config.dataDir, CURSOR_KEY_FILE, { keptMs: CURSOR_KEY_KEPT_MS, nowMs }) };
}
