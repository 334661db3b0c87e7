import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineAccess, Writer } from '../../clickhouse/engine/engine.ts';
import { createWriter } from '../../clickhouse/engine/http-engine.ts';
import { sql, trustedText } from '../../clickhouse/engine/sql.ts';
import type { Config } from '../../core/config/config.ts';
import { loadConfig } from '../../core/config/load.ts';
import { chainOf } from '../../core/domain/chains.ts';
import { deriveDue } from '../../ingest/agents/derive.ts';
import { importFiles } from '../../ingest/import/command.ts';
import { runIngest } from '../../ingest/worker.ts';
import { createVersions, highestVersion } from '../../ingest/write/versions.ts';
import { dropDatabase, freshSchema, testLog } from '../kit/engine.ts';
import { lengthOf } from '../kit/lengths.ts';
import { byClient, type FoldedAgent } from '../kit/oracle/agents.ts';
import { oracle } from '../kit/oracle/oracle.ts';
import { attestationsOf, eventsOf, NOBODY, type RegistryRows, type Row } from '../kit/oracle/registries.ts';
import { type ChainExport, exportChain, writeExport } from '../kit/parquet-export.ts';
import { type RegistryOperation, registryOperation } from '../kit/registry-operations.ts';
import { type RegistryWorld, startRegistryWorld } from '../kit/registry-world.ts';
import { waitUntil } from '../kit/wait-until.ts';

/**
 * Random use of the registries on a real node, with reorgs and restarts of the worker: what the tables hold at the end is
 * every surviving log, and folded event by event it is what the contracts answer themselves.
 */

/** Each round: blocks, a reorg. The worker is stopped before the reorg wherever it stands, at the tip, or not at all: the first three rounds are one of each. */
const ROUNDS = [
  { depth: 2, stops: 'anywhere' },
  { depth: 5, stops: 'never' },
  { depth: 3, stops: 'at the tip' },
  { depth: 4, stops: 'anywhere' },
  { depth: 7, stops: 'never' },
  { depth: 6, stops: 'at the tip' },
] as const;
const BLOCKS_BETWEEN = 3;
const OPERATIONS_PER_BLOCK = 12;
/** Half a minute on an idle machine. */
const TIMEOUT_MS = 300_000;
/** anvil calls a block final 64 blocks below its head: enough for a history that is read backwards as well. */
const QUIET_BLOCKS = 70;

interface Database {
  readonly access: EngineAccess;
  readonly writer: Writer;
}

let world: RegistryWorld;
const directories: string[] = [];
const opened: Database[] = [];
const stops = new Set<() => Promise<void>>();

beforeAll(async () => {
  world = await startRegistryWorld();
});
afterAll(async () => {
  for (const stop of [...stops]) await stop();
  await world?.stop();
  for (const { access, writer } of opened) {
    await dropDatabase(writer, access.database);
    await writer.close();
  }
  for (const at of directories) rmSync(at, { recursive: true, force: true });
});

async function database(): Promise<Database> {
  const access = await freshSchema();
  const made = { access, writer: createWriter(access, testLog) };
  opened.push(made);
  return made;
}

function directory(): string {
  const at = mkdtempSync(join(tmpdir(), 'settlement-index-registries-'));
  directories.push(at);
  return at;
}

function configOf(): Config {
  const dataDir = directory();
  const file = join(dataDir, 'config.json');
  const chain = { chain: 'base-sepolia', rpcUrls: [world.chain.url], startBlock: 0, pollMs: 20 };
  writeFileSync(file, JSON.stringify({ dataDir, chains: [chain] }));
  return loadConfig({ file, env: {} });
}

/** The product's own worker; gives how to stop it. */
function startIngest(access: EngineAccess, config: Config): () => Promise<void> {
  const writer = createWriter(access, testLog);
  const stopping = new AbortController();
  const running = runIngest({ config, writer, log: testLog, signal: stopping.signal, terminal: null });
  const stop = async (): Promise<void> => {
    stops.delete(stop);
    stopping.abort();
    await running;
    await writer.close();
  };
  stops.add(stop);
  return stop;
}

