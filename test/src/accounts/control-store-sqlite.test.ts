import { afterAll } from 'vitest';
import { createSqliteBed } from '../../kit/sqlite-control.ts';
import { controlStoreContract } from './control-store.ts';
import { jobStoreContract } from './job-contract.ts';
import { ownTableContract } from './own-table-contract.ts';
import { savedQueryContract } from './saved-query-contract.ts';
import { usageStoreContract } from './usage-store.ts';

const bed = createSqliteBed();
afterAll(() => bed.end());

controlStoreContract('SQLite', () => bed.open(), { sharedRates: false });
usageStoreContract('SQLite', () => bed.open());
jobStoreContract('SQLite', () => bed.open());
savedQueryContract('SQLite', () => bed.open());
ownTableContract('SQLite', () => bed.open());
