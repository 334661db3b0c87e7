import { afterAll, test } from 'vitest';
import { createSqliteBed } from '../../kit/sqlite-control.ts';
import { expectLikeTheModel, PROPERTY_BUDGET_MS } from '../../kit/store-commands.ts';

const bed = createSqliteBed();
afterAll(() => bed.end());

test('SQLite answers like the model, whatever is called on two handles', {
  timeout: 2 * PROPERTY_BUDGET_MS,
}, async () => {
  await expectLikeTheModel(() => bed.open(), { sharedRates: false });
});
