import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { openRedisStore } from '../../src/accounts/redis/store.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import type { OpenedStore } from '../src/accounts/control-store.ts';

/** A store without data in a running Redis: under a prefix of its own. */
export function openFreshRedis(url: string): OpenedStore {
  const keyPrefix = `test-${randomUUID()}`;
  const handles: ControlStore[] = [];
  const openHandle = (): ControlStore => {
    const store = openRedisStore({ url, keyPrefix, log: pino({ level: 'silent' }) });
    handles.push(store);
    return store;
  };
  return {
    store: openHandle(),
    reopen: async () => openHandle(),
    close: async () => {
      for (const handle of handles) await handle.close();
    },
  };
}
