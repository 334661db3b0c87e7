import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { startService } from '../../src/service.ts';
import { watchedLog } from '../support/secrets-watch.ts';

const directory = mkdtempSync(join(tmpdir(), 'settlement-index-stop-'));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Nobody listens there. */
const NO_NODE = 'http://127.0.0.1:9';

test('a service that is stopped while it makes its tables has ended well, and the next one makes the rest', async () => {
  const file = join(directory, 'settlement-index.config.json');
  const chains = [{ chain: 'base', rpcUrls: [NO_NODE] }];
  writeFileSync(file, JSON.stringify({ dataDir: join(directory, 'data'), http: { port: 0 }, chains }));
  const config = loadConfig({ file, env: {} });
  const start = () => startService({ config, log: watchedLog('stopped'), version: '9.9.9' });
  const first = await start();
  await first.stop();
  await expect(first.prepared).resolves.toBeUndefined();
  const second = await start();
  await second.prepared;
  expect((await fetch(`${second.url}/readyz`)).status).toBe(200);
  await second.stop();
});
