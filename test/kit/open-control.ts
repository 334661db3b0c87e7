import pino from 'pino';
import { openRedisStore } from '../../src/accounts/redis/store.ts';
import { openSqliteStore } from '../../src/accounts/sqlite/store.ts';
import type { ControlStore } from '../../src/accounts/store.ts';

/** Where the data of a store is, as one process can tell another. */
export type ControlPlace =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string; readonly keyPrefix: string };

export function openControl(place: ControlPlace): ControlStore {
  if (place.kind === 'sqlite') return openSqliteStore({ path: place.path });
  return openRedisStore({ url: place.url, keyPrefix: place.keyPrefix, log: pino({ level: 'silent' }) });
}
