import type { Hex } from 'viem';
import { expect } from 'vitest';
import { sql, trustedText } from '../../clickhouse/engine/sql.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import { loadConfig } from '../../core/config/load.ts';
import { BATCH_SETTLEMENT } from '../../demo/chain/channels.ts';
import { REVERSE_TOKEN } from '../../demo/chain/permit2.ts';
import type { BlockSource } from '../../ingest/chain/block-source.ts';
import { createRpcSource } from '../../ingest/chain/source.ts';
import { BATCH_EVENTS } from '../../ingest/decode/channels/events.ts';
import { decodeContextOf } from '../../ingest/decode/context.ts';
import { createEvmWindows } from '../../ingest/follow/evm-windows.ts';
import { createPipeline, type Pipeline } from '../../ingest/follow/pipeline.ts';
import { createCatalogueHolder } from '../../ingest/grading/catalogue.ts';
import { createBatchWriter } from '../../ingest/write/batch-writer.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { addressWord, batchOf, type Event, USDC, wallet, word } from '../kit/chain-logs.ts';
import { heldByContract } from '../kit/channel-balances.ts';
import { type TestEngine, testLog } from '../kit/engine.ts';
import { engineTest as test } from '../kit/fixtures-ingest.ts';
import { catalogueWith } from '../kit/regrade-world.ts';
import { nextVer } from '../kit/rows.ts';
import { startTruthWorld } from '../kit/truth-world.ts';

/** Channels from the logs of a chain to what they hold. */

const WINDOW_BLOCKS = 9;
const NEVER = new AbortController().signal;

function pipelineInto({ writer }: TestEngine, config: ChainConfig, source: BlockSource): Pipeline {
  const { chain } = config;
  const catalogues = createCatalogueHolder(catalogueWith());
  return createPipeline({
    windows: createEvmWindows({ source, context: decodeContextOf(config, catalogues.current()), writer }),
    catalogues,
    batches: createBatchWriter({
      chain,
      writer,
      versions: createVersions(nextVer()),
      log: testLog,
      signal: NEVER,
    }),
    status: { sourceAnswered: () => undefined, wrote: () => undefined },
  });
}

function configOf(slug: string): ChainConfig {
  const [config] = loadConfig({ env: { CHAINS: slug } }).chains;
  const [token] = config?.tokens ?? [];
  if (config === undefined || token === undefined) throw new Error(`${slug} is built in`);
  return { ...config, tokens: [...config.tokens, { ...token, address: REVERSE_TOKEN, symbol: 'RUSD' }] };
}

const rowsOf = async ({ writer }: TestEngine, text: string) =>
  (await writer.rows({ name: 'test', sql: sql`${trustedText(text)}`, maxSeconds: 20, maxRows: 10_000 })).rows;

test('a channel holds what its contract says: deposits less claims, refunds and withdrawals', async ({
  engine,
  onTestFinished,
}) => {
  const world = await startTruthWorld(41);
  onTestFinished(() => world.stop());
  await world.grow(90);
  const config = { ...configOf('base-sepolia'), rpcUrls: [world.chain.url], requestsPerSecond: 100_000 };
  const source = createRpcSource(config, { log: testLog, signal: NEVER });
  const pipeline = pipelineInto(engine, config, source);
  const head = Number(await world.chain.rpc.call<string>('eth_blockNumber'));
  for (let from = 0; from <= head; from += WINDOW_BLOCKS)
    await pipeline.store(await pipeline.read(from, Math.min(head, from + WINDOW_BLOCKS - 1)));
  const channels = await rowsOf(
    engine,
    `SELECT channel, toString(balance), toString(deposited - paid - returned), toString(balance_usd)
      FROM ${engine.database}_public.channels WHERE scheme = 'batch-settlement'`,
  );
  expect(channels.length).toBeGreaterThan(4);
  expect(channels.filter(([, balance]) => balance !== '0').length).toBeGreaterThan(2);
  for (const [channel, balance, rest, usd] of channels) {
    const held = await heldByContract(world.chain.rpc, String(channel) as Hex);
    expect([balance, rest, Number(usd)]).toEqual([String(held), String(held), Number(held) / 1_000_000]);
  }
  const escrows = await rowsOf(
    engine,
    `SELECT toString(balance), toString(deposited), toString(paid), toString(returned)
      FROM ${engine.database}_public.channels WHERE scheme = 'auth-capture'`,
  );
  expect(escrows.length).toBeGreaterThan(2);
  for (const [balance, deposited, paid, returned] of escrows.map((row) => row.map(Number)))
    expect(balance).toBe(deposited === 0 ? 0 : Number(deposited) - Number(paid) - Number(returned));
});

const [CREATED, DEPOSITED, CLAIMED] = Object.keys(BATCH_EVENTS) as [Hex, Hex, Hex];
const [PAYER, PAYEE, SENDER] = [wallet(0xa1), wallet(0xb2), wallet(0xd4)];
const ID = word(0xc4a77e1);

const ofContract = (topic: Hex, topics: readonly Hex[], ...words: readonly Hex[]): Event => ({
  address: BATCH_SETTLEMENT,
  topics: [topic, ...topics],
  data: `0x${words.map((one) => one.slice(2)).join('')}`,
});
const config = [PAYER, PAYER, PAYEE, PAYEE, USDC].map(addressWord);
const opening = [
  ofContract(CREATED, [ID], ...config, word(900), word(1)),
  ofContract(DEPOSITED, [ID, addressWord(SENDER)], word(500), word(500)),
];
const claim = [ofContract(CLAIMED, [ID, addressWord(SENDER)], word(20), word(20))];

test('a claim whose calldata names no party has those of the channel as earlier blocks showed it', async ({
  engine,
}) => {
  const config = configOf('base');
  const blocks = { 100: opening, 200: claim };
  const source = {
    chain: config.chain,
    read: async (from: 100 | 200) => batchOf([[{ events: blocks[from] }]], from),
  } as unknown as BlockSource; // the pipeline only reads
  const pipeline = pipelineInto(engine, config, source);
  const rows = () =>
    rowsOf(
      engine,
      `SELECT toUInt32(block_number), kind, concat('0x', lower(hex(payee))), toString(amount) FROM settlements FINAL
        WHERE chain = 'eip155:8453' AND del = 0
        UNION ALL SELECT toUInt32(block_number), toString(reason), '', '' FROM dead_letters FINAL
        WHERE chain = 'eip155:8453' AND del = 0 ORDER BY 1`,
    );
  const index = async (from: number) => pipeline.store(await pipeline.read(from, from));
  await index(200);
  expect(await rows()).toEqual([[200, 'unknown_channel', '', '']]);
  await index(100);
  await index(200);
  expect(await rows()).toContainEqual([200, 'payment', PAYEE, '20']);
  expect(await rows()).toContainEqual([100, 'deposit', PAYEE, '500']);
});
