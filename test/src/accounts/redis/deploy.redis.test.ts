import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Log } from '../../../../core/log.ts';
import { openConnection } from '../../../../src/accounts/redis/connection.ts';
import { warnAboutLoss } from '../../../../src/accounts/redis/durability.ts';
import { openRedisStore } from '../../../../src/accounts/redis/store.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../../kit/redis-server.ts';
import { watchedLog } from '../../../kit/secrets-watch.ts';

const deploy = new URL('../../../../deploy/', import.meta.url).pathname;

describe.skipIf(!redisIsThere())('the Redis of docker-compose.yml', () => {
  let root: string;
  let server: RedisServer;

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'settlement-index-deploy-redis-'));
    cpSync(join(deploy, 'make-secrets.sh'), join(root, 'make-secrets.sh'));
    execFileSync('sh', [join(root, 'make-secrets.sh')]);
    // Changed are places alone: of the data, which the helper gives, and of the secret.
    const conf = readFileSync(join(deploy, 'redis.conf'), 'utf8')
      .replace('/run/secrets/', `${root}/secrets/`)
      .replace(/^(dir|bind) .*$/gm, '');
    writeFileSync(join(root, 'redis.conf'), conf);
    server = await startRedisServer(['--include', join(root, 'redis.conf')]);
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(root, { recursive: true, force: true });
  });

  test('wants the password, and the service has nothing to warn of', async () => {
    const told: unknown[] = [];
    const quiet = watchedLog('deploy', 'warn');
    const log = Object.assign(Object.create(quiet) as Log, {
      warn: (...words: unknown[]) => void told.push(words),
    });
    const password = readFileSync(join(root, 'secrets/redis_key'), 'utf8');
    const url = readFileSync(join(root, 'secrets/redis_url'), 'utf8');
    expect(url).toBe(`redis://:${password}@redis:6379`);
    const stranger = openRedisStore({ url: server.url, keyPrefix: 'six', log: quiet });
    await expect(stranger.ping()).rejects.toThrow('does not answer');
    await stranger.close();
    const here = url.replace('redis:6379', `127.0.0.1:${server.port}`);
    const connection = openConnection({ url: here, log, onFirstReady: () => Promise.resolve() });
    await warnAboutLoss(connection, log);
    await connection.close();
    expect(told).toEqual([]);
  });
});
