import { hkdfSync } from 'node:crypto';
import type { Config } from './config/config.ts';
import { loadOrMakeSecret, SECRET_BYTES } from './secret-file.ts';

const PURPOSE = 'settlement-index key issue v1';

/**
 * The secrets that repeatable trial keys are made of, newest first: derived from `cursorSecrets` where they are configured,
 * because several API processes must share both, otherwise one generated secret in the data directory. HKDF keeps the two uses
 * apart: whoever learned a cursor's key could not make an API key.
 */
export function loadKeyIssueSecrets(
  config: Pick<Config, 'cursorSecrets' | 'dataDir'>,
): readonly [Uint8Array, ...Uint8Array[]] {
  const [newest, ...older] = config.cursorSecrets.map(
    (secret) => new Uint8Array(hkdfSync('sha256', secret, '', PURPOSE, SECRET_BYTES)),
  );
  return newest === undefined ? [loadOrMakeSecret(config.dataDir, 'key-issue.key')] : [newest, ...older];
}
