import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { type Address, address } from '../../../../core/domain/account.ts';
import { mintCursor, mintWalletCursor } from '../../../../core/domain/cursor.ts';
import { CURSOR_KEYS, type TestApi, testApi } from '../../../kit/api.ts';
import { closeDays, closeHours, dayOf } from '../../../kit/close-days.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  namePayee,
  POLYGON,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';

/** Truth: the live settlements counted one by one, here. The engine's rows are in every state: closed, open, rewritten, retracted. */

let engine: TestEngine;
let api: TestApi;

const DAY = 86_400;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(async ({ api: fresh }) => {
  api = fresh;
  await empty();
});

async function empty(): Promise<void> {
  await emptyTables(engine.writer);
  await reportChain(engine.writer, BASE, { finalized_block: '1000' });
  await reportChain(engine.writer, POLYGON, { finalized_block: '0' });
}

interface Row {
  readonly wallet: string;
  readonly roles: readonly string[];
  readonly settlement_count: number;
  readonly first_seen: string;
  readonly last_seen: string;
}

type Role = 'any' | 'payer' | 'payee';

const timeText = (time: number): string => `${new Date(time * 1_000).toISOString().slice(0, 19)}Z`;

/** One wallet after the other, each over all rows. */
function countNaively(rows: readonly Settlement[], role: Role): Row[] {
  const wallets = new Set(rows.flatMap(({ payer, payee }) => [payer, payee]));
  return [...wallets]
    .sort()
    .reverse()
    .flatMap((of) => {
      const paid = role === 'payee' ? [] : rows.filter(({ payer }) => payer === of);
      const received = role === 'payer' ? [] : rows.filter(({ payee }) => payee === of);
      const all = [...new Set([...paid, ...received])];
      if (all.length === 0) return [];
      const times = all.map(({ blockTime }) => blockTime);
      return [
        {
          wallet: of,
          roles: [...(paid.length > 0 ? ['payer'] : []), ...(received.length > 0 ? ['payee'] : [])],
          settlement_count: all.length,
          first_seen: timeText(Math.min(...times)),
          last_seen: timeText(Math.max(...times)),
        },
      ];
    });
}

async function walkWallets(
  limit: number,
  query = '',
  between?: (page: number) => Promise<void>,
): Promise<Row[]> {
  const found: Row[] = [];
  let cursor = '';
  for (let page = 1; page < 1_000; page++) {
    const { status, body, text } = await api.get(`/v0/wallets?limit=${limit}${query}${cursor}`);
    if (status !== 200) throw new Error(`${status}: ${text}`);
    expect(body.wallets.length).toBeLessThanOrEqual(limit);
    type Named = Row & { readonly name: unknown; readonly name_source: unknown };
    found.push(...body.wallets.map(({ name: _name, name_source: _source, ...row }: Named) => row));
    if (body.next_before === null) return found;
    cursor = `&before=${body.next_before}`;
    await between?.(page);
  }
  throw new Error('no end');
}

interface Slot {
  readonly slot: number;
  readonly payer: number;
  readonly payee: number;
}

/** Five days, two chains, thirty wallets spread over the address space; a slot has one place in time for ever. */
function slotRow({ slot, payer, payee }: Slot): Settlement {
  const spread = (number: number): Address =>
    address(`0x${(number * 8).toString(16).padStart(2, '0').repeat(20)}`);
  return settlement({
    chain: slot % 3 === 0 ? POLYGON : BASE,
    blockTime: NOON - (slot % 5) * DAY - Math.floor(slot / 5) * 600,
    blockNumber: 1_020 - (slot % 5) * 10 - Math.floor(slot / 5),
    logIndex: slot,
    payer: spread(payer),
    payee: spread(payee),
  });
}

const slots = fc.uniqueArray(
  fc.record<Slot>({
    slot: fc.integer({ min: 0, max: 99 }),
    payer: fc.integer({ min: 1, max: 30 }),
    payee: fc.integer({ min: 1, max: 30 }),
  }),
  { minLength: 5, maxLength: 60, selector: ({ slot }) => slot },
);

