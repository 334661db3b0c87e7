import { afterAll, expect, test } from 'vitest';
import { DEFAULT_PLANS } from '../../../core/domain/plan.ts';
import { createJobNews, createJobs } from '../../../src/jobs/jobs.ts';
import { createRefresher } from '../../../src/organizations/refresher.ts';
import { testLog } from '../../kit/engine.ts';
import { createSqliteBed } from '../../kit/sqlite-control.ts';
import { waitUntil } from '../../kit/wait-until.ts';

const T0 = 1_750_000_000_000;
const bed = createSqliteBed();
afterAll(() => bed.end());

test('a refresh that the plan has no room for waits without a row in the ledger, however often it is looked at', async () => {
  const { store } = await bed.open();
  const clock = { nowMs: () => T0 };
  const [organizationId, slug] = ['acme', 'warm'];
  await store.accounts.createOrganization({
    id: organizationId,
    displayName: 'A',
    plan: 'free',
    createdAtMs: T0,
  });
  await store.units.grant({ organizationId, grantId: 'g', units: 100, note: 'n', atMs: T0 });
  await store.saved.claimHandle({ organizationId, handle: 'acme', skeleton: 'acme' });
  const content = {
    title: '',
    description: '',
    sql: 'SELECT 1',
    parameters: [],
    tier: 'standard',
    maxQu: 1,
    maxRows: 1,
  };
  const settings = { visibility: 'private', hidesText: false, priceQu: 0, refreshSeconds: 900 };
  await store.saved.put({
    organizationId,
    slug,
    content: JSON.stringify({ ...content, freshnessSeconds: 900 }),
    settings: JSON.stringify(settings),
    listing: '{}',
    isPublic: false,
    refreshSeconds: 900,
    atMs: T0,
    queriesMax: 9,
    versionsMax: 9,
  });
  for (const id of ['a', 'b'])
    await store.jobs.add({ id, organizationId, request: '{}', createdAtMs: T0, unfinishedMax: 2 });
  let looks = 0;
  const refreshes = {
    ...store.refreshes,
    // Due again at once.
    pause: async (refresh: Parameters<typeof store.refreshes.pause>[0]) => {
      await store.refreshes.pause({ ...refresh, atMs: T0 });
      looks += 1;
    },
  };
  const jobs = createJobs({ store, clock, log: testLog, news: createJobNews(), onQueued: () => undefined });
  const refresher = createRefresher({
    store: { ...store, refreshes },
    jobs,
    plans: DEFAULT_PLANS,
    publicKey: null,
    clock,
    log: testLog,
  });
  refresher.start();
  await waitUntil('five looks at the refresh', () => looks >= 5);
  await refresher.stop();
  const rows = await store.units.ledger({ organizationId, limit: 100, after: 0 });
  expect(rows.map(({ kind }) => kind)).toEqual(['grant']);
});
