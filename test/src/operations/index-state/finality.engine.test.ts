import { describe, expect } from 'vitest';
import { sql, trustedText } from '../../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { readChainStatus } from '../../../../src/operations/index-state/chain-status.ts';
import { finalBlocks, finalCoverage, onFinalChain } from '../../../../src/operations/index-state/finality.ts';
import { rowKey, type TestApi, walk } from '../../../kit/api.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  POLYGON,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';

/** Truth: the same rows filtered here, by the final block that each chain reported. */

let engine: TestEngine;
let api: TestApi;

const OF = wallet(0xa1);
const DAY = 86_400;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(async ({ api: fresh }) => {
  api = fresh;
  await emptyTables(engine.writer);
});

const keyOf = (row: Settlement): string => `${row.chain}/${row.blockNumber}/${row.logIndex}/${row.txHash}`;

/** Newest first, as every list sorts. */
function sortedKeys(rows: readonly Settlement[]): string[] {
  return [...rows]
    .sort(
      (a, b) =>
        b.blockTime - a.blockTime ||
        (a.chain < b.chain ? 1 : 0) - (a.chain > b.chain ? 1 : 0) ||
        b.blockNumber - a.blockNumber ||
        b.logIndex - a.logIndex,
    )
    .map(keyOf);
}

/** Two chains whose heights and finality differ; four rows a second, newest block 1,000 (Base) and 5,000 (Polygon). */
function twoChains(count: number): Settlement[] {
  return Array.from({ length: count }, (_, index) => {
    const step = Math.floor(index / 4);
    const onBase = index % 4 < 3;
    return settlement({
      chain: onBase ? BASE : POLYGON,
      blockTime: NOON - step * 2,
      blockNumber: (onBase ? 1_000 : 5_000) - step,
      logIndex: index % 4,
      payer: index % 2 === 0 ? OF : wallet(0x300 + (index % 5)),
      payee: index % 2 === 0 ? wallet(0x300 + (index % 3)) : OF,
    });
  });
}

async function reportFinal(final: { readonly base: number; readonly polygon: number }): Promise<void> {
  await reportChain(engine.writer, BASE, { finalized_block: String(final.base) });
  await reportChain(engine.writer, POLYGON, { finalized_block: String(final.polygon) });
}

const PATHS = ['/v0/flows', '/v0/transactions', `/v0/entities/${OF}/settlements`];
const FINAL = '&finality=finalized';

describe.each(PATHS)('%s?finality=finalized', (path) => {
  test.each([1, 7, 100])('serves exactly the final rows of every chain, with limit %i', async (limit) => {
    const rows = twoChains(limit === 1 ? 60 : 160);
    await insertSettlements(engine.writer, rows);
    await reportFinal({ base: 990, polygon: 4_992 });
    const isFinalRow = (row: Settlement): boolean =>
      row.chain === BASE ? row.blockNumber <= 990 : row.blockNumber <= 4_992;
    const walked = await walk(api, path, { limit, query: FINAL });
    expect(walked.rows.map(rowKey)).toEqual(sortedKeys(rows.filter(isFinalRow)));
    expect(new Set(walked.rows.map((row) => row['finality']))).toEqual(new Set(['finalized']));
  });

  test('a chain that has not stated a final block contributes nothing, and meta says so', async () => {
    const rows = twoChains(40);
    await insertSettlements(engine.writer, rows);
    await reportFinal({ base: 1_000, polygon: 0 });
    const walked = await walk(api, path, { limit: 9, query: FINAL });
    expect(walked.rows.map(rowKey)).toEqual(sortedKeys(rows.filter(({ chain }) => chain === BASE)));
    const { body } = await api.get(`${path}?finality=finalized`);
    expect(body.meta.warnings).toContain('finality_unknown');
    expect((await api.get(path)).body.meta.warnings ?? []).not.toContain('finality_unknown');
  });

  test('with no final block anywhere the list is empty and ends', async () => {
    await insertSettlements(engine.writer, twoChains(8));
    const { status, body } = await api.get(`${path}?finality=finalized`);
    expect(status).toBe(200);
    expect(body.flows ?? body.transactions ?? body.settlements).toEqual([]);
    expect(body.next_before).toBeNull();
  });

  test('finality long behind the tip is reached without paging through rows that are not final', async () => {
    const old = settlement({ payer: OF, blockTime: NOON - 40 * DAY, blockNumber: 10 });
    await insertSettlements(engine.writer, [old, ...twoChains(120)]);
    await reportFinal({ base: 10, polygon: 10 });
    const { body } = await api.get(`${path}?finality=finalized&limit=5`);
    const list = body.flows ?? body.transactions ?? body.settlements;
    expect(list.map(rowKey)).toEqual([keyOf(old)]);
    expect(body.next_before).toBeNull();
  });

  test('a walk repeats and skips no final row while finality moves on and a reorg rewrites the tip', async () => {
    const rows = twoChains(120);
    await insertSettlements(engine.writer, rows);
    await reportFinal({ base: 990, polygon: 4_990 });
    const wasFinal = rows.filter(({ chain, blockNumber }) => blockNumber <= (chain === BASE ? 990 : 4_990));
    const tip = rows.filter((row) => !wasFinal.includes(row));
    const { rows: walked } = await walk(api, path, {
      limit: 10,
      query: FINAL,
      between: async (page) => {
        if (page === 1) await tombstone(engine.writer, tip.slice(0, 5));
        if (page === 2) await reportFinal({ base: 997, polygon: 4_997 });
        api.clock.advanceSeconds(3);
      },
    });
    expect(walked.map(rowKey)).toEqual(sortedKeys(wasFinal));
  });

  test('a cursor of the unfiltered list continues among final rows, and the other way round', async () => {
    const rows = twoChains(80);
    await insertSettlements(engine.writer, rows);
    await reportFinal({ base: 990, polygon: 4_999 });
    const order = sortedKeys(rows);
    const finals = sortedKeys(
      rows.filter(({ chain, blockNumber }) => blockNumber <= (chain === BASE ? 990 : 4_999)),
    );
    const top = await api.get(`${path}?limit=8`);
    const filtered = await walkFrom(path, FINAL, top.body.next_before);
    expect(filtered).toEqual(finals.filter((key) => !order.slice(0, 8).includes(key)));
    const finalTop = await api.get(`${path}?limit=8${FINAL}`);
    const last = order.indexOf(finals[7] ?? '');
    expect(await walkFrom(path, '', finalTop.body.next_before)).toEqual(order.slice(last + 1));
  });

  test('another word is refused, naming the two that are not', async () => {
    const { status, body } = await api.get(`${path}?finality=safe`);
    expect({ status, code: body.code, parameter: body.parameter }).toEqual({
      status: 400,
      code: 'invalid_parameter',
      parameter: 'finality',
    });
    expect(body.detail).toContain('finalized, any');
  });
});

