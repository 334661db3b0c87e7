import { describe, expect } from 'vitest';
import { TRANSACTION_FEES } from '../../../../clickhouse/tables/fees.ts';
import { insertRows } from '../../../../clickhouse/tables/table.ts';
import type { OperationDeps } from '../../../../src/operations/deps.ts';
import { register } from '../../../../src/operations/register.ts';
import { getTransaction } from '../../../../src/operations/settlements/transaction.ts';
import { CURSOR_KEYS, type TestApi } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import {
  BASE,
  hash,
  insertSettlements,
  NOON,
  nameFacilitator,
  nextVer,
  POLYGON,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';

/** One transaction by its hash, through everything that can happen to its rows. */

const DAY = 86_400;
const BATCH = hash(0xba7c4);
let engine: TestEngine;
let api: TestApi;

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON, { finalized_block: '900' });
  await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
});

const logsOf = (body: { settlements: readonly { chain: string; log_index: number }[] }) =>
  body.settlements.map(({ chain, log_index }) => [chain, log_index]);

async function found(txHash: string, query = '') {
  const { status, body } = await api.get(`/v0/transactions/${txHash}${query}`);
  return status === 200 ? logsOf(body) : [status, body.code];
}

test('all settlements of a transaction and of no other, in the order of their logs, as lists show them', async () => {
  const common = { blockNumber: 1_200, blockTime: NOON - 40, txHash: BATCH };
  await insertSettlements(engine.writer, [
    settlement({
      ...common,
      logIndex: 9,
      payer: wallet(2),
      facilitator: 'coinbase',
      method: 'facilitator_relay',
    }),
    settlement({ ...common, logIndex: 3, payer: wallet(1) }),
    settlement({ ...common, logIndex: 5, txHash: hash(0xffff) }),
    // The same first bytes, in the same second.
    settlement({ ...common, logIndex: 6, txHash: `${BATCH.slice(0, 64)}ff` as typeof BATCH }),
  ]);
  const { status, body } = await api.get(`/v0/transactions/${BATCH.toUpperCase().replace('0X', '0x')}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ tx_hash: BATCH, settlement_count: 2, meta: { chain: null } });
  expect(logsOf(body)).toEqual([
    [BASE, 3],
    [BASE, 9],
  ]);
  expect(body.settlements[1]).toMatchObject({
    block_number: 1_200,
    finality: 'finalized',
    facilitator_name: 'Coinbase',
    evidence: { tier: 'proven', verified: true },
  });
  const listed = await api.get(`/v0/flows?limit=100`);
  const ofFlows = listed.body.flows.filter((row: { tx_hash: string }) => row.tx_hash === BATCH);
  expect(body.settlements.toReversed()).toEqual(ofFlows);
});

test('its fee is null until the receipt was read, then what it was, in digits', async () => {
  const txHash = hash(0xfee);
  const row = settlement({ txHash, blockTime: NOON - 55, blockNumber: 1_190 });
  await insertSettlements(engine.writer, [row]);
  const fee = async () => (await api.get(`/v0/transactions/${txHash}`)).body.fee;
  expect(await fee()).toBeNull();
  const { chain, blockNumber, blockTime, relayer, facilitator } = row;
  const kept = {
    chain,
    txHash,
    blockNumber,
    blockTime,
    relayer,
    facilitator,
    settlementCount: 1,
    settledUsdMicros: 0n,
  };
  const cost = { gasUsed: 60_000, gasPrice: 2n ** 100n, l1Fee: 9n, fee: 60_000n * 2n ** 100n + 9n };
  const insert = (del: 0 | 1) =>
    insertRows(engine.writer, {
      name: 'test-fee',
      table: TRANSACTION_FEES,
      rows: [{ ...kept, ...cost }],
      fixed: { ver: nextVer(), del },
    });
  await insert(0);
  expect(await fee()).toEqual({
    gas_used: 60_000,
    gas_price_wei: String(cost.gasPrice),
    l1_fee_wei: '9',
    fee_wei: String(cost.fee),
  });
  await insert(1);
  expect(await fee()).toBeNull();
});

test('a chain that is named is the only one looked at', async () => {
  const txHash = hash(0xdeed);
  await insertSettlements(engine.writer, [
    settlement({ txHash, blockTime: NOON - 900 }),
    settlement({ txHash, blockTime: NOON - 70 * DAY, chain: POLYGON, logIndex: 1 }),
  ]);
  expect(await found(txHash)).toEqual([
    [POLYGON, 1],
    [BASE, 0],
  ]);
  expect(await found(txHash, `?chain=${POLYGON}`)).toEqual([[POLYGON, 1]]);
  const { body } = await api.get(`/v0/transactions/${txHash}?chain=${POLYGON}`);
  expect([body.meta.chain, body.settlements[0].finality]).toEqual([POLYGON, 'head']);
});

test('a settlement that a reorg took is not found, one that it moved is found at its new place', async () => {
  const [txHash, usurper] = [hash(0x5eed), hash(0x0ff)];
  const before = settlement({ txHash, blockTime: NOON - 200, blockNumber: 1_700, logIndex: 2 });
  await insertSettlements(engine.writer, [before]);
  expect(await found(txHash)).toEqual([[BASE, 2]]);
  await tombstone(engine.writer, [before]);
  expect(await found(txHash)).toEqual([404, 'transaction_not_found']);
  // Another transaction in its place, and this one a block later.
  await insertSettlements(engine.writer, [
    { ...before, txHash: usurper },
    { ...before, blockTime: NOON - 198, blockNumber: 1_701, logIndex: 7 },
  ]);
  expect(await found(txHash)).toEqual([[BASE, 7]]);
  expect(await found(usurper)).toEqual([[BASE, 2]]);
});

test('a regrade and a repeated write show one row with the newest grade', async () => {
  const row = settlement({ txHash: hash(0x9ade), blockTime: NOON - 300, blockNumber: 1_300, logIndex: 4 });
  await insertSettlements(engine.writer, [row]);
  await insertSettlements(engine.writer, [{ ...row, method: 'builder_code' }]);
  const { body } = await api.get(`/v0/transactions/${row.txHash}`);
  expect(body.settlement_count).toBe(1);
  expect(body.settlements[0].evidence.method).toBe('builder_code');
});

test('a batch that is larger than an answer says how many settlements it has', async () => {
  const txHash = hash(0xb16);
  await insertSettlements(
    engine.writer,
    Array.from({ length: 1_100 }, (_, logIndex) => settlement({ txHash, blockTime: NOON - 500, logIndex })),
  );
  const { body } = await api.get(`/v0/transactions/${txHash}`);
  expect([body.settlement_count, body.settlements.length, body.settlements.at(-1).log_index]).toEqual([
    1_100, 1_000, 999,
  ]);
});

describe('a hash that is no transaction of the index', () => {
  test('a payment for a hash without a settlement is refused before it settles', async () => {
    const call = (txHash: string) =>
      register(getTransaction)
        .prepare({ tx_hash: txHash }, { chains: [BASE, POLYGON], cursorKeys: CURSOR_KEYS })
        .preflight?.({ reader: engine.reader } as OperationDeps, 'a caller');
    await expect(call(hash(0xabc))).rejects.toMatchObject({ code: 'transaction_not_found' });
    await expect(call(BATCH)).resolves.toBeUndefined();
  });

  test('a hash without a settlement is 404 and says why that can be', async () => {
    const { status, body } = await api.get(`/v0/transactions/${hash(0xabc)}?chain=${BASE}`);
    expect([status, body.code]).toEqual([404, 'transaction_not_found']);
    expect(body.detail).toBe(
      `No settlement of ${hash(0xabc)} is indexed on ${BASE}, the only chain that was asked for: not a settlement, not yet indexed, taken back by a reorg, or on a chain that is not covered.`,
    );
  });

  test.each(['0x12', hash(1).slice(2), `${hash(1)}0`, `0x${'g'.repeat(64)}`, wallet(1)])(
    '%s is no hash: 400',
    async (given) => {
      const { status, body } = await api.get(`/v0/transactions/${given}`);
      expect([status, body.code, body.parameter]).toEqual([400, 'invalid_parameter', 'tx_hash']);
    },
  );
});
