import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql, text } from '../../clickhouse/engine/sql.ts';
import { decodeSettlement, LISTED_COLUMNS } from '../../clickhouse/tables/settlements.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import { loadConfig } from '../../core/config/load.ts';
import type { Address } from '../../core/domain/account.ts';
import { createLog } from '../../core/log.ts';
import { createMemoryQueue } from '../../ingest/coordinate/engine.ts';
import { indexChain } from '../../ingest/coordinate/index-chain.ts';
import { workRanges } from '../../ingest/coordinate/work-ranges.ts';
import { createSolanaWindows } from '../../ingest/follow/solana-windows.ts';
import { createCatalogueHolder } from '../../ingest/grading/catalogue.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { type TestEngine, testEngine } from '../kit/engine.ts';
import { catalogueWith } from '../kit/regrade-world.ts';
import { nextVer } from '../kit/rows.ts';
import {
  owedPayments,
  placed,
  type SolanaChain,
  solanaSource,
  solanaTokens,
  startSolanaChain,
} from '../kit/solana-chain.ts';
import { waitUntil } from '../kit/wait-until.ts';

/** Solana from a node to the tables: history behind the head, the head, and a worker that is stopped in between. */

let engine: TestEngine;
let world: SolanaChain;
let config: ChainConfig;

beforeAll(async () => {
  [engine, world] = await Promise.all([testEngine(), startSolanaChain(11)]);
  await world.grow(30);
  const [loaded] = loadConfig({ env: { CHAINS: 'solana-devnet' } }).chains;
  if (loaded === undefined) throw new Error('Solana Devnet is built in');
  config = {
    ...loaded,
    startBlock: 0,
    pollMs: 20,
    logWindowMax: 7,
    tokens: solanaTokens(world),
    rpcUrls: [world.node.url],
  };
});
afterAll(async () => {
  await world?.node.stop();
  await engine?.close();
});

/** `feePayers`: only what they paid the fee of is read. */
function start(feePayers?: readonly Address[]) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const log = createLog('silent', 'test');
  const source = solanaSource(world.chain, config.rpcUrls, { signal });
  const queue = createMemoryQueue();
  const own = {
    ...{ config, source, log, signal, writer: engine.writer, versions: createVersions(nextVer()) },
    windows: createSolanaWindows({ config, source, ...(feePayers && { feePayers }) }),
    catalogues: createCatalogueHolder(catalogueWith()),
  };
  const running = (async () => {
    const run = await indexChain({ ...own, jobs: { queueOf: () => queue, epoch: 0n } });
    await Promise.all([run.done, workRanges({ ...own, jobs: { queueOf: () => queue, atOnce: 1 } })]);
  })().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return async (): Promise<void> => {
    stopping.abort();
    await running;
  };
}

async function stored(): Promise<string[]> {
  const { rows } = await engine.writer.rows({
    name: 'stored',
    sql: sql`SELECT ${LISTED_COLUMNS} FROM settlements FINAL WHERE chain = ${text(world.chain)} AND del = 0`,
    maxSeconds: 20,
    maxRows: 10_000,
  });
  return rows
    .map(decodeSettlement)
    .map(({ blockNumber: slot, txHash: id, ...row }) => placed({ slot, id, ...row }))
    .sort();
}

async function untilIndexed(feePayers?: readonly Address[]): Promise<void> {
  const whole = await owedPayments(world, feePayers);
  const isWhole = async (): Promise<boolean> => JSON.stringify(await stored()) === JSON.stringify(whole);
  await waitUntil('the rows are those of the chain', isWhole).catch(async (error: unknown) => {
    expect(await stored()).toEqual(whole);
    throw error;
  });
}

test('of named fee payers history and head become their rows, recorded as read in part, and whole blocks add the others', async () => {
  const named = world.feePayers.slice(0, 1);
  const stop = start(named);
  await untilIndexed(named);
  await world.grow(5);
  await untilIndexed(named);
  await stop();
  const partial = async (): Promise<unknown> => {
    const { rows } = await engine.writer.rows({
      name: 'partial',
      sql: sql`SELECT groupUniqArray(is_partial) FROM checkpoints FINAL
        WHERE (chain, contracts) IN (SELECT chain, argMax(contracts, ver) FROM checkpoints GROUP BY chain) AND del = 0`,
      maxSeconds: 20,
      maxRows: 1,
    });
    return rows[0]?.[0];
  };
  expect(await partial()).toEqual([1]);
  expect(await stored()).not.toEqual(await owedPayments(world));
  const stopWhole = start();
  await untilIndexed();
  await stopWhole();
  expect(await partial()).toEqual([0]);
}, 120_000);

test('history and head become the rows that balances show, also after a stop', async () => {
  const stop = start();
  await untilIndexed();
  await world.grow(5);
  await untilIndexed();
  await stop();
  await world.grow(10);
  const stopAgain = start();
  await untilIndexed();
  await stopAgain();
  expect((await owedPayments(world)).length).toBeGreaterThan(30);
}, 120_000);
