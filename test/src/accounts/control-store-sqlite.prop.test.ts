import { afterAll, test } from 'vitest';
import { createSqliteBed } from '../../kit/sqlite-control.ts';
import { expectLikeOneHandle, PROPERTY_BUDGET_MS } from '../../kit/store-commands.ts';

const [one, two] = [createSqliteBed(), createSqliteBed()];
afterAll(() => Promise.all([one.end(), two.end()]));

test('SQLite answers on two handles what it answers on one, whatever is called', {
  timeout: 2 * PROPERTY_BUDGET_MS,
}, async () => {
  await expectLikeOneHandle(one, () => two.open(), { sharedRates: false });
});
