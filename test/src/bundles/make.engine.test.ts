import { readdirSync, readFileSync, statSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openParquet } from '../../../src/bundles/parquet.ts';
import type { RowValues } from '../../../src/bundles/rows.ts';
import { directoryStore } from '../../../src/bundles/store.ts';
import { type BundleTable, bundleColumns } from '../../../src/bundles/tables.ts';
import { type BundleWorld, bundleWorld, DAYS, fillWorld } from '../../kit/bundles.ts';
import { type TestEngine, testEngine } from '../../kit/engine.ts';
import { BASE } from '../../kit/rows.ts';

let engine: TestEngine;
let world: BundleWorld;

beforeAll(async () => {
  engine = await testEngine();
  world = bundleWorld(engine.access);
  await fillWorld(engine.writer);
  await world.make();
});
afterAll(async () => {
  world.remove();
  await engine.close();
});

export async function rowsOf(world: BundleWorld, table: BundleTable, file: string): Promise<RowValues[]> {
  const stored = await directoryStore(world.config.bundles.dir).open({ chain: BASE, table, file });
  if (stored === null) throw new Error(`no ${file}`);
  const { rows } = await openParquet(stored, table);
  const all: RowValues[] = [];
  for await (const row of rows()) all.push(row);
  return all;
}

test('final days get a file each, empty ones too, and the day that can still change none', async () => {
  const { entries } = world.manifest('settlements');
  expect(entries.map(({ day, rows, revision }) => [day, rows, revision])).toEqual([
    [DAYS[0], 60, 1],
    [DAYS[1], 60, 1],
    [DAYS[2], 0, 1],
  ]);
  expect(world.said).toContain('eip155:137: no bundles, because nothing of it was indexed yet');
  const [first] = await rowsOf(world, "settlements", `${DAYS[0]}.r1.parquet`); console.log(JSON.stringify(first), JSON.stringify(await rowsOf(world,"merchant_days",`${DAYS[0]}.r1.parquet`)).slice(0,900));
  expect(first).toHaveLength(bundleColumns('settlements').length);
});
