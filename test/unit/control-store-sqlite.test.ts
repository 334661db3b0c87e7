import { afterAll } from 'vitest';
import { controlStoreContract } from '../contract/control-store.ts';
import { createSqliteBed } from '../support/sqlite-control.ts';

const bed = createSqliteBed();
afterAll(() => bed.end());

controlStoreContract('SQLite', () => bed.open(), { sharedRates: false });
