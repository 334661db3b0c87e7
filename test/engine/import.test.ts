import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { EngineAccess, Writer } from '../../clickhouse/engine.ts';
import { createWriter } from '../../clickhouse/http-engine.ts';
import { migrate } from '../../clickhouse/migrate.ts';
import { sql } from '../../clickhouse/sql.ts';
import { type ImportArguments, importFiles } from '../../ingest/import/import-command.ts';
import type { ImportSummary } from '../../ingest/import/run-import.ts';
import { runIngest } from '../../ingest/worker.ts';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { dropDatabase, freshDatabase, testLog } from '../support/engine.ts';
import {
  type ChainExport,
  CRYO,
  CRYO_HEX,
  ETHEREUM_ETL,
  exportChain,
  type Layout,
  writeExport,
} from '../support/parquet-export.ts';
import { startTruthWorld, type TruthWorld } from '../support/truth-world.ts';
import { waitUntil } from '../support/wait-until.ts';

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
});
afterEach(() => {
  if (directory) rmSync(directory, { recursive: true, force: true });
});

function freshDirectory(): string {
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-import-'));
  return directory;
}

async function database(): Promise<Database> {
  const access = freshDatabase();
  await migrate(access, testLog);
  const made = { access, writer: createWriter(access, testLog) };
  opened.push(made);
  return made;
}

function configOf(rpcUrl: string): Config {
  const at = mkdtempSync(join(tmpdir(), 'settlement-index-config-'));
  const file = join(at, 'config.json');
  writeFileSync(
    file,
    JSON.stringify({
      dataDir: at,
      chains: [world.serviceChain(rpcUrl)],
      catalogue: world.serviceCatalogue(),
    }),
  );
  const config = loadConfig({ file, env: {} });
  rmSync(at, { recursive: true, force: true });
  return config;
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
    sql: sql`SELECT block_number, log_index, chain, block_time, hex(block_hash), hex(tx_hash), hex(payer), hex(payee), hex(asset),
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
      access,
      log: testLog,
      signal,
      isTerminal: false,
      say: (line) => said.push(line),
    },
    given,
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
