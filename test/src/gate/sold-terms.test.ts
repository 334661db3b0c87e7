import { afterAll } from 'vitest';
import { createSqliteBed } from '../../kit/sqlite-control.ts';
import { soldTerms } from './sold-terms.ts';

const bed = createSqliteBed();
afterAll(() => bed.end());

soldTerms(() => bed.open());
