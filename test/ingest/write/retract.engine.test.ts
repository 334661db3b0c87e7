import { expect } from 'vitest';
import { sql, trustedText } from '../../../clickhouse/engine/sql.ts';
import { SETTLEMENT_COLUMNS } from '../../../clickhouse/tables/schema.ts';
import { address } from '../../../core/domain/address.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Hash, Settlement } from '../../../core/domain/settlement.ts';
import { encodeSettlements } from '../../../ingest/write/encode.ts';
import { retractAbove } from '../../../ingest/write/retract.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import type { TestEngine } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';

const versions = createVersions(0n);

const hash = (n: number): Hash => `0x${n.toString(16).padStart(64, '0')}`;
const account = (n: number) => address(`0x${n.toString(16).padStart(40, '0')}`);
const settlement = (chain: Chain, blockNumber: number, payee = 2): Settlement => ({
  chain,
  blockNumber,
  blockTime: 1_790_000_000 + blockNumber,
  logIndex: 1,
  blockHash: hash(blockNumber),
  txHash: hash(blockNumber),
  payer: account(1),
  payee: account(payee),
  asset: account(9),
  assetSymbol: 'USDC',
  amount: 5n,
  amountUsdMicros: 5n,
  relayer: account(8),
  facilitator: '',
  method: 'gasless_authorization',
  seen: 0,
  builderFacilitator: '',
  builderApps: '',
});

async function write(engine: TestEngine, rows: readonly Settlement[]): Promise<void> {
  await engine.writer.insert('test-rows', 'settlements', SETTLEMENT_COLUMNS, [
    encodeSettlements(rows, versions.next(), 0),
  ]);
}

async function liveBlocks(engine: TestEngine, table: string, chain: Chain): Promise<number[]> {
  const { rows } = await engine.reader.rows({
    name: 'live',
    sql: sql`SELECT DISTINCT block_number FROM ${trustedText(table)} FINAL WHERE chain = ${trustedText(`'${chain}'`)} AND del = 0 ORDER BY block_number`,
    maxSeconds: 10,
    maxRows: 1_000,
  });
  return rows.map(([number]) => Number(number));
}

const above = (engine: TestEngine, chain: Chain, number: number) =>
  retractAbove(engine.writer, versions, chain, { number, time: 1_790_000_000 + number });

test('everything above the ancestor is gone from both tables, everything else and every other chain stays', async ({
  engine,
}) => {
  await write(
    engine,
    [1, 2, 3, 4].flatMap((block) => [settlement('eip155:1', block), settlement('eip155:2', block)]),
  );
  await above(engine, 'eip155:1', 2);
  expect(await liveBlocks(engine, 'settlements', 'eip155:1')).toEqual([1, 2]);
  expect(await liveBlocks(engine, 'wallet_log', 'eip155:1')).toEqual([1, 2]);
  expect(await liveBlocks(engine, 'settlements', 'eip155:2')).toEqual([1, 2, 3, 4]);
});

test('a repeat changes nothing, and what is ingested afterwards lives', async ({ engine }) => {
  await write(engine, [settlement('eip155:3', 1), settlement('eip155:3', 2)]);
  await above(engine, 'eip155:3', 1);
  await above(engine, 'eip155:3', 1);
  await write(engine, [settlement('eip155:3', 2, 7)]);
  await above(engine, 'eip155:3', 2);
  expect(await liveBlocks(engine, 'settlements', 'eip155:3')).toEqual([1, 2]);
  expect(await liveBlocks(engine, 'wallet_log', 'eip155:3')).toEqual([1, 2]);
});

test('the old payee of a replaced payment no longer sees it', async ({ engine }) => {
  await write(engine, [settlement('eip155:4', 5, 40)]);
  await above(engine, 'eip155:4', 4);
  await write(engine, [settlement('eip155:4', 5, 41)]);
  const { rows } = await engine.reader.rows({
    name: 'wallets',
    sql: sql`SELECT wallet FROM wallet_log FINAL WHERE chain = 'eip155:4' AND role = 'payee' AND del = 0`,
    maxSeconds: 10,
    maxRows: 10,
  });
  expect(rows).toEqual([[account(41)]]);
});

test('a row that a crash left in the wallet log alone is retracted too', async ({ engine }) => {
  await write(engine, [settlement('eip155:5', 1)]);
  await engine.writer.run({
    name: 'orphan',
    sql: sql`INSERT INTO wallet_log SELECT * REPLACE(6 AS block_number, block_time + 5 AS block_time)
             FROM (SELECT * FROM wallet_log FINAL WHERE chain = 'eip155:5')`,
    maxSeconds: 10,
  });
  expect(await liveBlocks(engine, 'wallet_log', 'eip155:5')).toEqual([1, 6]);
  await above(engine, 'eip155:5', 1);
  expect(await liveBlocks(engine, 'wallet_log', 'eip155:5')).toEqual([1]);
});