async function walkFrom(path: string, query: string, cursor: string): Promise<string[]> {
  const keys: string[] = [];
  for (let before: string | null = cursor; before !== null; ) {
    const { body } = await api.get(`${path}?limit=20${query}&before=${before}`);
    keys.push(...(body.flows ?? body.transactions ?? body.settlements).map(rowKey));
    before = body.next_before;
  }
  return keys;
}

describe('the coverage of figures over final rows', () => {
  const closed = { open: [{ from: NOON + DAY, to: null }], splitDays: [] };

  async function openSince(): Promise<number | undefined> {
    const blocks = finalBlocks(await readChainStatus(engine.reader));
    return (await finalCoverage(engine.reader, closed, blocks)).open[0]?.from;
  }

  async function rememberBlock(number: number, time: number): Promise<void> {
    await engine.writer.run({
      name: 'test-block',
      maxSeconds: 10,
      sql: trustedText(
        `INSERT INTO blocks (chain, number, hash, time, ver) SELECT '${BASE}', ${number}, unhex('${'ab'.repeat(32)}'), toDateTime(${time}, 'UTC'), 1`,
      ),
    });
  }

  test('opens the day of the oldest row that is not final, with or without remembered blocks', async () => {
    const oldest = NOON - 3 * DAY;
    await insertSettlements(engine.writer, [
      settlement({ blockNumber: 10, blockTime: NOON - 9 * DAY }),
      settlement({ blockNumber: 50, blockTime: oldest }),
      settlement({ blockNumber: 60, blockTime: NOON }),
      settlement({ chain: POLYGON, blockNumber: 5_000, blockTime: NOON - 20 * DAY }),
    ]);
    await reportChain(engine.writer, BASE, { finalized_block: '40' });
    const startOfDay = oldest - (oldest % DAY);
    expect(await openSince()).toBe(startOfDay);
    await rememberBlock(40, NOON - 5 * DAY);
    expect(await openSince()).toBe(startOfDay);
  });

  test('with every row final, opens the newest day only', async () => {
    await insertSettlements(engine.writer, [
      settlement({ blockNumber: 10, blockTime: NOON - 9 * DAY }),
      settlement({ blockNumber: 11, blockTime: NOON }),
    ]);
    await reportChain(engine.writer, BASE, { finalized_block: '40' });
    expect(await openSince()).toBe(NOON - (NOON % DAY));
  });

  test('leaves out chains without a final block', async () => {
    await reportFinal({ base: 40, polygon: 0 });
    const [on = sql`1`] = onFinalChain(finalBlocks(await readChainStatus(engine.reader)));
    const { rows } = await engine.reader.rows({
      name: 'test-chains',
      maxSeconds: 5,
      maxRows: 10,
      sql: sql`SELECT arrayJoin(['eip155:8453', 'eip155:137']) AS chain WHERE ${on}`,
    });
    expect(rows).toEqual([[BASE]]);
  });
});
