import { hkdfSync } from 'node:crypto';
import type { Config } from './config/config.ts';
import { loadOrMakeSecrets, SECRET_BYTES } from './secret-file.ts';

const PURPOSE = 'settlement-index key issue v1';
export const KEY_ISSUE_FILE = 'key-issue.key';
const DAY_MS = 86_400_000;
/** As long as payments are remembered (docs/upkeep.md): the key that one bought can be shown again until then. */
export const KEY_ISSUE_KEPT_DAYS = 90;
export const KEY_ISSUE_KEPT_MS = KEY_ISSUE_KEPT_DAYS * DAY_MS;

/**
 * The secrets that repeatable trial keys are made of, newest first: derived from `cursorSecrets` where they are configured,
 * because several API processes must share both, otherwise generated ones in the data directory. HKDF keeps the two uses
 * apart: whoever learned a cursor's key could not make an API key.
 */
export function loadKeyIssueSecrets(
  config: Pick<Config, 'cursorSecrets' | 'dataDir'>,
  nowMs: number = Date.now(),
): readonly [Uint8Array, ...Uint8Array[]] {
  const [newest, ...older] = config.cursorSecrets.map(
    (secret) => new Uint8Array(hkdfSync('sha256', secret, '', PURPOSE, SECRET_BYTES)),
  );
  if (newest !== undefined) return [newest, ...older];
  return loadOrMakeSecrets(config.dataDir, KEY_ISSUE_FILE, { keptMs: KEY_ISSUE_KEPT_MS, nowMs });
}
