import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rotateSecret } from '../../../core/secret-file.ts';
import { isSigned, type Manifest, manifestFaults } from '../../../src/bundles/manifest.ts';
import type { RowValues } from '../../../src/bundles/rows.ts';
import { BUNDLE_TABLE_NAMES, type BundleTable, bundleColumns } from '../../../src/bundles/tables.ts';
import { rowsOfFile } from '../../kit/bundle-files.ts';
import { type BundleWorld, bundleWorld, DAYS, fillWorld, worldRows } from '../../kit/bundles.ts';
import { type TestEngine, testEngine } from '../../kit/engine.ts';
import { attestation, insertAttestations } from '../../kit/registry-rows.ts';
import { catalogueWith, regradeWorld, relayed } from '../../kit/regrade-world.ts';
import { BASE, insertSettlements, reportChain, settlement, tombstone, wallet } from '../../kit/rows.ts';

let engine: TestEngine;
let world: BundleWorld;

beforeEach(async () => {
  engine = await testEngine();
  world = bundleWorld(engine.access);
  await fillWorld(engine.writer);
});
afterEach(async () => {
  world.remove();
  await engine.close();
});

const DAY_1 = `${DAYS[0]}.r1.parquet`;

function column(table: BundleTable, rows: readonly RowValues[], name: string): unknown[] {
  const at = bundleColumns(table).findIndex((one) => one.name === name);
  return rows.map((row) => row[at]);
}

const log = ({ entries }: Manifest) =>
  entries.map(({ day, revision, rows }) => `${day} r${revision} ${rows}`);

const manifestTexts = (): string[] =>
  BUNDLE_TABLE_NAMES.map((table) => readFileSync(world.pathOf(table, 'manifest.json'), 'utf8'));

test('final days get a file each, an empty day too, and a day that can still get rows none', async () => {
  const made = await world.make();
  expect(made).toEqual({ files: 3 * BUNDLE_TABLE_NAMES.length, revised: 0, unchanged: 0 });
  expect(log(world.manifest('settlements'))).toEqual([
    `${DAYS[0]} r1 60`,
    `${DAYS[1]} r1 60`,
    `${DAYS[2]} r1 0`,
  ]);
  expect(await rowsOfFile(world, 'settlements', `${DAYS[2]}.r1.parquet`)).toEqual([]);
  for (const table of BUNDLE_TABLE_NAMES) {
    expect(manifestFaults(world.manifest(table))).toEqual([]);
    expect(isSigned(world.manifest(table))).toBe(true);
  }
  expect(world.said).toContain('eip155:137: no bundles, because nothing of it was indexed yet');
});

test('the rows of a file are those that were inserted, to the last digit', async () => {
  await world.make();
  const rows = await rowsOfFile(world, 'settlements', DAY_1);
  const inserted = worldRows().filter(({ blockTime }) => blockTime < Date.parse(DAYS[1]) / 1_000);
  const of = (name: string) => column('settlements', rows, name);
  expect(of('tx_hash')).toEqual(inserted.map(({ txHash }) => txHash));
  expect(of('amount')).toEqual(inserted.map(({ amount }) => String(amount)));
  expect(of('block_number')).toEqual(inserted.map(({ blockNumber }) => String(blockNumber)));
  expect(of('log_index')).toEqual(inserted.map(({ logIndex }) => logIndex));
  expect(of('payer')).toEqual(inserted.map(({ payer }) => payer));
  expect(of('block_time')).toEqual(
    inserted.map(({ blockTime }) => new Date(blockTime * 1_000).toISOString().replace('.000Z', 'Z')),
  );
  expect(of('amount_usd')[3]).toBe('999999999999.999999');
  expect(of('amount_usd')[10]).toBe('0.01001');
  expect(of('facilitator')).toEqual(inserted.map(({ facilitator }) => facilitator || null));
  expect(of('builder_apps')[4]).toEqual(['app-a', 'app-b']);
  expect(of('is_self_payment')).toEqual(inserted.map(({ payer, payee }) => payer === payee));
  expect(new Set(of('finality'))).toEqual(new Set(['finalized']));
});

