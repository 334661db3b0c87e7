import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../core/config/load.ts';
import { importCompiled } from '../kit/compile-sources.ts';
import { watchedLog } from '../kit/secrets-watch.ts';
import { waitUntil } from '../kit/wait-until.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-stop-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const { startService } = await importCompiled<typeof import('../../src/service.ts')>('src/service.js');

/** Nothing listens there. */
const NO_NODE = 'http://127.0.0.1:9';

function configOfService() {
  const file = join(directory, 'settlement-index.config.json');
  const chains = [{ chain: 'base', rpcUrls: [NO_NODE] }];
  const http = { port: 0, requestsPerMinute: 1_000_000 };
  writeFileSync(file, JSON.stringify({ dataDir: join(directory, 'data'), http, chains }));
  return loadConfig({ file, env: {} });
}

test('a service that is stopped while it makes its tables has ended well, and the next one makes the rest', async () => {
  const config = configOfService();
  const start = () => startService({ config, log: watchedLog('stopped'), version: '9.9.9' });
  const first = await start();
  await first.stop();
  await expect(first.prepared).resolves.toBeUndefined();
  const second = await start();
  await second.prepared;
  expect((await fetch(`${second.url}/readyz`)).status).toBe(200);
  await second.stop();
});

test('a port that is taken, and an address that is none, are reported by their settings', async () => {
  const taken = createServer();
  taken.listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo; // it listens on a port
  const config = configOfService();
  const startAt = (http: object) =>
    startService({
      config: { ...config, http: { ...config.http, ...http } },
      log: watchedLog('stopped'),
      version: '9.9.9',
    });
  await expect(startAt({ port })).rejects.toThrow(
    `http.port (PORT): something listens on 127.0.0.1:${port} already`,
  );
  await expect(startAt({ host: '203.0.113.1' })).rejects.toThrow(
    'http.host (HOST): 203.0.113.1 is no address of this machine',
  );
  taken.close();
});

/** How one request over a kept connection ended: its status and whether the connection goes on, or the code of its error. */
function ask(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const answered = (response: IncomingMessage): void => {
      response.resume();
      response.once('end', () => resolve(`${response.statusCode} ${response.headers.connection}`));
    };
    get(url, { agent }, answered).once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code ?? 'error'),
    );
  });
}

test('callers that keep their connections lose no request when the service is stopped', async () => {
  const service = await startService({
    config: configOfService(),
    log: watchedLog('stopped'),
    version: '9.9.9',
  });
  await service.prepared;
  const ends: string[] = [];
  /** Asks until it is stopped, as to another process behind a load balancer. */
  const caller = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let end = '200 keep-alive'; end === '200 keep-alive'; ) {
      end = await ask(`${service.url}/v0/account`, agent);
      ends.push(end);
    }
    agent.destroy();
  };
  const callers = Array.from({ length: 16 }, caller);
  await waitUntil('the callers are at work', () => ends.length > 200);
  const stopping = service.stop();
  const readyz = await ask(`${service.url}/readyz`, new Agent());
  await Promise.all([stopping, ...callers]);
  expect(readyz).toBe('503 close');
  expect(new Set(ends)).toEqual(new Set(['200 keep-alive', '200 close']));
});

test('the port for ClickHouse clients opens with the service and answers what it was asked before it closes', async () => {
  const config = configOfService();
  const service = await startService({
    config: { ...config, clickhouseInterface: { host: '127.0.0.1', port: 0 } },
    log: watchedLog('stopped'),
    version: '9.9.9',
  });
  await service.prepared;
  const url = service.clickhouseUrl;
  if (url === null) throw new Error('no port for ClickHouse clients');
  expect(url).not.toBe(service.url);
  expect(await (await fetch(`${url}/ping`)).text()).toBe('Ok.\n');
  const ends: string[] = [];
  const caller = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let end = '200 keep-alive'; end === '200 keep-alive'; ) {
      end = await ask(`${url}/ping`, agent);
      ends.push(end);
    }
    agent.destroy();
  };
  const callers = Array.from({ length: 8 }, caller);
  await waitUntil('the clients are at work', () => ends.length > 100);
  await Promise.all([service.stop(), ...callers]);
  expect(new Set(ends)).toEqual(new Set(['200 keep-alive', '200 close']));
  await expect(fetch(`${url}/ping`)).rejects.toThrow();
});
