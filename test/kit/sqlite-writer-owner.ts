import { openSqliteStore } from '../../src/accounts/sqlite/store.ts';
import { StoreUnavailable } from '../../src/accounts/store.ts';

/**
 * A process that holds and captures one unit again and again, for tests that write at the same time, kill it or fill its disk. Arguments:
 * file, prefix of the holds, how many, how many at once. Says on stdout what was acknowledged, a line each, and `unavailable` for what was not;
 * that is then asked again, as the port says.
 */
const [path = '', prefix = '', count = '0', atOnce = '8'] = process.argv.slice(2);

const store = openSqliteStore({ path });
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function insist(what: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await what();
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      say('unavailable');
    }
  }
}

async function holdAndCapture(holdId: string): Promise<void> {
  const hold = { organizationId: 'org', holdId, units: 1, operation: 'op', heldAtMs: 1, overdueAtMs: 2 };
  await insist(() => store.units.hold(hold));
  say(`held ${holdId}`);
  await insist(() => store.units.capture({ organizationId: 'org', holdId, units: 1, atMs: 3 }));
  say(`captured ${holdId}`);
}

let next = 0;
await Promise.all(
  Array.from({ length: Number(atOnce) }, async () => {
    while (next < Number(count)) {
      next += 1;
      await holdAndCapture(`${prefix}-${next}`);
    }
  }),
);
await store.close();
