import { describe, expect } from 'vitest';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { mintCursor } from '../../../../core/domain/cursor.ts';
import { CURSOR_KEYS, rowKey, type TestApi, testApi, walk } from '../../../kit/api.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { IS_PUSH } from '../../../kit/lengths.ts';
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

let engine: TestEngine;
let api: TestApi;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(async ({ api: fresh }) => {
  api = fresh;
  await emptyTables(engine.writer);
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
});

const keyOf = (row: Settlement): string => `${row.chain}/${row.blockNumber}/${row.logIndex}/${row.txHash}`;

/** Newest first, as the feed sorts. */
const sortedKeys = (rows: readonly Settlement[]): string[] =>
  [...rows]
    .sort(
      (a, b) =>
        b.blockTime - a.blockTime ||
        (a.chain < b.chain ? 1 : 0) - (a.chain > b.chain ? 1 : 0) ||
        b.blockNumber - a.blockNumber ||
        b.logIndex - a.logIndex,
    )
    .map(keyOf);

/** Two chains, gaps from seconds to months, several rows a second. */
function scattered(count: number): Settlement[] {
  return Array.from({ length: count }, (_, index) => {
    const cluster = Math.floor(index / 7);
    return settlement({
      chain: index % 3 === 0 ? POLYGON : BASE,
      blockTime: NOON - cluster * 2 - (cluster > 10 ? 5_000 : 0) - (cluster > 20 ? 90 * 86_400 : 0),
      blockNumber: 10_000 - cluster,
      logIndex: index % 7,
      payer: wallet(0x100 + (index % 5)),
      payee: wallet(0x100 + (index % 4)),
      method: index % 2 === 0 ? 'facilitator_relay' : 'not_examined',
      facilitator: index % 2 === 0 ? 'coinbase' : '',
    });
  });
}

describe.each(['/v0/flows', '/v0/transactions'])('walking %s', (path) => {
  const everyLimit = [
    [1, 30],
    [3, 170],
    [50, 240],
    [100, 240],
  ] as const;
  test.each(IS_PUSH ? everyLimit.slice(2, 3) : everyLimit)(
    'with limit %i yields each of %i rows once, newest first',
    async (limit, count) => {
      const rows = scattered(count);
      await insertSettlements(engine.writer, rows);
      const walked = await walk(api, path, { limit });
      expect(walked.rows.map(rowKey)).toEqual(sortedKeys(rows));
      expect(walked.pages).toBe(Math.ceil(count / limit));
    },
  );

  test.each(IS_PUSH ? [37] : [37, 100])(
    'pages exactly through 1,000 rows of one timestamp with limit %i',
    async (limit) => {
      const rows = Array.from({ length: 1_000 }, (_, index) =>
        settlement({
          chain: index % 2 === 0 ? BASE : POLYGON,
          blockNumber: 500 + (index % 3),
          logIndex: index,
        }),
      );
      await insertSettlements(engine.writer, rows);
      const walked = await walk(api, path, { limit });
      expect(walked.rows.map(rowKey)).toEqual(sortedKeys(rows));
    },
  );

  test('a walk meets every surviving row once while rows arrive and a reorg removes some', async () => {
    const rows = scattered(210);
    await insertSettlements(engine.writer, rows);
    const removed = rows.filter((_, index) => index > 40 && index % 11 === 0);
    const rewritten = rows.filter((_, index) => index % 13 === 0);
    const arriving = Array.from({ length: 30 }, (_, index) =>
      settlement({ blockTime: NOON + 10 + index, blockNumber: 20_000 + index, logIndex: 1 }),
    );
    const { rows: walked } = await walk(api, path, {
      limit: 20,
      between: async (page) => {
        if (page === 1) await tombstone(engine.writer, removed);
        if (page === 2) await insertSettlements(engine.writer, arriving);
        if (page === 3)
          await insertSettlements(
            engine.writer,
            rewritten.filter((row) => !removed.includes(row)),
          );
      },
    });
    const keys = walked.map(rowKey);
    expect(new Set(keys).size).toBe(keys.length);
    const gone = new Set(removed.map(keyOf));
    const arrived = new Set(arriving.map(keyOf));
    const surviving = sortedKeys(rows.filter((row) => !gone.has(keyOf(row))));
    expect(keys.filter((key) => !gone.has(key) && !arrived.has(key))).toEqual(surviving);
    expect(keys.slice(20).filter((key) => gone.has(key))).toEqual([]);
  });

  test('a cursor whose row was removed by a reorg continues at the same place', async () => {
    const rows = scattered(40);
    await insertSettlements(engine.writer, rows);
    const order = sortedKeys(rows);
    const first = await api.get(`${path}?limit=10`);
    const anchor = rows.find((row) => keyOf(row) === order[9]);
    expect(anchor).toBeDefined();
    await tombstone(engine.writer, anchor === undefined ? [] : [anchor]);
    const second = await api.get(`${path}?limit=10&before=${first.body.next_before}`);
    const list = second.body.flows ?? second.body.transactions;
    expect(list.map(rowKey)).toEqual(order.slice(10, 20));
  });

  test('a tombstone of every row leaves an empty list, and the walk ends', async () => {
    const rows = scattered(120);
    await insertSettlements(engine.writer, rows);
    await tombstone(engine.writer, rows);
    const walked = await walk(api, path, { limit: 10 });
    expect(walked.rows).toEqual([]);
  });

  test('a chain filter serves that chain only, in full', async () => {
    const rows = scattered(120);
    await insertSettlements(engine.writer, rows);
    const walked = await walk(api, path, { limit: 13, query: `&chain=${POLYGON}` });
    expect(walked.rows.map(rowKey)).toEqual(sortedKeys(rows.filter((row) => row.chain === POLYGON)));
  });
});

