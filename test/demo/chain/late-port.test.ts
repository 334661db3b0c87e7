import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openLatePort } from '../../../demo/chain/late-port.ts';

test('a reader that connects before the port is opened gets its answer after, one that connects later at once, and none outlives it', async () => {
  const node = createServer((_request, response) => response.end('block 7'));
  await once(node.listen(0, '127.0.0.1'), 'listening');
  const port = await openLatePort(`http://127.0.0.1:${(node.address() as AddressInfo).port}`);
  onTestFinished(() => void node.close());
  let connections = 0;
  node.on('connection', () => {
    connections += 1;
  });

  const early = fetch(port.url).then((answer) => answer.text());
  const idle = connect(Number(new URL(port.url).port), '127.0.0.1');
  await once(idle, 'connect');
  expect(connections).toBe(0);
  port.open();
  expect(await early).toBe('block 7');
  expect(await (await fetch(port.url)).text()).toBe('block 7');
  expect(connections).toBeGreaterThanOrEqual(2);

  await Promise.all([once(idle.resume(), 'close'), port.stop()]);
  await expect(fetch(port.url)).rejects.toThrow('fetch failed');
});
