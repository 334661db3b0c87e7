import pino from 'pino';
import type { ControlStore } from '../../src/control/control-store.ts';
import { openRedisStore } from '../../src/control/redis/redis-store.ts';
import { openSqliteStore } from '../../src/control/sqlite/sqlite-store.ts';

/** Where the data of a store is, as one process can tell another. */
export type ControlPlace =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string; readonly keyPrefix: string };

export function openControl(place: ControlPlace): ControlStore {
  if (place.kind === 'sqlite') return openSqliteStore({ path: place.path });
  return openRedisStore({ url: place.url, keyPrefix: place.keyPrefix, log: pino({ level: 'silent' }) });
}
