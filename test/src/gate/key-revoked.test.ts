import { afterAll } from 'vitest';
import { createSqliteBed } from '../../kit/sqlite-control.ts';
import { keyRevoked } from './key-revoked.ts';

const bed = createSqliteBed();
afterAll(() => bed.end());

keyRevoked(() => bed.open());
