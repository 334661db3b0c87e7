import { beforeEach, expect } from 'vitest';
import { systemClock } from '../../../core/clock.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { mergeRelayerTotals } from '../../../ingest/rollup/close.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { createDatasetFacts } from '../../../src/operations/dataset.ts';
import { createFreshness } from '../../../src/operations/index-state/freshness.ts';
import { createRollups } from '../../../src/operations/index-state/rollups.ts';
import { closeDays, closeHours } from '../../kit/close-days.ts';
import { emptyTables } from '../../kit/empty-tables.ts';
import type { TestEngine } from '../../kit/engine.ts';
import { test } from '../../kit/fixtures.ts';
import { BASE, insertSettlements, NOON, POLYGON, settlement, tombstone, wallet } from '../../kit/rows.ts';

/** The number of live settlements, whatever of it comes from rollups, from the relayers' totals and from the rows. */

const DAY = 86_400;
const BEFORE = NOON - 2 * DAY;
const YESTERDAY = NOON - DAY;

let engine: TestEngine;
const versions = createVersions(0n);
test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
beforeEach(() => emptyTables(engine.writer));

const at = (blockTime: number, logIndex = 0) =>
  settlement({ blockTime, blockNumber: Math.floor(blockTime / 10), logIndex, relayer: wallet(logIndex) });

/** Nothing is remembered from a count before. */
async function rowCount(chains: readonly Chain[] = [BASE, POLYGON]): Promise<number> {
  const { reader } = engine;
  const clock = systemClock;
  const rollups = createRollups({ reader, clock });
  const dataset = createDatasetFacts({
    reader,
    clock,
    rollups,
    freshness: createFreshness({ reader, clock }),
  });
  return (await dataset.settlements(chains)).rowCount;
}

test('an empty index has no settlements', async () => {
  expect(await rowCount()).toBe(0);
});

test('a settlement counts once, in every state of the rollups', async () => {
  const old = [at(BEFORE), at(BEFORE, 1), at(YESTERDAY), at(YESTERDAY, 2)];
  await insertSettlements(engine.writer, [...old, at(NOON), { ...at(NOON, 3), chain: POLYGON }]);
  await insertSettlements(engine.writer, old);
  expect(await rowCount()).toBe(6);

  await closeDays(engine.writer, [BEFORE]);
  expect(await rowCount()).toBe(6);
  expect([await rowCount([BASE]), await rowCount([POLYGON])]).toEqual([5, 1]);

  await mergeRelayerTotals({ writer: engine.writer, versions });
  await closeDays(engine.writer, [YESTERDAY]);
  expect(await rowCount()).toBe(6);

  await mergeRelayerTotals({ writer: engine.writer, versions });
  await closeDays(engine.writer, [NOON]);
  expect(await rowCount()).toBe(6);
});

test('a row that is retracted from a closed day, or comes late to it, counts at once, and after the day is closed again', async () => {
  const gone = at(BEFORE, 1);
  await insertSettlements(engine.writer, [at(BEFORE), gone, at(YESTERDAY), at(NOON)]);
  await closeDays(engine.writer, [BEFORE, YESTERDAY]);
  await mergeRelayerTotals({ writer: engine.writer, versions });
  expect(await rowCount()).toBe(4);

  await tombstone(engine.writer, [gone]);
  await insertSettlements(engine.writer, [at(YESTERDAY, 5), at(YESTERDAY, 6)]);
  expect(await rowCount()).toBe(5);

  await closeDays(engine.writer, [BEFORE, YESTERDAY]);
  expect(await rowCount()).toBe(5);
  await mergeRelayerTotals({ writer: engine.writer, versions });
  expect(await rowCount()).toBe(5);
});

test('a day that is closed by hours counts once, some of them open again', async () => {
  const rows = [at(BEFORE), at(BEFORE + 3_600, 1), at(BEFORE + 7_200, 2)];
  await insertSettlements(engine.writer, [...rows, at(NOON)]);
  await closeHours(engine.writer, rows);
  await mergeRelayerTotals({ writer: engine.writer, versions });
  expect(await rowCount()).toBe(4);

  await tombstone(engine.writer, rows.slice(1, 2));
  await insertSettlements(engine.writer, [at(BEFORE + 7_201, 5), at(BEFORE + 7_202, 6)]);
  expect(await rowCount()).toBe(5);

  await closeHours(engine.writer, rows);
  expect(await rowCount()).toBe(5);
});
