import type Database from 'libsql';
import { accountWrites } from './account-writes.ts';
import { paymentWrites } from './payment-writes.ts';
import { replyWrites } from './reply-writes.ts';
import { unitWrites } from './unit-writes.ts';
import type { Writes } from './write-types.ts';

/** Prepares every statement that changes the file. */
export function createWrites(db: Database.Database): Writes {
  return {
    ...accountWrites(db),
    ...unitWrites(db),
    ...paymentWrites(db),
    ...replyWrites(db),
    ping: () => undefined,
  };
}
