import { expect } from 'vitest';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { highestVersion } from '../../../ingest/write/versions.ts';
import { readRollupState } from '../../../src/operations/index-state/rollups.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';
import { insertSettlements, settlement } from '../../kit/rows.ts';
import { startTestService } from '../../kit/service.ts';
import { waitUntil } from '../../kit/wait-until.ts';

const DAY_SECONDS = 86_400;
const STARTED_AT_MS = Date.now();
const LONG_AGO = Math.floor(STARTED_AT_MS / 1_000) - 5 * DAY_SECONDS;

test('role rollup closes past slices, leaves the present day open, and serves nothing', async ({
  engine,
}) => {
  const old = settlement({ blockTime: LONG_AGO });
  const present = settlement({ blockTime: Math.floor(STARTED_AT_MS / 1_000), blockNumber: 2_000 });
  await insertSettlements(engine.writer, [old, present]);
  expect(await readRollupState(engine.reader)).toEqual({
    openSlices: 2,
    oldestOpen: LONG_AGO - (LONG_AGO % DAY_SECONDS),
    lastClosedAt: null,
  });
  const { url, database, writer } = engine.access;
  const service = await startTestService({
    chains: [{ chain: 'base' }],
    role: 'rollup',
    clickhouse: { url, database, writer },
  });
  try {
    expect(service.url).toBe('');
    await waitUntil(
      'the old day is closed',
      async () => (await readRollupState(engine.reader)).openSlices === 1,
    );
  } finally {
    await service.remove();
  }
  const { oldestOpen, lastClosedAt } = await readRollupState(engine.reader);
  expect(oldestOpen).toBe(present.blockTime - (present.blockTime % DAY_SECONDS));
  expect(lastClosedAt).toBeGreaterThanOrEqual(Math.floor(STARTED_AT_MS / 1_000));
});

test('the next version is above every generation of the rollups', async ({ engine }) => {
  const far = 1n << 62n;
  await engine.writer.run({
    name: 'test-generation',
    sql: sql`INSERT INTO chain_hour (chain, hour, facilitator, settlement_count, settled_usd, gen) SELECT 'eip155:1', now(), '', 1, 1, bitShiftLeft(toUInt64(1), 62)`,
    maxSeconds: 10,
  });
  expect(await highestVersion(engine.writer)).toBe(far);
});
