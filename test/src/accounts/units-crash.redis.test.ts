import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lengthOf } from '../../kit/lengths.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../kit/redis-server.ts';
import { crashUnits } from '../../kit/units-crash.ts';

const KILLS = lengthOf('unitKills');
/** Each start of the child has a limit of its own; this is for all of them on a machine that is busy with other things. */
const TIMEOUT_MS = 600_000;

describe.skipIf(!redisIsThere())('on a real Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  test('Redis: no kill -9 of the process or of redis-server loses a unit, makes one, or leaves half a change; that of redis-server may take the newest holds', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const tally = await crashUnits({
      store: { kind: 'redis', url: server.url, keyPrefix: 'crash' },
      kills: KILLS,
      kill: async (child, run) => {
        const gone = once(child, 'exit');
        const storeDied = run % 2 === 0;
        if (storeDied) await server.kill();
        child.kill('SIGKILL');
        await gone;
        if (storeDied) await server.start();
        return { storeDied };
      },
    });
    expect(tally.answered).toBeGreaterThan(KILLS);
    expect(tally.swept).toBeGreaterThan(0);
    expect(tally.unansweredThere + tally.unansweredAbsent).toBeGreaterThan(0);
  });
});