/** Every block up to the one that the chain ends with is promised. */
async function waitForTip(writer: Writer): Promise<void> {
  await waitUntil(
    'the index is at the tip',
    async () => {
      const tip = await world.chain.rpc.call<{ hash: Hex }>('eth_getBlockByNumber', 'latest', false);
      const { rows } = await writer.rows({
        name: 'test-checkpoints',
        sql: sql`SELECT count(), (SELECT count() FROM chain_status FINAL WHERE state = 'following') FROM checkpoints FINAL
               WHERE del = 0 AND kind = 'head' AND concat('0x', lower(hex(end_hash))) = ${{ kind: 'value', type: 'String', value: tip.hash }}`,
        maxSeconds: 10,
        maxRows: 1,
      });
      return rows[0]?.map(Number).join() === '1,1';
    },
    TIMEOUT_MS,
  );
}

async function rowsIn(writer: Writer): Promise<RegistryRows> {
  const ask = async (columns: string, table: string): Promise<readonly Row[]> => {
    const { rows } = await writer.rows({
      name: 'test-registry-rows',
      sql: sql`SELECT block_number, log_index, concat('0x', lower(hex(block_hash))), concat('0x', lower(hex(tx_hash))),
                 toUnixTimestamp(block_time), toString(kind), toString(agent_id), ${trustedText(columns)}
               FROM ${trustedText(table)} FINAL WHERE del = 0 ORDER BY block_number, log_index`,
      maxSeconds: 10,
      maxRows: 100_000,
    });
    return rows;
  };
  const hex = (column: string): string => `concat('0x', lower(hex(${column})))`;
  const attested = `${hex('author')}, ${hex('client')}, toString(feedback_index), toString(value), value_decimals,
    tag1, tag2, endpoint, uri, ${hex('file_hash')}, ${hex('request_hash')}`;
  const attestations = await ask(attested, 'attestations');
  expect(await ask(attested, 'agent_attestations')).toEqual(attestations);
  return { events: await ask(`${hex('account')}, text, ${hex('data')}`, 'agent_events'), attestations };
}

async function rowsOnChain({ blocks }: ChainExport): Promise<RegistryRows> {
  const times = new Map(blocks.map(({ block_number, timestamp }) => [block_number, timestamp]));
  return oracle.registryRows(await world.logs(), (block) => times.get(block) ?? 0);
}

const CHAIN = chainOf(84_532);

const fold = (rows: RegistryRows): FoldedAgent[] =>
  oracle.agents.fold(eventsOf(rows, CHAIN), attestationsOf(rows, CHAIN));

async function expectTruth(rows: RegistryRows): Promise<void> {
  const truth = await world.truth();
  const folded = fold(rows).map(({ chain: _, registeredAt: __, ...agent }) => agent);
  expect(folded).toEqual(
    truth.map(({ agentId, owner, wallet, uri, feedback }) => ({
      agentId,
      owner,
      wallet,
      uri,
      feedback: [...feedback].sort(byClient),
    })),
  );
}

/** What random operations might miss: the owner of agent 0 is at most one of the two who rate it. */
const EVERY_KIND: readonly (readonly RegistryOperation[])[] = [
  [
    ...[0, 1].map(
      (by): RegistryOperation => ({ kind: 'rate', agent: 0, by, value: 1n, decimals: 0, tag: '', uri: 'u' }),
    ),
    { kind: 'askValidation', agent: 0, request: 3 },
    { kind: 'registerAndPass', uri: 'u' },
  ],
  [
    ...[0, 1].map((to): RegistryOperation => ({ kind: 'respond', agent: 0, by: 2, to, index: 0 })),
    { kind: 'answerValidation', request: 3, byStranger: false, value: 88 },
  ],
  [0, 1].map((by): RegistryOperation => ({ kind: 'revoke', agent: 0, by, index: 0 })),
];

