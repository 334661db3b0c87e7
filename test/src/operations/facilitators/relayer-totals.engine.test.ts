import { beforeEach, expect } from 'vitest';
import { sql, trustedText } from '../../../../clickhouse/engine/sql.ts';
import { mergeRelayerTotals } from '../../../../ingest/rollup/close.ts';
import { createVersions } from '../../../../ingest/write/versions.ts';
import {
  closedRelayers,
  type RelayerTotals,
  readRelayerTotals,
} from '../../../../src/operations/facilitators/read.ts';
import { readCoverage } from '../../../../src/operations/index-state/rollups.ts';
import { closeDays, dayOf } from '../../../kit/close-days.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { insertSettlements, NOON, settlement, tombstone, wallet } from '../../../kit/rows.ts';

const DAY = 86_400;
const TODAY = NOON;
const YESTERDAY = NOON - DAY;
const BEFORE = NOON - 2 * DAY;

let engine: TestEngine;
const versions = createVersions(0n);
test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
beforeEach(async () => {
  await emptyTables(engine.writer);
});

const paidAt = (blockTime: number, relayer = 1, logIndex = 0) =>
  settlement({ blockTime, blockNumber: Math.floor(blockTime / 10), relayer: wallet(relayer), logIndex });
const merge = () => mergeRelayerTotals({ writer: engine.writer, versions });

async function readTotals(): Promise<RelayerTotals | null> {
  return readRelayerTotals(engine.reader, 'facilitators', await readCoverage(engine.reader));
}

/** Settlements by relayer in closed slices, `1: 2`, as lists of relayers read them. */
async function closedCounts(): Promise<string[]> {
  const coverage = await readCoverage(engine.reader);
  const totals = await readRelayerTotals(engine.reader, 'facilitators', coverage);
  const parts = closedRelayers(sql`relayer, settlement_count`, [], { coverage, totals });
  const all = parts.reduce((joined, part) => sql`${joined} UNION ALL ${part}`);
  const { rows } = await engine.reader.rows({
    name: 'closed-counts',
    maxSeconds: 10,
    maxRows: 100,
    sql: sql`SELECT lower(hex(relayer)), toUInt32(sum(settlement_count)) FROM (${all}) GROUP BY relayer ORDER BY 1`,
  });
  return rows.map(([relayer, count]) => `${Number.parseInt(String(relayer), 16)}: ${count}`);
}

test('totals end where the first open slice begins, and are merged once', async () => {
  expect(await merge()).toBe('open');
  await insertSettlements(engine.writer, [
    paidAt(BEFORE),
    paidAt(YESTERDAY),
    paidAt(YESTERDAY, 2, 1),
    paidAt(TODAY),
  ]);
  await closeDays(engine.writer, [BEFORE, YESTERDAY]);
  expect(await merge()).toBe('merged');
  expect(await readTotals()).toMatchObject({ until: dayOf(TODAY) });
  expect(await closedCounts()).toEqual(['1: 2', '2: 1']);
  expect(await merge()).toBe('current');
});

test('closed slices behind an open one are read in addition to the totals', async () => {
  await insertSettlements(engine.writer, [paidAt(BEFORE), paidAt(YESTERDAY), paidAt(TODAY, 2)]);
  await closeDays(engine.writer, [BEFORE, TODAY]);
  expect(await merge()).toBe('merged');
  expect(await readTotals()).toMatchObject({ until: dayOf(YESTERDAY) });
  expect(await closedCounts()).toEqual(['1: 1', '2: 1']);
});

test('a write to a merged slice takes the totals out of use until it is closed and merged again', async () => {
  await insertSettlements(engine.writer, [paidAt(BEFORE), paidAt(BEFORE, 2, 1), paidAt(TODAY)]);
  await closeDays(engine.writer, [BEFORE]);
  await merge();
  await tombstone(engine.writer, [paidAt(BEFORE, 2, 1)]);
  expect(await readTotals()).toBeNull();
  await merge();
  expect(await readTotals()).toMatchObject({ until: dayOf(BEFORE) }); // before the open slice there is nothing
  await closeDays(engine.writer, [BEFORE]);
  expect(await merge()).toBe('merged');
  expect(await readTotals()).toMatchObject({ until: dayOf(TODAY) });
  expect(await closedCounts()).toEqual(['1: 1']);
});

test('a slice that is computed anew without a write takes them out of use', async () => {
  await insertSettlements(engine.writer, [paidAt(BEFORE), paidAt(TODAY)]);
  await closeDays(engine.writer, [BEFORE]);
  await merge();
  await closeDays(engine.writer, [BEFORE]);
  expect(await readTotals()).toBeNull();
});

test('a pass that was not published is not seen', async () => {
  await insertSettlements(engine.writer, [paidAt(BEFORE), paidAt(TODAY)]);
  await closeDays(engine.writer, [BEFORE]);
  await merge();
  await engine.writer.run({
    name: 'test-unpublished',
    maxSeconds: 10,
    sql: trustedText('INSERT INTO relayer_totals SELECT * REPLACE (gen + 1 AS gen) FROM relayer_totals'),
  });
  expect(await closedCounts()).toEqual(['1: 1']);
});

test('passes of readers that are under way stay, older ones are dropped', async () => {
  await insertSettlements(engine.writer, [paidAt(BEFORE), paidAt(TODAY)]);
  for (let round = 0; round < 5; round++) {
    await closeDays(engine.writer, [BEFORE]);
    expect(await merge()).toBe('merged');
  }
  const { rows } = await engine.reader.rows({
    name: 'generations',
    maxSeconds: 10,
    maxRows: 1,
    sql: sql`SELECT toUInt32(uniqExact(gen)) FROM relayer_totals`,
  });
  expect(rows).toEqual([[3]]);
});
