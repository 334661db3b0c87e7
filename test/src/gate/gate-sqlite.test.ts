import { afterAll, describe } from 'vitest';
import { createSqliteBed } from '../../kit/sqlite-control.ts';
import { keyRevoked } from './key-revoked.ts';
import { moneyTable } from './money-table.ts';
import { soldTerms } from './sold-terms.ts';

describe('on SQLite', () => {
  const bed = createSqliteBed();
  afterAll(() => bed.end());
  const open = () => bed.open();

  moneyTable(open);
  soldTerms(open);
  keyRevoked(open);
});
