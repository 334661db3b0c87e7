import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { sql, text, uint64 } from '../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import { loadConfig } from '../../../core/config/load.ts';
import type { Hash } from '../../../core/domain/account.ts';
import { createLog } from '../../../core/log.ts';
import { type Anvil, startAnvil } from '../../../demo/chain/anvil.ts';
import { createRpcSource } from '../../../ingest/chain/source.ts';
import { type FeeDeps, type FeeLimits, readFees } from '../../../ingest/fees/read.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { emptyTables } from '../../kit/empty-tables.ts';
import { type TestEngine, testEngine } from '../../kit/engine.ts';
import { hash, insertSettlements, nextVer, settlement, tombstone, wallet } from '../../kit/rows.ts';
import { waitUntil } from '../../kit/wait-until.ts';
import { type Call, type Reply, startRewritingNode } from '../chain/rewriting-node.ts';

/** Real receipts of a real node, with a proxy that can refuse and lie; a real engine. */

const SEPOLIA = 'eip155:84532' as const;
const NOT_KNOWN = { error: { code: -32_601, message: 'the method does not exist' } };
let engine: TestEngine;
let anvil: Anvil;
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  [engine, anvil] = await Promise.all([testEngine(), startAnvil({ chainId: 84_532 })]);
});
beforeEach(() => emptyTables(engine.writer));
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(async () => {
  await anvil?.stop();
  await engine?.close();
});

interface RawReceipt {
  readonly transactionHash: Hash;
  readonly blockNumber: string;
  readonly gasUsed: string;
  readonly effectiveGasPrice: string;
}

/** A block with so many transactions, and a settlement in each. */
async function mine(transactions: number, fields: Partial<Settlement> = {}): Promise<Settlement[]> {
  const from = wallet(7);
  await anvil.rpc.call('anvil_setBalance', from, `0x${(10n ** 26n).toString(16)}`);
  await anvil.rpc.call('anvil_impersonateAccount', from);
  await anvil.rpc.call('evm_setAutomine', false);
  const hashes: Hash[] = [];
  for (let at = 0; at < transactions; at++)
    hashes.push(
      await anvil.rpc.call<Hash>('eth_sendTransaction', {
        from,
        to: wallet(0xdead),
        gas: '0x30d40',
        value: '0x1',
        data: `0x${'ab'.repeat(at + 1)}`,
      }),
    );
  await anvil.rpc.call('evm_mine');
  await anvil.rpc.call('evm_setAutomine', true);
  const block = await anvil.rpc.call<{ number: string; timestamp: string }>(
    'eth_getBlockByNumber',
    'latest',
    false,
  );
  return hashes.map((txHash, logIndex) =>
    settlement({
      chain: SEPOLIA,
      txHash,
      logIndex,
      blockNumber: Number(block.number),
      blockTime: Number(block.timestamp),
      relayer: wallet(7),
      facilitator: 'coinbase',
      amountUsdMicros: 1_500_000n,
      ...fields,
    }),
  );
}

interface Started {
  /** Calls for receipts, in order. */
  readonly receiptCalls: () => readonly Call[];
  readonly left: () => { readonly hoursOpen: number; readonly oldestOpen: number } | null;
  finalize(block: number): void;
  stop(): Promise<void>;
}

interface Given {
  readonly finalized?: number;
  readonly rewrite?: (call: Call, reply: Reply) => Reply;
  readonly limits?: Partial<FeeLimits>;
  readonly requestsPerSecond?: number;
  readonly writer?: Writer;
  readonly sampleDataTo?: number;
  readonly source?: FeeDeps['source'];
  readonly comparison?: FeeDeps['comparison'];
}

