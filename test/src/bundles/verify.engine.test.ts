import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { loadBundleSeeds } from '../../../core/secret-file.ts';
import { signingKey } from '../../../src/bundles/keys.ts';
import { type Manifest, manifestText, parseManifest, signed } from '../../../src/bundles/manifest.ts';
import { BUNDLE_TABLE_NAMES } from '../../../src/bundles/tables.ts';
import type { VerifyArguments } from '../../../src/operate/bundles/command.ts';
import { runVerify } from '../../../src/operate/bundles/run.ts';
import { type BundleWorld, bundleWorld, DAYS, fillSolana, fillWorld, worldRows } from '../../kit/bundles.ts';
import { attestation, insertAttestations } from '../../kit/registry-rows.ts';
import { BASE, insertSettlements, settlement, tombstone } from '../../kit/rows.ts';
import { type SandboxEngine, sandboxEngineOfWorker } from '../../kit/sandbox-engine.ts';
import { type SqlApi, sqlApi } from '../../kit/sql-api.ts';

let engine: SandboxEngine;
let world: BundleWorld;
let served: SqlApi;
let url: string;
/** A copy that a test may damage. */
let copy: string;

beforeAll(async () => {
  engine = await sandboxEngineOfWorker();
  world = bundleWorld(engine.access);
  await fillWorld(engine.writer);
  await fillSolana(engine.writer);
  await insertAttestations(engine.writer, [
    attestation({
      blockNumber: 150,
      blockTime: Date.parse(DAYS[0]) / 1_000 + 60,
      agentId: 7n,
      tag1: 'a "quoted" tag',
    }),
  ]);
  await world.make();
  served = await sqlApi({ engine, config: { bundles: world.config.bundles, dataDir: world.config.dataDir } });
  url = await served.api.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await served.close();
  world.remove();
});
beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'settlement-index-verify-'));
  cpSync(world.config.bundles.dir, copy, { recursive: true });
  return () => rmSync(copy, { recursive: true, force: true });
});

async function verified(given: VerifyArguments = {}, path = copy): Promise<readonly [boolean, string]> {
  const said: string[] = [];
  const printing = {
    signal: new AbortController().signal,
    isTerminal: false,
    say: (line: string) => said.push(line),
  };
  const ok = await runVerify(printing, path, given);
  return [ok, said.join('\n')];
}

/** As a caller of its own: the clock of the test stands, so a limit on queries a minute would last. */
const compared = async () => verified({ url, key: await newKey() });

async function newKey(): Promise<string> {
  return (await served.customer()).headers['x-api-key'] ?? '';
}

const pathOf = (table: string, file: string) => join(copy, BASE.replace(':', '-'), table, file);

/** Changes the manifest of the settlements; `resigned`: signed again with the key of the service. */
function changeManifest(change: (manifest: Manifest) => Manifest, resigned = false): void {
  const path = pathOf('settlements', 'manifest.json');
  const manifest = parseManifest(readFileSync(path, 'utf8'));
  if (manifest === null) throw new Error('no manifest');
  const changed = change(structuredClone(manifest));
  const [seed] = loadBundleSeeds(world.config, { make: false });
  if (seed === undefined) throw new Error('no key');
  writeFileSync(path, manifestText(resigned ? signed(changed, changed.entries, signingKey(seed)) : changed));
}

test('bundles are as they were signed, and their rows are the rows of the API', async () => {
  const [ok, said] = await compared();
  // Of Base and of Solana.
  const manifests = 2 * BUNDLE_TABLE_NAMES.length;
  expect(said).toContain(`${manifests} manifests, ${3 * manifests} days`);
  expect(said).toContain(`are the rows of ${url}; signed by`);
  expect(ok).toBe(true);
});

test('without an API all but the rows of others is checked, and who vouches for the key is left open', async () => {
  const [ok, said] = await verified();
  expect(ok).toBe(true);
  expect(said).toContain('were not compared with an API');
  expect(said).toContain('whether that is a key of the service, --url or --keys would show');
});

test('one changed byte of a file is named with its day', async () => {
  const path = pathOf('settlements', `${DAYS[1]}.r1.parquet`);
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
  writeFileSync(path, bytes);
  const [ok, said] = await verified();
  expect(ok).toBe(false);
  expect(said).toContain(`${BASE} settlements ${DAYS[1]}: the file was changed: its SHA-256 is another`);
});

test('a missing file is named, and days outside of the span are not asked for', async () => {
  rmSync(pathOf('pair_days', `${DAYS[0]}.r1.parquet`));
  expect((await verified())[1]).toContain(`${BASE} pair_days ${DAYS[0]}: the file is missing`);
  expect((await verified({ since: DAYS[1] }))[0]).toBe(true);
});

