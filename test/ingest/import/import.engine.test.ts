import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { EngineAccess, Writer } from '../../../clickhouse/engine/engine.ts';
import { createReader, createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import type { Config } from '../../../core/config/config.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { USDC } from '../../../demo/chain/deploy-usdc.ts';
import { decodeContextOf } from '../../../ingest/decode/context.ts';
import { TOPIC } from '../../../ingest/decode/log-kind.ts';
import { buildCatalogue } from '../../../ingest/grading/catalogue.ts';
import { importFiles } from '../../../ingest/import/command.ts';
import { readImportFiles } from '../../../ingest/import/files.ts';
import { loadFile } from '../../../ingest/import/load.ts';
import type { ImportArguments } from '../../../ingest/import/options.ts';
import type { ImportSummary } from '../../../ingest/import/run.ts';
import { createStaging, dropStaging } from '../../../ingest/import/staging.ts';
import { runIngest } from '../../../ingest/worker.ts';
import { contractsName, createCheckpoints } from '../../../ingest/write/checkpoints.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { testApi } from '../../kit/api.ts';
import { dropDatabase, freshSchema, testLog } from '../../kit/engine.ts';
import { killAfterFirstCheckpoint } from '../../kit/killed-import.ts';
import { recordLogRequests } from '../../kit/lying-rpc.ts';
import {
  type ChainExport,
  CRYO,
  CRYO_HEX,
  ETHEREUM_ETL,
  type ExportedLog,
  exportChain,
  type Layout,
  writeExport,
} from '../../kit/parquet-export.ts';
import { BASE, hash, reportChain } from '../../kit/rows.ts';
import { startTruthWorld, type TruthWorld } from '../../kit/truth-world.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** The demo chain's own export, imported, is what the RPC path makes of the chain. */

interface Database {
  readonly access: EngineAccess;
  readonly writer: Writer;
}

const BLOCKS = 120;
let world: TruthWorld;
let exported: ChainExport;
let truth: readonly (readonly unknown[])[];
let directory: string;
const opened: Database[] = [];
const configDirectories: string[] = [];

beforeAll(async () => {
  world = await startTruthWorld(77);
  await world.grow(BLOCKS);
  exported = await exportChain(world.chain.rpc);
  const rpc = await database();
  await indexByRpc(rpc.access, world.chain.url);
  truth = await settlementsIn(rpc.writer);
});
afterAll(async () => {
  await world.stop();
  for (const { writer, access } of opened) {
    await dropDatabase(writer, access.database);
    await writer.close();
  }
  for (const at of configDirectories) rmSync(at, { recursive: true, force: true });
});
afterEach(() => {
  if (directory) rmSync(directory, { recursive: true, force: true });
});

function freshDirectory(): string {
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-import-'));
  return directory;
}

async function database(): Promise<Database> {
  const access = await freshSchema();
  const made = { access, writer: createWriter(access, testLog) };
  opened.push(made);
  return made;
}

/** Of files that stay: the worker reads its catalogue again and again. */
function configOf(rpcUrl: string): Config {
  const at = mkdtempSync(join(tmpdir(), 'settlement-index-config-'));
  configDirectories.push(at);
  const file = join(at, 'config.json');
  writeFileSync(
    file,
    JSON.stringify({
      dataDir: at,
      chains: [world.serviceChain(rpcUrl)],
      catalogue: world.serviceCatalogue(),
    }),
  );
  return loadConfig({ file, env: {} });
}

/** The RPC path: the worker itself, until it says that nothing is left to do. */
async function indexByRpc(access: EngineAccess, rpcUrl: string): Promise<void> {
  const writer = createWriter(access, testLog);
  const stopping = new AbortController();
  const running = runIngest({
    config: configOf(rpcUrl),
    writer,
    log: testLog,
    signal: stopping.signal,
    terminal: null,
  });
  try {
    await waitUntil('the index is at the tip', async () => {
      const { rows } = await writer.rows({
        name: 'test-status',
        sql: sql`SELECT state, indexed_block, head_block FROM chain_status FINAL`,
        maxSeconds: 10,
        maxRows: 10,
      });
      const [state, indexed, head] = rows[0] ?? [];
      return state === 'following' && indexed === head;
    });
  } finally {
    stopping.abort();
    await running;
    await writer.close();
  }
}

/** Everything but `ver`. */
async function settlementsIn(writer: Writer): Promise<readonly (readonly unknown[])[]> {
  const { rows } = await writer.rows({
    name: 'test-settlements',
    sql: sql`SELECT block_number, log_index, chain, block_time, hex(tx_hash), hex(payer), hex(payee), hex(asset),
               asset_symbol, amount, amount_usd, hex(relayer), facilitator, method, seen, builder_facilitator, builder_apps
             FROM settlements FINAL WHERE del = 0 ORDER BY block_number, log_index`,
    maxSeconds: 10,
    maxRows: 100_000,
  });
  return rows;
}

async function importInto(
  { access }: Database,
  given: ImportArguments,
  signal: AbortSignal = new AbortController().signal,
): Promise<ImportSummary & { readonly said: string[] }> {
  const said: string[] = [];
  const summary = await importFiles(
    {
      config: configOf(world.chain.url),
      openEngine: () => Promise.resolve(access),
      log: testLog,
      signal,
      isTerminal: false,
      say: (line) => said.push(line),
    },
    { allContracts: true, ...given },
  );
  return { ...summary, said };
}

const LAYOUTS: readonly (readonly [string, Layout])[] = [
  ['cryo, binary', CRYO],
  ['cryo --hex', CRYO_HEX],
  ['ethereum-etl', ETHEREUM_ETL],
];

test.each(LAYOUTS)(
  'an export in the layout of %s gives the rows of the RPC path, column by column',
  async (_, layout) => {
    const into = await database();
    const pattern = await writeExport(into.access, freshDirectory(), exported, { layout });
    const summary = await importInto(into, { parquet: [pattern], assumeFinal: true });
    const imported = await settlementsIn(into.writer);
    expect(imported).toEqual(truth);
    expect(imported.length).toBeGreaterThan(BLOCKS);
    expect(new Set(imported.map((row) => row[14])).size).toBeGreaterThanOrEqual(4);
    expect(summary.settlements).toBe(truth.length);
    expect(summary.covered).toEqual([{ from: 0, to: exported.blocks.length - 1 }]);
  },
);

test('importing the same files twice writes nothing new, and says that their blocks were indexed already', async () => {
  const into = await database();
  const pattern = await writeExport(into.access, freshDirectory(), exported);
  await importInto(into, { parquet: [pattern], assumeFinal: true });
  const again = await importInto(into, { parquet: [pattern], assumeFinal: true });
  expect(again.settlements).toBe(0);
  expect(again.alreadyIndexed).toEqual([{ from: 0, to: exported.blocks.length - 1 }]);
  expect(await settlementsIn(into.writer)).toEqual(truth);
});

test('files without a range in their names are covered as far as the blocks files hold every block', async () => {
  const into = await database();
  const holey = {
    ...exported,
    blocks: exported.blocks.filter(({ block_number }) => block_number !== 60 || hasPayment(60)),
  };
  const pattern = await writeExport(into.access, freshDirectory(), holey, {
    hasRangeInName: false,
    blocksPerFile: 500,
  });
  const summary = await importInto(into, { parquet: [pattern], assumeFinal: true });
  const numbers = exported.logs.map(({ block_number }) => block_number);
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  expect(await settlementsIn(into.writer)).toEqual(truth);
  expect(summary.covered).toEqual(
    hasPayment(60)
      ? [{ from: first, to: last }]
      : [
          { from: first, to: 59 },
          { from: 61, to: last },
        ],
  );
});

function hasPayment(block: number): boolean {
  return truth.some(([number]) => Number(number) === block);
}

test('without names and without blocks files the rows are imported and nothing is recorded as indexed', async () => {
  const into = await database();
  const pattern = await writeExport(into.access, freshDirectory(), exported, {
    layout: ETHEREUM_ETL,
    kinds: ['logs', 'transactions'],
    hasRangeInName: false,
  });
  const summary = await importInto(into, { parquet: [pattern], assumeFinal: true });
  expect(await settlementsIn(into.writer)).toEqual(truth);
  expect(summary.covered).toEqual([]);
  expect(summary.said.join()).toContain('are not recorded as indexed');
  const declared = await importInto(into, {
    parquet: [pattern],
    assumeFinal: true,
    fromBlock: 0,
    toBlock: exported.blocks.length - 1,
  });
  expect(declared.covered).toEqual([{ from: 0, to: exported.blocks.length - 1 }]);
  expect(await settlementsIn(into.writer)).toEqual(truth);
});

const FILTERED: readonly (readonly [string, (log: ExportedLog) => boolean])[] = [
  ['one contract', ({ address }) => address === USDC],
  ['the events of one contract', ({ address, topics }) => address === USDC && OURS.includes(topics[0] ?? '')],
  ['some events of all contracts', ({ topics }) => OURS.includes(topics[0] ?? '')],
];
const OURS: readonly string[] = [TOPIC.transfer, TOPIC.authorizationUsed];

test.each(FILTERED)('an export of %s is imported, and not taken for one of everything', async (_, isKept) => {
  const into = await database();
  const part = { ...exported, logs: exported.logs.filter(isKept) };
  expect(part.logs.length).toBeLessThan(exported.logs.length);
  const pattern = await writeExport(into.access, freshDirectory(), part);
  const summary = await importInto(into, { parquet: [pattern], assumeFinal: true, allContracts: false });
  expect(summary.settlements).toBeGreaterThan(0);
  expect(summary.covered).toEqual([]);
  expect(summary.said.join()).toContain('are not recorded as indexed');
});

test('an export that holds other contracts and other events counts as one of everything', async () => {
  const into = await database();
  const [log] = exported.logs;
  if (log === undefined) throw new Error('no log');
  const other = { ...log, log_index: 900, address: `0x${'77'.repeat(20)}`, topics: [`0x${'66'.repeat(32)}`] };
  const pattern = await writeExport(into.access, freshDirectory(), {
    ...exported,
    logs: [other, ...exported.logs],
  });
  const summary = await importInto(into, { parquet: [pattern], assumeFinal: true, allContracts: false });
  expect(summary.covered).toEqual([{ from: 0, to: exported.blocks.length - 1 }]);
  expect(await settlementsIn(into.writer)).toEqual(truth);
});

/** What a snapshot of now has of the imported chain: its rows, as far as a page shows them, and what the answer says of the others. */
async function snapshotOf({ access, writer }: Database) {
  const [chain] = configOf(world.chain.url).chains;
  if (chain === undefined) throw new Error('no chain');
  const newest = exported.blocks.length - 1;
  // As the worker reports a chain without a node (ingest/import/imported-chain.ts).
  const reached = { indexed_block: String(newest), finalized_block: String(newest) };
  await reportChain(writer, chain.chain, { state: `'imported'`, ...reached });
  const reader = createReader(access, testLog);
  const { chains } = loadConfig({ env: { CHAINS: 'base,base-sepolia' } });
  const api = await testApi(reader, { config: { chains } });
  const { snapshot } = (await api.get('/v0/transactions')).body.meta;
  const blocks: number[] = [];
  let meta: { left_out: string[]; warnings?: string[] } = { left_out: [] };
  for (let before: string | null = ''; before !== null; ) {
    const page = await api.get(`/v0/transactions?limit=100&as_of=${snapshot}${before}`);
    blocks.push(...page.body.transactions.map((row: { block_number: number }) => row.block_number));
    meta = page.body.meta;
    before = page.body.next_before === null ? null : `&before=${page.body.next_before}`;
  }
  await api.close();
  await reader.close();
  return { blocks: blocks.reverse(), leftOut: meta.left_out, warnings: meta.warnings ?? [] };
}

/** Another chain of the index, followed to its tip, so that there is a snapshot whatever was imported. */
async function followAnother({ writer }: Database): Promise<void> {
  const versions = createVersions(0n);
  await createCheckpoints({ chain: BASE, contracts: contractsName([]) }, writer, versions).saveHead({
    start: 1,
    end: 2_000,
    hash: hash(1),
  });
  await reportChain(writer, BASE);
}

test('a snapshot has the rows of an imported chain, or its answers name the chain and the blocks that it has not', async () => {
  const into = await database();
  await followAnother(into);
  const all = truth.map(([block]) => Number(block));
  const chain = 'eip155:84532';
  const unnamed = {
    layout: ETHEREUM_ETL,
    kinds: ['logs', 'transactions'],
    hasRangeInName: false,
  } as const;
  const unproven = await writeExport(into.access, freshDirectory(), exported, unnamed);
  await importInto(into, { parquet: [unproven], assumeFinal: true });
  expect(await snapshotOf(into)).toEqual({
    blocks: [],
    leftOut: [chain],
    warnings: expect.arrayContaining(['snapshot_is_partial']),
  });
  // Files that are declared to be whole, but for a gap.
  const declared = (fromBlock: number, toBlock: number) =>
    importInto(into, { parquet: [unproven], assumeFinal: true, fromBlock, toBlock });
  await declared(0, 40);
  await declared(60, 90);
  expect(await snapshotOf(into)).toEqual({
    blocks: all.filter((block) => block >= 60 && block <= 90),
    leftOut: [`${chain} before block 60`, `${chain} after block 90`],
    warnings: expect.arrayContaining(['snapshot_is_partial']),
  });
  await declared(0, exported.blocks.length - 1);
  const whole = await snapshotOf(into);
  expect(whole.blocks).toEqual(all);
  expect(whole.leftOut).toEqual([]);
  expect(whole.warnings).not.toContain('snapshot_is_partial');
});

test('only blocks that are final are imported, and without knowing which they are nothing is', async () => {
  const into = await database();
  const pattern = await writeExport(into.access, freshDirectory(), exported);
  await expect(importInto(into, { parquet: [pattern] })).rejects.toThrow('--assume-final');
  await reportChain(into.writer, 'eip155:84532', { finalized_block: '70' });
  const summary = await importInto(into, { parquet: [pattern] });
  expect(summary.covered).toEqual([{ from: 0, to: 70 }]);
  expect(summary.notFinal).toEqual([{ from: 71, to: exported.blocks.length - 1 }]);
  expect(await settlementsIn(into.writer)).toEqual(truth.filter(([number]) => Number(number) <= 70));
});

test('a dry run counts what an import would write, and writes nothing', async () => {
  const into = await database();
  const pattern = await writeExport(into.access, freshDirectory(), exported);
  const summary = await importInto(into, { parquet: [pattern], assumeFinal: true, dryRun: true });
  expect(summary.settlements).toBe(truth.length);
  expect(summary.said.join()).toMatch(/logs: \d+ files, \d+ rows.*blocks \d+ to \d+/);
  expect(await settlementsIn(into.writer)).toEqual([]);
  expect(await tablesOfImports(into.writer)).toEqual([]);
  expect((await importInto(into, { parquet: [pattern], assumeFinal: true })).settlements).toBe(truth.length);
});

async function tablesOfImports(writer: Writer): Promise<unknown[]> {
  const { rows } = await writer.rows({
    name: 'test-tables',
    sql: sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'import_')`,
    maxSeconds: 10,
    maxRows: 100,
  });
  return rows.map(([name]) => name);
}

const REFUSED: readonly (readonly [string, Partial<Layout>, RegExp])[] = [
  [
    'no time and no hash of blocks',
    { blocks: (id) => `block_number, '' AS extra_data, toUInt64(${id}) AS chain_id, block_hash AS hash` },
    /time of every block \(a column timestamp.*cryo blocks/s,
  ],
  [
    'logs without data',
    { logs: (id) => CRYO.logs(id).replace(/unhex\(substring\(data, 3\)\) AS data, /, '') },
    /\(logs\) has no column data/,
  ],
  [
    'transactions without calldata',
    { transactions: (id) => CRYO.transactions(id).replace(', unhex(substring(input, 3)) AS input', '') },
    /\(transactions\) has no column input or data/,
  ],
  [
    'a column of another type',
    { logs: (id) => CRYO.logs(id).replace('log_index', 'toString(log_index) AS log_index') },
    /column log_index is of another type than integer/,
  ],
  ['logs of another chain', { logs: () => CRYO.logs(1) }, /\(logs\) is of chain 1, not of chain 84532/],
  [
    'hashes that are cut',
    {
      transactions: (id) =>
        CRYO.transactions(id).replace('substring(transaction_hash, 3)', 'substring(transaction_hash, 5)'),
    },
    /column transaction_hash is neither 32 bytes/,
  ],
];

test.each(REFUSED)(
  'files with %s are refused in words before a row is written',
  async (_, change, message) => {
    const into = await database();
    const pattern = await writeExport(into.access, freshDirectory(), exported, {
      layout: { ...CRYO, ...change },
    });
    await expect(importInto(into, { parquet: [pattern], assumeFinal: true })).rejects.toThrow(message);
    expect(await settlementsIn(into.writer)).toEqual([]);
    expect(await tablesOfImports(into.writer)).toEqual([]);
  },
);

test('rows of another chain are refused also where a file keeps no statistics to see it by', async () => {
  const into = await database();
  const pattern = await writeExport(into.access, freshDirectory(), exported);
  const [file] = await readImportFiles(
    { parquet: [pattern], logs: [], transactions: [], blocks: [] },
    exported.chainId,
  );
  if (file === undefined) throw new Error('no file');
  const [chain] = configOf(world.chain.url).chains;
  if (chain === undefined) throw new Error('no chain');
  const catalogue = buildCatalogue(configOf(world.chain.url).catalogue);
  const staging = await createStaging(into.writer, 'cafe', []);
  const target = { chainId: 1, context: decodeContextOf(chain, catalogue), staging };
  const loading = loadFile(into.writer, target, file, { from: 0, to: 1_000 });
  await expect(loading).rejects.toThrow('rows of another chain than 1');
  await dropStaging(into.writer, staging);
});

test('a transaction that no file holds is reported with counts, and its block is left out only on request', async () => {
  const into = await database();
  const lost = Number(truth[Math.floor(truth.length / 2)]?.[0]);
  const transactions = exported.transactions.filter(({ block_number }) => block_number !== lost);
  const pattern = await writeExport(into.access, freshDirectory(), { ...exported, transactions });
  await expect(importInto(into, { parquet: [pattern], assumeFinal: true })).rejects.toThrow(
    new RegExp(
      `\\d+ transactions with payments, in 1 blocks, are in no file of transactions \\(blocks ${lost}\\)`,
    ),
  );
  expect(await settlementsIn(into.writer)).toEqual([]);
  const summary = await importInto(into, { parquet: [pattern], assumeFinal: true, skipIncomplete: true });
  expect(summary.incomplete).toEqual([{ from: lost, to: lost }]);
  expect(summary.covered).toEqual([
    { from: 0, to: lost - 1 },
    { from: lost + 1, to: exported.blocks.length - 1 },
  ]);
  expect(await settlementsIn(into.writer)).toEqual(truth.filter(([number]) => Number(number) !== lost));
});

test('files that say different things of one log are refused with its blocks', async () => {
  const into = await database();
  const directory = freshDirectory();
  const pattern = await writeExport(into.access, directory, exported, { layout: CRYO });
  // The one of an export from before a reorg, say: the amounts are others.
  const changed = exported.logs
    .filter(({ data }) => data.length === 66)
    .map((log) => ({ ...log, data: `${log.data.slice(0, -2)}ff` }));
  expect(changed.length).toBeGreaterThan(0);
  const other = { ...exported, logs: [...exported.logs, ...changed] };
  await writeExport(into.access, directory, other, { layout: CRYO });
  await expect(importInto(into, { parquet: [pattern], assumeFinal: true })).rejects.toThrow(
    /blocks \d+ to \d+: two logs at .*two files cover these blocks and differ/,
  );
  expect(await settlementsIn(into.writer)).toEqual([]);
});

test('a file whose middle is damaged is refused with its name', async () => {
  const into = await database();
  const directory = freshDirectory();
  const pattern = await writeExport(into.access, directory, exported, { layout: CRYO });
  const [name = ''] = readdirSync(directory).filter((file) => file.includes('logs'));
  const bytes = readFileSync(join(directory, name));
  for (let at = Math.floor(bytes.length / 4); at < Math.floor(bytes.length / 4) + 400; at++)
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x5a, at);
  writeFileSync(join(directory, name), bytes);
  await expect(importInto(into, { parquet: [pattern], assumeFinal: true })).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringContaining(name),
  });
});

test('files of two forks are refused', async () => {
  const into = await database();
  const height = Number(truth[0]?.[0]);
  const forked = exported.blocks.map((block) =>
    block.block_number === height ? { ...block, block_hash: `0x${'ab'.repeat(32)}` } : block,
  );
  const layout = {
    ...CRYO,
    transactions: (id: number) => `${CRYO.transactions(id)}, unhex(substring(block_hash, 3)) AS block_hash`,
  };
  const pattern = await writeExport(
    into.access,
    freshDirectory(),
    { ...exported, blocks: forked },
    { layout },
  );
  await expect(importInto(into, { parquet: [pattern], assumeFinal: true })).rejects.toThrow(
    'two different hashes',
  );
});

test('the backfill of the service asks the node for no log of an imported block', async () => {
  const into = await database();
  const pattern = await writeExport(into.access, freshDirectory(), exported);
  await importInto(into, { parquet: [pattern], assumeFinal: true, toBlock: 49, fromBlock: 10 });
  const asked = await recordLogRequests(world.chain.url);
  try {
    await indexByRpc(into.access, asked.url);
  } finally {
    await asked.close();
  }
  expect(asked.ranges.length).toBeGreaterThan(0);
  expect(asked.ranges.filter(({ from, to }) => from <= 49 && to >= 10)).toEqual([]);
  expect(await settlementsIn(into.writer)).toEqual(truth);
});

test('an import that is killed half-way leaves tables that the next one drops, and the next one finishes it', async () => {
  const into = await database();
  const pattern = await writeExport(into.access, freshDirectory(), exported, { blocksPerFile: 5 });
  await killAfterFirstCheckpoint(into, {
    config: configOf(world.chain.url),
    given: { parquet: [pattern], assumeFinal: true, allContracts: true },
  });
  const half = await settlementsIn(into.writer);
  expect(half.length).toBeLessThan(truth.length);
  expect((await tablesOfImports(into.writer)).length).toBeGreaterThan(0);
  const summary = await importInto(into, { parquet: [pattern], assumeFinal: true });
  expect(summary.alreadyIndexed.length).toBeGreaterThan(0);
  expect(await settlementsIn(into.writer)).toEqual(truth);
  expect(await tablesOfImports(into.writer)).toEqual([]);
});