describe('filters of /v0/transactions', () => {
  test('after-read filters empty whole pages and the walk still reaches every matching row', async () => {
    const noise = Array.from({ length: 220 }, (_, index) =>
      settlement({ blockTime: NOON - index, blockNumber: 900 - index, payer: wallet(1), payee: wallet(1) }),
    );
    const wanted = [
      settlement({ blockTime: NOON - 1_000, blockNumber: 10, method: 'facilitator_relay' }),
      settlement({ blockTime: NOON - 2_000, blockNumber: 9, method: 'builder_code' }),
    ];
    await insertSettlements(engine.writer, [...noise, ...wanted]);
    const walked = await walk(api, '/v0/transactions', {
      limit: 20,
      query: '&exclude_self_payments=true&min_probability=0.9',
    });
    expect(walked.rows.map(rowKey)).toEqual(sortedKeys(wanted));
    expect(walked.pages).toBeGreaterThan(10);
  });

  test('an emptied page is an answer with a cursor and facts about the dataset', async () => {
    const rows = Array.from({ length: 30 }, (_, index) =>
      settlement({ blockNumber: index + 1, payer: wallet(1), payee: wallet(1) }),
    );
    await insertSettlements(engine.writer, rows);
    const { body } = await api.get('/v0/transactions?limit=10&exclude_self_payments=1');
    expect(body.transactions).toEqual([]);
    expect(body.next_before).toEqual(expect.any(String));
    expect(body.meta).toMatchObject({ self_payments_excluded: true, dataset_row_count: 30 });
    expect(body.meta).not.toHaveProperty('page_gross_usd');
  });

  test('tier and facilitator select by the newest grade, not by an older version of the row', async () => {
    const regraded = settlement({ blockNumber: 1, method: 'facilitator_relay', facilitator: 'coinbase' });
    const named = settlement({ blockNumber: 2, method: 'facilitator_relay', facilitator: 'coinbase' });
    await insertSettlements(engine.writer, [regraded, named]);
    await insertSettlements(engine.writer, [
      { ...regraded, method: 'gasless_authorization', facilitator: '' },
    ]);
    const proven = await walk(api, '/v0/transactions', { limit: 5, query: '&tier=proven' });
    const coinbase = await walk(api, '/v0/transactions', { limit: 5, query: '&facilitator=coinbase' });
    const unproven = await walk(api, '/v0/transactions', { limit: 5, query: '&tier=unproven' });
    expect(proven.rows.map(rowKey)).toEqual([keyOf(named)]);
    expect(coinbase.rows.map(rowKey)).toEqual([keyOf(named)]);
    expect(unproven.rows.map(rowKey)).toEqual([keyOf(regraded)]);
  });

  test('a rare filter finds matches that lie months apart', async () => {
    const rare = [0, 40, 200, 400].map((days, index) =>
      settlement({ blockTime: NOON - days * 86_400, blockNumber: 9 - index, facilitator: 'rare' }),
    );
    await insertSettlements(engine.writer, [...rare, ...scattered(200)]);
    const walked = await walk(api, '/v0/transactions', { limit: 3, query: '&facilitator=rare' });
    expect(walked.rows.map(rowKey)).toEqual(sortedKeys(rare));
  });
});

describe('cursors that are not of this list', () => {
  const position = { blockTime: NOON, chain: BASE, blockNumber: 5, logIndex: 1 };
  const own = mintCursor(CURSOR_KEYS, 'listFlows', position);
  const foreign = mintCursor({ keys: [Buffer.alloc(32, 8)] }, 'listFlows', position);
  const wrong: Record<string, string> = {
    'of another list': mintCursor(CURSOR_KEYS, 'listTransactions', position),
    'of another deployment': foreign,
    'cut short': own.slice(0, -3),
    'with one character changed': `${own.slice(0, 30)}${own[30] === 'A' ? 'B' : 'A'}${own.slice(31)}`,
    'made up': 'abc',
    empty: '',
    'absurdly long': 'A'.repeat(2_000),
  };
  test.each(Object.entries(wrong))('%s: 400 naming before', async (_what, cursor) => {
    const { status, body } = await api.get(`/v0/flows?before=${cursor}`);
    expect({ status, code: body.code, parameter: body.parameter }).toEqual({
      status: 400,
      code: 'invalid_parameter',
      parameter: 'before',
    });
  });

  test('a cursor minted with the previous key is still accepted', async () => {
    const rotated = await testApi(engine.reader, {
      cursorKeys: { keys: [Buffer.alloc(32, 9), Buffer.alloc(32, 7)] },
    });
    const { status } = await rotated.get(`/v0/flows?before=${own}`);
    await rotated.close();
    expect(status).toBe(200);
  });
});