test('a manifest that is reordered, cut or changed is named, signed anew or not', async () => {
  const moved = (manifest: Manifest): Manifest => ({ ...manifest, entries: [...manifest.entries].reverse() });
  changeManifest(moved);
  expect((await verified())[1]).toContain('settlements manifest: the signature does not fit the manifest');
  expect((await verified())[1]).toContain('entries were moved, removed or added');
  changeManifest((manifest) => moved(moved(manifest)));
  const cut = (manifest: Manifest): Manifest => ({
    ...manifest,
    entries: manifest.entries.slice(0, 2).reverse(),
  });
  changeManifest(cut, true);
  expect((await verified())[1]).toContain('it says that it is entry');
});

test('an entry that says otherwise is named although it was signed anew', async () => {
  changeManifest(
    ({ entries, ...rest }) => ({ ...rest, entries: entries.map((one) => ({ ...one, rows: one.rows + 1 })) }),
    true,
  );
  expect((await verified())[1]).toContain('its hash is not the hash of what it says');
});

test('a key that the service does not publish is named', async () => {
  const path = pathOf('settlements', 'manifest.json');
  const manifest = parseManifest(readFileSync(path, 'utf8'));
  if (manifest === null) throw new Error('no manifest');
  writeFileSync(
    path,
    manifestText(signed(manifest, manifest.entries, signingKey(new Uint8Array(32).fill(9)))),
  );
  expect((await verified())[0]).toBe(true); // fits itself
  const [ok, said] = await compared();
  expect(ok).toBe(false);
  expect(said).toMatch(
    /settlements manifest: the signature is by the key \S+, which the service does not publish/,
  );
});

test('a signature of another text is named', async () => {
  changeManifest((manifest) => ({
    ...manifest,
    signature: { ...manifest.signature, value: `${'A'.repeat(85)}A` },
  }));
  expect((await verified())[1]).toContain('the signature does not fit the manifest');
});

test('where an API has a row otherwise, lacks it or has one more, the first is named with both values', async () => {
  const rows = worldRows();
  const [first, second, third] = rows;
  if (first === undefined || second === undefined || third === undefined) throw new Error('no rows');
  const at = `${BASE} settlements ${DAYS[0]}: the row tx_hash`;
  await insertSettlements(engine.writer, [{ ...second, amountUsdMicros: 5_000_000n }]);
  expect((await compared())[1]).toContain(
    `${at} ${second.txHash}, log_index 1 differs in amount_usd: "0.001001" in the bundle, "5" at the API`,
  );
  await tombstone(engine.writer, [second]);
  expect((await compared())[1]).toContain(
    `${at} ${second.txHash}, log_index 1 is in the bundle and not at the API`,
  );
  await insertSettlements(engine.writer, [second]);
  const more = settlement({
    ...third,
    blockNumber: 100,
    logIndex: 9,
    blockTime: first.blockTime,
    txHash: first.txHash,
  });
  await insertSettlements(engine.writer, [more]);
  expect((await compared())[1]).toContain(
    `${at} ${more.txHash}, log_index 9 is at the API and not in the bundle`,
  );
  await tombstone(engine.writer, [more]);
  expect((await compared())[0]).toBe(true);
});

test('--json has the difference in parts', async () => {
  const [, second] = worldRows();
  if (second === undefined) throw new Error('no rows');
  await insertSettlements(engine.writer, [{ ...second, facilitator: 'acme' }]);
  const [ok, said] = await verified({ url, key: await newKey(), json: true, until: DAYS[0] });
  expect(ok).toBe(false);
  const { problems } = JSON.parse(said);
  expect(problems.find((one: { table: string }) => one.table === 'settlements')).toMatchObject({
    chain: BASE,
    day: DAYS[0],
    difference: {
      row: [
        ['tx_hash', second.txHash],
        ['log_index', '1'],
      ],
      column: 'facilitator',
      bundle: 'null',
      api: '"acme"',
    },
  });
  await insertSettlements(engine.writer, [second]);
});

test('a check that cannot be made names the right one', async () => {
  await expect(verified({}, join(copy, 'nowhere'))).rejects.toThrow('there is no');
  await expect(verified({}, tmpdir() === copy ? '/' : mkdtempSync(join(tmpdir(), 'empty-')))).rejects.toThrow(
    'holds no manifest.json',
  );
  await expect(verified({ url: 'index.example' })).rejects.toThrow('--url takes an http or https URL');
  await expect(verified({ since: 'yesterday' })).rejects.toThrow('--since takes a UTC day');
  await expect(verified({ url, key: 'six_live_wrong' })).rejects.toThrow(/answered 401 to a query/);
  await expect(verified({ url: 'http://127.0.0.1:1', key: 'none' })).rejects.toThrow('cannot be reached');
});