test('the figures of a day are a recount of its rows', async () => {
  await world.make();
  const inserted = worldRows().filter(({ blockTime }) => blockTime < Date.parse(DAYS[1]) / 1_000);
  const naive = new Map<string, { count: number; micros: bigint; payers: Set<string> }>();
  for (const { payer, payee, amountUsdMicros } of inserted) {
    const sums = naive.get(payee) ?? { count: 0, micros: 0n, payers: new Set() };
    naive.set(payee, sums);
    sums.count += 1;
    sums.micros += amountUsdMicros;
    sums.payers.add(payer);
  }
  const rows = await rowsOfFile(world, 'merchant_days', DAY_1);
  const of = (name: string) => column('merchant_days', rows, name);
  const payees = [...naive.keys()].sort();
  expect(of('payee')).toEqual(payees);
  expect(of('settlement_count')).toEqual(payees.map((payee) => String(naive.get(payee)?.count)));
  expect(of('unique_payers')).toEqual(payees.map((payee) => String(naive.get(payee)?.payers.size)));
  expect(of('settled_usd').map((usd) => Math.round(Number(usd) * 1e6))).toEqual(
    payees.map((payee) => Number(naive.get(payee)?.micros)),
  );
});

test('a second run makes nothing, and one without what it remembers reads all days and makes nothing', async () => {
  await world.make();
  const before = manifestTexts();
  expect(await world.make()).toEqual({ files: 0, revised: 0, unchanged: 0 });
  for (const table of BUNDLE_TABLE_NAMES) writeFileSync(world.pathOf(table, 'fingerprints.json'), 'lost');
  expect(await world.make()).toEqual({ files: 0, revised: 0, unchanged: 3 * BUNDLE_TABLE_NAMES.length });
  expect(manifestTexts()).toEqual(before);
});

test('rows that are written once more are no change', async () => {
  await world.make();
  const before = manifestTexts();
  await insertSettlements(engine.writer, worldRows());
  const made = await world.make();
  expect(made).toMatchObject({ files: 0, revised: 0 });
  expect(made.unchanged).toBeGreaterThan(0);
  expect(manifestTexts()).toEqual(before);
});

test('a late row makes a revision of its day, and the older file and entry stay as they were', async () => {
  await world.make();
  const [first] = world.manifest('settlements').entries;
  const old = readFileSync(world.pathOf('settlements', DAY_1));
  await insertSettlements(engine.writer, [
    settlement({ blockTime: Date.parse(DAYS[0]) / 1_000 + 30, blockNumber: 199, payee: wallet(0xee) }),
  ]);
  expect((await world.make()).revised).toBe(5); // attestations have no part in it
  const manifest = world.manifest('settlements');
  expect(log(manifest)).toEqual([
    `${DAYS[0]} r1 60`,
    `${DAYS[1]} r1 60`,
    `${DAYS[2]} r1 0`,
    `${DAYS[0]} r2 61`,
  ]);
  expect(manifest.entries[0]).toEqual(first);
  expect(readFileSync(world.pathOf('settlements', DAY_1)).equals(old)).toBe(true);
  expect(manifestFaults(manifest)).toEqual([]);
  expect(isSigned(manifest)).toBe(true);
  expect(await rowsOfFile(world, 'settlements', `${DAYS[0]}.r2.parquet`)).toHaveLength(61);
});

test('a row that is taken back makes a revision without it', async () => {
  await world.make();
  await tombstone(engine.writer, worldRows().slice(0, 1));
  await world.make();
  expect(log(world.manifest('settlements')).at(-1)).toBe(`${DAYS[0]} r2 59`);
});

test('a regrade makes a revision, whose entry names the newer catalogue', async () => {
  await world.make();
  expect(world.manifest('settlements').entries[0]?.snapshot).toEqual({
    finalized_block: 420,
    catalogue_pass: 0,
  });
  const regrading = regradeWorld(engine);
  await regrading.regrade(catalogueWith({ facilitators: [relayed('acme', wallet(0xd4))] }));
  await world.make();
  const manifest = world.manifest('settlements');
  const newest = manifest.entries.findLast(({ day }) => day === DAYS[1]);
  expect(newest).toMatchObject({ revision: 2, rows: 60, snapshot: { catalogue_pass: 1 } });
  const rows = await rowsOfFile(world, 'settlements', `${DAYS[1]}.r2.parquet`);
  expect(column('settlements', rows, 'facilitator')).toContain('acme');
});

