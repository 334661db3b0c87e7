import pino from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openConnection } from '../../../../src/accounts/redis/connection.ts';
import { LEASED_MAX } from '../../../../src/accounts/redis/rates.ts';
import { storeOver } from '../../../../src/accounts/redis/store.ts';
import type { ControlStore } from '../../../../src/accounts/store.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../../kit/redis-server.ts';

/** Requests that a process counts by itself: what several of them together let through. */

const T0 = 1_750_000_000_000;
const LIMIT = 300;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Process {
  readonly store: ControlStore;
  /** How many scripts it has sent. */
  asked(): number;
  take(nowMs: number): Promise<boolean>;
}

describe.skipIf(!redisIsThere())('on a real Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  function start(key: string): Process {
    const log = pino({ level: 'silent' });
    const connection = openConnection({ url: server.url, log, onFirstReady: async () => {} });
    let asked = 0;
    const store = storeOver(
      {
        ...connection,
        script: (...call) => {
          asked += 1;
          return connection.script(...call);
        },
      },
      'rates',
    );
    ends.push(() => store.close());
    const take = async (nowMs: number): Promise<boolean> =>
      (await store.rates.take({ key, limit: LIMIT, windowSeconds: 60, nowMs })).allowed;
    return { store, asked: () => asked, take };
  }

  /** So many requests, one after the other; answers how many were let through. */
  async function takeMany({ take }: Process, count: number, nowMs = T0): Promise<number> {
    let allowed = 0;
    for (let turn = 0; turn < count; turn++) if (await take(nowMs)) allowed += 1;
    return allowed;
  }

  test('one process lets through exactly the limit, and asks for a fraction of it', async () => {
    const alone = start('alone');
    expect(await takeMany(alone, 150)).toBe(150);
    expect(alone.asked()).toBeLessThan(30);
    expect(await takeMany(alone, 250)).toBe(150);
  });

  test('the rest is counted down with every request, also with requests that were counted here', async () => {
    const { store } = start('down');
    const left: number[] = [];
    for (let turn = 0; turn < 20; turn++) {
      const { remaining, resetSeconds } = await store.rates.take({
        ...{ key: 'down', limit: LIMIT, windowSeconds: 60 },
        nowMs: T0 + turn * 40,
      });
      left.push(remaining);
      expect(resetSeconds).toBe(60);
    }
    expect(left).toEqual(Array.from({ length: 20 }, (_, turn) => LIMIT - 1 - turn));
  });

  test('three processes refuse nothing below the limit, and exceed it by ten for each further one at most', async () => {
    const processes = [start('three'), start('three'), start('three')];
    let allowed = 0;
    for (let turn = 0; turn < 3 * LIMIT; turn++) {
      const one = processes[Math.floor(Math.random() * 3)];
      if (await one?.take(T0)) allowed += 1;
      else expect(allowed).toBeGreaterThanOrEqual(LIMIT);
    }
    expect(allowed).toBeGreaterThanOrEqual(LIMIT);
    expect(allowed).toBeLessThanOrEqual(LIMIT + 2 * LEASED_MAX);
  });

  test('a process that dies takes the requests with it that it had counted alone, and no more', async () => {
    const dead = start('dies');
    const before = await takeMany(dead, 1 + LEASED_MAX - 1);
    await dead.store.close();
    const next = await takeMany(start('dies'), 2 * LIMIT);
    expect(before + next).toBeGreaterThanOrEqual(LIMIT);
    expect(before + next).toBeLessThanOrEqual(LIMIT + LEASED_MAX);
  });

  test('counts of this process are not lost over a pause: the next question reports it', async () => {
    const [one, two] = [start('pause'), start('pause')];
    expect(await takeMany(one, 8)).toBe(8);
    expect(await one.take(T0 + 20_000)).toBe(true);
    expect(await takeMany(two, LIMIT, T0 + 20_000)).toBe(LIMIT - 9);
  });

  test('a clock that jumps refuses no caller early: each window has its limit', async () => {
    const one = start('jumps');
    expect(await takeMany(one, 100)).toBe(100);
    expect(await takeMany(one, 50, T0 - 30_000)).toBe(50);
    expect(await takeMany(one, 200, T0 + 5_000)).toBe(150);
    expect(await takeMany(one, 400, T0 + 61_000)).toBe(LIMIT);
    expect(await takeMany(one, 10, T0 + 600_000)).toBe(10);
  });

  test('a clock that jumps ahead takes no lease of the old window along', async () => {
    const one = start('ahead');
    await takeMany(one, 8);
    expect(await takeMany(one, 2 * LIMIT, T0 + 61_000)).toBe(LIMIT);
  });

  test('a Redis that forgot the window gets no requests of the old one', async () => {
    const [one, two] = [start('forgot'), start('forgot')];
    await takeMany(one, 8);
    await server.kill();
    await server.start();
    await expect
      .poll(() =>
        two.store.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await expect
      .poll(() =>
        one.store.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    expect(await takeMany(two, 1, T0 + 2_000)).toBe(1);
    expect(await takeMany(one, 2 * LIMIT, T0 + 2_000)).toBe(LIMIT - 1);
  });
});
