import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accountText } from '../../../clickhouse/engine/account.ts';
import { sql, trustedText } from '../../../clickhouse/engine/sql.ts';
import { loadConfig } from '../../../core/config/load.ts';
import type { Address } from '../../../core/domain/account.ts';
import { createLog } from '../../../core/log.ts';
import { type Anvil, startAnvil } from '../../../demo/chain/anvil.ts';
import { createRpcSource } from '../../../ingest/chain/source.ts';
import { type EnrichLimits, enrichRelayers } from '../../../ingest/follow/enrich-relayers.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { closeDays } from '../../kit/close-days.ts';
import { type TestEngine, testEngine } from '../../kit/engine.ts';
import { insertSettlements, NOON, nextVer, settlement, tombstone, wallet } from '../../kit/rows.ts';
import { waitUntil } from '../../kit/wait-until.ts';
import { type Call, type Reply, startRewritingNode } from '../chain/rewriting-node.ts';

/** A real node, with a proxy that can refuse; a real engine. */

const SEPOLIA = 'eip155:84532' as const;
const DAY = 86_400;
let engine: TestEngine;
let anvil: Anvil;
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  [engine, anvil] = await Promise.all([testEngine(), startAnvil({ chainId: 84_532 })]);
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  for (const table of [
    'settlements',
    'hour_ver',
    'rollup_state',
    'relayer_day',
    'facilitator_relayers',
    'relayer_accounts',
    'relayer_funders',
  ])
    await engine.writer.run({
      name: 'test-empty',
      maxSeconds: 30,
      sql: trustedText(`TRUNCATE TABLE ${table}`),
    });
});
afterAll(async () => {
  await anvil?.stop();
  await engine?.close();
});

async function setAccount(of: Address, nonce: number, balance: bigint): Promise<void> {
  await anvil.rpc.call('anvil_setNonce', of, `0x${nonce.toString(16)}`);
  await anvil.rpc.call('anvil_setBalance', of, `0x${balance.toString(16)}`);
}

interface Started {
  /** Account calls that the node saw, one time in milliseconds for each. */
  readonly seenAtMs: readonly number[];
  readonly asked: () => readonly string[];
  refuse(isRefusing: boolean): void;
  stop(): Promise<void>;
}

async function start(limits: Partial<EnrichLimits>, requestsPerSecond = 100_000): Promise<Started> {
  let isRefusing = false;
  const seenAtMs: number[] = [];
  const isAccountCall = ({ method }: Call): boolean => /^eth_get(Balance|TransactionCount)$/.test(method);
  const node = await startRewritingNode(anvil.url, (call, reply): Reply => {
    if (!isAccountCall(call)) return reply;
    seenAtMs.push(performance.now());
    return isRefusing ? { error: { code: -32_601, message: 'the method does not exist' } } : reply;
  });
  const [chain] = loadConfig({ env: { CHAINS: 'base-sepolia' } }).chains;
  if (chain === undefined) throw new Error('Base Sepolia is built in');
  const config = { ...chain, rpcUrls: [node.url], requestsPerSecond };
  const stopping = new AbortController();
  const log = createLog('silent', 'test');
  const source = createRpcSource(config, {
    log,
    signal: stopping.signal,
    limits: { backOffFirstMs: 1, backOffMaxMs: 20 },
  });
  const running = enrichRelayers({
    config,
    source,
    writer: engine.writer,
    versions: createVersions(nextVer()),
    log,
    signal: stopping.signal,
    limits: { roundMs: 50, retryMs: 20, ...limits },
  });
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running;
    await node.stop();
  };
  ends.push(stop);
  return {
    seenAtMs,
    asked: () => node.calls.filter(isAccountCall).map(({ params }) => String(params[0])),
    refuse: (refusing) => {
      isRefusing = refusing;
    },
    stop,
  };
}

interface Stored {
  readonly address: string;
  readonly nonce: number;
  readonly balance: string;
}

async function stored(): Promise<Stored[]> {
  const { rows } = await engine.reader.rows({
    name: 'test-accounts',
    maxSeconds: 10,
    maxRows: 1_000,
    sql: sql`SELECT concat('0x', lower(hex(address))), nonce, toString(gas_balance), chain, toUnixTimestamp(enriched_at)
      FROM relayer_accounts FINAL ORDER BY address`,
  });
  for (const row of rows) {
    expect(row[3]).toBe(SEPOLIA);
    expect(Math.abs(Number(row[4]) - Date.now() / 1_000)).toBeLessThan(60);
  }
  return rows.map((row) => ({ address: String(row[0]), nonce: Number(row[1]), balance: String(row[2]) }));
}

/** `counts[n]` settlements by relayer n. */
async function relay(counts: readonly number[], day = 0) {
  const rows = counts.flatMap((count, relayer) =>
    Array.from({ length: count }, (_, index) =>
      settlement({
        chain: SEPOLIA,
        blockTime: NOON - day * DAY,
        blockNumber: 500 - day,
        logIndex: relayer * 100 + index,
        relayer: wallet(relayer + 1),
      }),
    ),
  );
  await insertSettlements(engine.writer, rows);
  return rows;
}