test('while rows are being regraded nothing is made', async () => {
  await regradeWorld(engine).change(catalogueWith({ facilitators: [relayed('acme', wallet(0xd4))] }));
  await expect(world.make()).rejects.toThrow('rows are being regraded to a newer catalogue');
});

test('a revocation makes a revision of the day of the feedback that it revokes', async () => {
  const at = (day: string) => Date.parse(day) / 1_000 + 60;
  const feedback = attestation({ agentId: 2n ** 200n, blockNumber: 150, blockTime: at(DAYS[0]), value: 87n });
  await insertAttestations(engine.writer, [feedback]);
  await world.make();
  const before = await rowsOfFile(world, 'attestations', DAY_1);
  expect(column('attestations', before, 'agent_id')).toEqual([String(2n ** 200n)]);
  expect(column('attestations', before, 'revoked')).toEqual([false]);
  expect(column('attestations', before, 'value')).toEqual([87]);
  await insertAttestations(engine.writer, [
    attestation({ ...feedback, kind: 'revocation', blockNumber: 250, blockTime: at(DAYS[1]) }),
  ]);
  await world.make();
  expect(log(world.manifest('attestations')).slice(3)).toEqual([`${DAYS[0]} r2 1`, `${DAYS[1]} r2 1`]);
  const after = await rowsOfFile(world, 'attestations', `${DAYS[0]}.r2.parquet`);
  expect(column('attestations', after, 'revoked')).toEqual([true]);
});

test('a chain whose backfill runs, or that has no final block, gets no bundles', async () => {
  await reportChain(engine.writer, BASE, { backfill_blocks_total: '10', finalized_block: '420' });
  expect((await world.make()).files).toBe(0);
  expect(world.said.join()).toContain('older blocks are still being indexed');
  await reportChain(engine.writer, BASE, { finalized_block: '0' });
  expect((await world.make()).files).toBe(0);
  expect(world.said.join()).toContain('it has not stated a final block');
});

test('what lies above the final block is in no file, whatever its day', async () => {
  await reportChain(engine.writer, BASE, { finalized_block: '210', indexed_block: '440' });
  await world.make();
  expect(log(world.manifest('settlements'))).toEqual([`${DAYS[0]} r1 60`]);
});

test('after the key was rotated the next run signs with the new one', async () => {
  await world.make();
  const { signature } = world.manifest('settlements');
  rotateSecret(world.config.dataDir, 'bundle.key', { keptMs: 1_000_000, nowMs: Date.now() });
  await world.make();
  const newer = world.manifest('settlements');
  expect(newer.signature.key).not.toBe(signature.key);
  expect(isSigned(newer)).toBe(true);
});

test('a manifest that was changed is not added to', async () => {
  await world.make();
  const path = world.pathOf('settlements', 'manifest.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"rows":60', '"rows":59'));
  await expect(world.make()).rejects.toThrow(
    /the manifest of settlements of eip155:8453 is damaged: entry 1/,
  );
});

test('a second run at the same time is refused, and the lock of a killed one is taken over', async () => {
  const lock = join(world.config.bundles.dir, 'bundle.lock');
  mkdirSync(world.config.bundles.dir);
  writeFileSync(lock, JSON.stringify({ id: 'x', host: 'elsewhere', pid: 1 }));
  await expect(world.make()).rejects.toThrow('another run of bundle is at work');
  const { pid } = spawnSync('true');
  writeFileSync(lock, JSON.stringify({ id: 'x', host: hostname(), pid }));
  expect((await world.make()).files).toBeGreaterThan(0);
  expect(existsSync(lock)).toBe(false);
});

test('drafts of a killed run are removed', async () => {
  await world.make();
  const folder = dirname(world.pathOf('settlements', DAY_1));
  writeFileSync(`${folder}/0011.part`, 'half a file');
  await world.make();
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
});