async function start(given: Given = {}): Promise<Started> {
  const isReceiptCall = ({ method }: Call): boolean => /Receipts?$/.test(method);
  const node = await startRewritingNode(anvil.url, (call, reply) => {
    if (!isReceiptCall(call)) return reply;
    return given.rewrite?.(call, reply) ?? reply;
  });
  const [chain] = loadConfig({ env: { CHAINS: 'base-sepolia' } }).chains;
  if (chain === undefined) throw new Error('Base Sepolia is built in');
  const { requestsPerSecond = 100_000, sampleDataTo = null } = given;
  const config = { ...chain, rpcUrls: [node.url], requestsPerSecond, sampleDataTo };
  const stopping = new AbortController();
  const log = createLog('silent', 'test');
  let finalizedBlock = given.finalized ?? Number.MAX_SAFE_INTEGER;
  let left: ReturnType<Started['left']> = null;
  const status = {
    snapshot: () => ({ finalizedBlock }),
    fees: (fees: NonNullable<typeof left>) => {
      left = fees;
    },
  } as unknown as FeeDeps['status']; // all of it that the pass uses
  const running = readFees({
    config,
    source:
      given.source ??
      createRpcSource(config, {
        log,
        signal: stopping.signal,
        limits: { backOffFirstMs: 1, backOffMaxMs: 20 },
      }),
    status,
    comparison: given.comparison ?? { compare: () => Promise.resolve(new Set()) },
    writer: given.writer ?? engine.writer,
    versions: createVersions(nextVer()),
    log,
    signal: stopping.signal,
    limits: { pollMs: 10, retryMs: 20, ...given.limits },
  });
  const failure = running.then(
    () => null,
    (error: unknown) => error,
  );
  const stop = async (): Promise<void> => {
    stopping.abort();
    if (given.writer === undefined) expect(await failure).toBeNull();
    await node.stop();
  };
  ends.push(stop);
  return {
    receiptCalls: () => node.calls.filter(isReceiptCall),
    left: () => left,
    finalize: (block) => {
      finalizedBlock = block;
    },
    stop,
  };
}

async function stored(): Promise<Record<string, unknown>[]> {
  const { rows } = await engine.reader.rows({
    name: 'test-fees',
    maxSeconds: 10,
    maxRows: 1_000,
    sql: sql`SELECT concat('0x', lower(hex(tx_hash))), block_number, toUnixTimestamp(block_time), concat('0x', lower(hex(relayer))), facilitator,
      settlement_count, toString(settled_usd), gas_used, toString(gas_price), toString(l1_fee), toString(fee)
      FROM transaction_fees FINAL WHERE chain = 'eip155:84532' AND del = 0 ORDER BY block_number, tx_hash`,
  });
  const names = [
    'tx',
    'block',
    'time',
    'relayer',
    'facilitator',
    'count',
    'usd',
    'gas',
    'price',
    'l1',
    'fee',
  ];
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])));
}

/** The expected fees of transactions with one settlement each, from the node's own receipts. */
async function truth(rows: readonly Settlement[], l1 = 0n): Promise<Record<string, unknown>[]> {
  const all = [];
  for (const { txHash, blockNumber, blockTime } of rows) {
    const receipt = await anvil.rpc.call<RawReceipt>('eth_getTransactionReceipt', txHash);
    const [gas, price] = [BigInt(receipt.gasUsed), BigInt(receipt.effectiveGasPrice)];
    all.push({
      tx: txHash,
      block: String(blockNumber),
      time: blockTime,
      relayer: wallet(7),
      facilitator: 'coinbase',
      count: 1,
      usd: '1.5',
      gas: String(gas),
      price: String(price),
      l1: String(l1),
      fee: String(gas * price + l1),
    });
  }
  return all.toSorted((a, b) => Number(a.block) - Number(b.block) || (a.tx < b.tx ? -1 : 1));
}

const isStored = (rows: readonly unknown[]) => async (): Promise<boolean> =>
  (await stored()).length === rows.length;
const isDone = async (): Promise<boolean> => {
  const { rows } = await engine.reader.rows({
    name: 'test-open',
    maxSeconds: 10,
    maxRows: 1,
    sql: sql`SELECT count() FROM (SELECT hour, sum(w) AS written, sum(d) AS done FROM (SELECT hour, hour_ver.writes AS w, toUInt64(0) AS d FROM hour_ver
      UNION ALL SELECT hour, 0, writes FROM fee_hours FINAL) GROUP BY hour HAVING written != done)`,
  });
  return Number(rows[0]?.[0]) === 0;
};

