import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../../core/config/load.ts';
import { openRedisStore } from '../../../../src/accounts/redis/store.ts';
import { checkAccounts } from '../../../../src/operate/doctor/accounts.ts';
import { redisIsThere, startRedisServer } from '../../../kit/redis-server.ts';
import { watchedLog } from '../../../kit/secrets-watch.ts';

/** The doctor asks a real Redis how it keeps what it acknowledges. */

async function examine(settings: readonly string[]): Promise<Record<string, string[]>> {
  const server = await startRedisServer(settings);
  const log = watchedLog('doctor-redis');
  const config = loadConfig({ env: { REDIS_URL: server.url } });
  const store = openRedisStore({ url: server.url, keyPrefix: 'doctor', log });
  try {
    const findings = await checkAccounts({ config, store, nowMs: () => Date.now(), log });
    return Object.fromEntries(
      ['control_store', 'clock', 'ledger'].map((check) => [
        check,
        findings.filter((finding) => finding.check === check).map(({ verdict }) => verdict),
      ]),
    );
  } finally {
    await store.close();
    await server.stop();
  }
}

describe.skipIf(!redisIsThere())('the doctor and Redis', () => {
  test('one that keeps everything is in order', async () => {
    const kept = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];
    expect(await examine(kept)).toEqual({ control_store: ['ok'], clock: ['ok'], ledger: ['ok'] });
  });

  test('one without an append-only file that evicts fails twice', async () => {
    const loose = ['--appendonly', 'no', '--maxmemory-policy', 'allkeys-lru'];
    expect((await examine(loose))['control_store']).toEqual(['failure', 'failure']);
  });
});
