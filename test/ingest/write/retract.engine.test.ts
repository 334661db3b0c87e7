import { expect } from 'vitest';
import { isOfScope } from '../../../clickhouse/engine/guard.ts';
import { sql, trustedText } from '../../../clickhouse/engine/sql.ts';
import { SETTLEMENTS, type Settlement } from '../../../clickhouse/tables/settlements.ts';
import { insertRows } from '../../../clickhouse/tables/table.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { retractAbove, waitForWrites } from '../../../ingest/write/retract.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import type { TestEngine } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';
import { settlement as made, wallet } from '../../kit/rows.ts';
import { waitUntil } from '../../kit/wait-until.ts';

const versions = createVersions(0n);

const settlement = (chain: Chain, blockNumber: number, payee = 2): Settlement =>
  made({ chain, blockNumber, blockTime: 1_790_000_000 + blockNumber, logIndex: 1, payee: wallet(payee) });

async function write(engine: TestEngine, rows: readonly Settlement[]): Promise<void> {
  const fixed = { ver: versions.next(), del: 0 } as const;
  await insertRows(engine.writer, { name: 'test-rows', table: SETTLEMENTS, rows, fixed });
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
  expect(await liveBlocks(engine, 'wallet_rows', 'eip155:1')).toEqual([1, 2]);
  expect(await liveBlocks(engine, 'settlements', 'eip155:2')).toEqual([1, 2, 3, 4]);
});

test('a repeat changes nothing, and a row that is ingested afterwards lives', async ({ engine }) => {
  await write(engine, [settlement('eip155:3', 1), settlement('eip155:3', 2)]);
  await above(engine, 'eip155:3', 1);
  await above(engine, 'eip155:3', 1);
  await write(engine, [settlement('eip155:3', 2, 7)]);
  await above(engine, 'eip155:3', 2);
  expect(await liveBlocks(engine, 'settlements', 'eip155:3')).toEqual([1, 2]);
  expect(await liveBlocks(engine, 'wallet_rows', 'eip155:3')).toEqual([1, 2]);
});

test('the old payee of a replaced payment no longer sees it', async ({ engine }) => {
  await write(engine, [settlement('eip155:4', 5, 40)]);
  await above(engine, 'eip155:4', 4);
  await write(engine, [settlement('eip155:4', 5, 41)]);
  const { rows } = await engine.reader.rows({
    name: 'wallets',
    sql: sql`SELECT wallet FROM wallet_rows FINAL WHERE chain = 'eip155:4' AND role = 'payee' AND del = 0`,
    maxSeconds: 10,
    maxRows: 10,
  });
  expect(rows).toEqual([[wallet(41)]]);
});

test('a row that a crash left in the wallet log alone is retracted too', async ({ engine }) => {
  await write(engine, [settlement('eip155:5', 1)]);
  await engine.writer.run({
    name: 'orphan',
    sql: sql`INSERT INTO wallet_rows SELECT * REPLACE(6 AS block_number, block_time + 5 AS block_time)
             FROM (SELECT * FROM wallet_rows FINAL WHERE chain = 'eip155:5')`,
    maxSeconds: 10,
  });
  expect(await liveBlocks(engine, 'wallet_rows', 'eip155:5')).toEqual([1, 6]);
  await above(engine, 'eip155:5', 1);
  expect(await liveBlocks(engine, 'wallet_rows', 'eip155:5')).toEqual([1]);
});

test('running inserts are waited for by the scope that they carry, whatever their names say', async ({
  engine,
}) => {
  const signal = new AbortController().signal;
  const slowly = (scope: string, name: string): Promise<void> =>
    engine.writer.run({
      name,
      scopes: [scope],
      sql: sql`INSERT INTO retracted_keys (chain) SELECT 'eip155:6' FROM numbers(10) WHERE sleepEachRow(0.1) = 0`,
      maxSeconds: 10,
    });
  const waited: number[] = [];
  const writing = [slowly('waited-for', 'write-settlements other'), slowly('other', 'retract waited-for')];
  await waitUntil('the engine has begun with both', async () => {
    const counts = await Promise.all(['waited-for', 'other'].map((scope) => countRunning(engine, scope)));
    return counts.every((count) => count === 1);
  });
  await waitForWrites(engine.writer, 'waited-for', signal, (count) => waited.push(count));
  expect(waited).toEqual([1]);
  expect(await countRunning(engine, 'waited-for')).toBe(0);
  await waitForWrites(engine.writer, 'unknown', signal, (count) => waited.push(count));
  expect(waited).toEqual([1]);
  await Promise.all(writing);
});

async function countRunning(engine: TestEngine, scope: string): Promise<number> {
  const { rows } = await engine.writer.rows({
    name: 'running',
    sql: sql`SELECT count() FROM system.processes WHERE query_kind = 'Insert' AND ${isOfScope(scope)}`,
    maxSeconds: 10,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}