describe('reading fees', () => {
  test('stores what every settled transaction cost, newest first, one call a block', async () => {
    const [one, two] = [await mine(3), await mine(1)];
    await insertSettlements(engine.writer, [...one, ...two]);
    const job = await start();
    await waitUntil('all are stored', isStored([...one, ...two]));
    expect(await stored()).toEqual(await truth([...one, ...two]));
    const single = two[0]?.txHash;
    const several = `0x${one[0]?.blockNumber.toString(16)}`;
    expect(job.receiptCalls().map(({ method, params }) => [method, params[0]])).toEqual([
      ['eth_getTransactionReceipt', single],
      ['eth_getBlockReceipts', several],
    ]);
    await waitUntil('the hour is recorded', isDone);
    await waitUntil('the status says so', async () => job.left()?.hoursOpen === 0);
    expect(job.receiptCalls()).toHaveLength(2);
  });

  test('a fee of a transaction with several settlements is stored once, with their sum', async () => {
    const [row] = await mine(1);
    if (row === undefined) throw new Error('mined one');
    await insertSettlements(engine.writer, [
      row,
      { ...row, logIndex: 5, amountUsdMicros: 250_000n },
      { ...row, logIndex: 6, method: 'channel_move', kind: 'deposit' },
    ]);
    await start();
    await waitUntil('it is stored', isStored([row]));
    expect(await stored()).toMatchObject([{ count: 3, usd: '1.75' }]);
  });

  test('blocks that are not final wait, and a data fee of an OP-stack chain is added', async () => {
    const [old, fresh] = [await mine(1), await mine(2)];
    await insertSettlements(engine.writer, [...old, ...fresh]);
    const l1Fee = 2n ** 70n;
    const withFee = (receipt: object) => ({ ...receipt, l1Fee: `0x${l1Fee.toString(16)}` });
    const job = await start({
      finalized: old[0]?.blockNumber ?? 0,
      rewrite: (_call, { result }) => ({
        result: Array.isArray(result) ? result.map(withFee) : withFee(result as object),
      }),
    });
    await waitUntil('the final one is stored', isStored(old));
    await waitUntil('the hour stays open', async () => job.left()?.hoursOpen === 1);
    expect(job.left()?.oldestOpen).toBe(Math.floor((old[0]?.blockTime ?? 0) / 3_600) * 3_600);
    expect(job.receiptCalls()).toHaveLength(1);
    job.finalize(fresh[0]?.blockNumber ?? 0);
    await waitUntil('all are stored', isStored([...old, ...fresh]));
    expect(await stored()).toEqual(await truth([...old, ...fresh], l1Fee));
  });

  test('a node without eth_getBlockReceipts is asked for each transaction, and for whole blocks no more', async () => {
    const [one, two] = [await mine(3), await mine(4)];
    await insertSettlements(engine.writer, [...one, ...two]);
    const job = await start({
      rewrite: ({ method }, reply) => (method === 'eth_getBlockReceipts' ? NOT_KNOWN : reply),
    });
    await waitUntil('all are stored', isStored([...one, ...two]));
    expect(await stored()).toEqual(await truth([...one, ...two]));
    const whole = job.receiptCalls().filter(({ method }) => method === 'eth_getBlockReceipts');
    expect(whole.length).toBeLessThanOrEqual(4);
  });

  test.each<[string, (receipt: Record<string, unknown>) => Record<string, unknown> | null]>([
    ['leaves out a transaction', () => null],
    ['gives another block number', (receipt) => ({ ...receipt, blockNumber: '0x1' })],
    ['gives another transaction', (receipt) => ({ ...receipt, transactionHash: hash(77) })],
    ['says that it failed', (receipt) => ({ ...receipt, status: '0x0' })],
    ['gives no price', ({ effectiveGasPrice: _, ...receipt }) => receipt],
    [
      'gives a price beyond all coins',
      (receipt) => ({ ...receipt, effectiveGasPrice: `0x${'f'.repeat(60)}` }),
    ],
    ['gives gas that is no number', (receipt) => ({ ...receipt, gasUsed: 'much' })],
  ])(
    'nothing of a block is stored while the node %s; other blocks are, and it is asked again',
    async (_, lie) => {
      const [good, spoilt] = [await mine(2), await mine(2)];
      await insertSettlements(engine.writer, [...good, ...spoilt]);
      let isLying = true;
      const victim = spoilt[0]?.txHash;
      const job = await start({
        limits: { blockRetryMs: 30 },
        rewrite: (_call, { result }) => ({
          result: (Array.isArray(result) ? result : [result]).flatMap((receipt: Record<string, unknown>) => {
            if (!isLying || receipt['transactionHash'] !== victim) return [receipt];
            return lie(receipt) ?? [];
          }),
        }),
      });
      await waitUntil('the good block is stored', isStored(good));
      const before = job.receiptCalls().length;
      await waitUntil('the other is asked again', async () => job.receiptCalls().length >= before + 2);
      expect(await stored()).toEqual(await truth(good));
      expect(await isDone()).toBe(false);
      isLying = false;
      await waitUntil('all are stored', isStored([...good, ...spoilt]));
      await waitUntil('the hour is recorded', isDone);
    },
  );

  test('receipts of another fork than the known block are not used', async () => {
    const rows = await mine(2);
    await insertSettlements(engine.writer, rows);
    const known = (blockHash: Hash) =>
      engine.writer.run({
        name: 'test-block',
        maxSeconds: 10,
        sql: sql`INSERT INTO blocks (chain, number, hash, time, ver)
          SELECT ${text(SEPOLIA)}, ${uint64(rows[0]?.blockNumber ?? 0)}, unhex(${text(blockHash.slice(2))}), now(), ${uint64(nextVer())}`,
      });
    await known(hash(1));
    const job = await start({ limits: { blockRetryMs: 20 } });
    await waitUntil('it is asked again', async () => job.receiptCalls().length >= 4);
    expect(await stored()).toEqual([]);
    const block = await anvil.rpc.call<{ hash: Hash }>(
      'eth_getBlockByNumber',
      `0x${rows[0]?.blockNumber.toString(16)}`,
      false,
    );
    await known(block.hash);
    await waitUntil('all are stored', isStored(rows));
  });

  test('a block that arrives late in an hour that was done is found, and nothing is asked twice', async () => {
    const [early, late] = [await mine(1), await mine(1)];
    await insertSettlements(engine.writer, early);
    const job = await start();
    await waitUntil('the hour is recorded', isDone);
    await insertSettlements(engine.writer, late);
    await waitUntil('all are stored', isStored([...early, ...late]));
    expect(job.receiptCalls()).toHaveLength(2);
  });

  test('a regrade and a settlement that is taken back change the rows without a request', async () => {
    const rows = await mine(2);
    await insertSettlements(engine.writer, rows);
    const job = await start();
    await waitUntil('the hour is recorded', isDone);
    const calls = job.receiptCalls().length;
    const [first, second] = rows.toSorted((a, b) => (a.txHash < b.txHash ? -1 : 1));
    if (first === undefined || second === undefined) throw new Error('mined two');
    await insertSettlements(engine.writer, [{ ...first, facilitator: 'payai' }]);
    await waitUntil('the name is followed', async () => (await stored())[0]?.['facilitator'] === 'payai');
    await tombstone(engine.writer, [second]);
    await waitUntil('the row is gone', isStored([first]));
    expect(await stored()).toEqual([{ ...(await truth([first]))[0], facilitator: 'payai' }]);
    await insertSettlements(engine.writer, [second]);
    await waitUntil('and back', isStored(rows));
    expect(job.receiptCalls().length).toBeGreaterThan(calls);
  });

  test('killed between the fees and the record of the hour, the next one asks for nothing that is stored', async () => {
    const rows = await mine(2);
    await insertSettlements(engine.writer, rows);
    const dying: Writer = {
      ...engine.writer,
      insert: (name, ...rest) =>
        name === 'fees-done' ? Promise.reject(new Error('killed')) : engine.writer.insert(name, ...rest),
    };
    const first = await start({ writer: dying });
    await waitUntil('the fees are stored', isStored(rows));
    await first.stop();
    ends.length = 0;
    expect(await isDone()).toBe(false);
    const next = await start();
    await waitUntil('the hour is recorded', isDone);
    expect(next.receiptCalls()).toEqual([]);
    expect(await stored()).toEqual(await truth(rows));
  });

  test('takes a tenth of the permitted requests at most', async () => {
    await insertSettlements(engine.writer, await mine(1));
    const permitted: number[] = [];
    await start({
      requestsPerSecond: 200,
      // As a source does that needs four exchanges.
      source: {
        async receipts(wanted, { callsMax, before }) {
          for (let exchange = 0; exchange < 4; exchange++) {
            await before(callsMax);
            permitted.push(performance.now());
          }
          expect(callsMax).toBe(5);
          return wanted.map(() => null);
        },
      },
    });
    await waitUntil('four exchanges were permitted', async () => permitted.length >= 4);
    for (const [at, time] of permitted.entries())
      if (at > 0) expect(time - (permitted[at - 1] ?? 0)).toBeGreaterThanOrEqual(5_000 / (200 * 0.1) - 2);
  });

  test('sample data and other chains are not asked for', async () => {
    const [sample, real] = [await mine(1), await mine(1)];
    await insertSettlements(engine.writer, [
      ...sample,
      ...real,
      settlement({ chain: 'eip155:8453', txHash: hash(5) }),
    ]);
    const job = await start({ sampleDataTo: sample[0]?.blockNumber ?? 0 });
    await waitUntil('the real one is stored', isStored(real));
    await waitUntil('every hour is recorded', isDone);
    expect(job.receiptCalls()).toHaveLength(1);
  });

  test('many hours and small looks end with every fee', async () => {
    const rows: Settlement[] = [];
    for (let at = 0; at < 6; at++) {
      await anvil.rpc.call('evm_increaseTime', 3_600);
      rows.push(...(await mine(1 + (at % 3))));
    }
    await insertSettlements(engine.writer, rows);
    await start({ limits: { transactionsMax: 2, hoursMax: 4 } });
    await waitUntil('all are stored', isStored(rows));
    expect(await stored()).toEqual(await truth(rows));
    await waitUntil('every hour is recorded', isDone);
  });
});
