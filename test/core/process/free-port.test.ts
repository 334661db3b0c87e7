import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freePort, NAMED_PORTS } from '../../../core/process/free-port.ts';

const isNamed = (port: number): boolean =>
  port >= NAMED_PORTS.from && port < NAMED_PORTS.from + NAMED_PORTS.count;

test('a port is below those that systems give away by themselves', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()));
  expect(ports.filter((port) => !isNamed(port))).toEqual([]);
  expect(NAMED_PORTS.from + NAMED_PORTS.count).toBeLessThan(32_768);
});

test('the wanted port is given while it is free, another one when it is taken', async () => {
  const wanted = await freePort();
  expect(await freePort(wanted)).toBe(wanted);
  const holder = createServer();
  await new Promise<void>((listening) => holder.listen(wanted, '127.0.0.1', listening));
  try {
    const other = await freePort(wanted);
    expect(other).not.toBe(wanted);
    expect(isNamed(other)).toBe(true);
  } finally {
    await new Promise((closed) => holder.close(closed));
  }
});
