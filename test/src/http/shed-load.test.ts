import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { createLog } from '../../../core/log.ts';
import { installFailures } from '../../../src/http/failures.ts';
import { installLoadShedding } from '../../../src/http/shed-load.ts';
import { waitUntil } from '../../kit/wait-until.ts';

let app: FastifyInstance;
let letGo: () => void;
let waiting: number;
afterEach(() => {
  letGo();
  return app.close();
});

/** A service that holds `atOnceMax` requests; requests to /slow end when they are let go. */
async function listen(atOnceMax: number): Promise<string> {
  app = Fastify();
  installFailures(app, { log: createLog('silent', 'test'), publicUrl: '', tokenMetadataUrl: null });
  installLoadShedding(app, { atOnceMax });
  waiting = 0;
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  app.get('/slow', async () => {
    waiting += 1;
    await released;
    return { done: true };
  });
  for (const url of ['/fast', '/healthz', '/readyz', '/metrics']) app.get(url, async () => ({ done: true }));
  return app.listen({ host: '127.0.0.1', port: 0 });
}

const statusOf = (url: string): Promise<number> => fetch(url).then(({ status }) => status);

test('what comes while the process is full is refused with the time to come again, and nothing else is', async () => {
  const url = await listen(2);
  const held = [fetch(`${url}/slow`), fetch(`${url}/slow`)];
  await waitUntil('both are held', () => waiting === 2);
  const refused = await fetch(`${url}/fast`);
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('2');
  expect(refused.headers.get('x-request-id')).not.toBeNull();
  expect(refused.headers.get('content-type')).toContain('application/problem+json');
  expect(await refused.json()).toMatchObject({ code: 'overloaded', status: 503, retry_after: 2 });
  for (const path of ['/healthz', '/readyz', '/metrics']) expect(await statusOf(`${url}${path}`)).toBe(200);
  letGo();
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
  await waitUntil('there is room again', async () => (await statusOf(`${url}/fast`)) === 200);
});

test('a caller who leaves makes room', async () => {
  const url = await listen(1);
  const leaving = new AbortController();
  const left = fetch(`${url}/slow`, { signal: leaving.signal }).catch(() => 'left');
  await waitUntil('it is held', () => waiting === 1);
  expect(await statusOf(`${url}/fast`)).toBe(503);
  leaving.abort();
  expect(await left).toBe('left');
  await waitUntil('there is room again', async () => (await statusOf(`${url}/fast`)) === 200);
});

test('answers count as ended also where no socket was: ten after another leave room for the next', async () => {
  await listen(3);
  for (let count = 0; count < 10; count++)
    expect((await app.inject({ method: 'GET', url: '/fast' })).statusCode).toBe(200);
});