async function nameRelayer(relayer: Address, chain: string = SEPOLIA): Promise<void> {
  await engine.writer.run({
    name: 'test-name',
    maxSeconds: 10,
    sql: trustedText(
      `INSERT INTO facilitator_relayers SELECT '${chain}', unhex('${relayer.slice(2)}'), 'coinbase', 'Coinbase', '2025-01-01', 'test', ${nextVer()}, 0`,
    ),
  });
}

describe('enriching relayers', () => {
  test('stores what the chain holds of the busiest and of every named relayer, and of no other address', async () => {
    await relay([1, 5, 3, 2]);
    await nameRelayer(wallet(77));
    await nameRelayer(wallet(88), 'eip155:8453');
    await setAccount(wallet(2), 41, 2n ** 90n);
    await setAccount(wallet(3), 7, 0n);
    await start({ busiestMax: 2 });
    await waitUntil('a round is stored', async () => (await stored()).length === 3);
    expect(await stored()).toEqual([
      { address: wallet(2), nonce: 41, balance: (2n ** 90n).toString() },
      { address: wallet(3), nonce: 7, balance: '0' },
      { address: wallet(77), nonce: 0, balance: '0' },
    ]);
  });

  test('stores once who funded a named relayer that has sent something', async () => {
    const [treasury, used, unused] = [wallet(0x60), wallet(0x61), wallet(0x62)];
    await setAccount(treasury, 0, 10n ** 18n);
    await anvil.rpc.call('eth_sendTransaction', { from: treasury, to: used, value: '0x1' });
    await anvil.rpc.call('anvil_setNonce', used, '0x1');
    await anvil.rpc.call('anvil_mine', '0x2');
    await nameRelayer(used);
    await nameRelayer(unused);
    const job = await start({ fundersMax: 5 });
    const funders = async () =>
      (
        await engine.reader.rows({
          ...{ name: 'test-funders', maxSeconds: 10, maxRows: 10 },
          sql: sql`SELECT ${accountText('address')}, ${accountText('funder')}, count() FROM relayer_funders GROUP BY address, funder`,
        })
      ).rows;
    await waitUntil('the funder is stored', async () => (await funders()).length > 0);
    const before = job.seenAtMs.length;
    await waitUntil('two more rounds', () => Promise.resolve(job.seenAtMs.length >= before + 8));
    expect(await funders()).toEqual([[used, treasury, '1']]);
  });

  test('counts days that are rolled up as well as new rows, and nothing that was retracted', async () => {
    await relay([0, 4, 1], 30);
    await closeDays(engine.writer, [NOON - 30 * DAY]);
    await relay([2]);
    const undone = await relay([0, 0, 0, 9], 1);
    await tombstone(engine.writer, undone);
    await engine.writer.run({
      name: 'test-merge',
      maxSeconds: 30,
      sql: trustedText('OPTIMIZE TABLE settlements FINAL'),
    });
    await start({ busiestMax: 2 });
    await waitUntil('a round is stored', async () => (await stored()).length === 2);
    expect((await stored()).map((row) => row.address)).toEqual([wallet(1), wallet(2)]);
  });

  test('follows changes round after round; while the node refuses, the last values stay', async () => {
    await relay([1]);
    await setAccount(wallet(1), 1, 10n);
    const job = await start({});
    const nonceIs = async (nonce: number): Promise<boolean> => (await stored())[0]?.nonce === nonce;
    await waitUntil('the first value', () => nonceIs(1));
    await setAccount(wallet(1), 2, 20n);
    await waitUntil('the second value', () => nonceIs(2));
    job.refuse(true);
    const before = job.seenAtMs.length;
    await setAccount(wallet(1), 3, 30n);
    await waitUntil('refused several times', () => Promise.resolve(job.seenAtMs.length >= before + 8));
    expect(await nonceIs(2)).toBe(true);
    job.refuse(false);
    await waitUntil('the third value', () => nonceIs(3));
  });

  test('takes a tenth of the permitted requests at most', async () => {
    await relay(Array.from({ length: 12 }, () => 1));
    const requestsPerSecond = 200;
    const job = await start({ roundMs: 60_000 }, requestsPerSecond);
    await waitUntil('the round is stored', async () => (await stored()).length === 12);
    const [first = 0] = job.seenAtMs;
    const seconds = ((job.seenAtMs.at(-1) ?? 0) - first) / 1_000;
    // 24 calls, ten accounts in each exchange: the second one waits until the first is paid for.
    expect(job.seenAtMs).toHaveLength(24);
    expect(seconds).toBeGreaterThanOrEqual((20 / (requestsPerSecond * 0.1)) * 0.95);
  });

  test('with no relayer to read it waits, and begins with the first relayed payment', async () => {
    const job = await start({ roundMs: 60_000 });
    expect(job.asked()).toEqual([]);
    await relay([1]);
    await waitUntil('a round is stored', async () => (await stored()).length === 1);
  });

  test('ends when the worker ends', async () => {
    const job = await start({ roundMs: 3_600_000, retryMs: 3_600_000 });
    await job.stop();
    ends.length = 0;
  });
});