describe('/v0/wallets', () => {
  test('equals a naive recount, whatever is closed, open, rewritten or retracted', async () => {
    await fc.assert(
      fc.asyncProperty(
        slots,
        fc.array(fc.nat(59), { maxLength: 20 }),
        fc.array(fc.nat(59), { maxLength: 20 }),
        fc.subarray([0, 1, 2, 3, 4]),
        fc.constantFrom(1, 4, 100),
        async (history, before, after, closedDays, limit) => {
          await empty();
          const rows = history.map(slotRow);
          const pick = (indexes: readonly number[]): Settlement[] =>
            rows.filter((_, index) => indexes.includes(index));
          await insertSettlements(engine.writer, rows);
          await insertSettlements(engine.writer, pick(before));
          await tombstone(engine.writer, pick(before).slice(0, 4));
          const closed = rows.filter(({ blockTime }) =>
            closedDays.includes((dayOf(NOON) - dayOf(blockTime)) / DAY),
          );
          await closeDays(
            engine.writer,
            closed.map(({ blockTime }) => blockTime),
          );
          await tombstone(engine.writer, pick(after).slice(0, 4));
          // Half of what was retracted comes back, as other events do after a reorg.
          await insertSettlements(engine.writer, pick(after).slice(0, 2));
          const gone = new Set([...pick(before).slice(0, 4), ...pick(after).slice(0, 4)]);
          for (const row of pick(after).slice(0, 2)) gone.delete(row);
          const live = rows.filter((row) => !gone.has(row));
          const final = live.filter(({ chain, blockNumber }) => chain === BASE && blockNumber <= 1_000);
          await withFreshApi(async () => {
            const onBase = live.filter(({ chain }) => chain === BASE);
            expect(await walkWallets(limit, `&chain=${BASE}`)).toEqual(countNaively(onBase, 'any'));
            expect(await walkWallets(limit)).toEqual(countNaively(live, 'any'));
            expect(await walkWallets(limit, '&role=payer')).toEqual(countNaively(live, 'payer'));
            expect(await walkWallets(limit, '&role=payee')).toEqual(countNaively(live, 'payee'));
            const onPolygon = live.filter(({ chain }) => chain === POLYGON);
            expect(await walkWallets(limit, `&chain=${POLYGON}`)).toEqual(countNaively(onPolygon, 'any'));
            expect(await walkWallets(limit, '&finality=finalized')).toEqual(countNaively(final, 'any'));
          });
        },
      ),
      { numRuns: lengthOf('engineProperties'), endOnFailure: true },
    );
  }, 240_000);

  /** An answer that is kept for a second must not outlive the scenario. */
  async function withFreshApi(work: () => Promise<void>): Promise<void> {
    await api.close();
    api = await testApi(engine.reader);
    await work();
  }

  test('a wallet whose every settlement was retracted is gone, closed or open', async () => {
    const rows = [
      settlement({ logIndex: 1, blockTime: NOON - 3 * DAY, payer: wallet(1), payee: wallet(2) }),
      settlement({ logIndex: 2, blockTime: NOON, payer: wallet(3), payee: wallet(4) }),
      settlement({ logIndex: 3, blockTime: NOON - 3 * DAY, payer: wallet(5), payee: wallet(6) }),
    ];
    await insertSettlements(engine.writer, rows);
    await closeDays(engine.writer, [NOON - 3 * DAY]);
    await tombstone(engine.writer, rows.slice(0, 2));
    expect((await walkWallets(10)).map((row) => row.wallet)).toEqual([wallet(6), wallet(5)]);
    await closeDays(engine.writer, [NOON - 3 * DAY, NOON]);
    api.clock.advanceSeconds(5);
    expect((await walkWallets(10)).map((row) => row.wallet)).toEqual([wallet(6), wallet(5)]);
  });

  test('a day closed by hours counts each hour once', async () => {
    const rows = [0, 1, 2, 30].map((hours, logIndex) =>
      settlement({ logIndex, blockTime: dayOf(NOON) + hours * 3_600, payer: wallet(1), payee: wallet(2) }),
    );
    await insertSettlements(engine.writer, rows);
    await closeDays(engine.writer, [NOON]);
    await closeHours(engine.writer, rows.slice(0, 3));
    expect(await walkWallets(10)).toEqual(countNaively(rows, 'any'));
  });

  test('a payment to oneself is one settlement of both roles', async () => {
    const rows = [0, 1].map((logIndex) =>
      settlement({ logIndex, blockTime: NOON - logIndex * 2 * DAY, payer: wallet(9), payee: wallet(9) }),
    );
    await insertSettlements(engine.writer, rows);
    await closeDays(engine.writer, [NOON - 2 * DAY]);
    expect(await walkWallets(10)).toMatchObject([{ roles: ['payer', 'payee'], settlement_count: 2 }]);
  });

  test('a walk meets every wallet that stays exactly once while the index grows and shrinks', async () => {
    const rows = Array.from({ length: 60 }, (_, index) =>
      settlement({
        logIndex: index,
        blockTime: NOON - (index % 3) * DAY,
        payer: wallet(1_000 + index),
        payee: wallet(5),
      }),
    );
    await insertSettlements(engine.writer, rows);
    await closeDays(engine.writer, [NOON - DAY, NOON - 2 * DAY]);
    const walked = await walkWallets(7, '', async (page) => {
      if (page === 2) await tombstone(engine.writer, rows.slice(0, 3));
      const late = wallet(page % 2 === 0 ? 100 + page : 9_000 + page);
      await insertSettlements(engine.writer, [
        settlement({ logIndex: 500 + page, payer: late, payee: late }),
      ]);
      api.clock.advanceSeconds(2);
    });
    const names = walked.map((row) => row.wallet);
    expect(new Set(names).size).toBe(names.length);
    expect([...names].sort().reverse()).toEqual(names);
    const staying = rows.slice(3).map(({ payer }) => payer);
    expect(staying.filter((name) => !names.includes(name))).toEqual([]);
  });

  test('long runs of vanished wallets end a page early, never the walk', async () => {
    const rows = Array.from({ length: 3_000 }, (_, index) =>
      settlement({
        logIndex: index,
        blockTime: NOON - 2 * DAY,
        payer: wallet(100_000 + index),
        payee: wallet(7),
      }),
    );
    await insertSettlements(engine.writer, rows);
    await closeDays(engine.writer, [NOON - 2 * DAY]);
    await tombstone(engine.writer, rows.slice(5));
    await closeDays(engine.writer, [NOON - 2 * DAY]);
    expect(await walkWallets(1)).toEqual(countNaively(rows.slice(0, 5), 'any'));
  });

  test('names come from the catalogue', async () => {
    await insertSettlements(engine.writer, [settlement()]);
    await namePayee(engine.writer, wallet(0xb2), 'Weather by the call');
    const { body } = await api.get('/v0/wallets');
    expect(body.wallets).toMatchObject([
      { wallet: wallet(0xb2), name: 'Weather by the call', roles: ['payee'] },
      { wallet: wallet(0xa1), name: null, roles: ['payer'] },
    ]);
  });

  test('an empty list has facts about the dataset and ends', async () => {
    await insertSettlements(engine.writer, [settlement()]);
    const { status, body } = await api.get(`/v0/wallets?chain=${POLYGON}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ wallets: [], next_before: null });
    expect(body.meta).toMatchObject({ chain: POLYGON, dataset_row_count: 0 });
  });

  test('limit is clamped', async () => {
    await insertSettlements(
      engine.writer,
      Array.from({ length: 120 }, (_, logIndex) =>
        settlement({ logIndex, payer: wallet(10_000 + logIndex) }),
      ),
    );
    expect((await api.get('/v0/wallets?limit=100000')).body.wallets).toHaveLength(100);
    expect((await api.get('/v0/wallets?limit=-3')).body.wallets).toHaveLength(1);
  });

  const position = { blockTime: NOON, chain: BASE, blockNumber: 5, logIndex: 1 };
  const own = mintWalletCursor(CURSOR_KEYS, 'listWallets', wallet(5));
  test.each<[string, string]>([
    ['of another list', mintCursor(CURSOR_KEYS, 'listFlows', position)],
    ['with another sort key', mintCursor(CURSOR_KEYS, 'listWallets', position)],
    ['of another deployment', mintWalletCursor({ keys: [Buffer.alloc(32, 8)] }, 'listWallets', wallet(5))],
    ['cut short', own.slice(0, -3)],
    ['made up', 'abc'],
    ['that is an address', wallet(5)],
  ])('a cursor %s: 400 naming before', async (_what, cursor) => {
    const { status, body } = await api.get(`/v0/wallets?before=${cursor}`);
    expect({ status, code: body.code, parameter: body.parameter }).toEqual({
      status: 400,
      code: 'invalid_parameter',
      parameter: 'before',
    });
  });
});