/** The product's own derivation, from rows that reorgs have taken back and replaced since it derived last. */
async function expectAgents(writer: Writer): Promise<void> {
  const versions = createVersions(await highestVersion(writer));
  const deps = { writer, versions, log: testLog, signal: new AbortController().signal };
  while ((await deriveDue(deps)) > 0);
  const { rows } = await writer.rows({
    name: 'test-agents',
    sql: sql`SELECT toString(agent_id), concat('0x', lower(hex(owner))), concat('0x', lower(hex(wallet))), agent_uri, toUInt32(feedback_count),
               toUInt32(distinct_clients), toString(score)
             FROM agents FINAL WHERE del = 0 ORDER BY agent_id`,
    maxSeconds: 10,
    maxRows: 1_000,
  });
  const truth = await world.truth();
  expect(
    rows.map(([id, owner, wallet, uri, count, clients, score]) => [
      id,
      owner,
      wallet,
      uri,
      count,
      clients,
      score,
    ]),
  ).toEqual(
    truth.map((agent) => [
      String(agent.agentId),
      agent.owner,
      agent.wallet,
      agent.uri,
      agent.feedbackCount,
      agent.distinctClients,
      agent.score,
    ]),
  );
}

const OPERATIONS = fc.sample(registryOperation, { numRuns: 500, seed: 8_004 });

async function grow(blocks: number): Promise<void> {
  for (let block = 0; block < blocks; block++) await world.block(OPERATIONS.splice(0, OPERATIONS_PER_BLOCK));
}

test(
  'after reorgs and restarts the rows are the surviving logs, and the agents are what the contracts say',
  async () => {
    const { access, writer } = await database();
    const config = configOf();
    let stop = startIngest(access, config);
    for (const { depth, stops: stopped } of ROUNDS.slice(0, lengthOf('registryRounds'))) {
      await grow(BLOCKS_BETWEEN);
      if (stopped !== 'anywhere') await waitForTip(writer);
      if (stopped !== 'never') await stop();
      await world.reorg(depth, OPERATIONS.splice(0, OPERATIONS_PER_BLOCK));
      if (stopped !== 'never') stop = startIngest(access, config);
      await waitForTip(writer);
      await expectTruth(await rowsIn(writer));
      await expectAgents(writer);
    }
    for (const operations of EVERY_KIND) await world.block(operations);
    await waitForTip(writer);
    await stop();
    const found = await rowsIn(writer);
    expect(found).toEqual(await rowsOnChain(await exportChain(world.chain.rpc)));
    const agents = fold(found);
    expect(new Set(found.events.map((row) => row[5])).size).toBe(5);
    expect(new Set(found.attestations.map((row) => row[5])).size).toBe(5);
    expect(agents.some(({ wallet }) => wallet === NOBODY)).toBe(true);
    expect(agents.some(({ owner }) => owner.endsWith('beef'))).toBe(true);
    expect(agents.flatMap(({ feedback }) => feedback).some(({ revoked }) => revoked)).toBe(true);
  },
  TIMEOUT_MS,
);

test(
  'a history that is read backwards and one that is imported give the same rows',
  async () => {
    await world.chain.rpc.call('anvil_mine', `0x${QUIET_BLOCKS.toString(16)}`);
    const exported = await exportChain(world.chain.rpc);
    const expected = await rowsOnChain(exported);
    const [read, imported] = [await database(), await database()];
    const stop = startIngest(read.access, configOf());
    await waitForTip(read.writer);
    await stop();
    expect(await rowsIn(read.writer)).toEqual(expected);

    const pattern = await writeExport(imported.access, directory(), exported);
    const said: string[] = [];
    const summary = await importFiles(
      {
        config: configOf(),
        openEngine: () => Promise.resolve(imported.access),
        log: testLog,
        signal: new AbortController().signal,
        isTerminal: false,
        say: (line) => said.push(line),
      },
      { parquet: [pattern], assumeFinal: true, allContracts: true },
    );
    expect(await rowsIn(imported.writer)).toEqual(expected);
    expect(summary.registryEvents).toBe(expected.events.length + expected.attestations.length);
    expect(said.join()).toContain(`${summary.registryEvents} registry events`);
  },
  TIMEOUT_MS,
);
