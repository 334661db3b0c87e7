import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { trustedText } from '../../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import type { Address } from '../../../../core/domain/account.ts';
import type { Chain } from '../../../../core/domain/chains.ts';
import { mergeRelayerTotals } from '../../../../ingest/rollup/close.ts';
import { createVersions } from '../../../../ingest/write/versions.ts';
import { type TestApi, testApi } from '../../../kit/api.ts';
import { closeDays } from '../../../kit/close-days.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { heldReader } from '../../../kit/held-reader.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  nextVer,
  POLYGON,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

/** Truth: the live settlements counted one by one, here. */

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

async function run(statement: string): Promise<void> {
  await engine.writer.run({ name: 'test-write', sql: trustedText(statement), maxSeconds: 30 });
}

async function empty(): Promise<void> {
  await emptyTables(engine.writer);
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
}

async function nameRelayer(chain: Chain, relayer: Address, id: string, name: string): Promise<void> {
  await run(
    `INSERT INTO facilitator_relayers SELECT '${chain}', unhex('${relayer.slice(2)}'), '${id}', '${name}', '2025-01-01', 'test', ${nextVer()}, 0`,
  );
}

async function enrich(chain: Chain, relayer: Address, nonce: number, balance: string): Promise<void> {
  await run(
    `INSERT INTO relayer_accounts SELECT '${chain}', unhex('${relayer.slice(2)}'), ${nonce}, toUInt256('${balance}'), toDateTime(${NOON}, 'UTC'), ${nextVer()}`,
  );
}

const timeText = (time: number): string => `${new Date(time * 1_000).toISOString().slice(0, 19)}Z`;

/** One relayer after the other, each over all rows. Distinct numbers of so few addresses are kept exactly. */
function countNaively(rows: readonly Settlement[]): Record<string, unknown>[] {
  const keys = new Set(rows.map(({ chain, relayer }) => `${chain} ${relayer}`));
  const counted = [...keys].map((key) => {
    const mine = rows.filter(({ chain, relayer }) => key === `${chain} ${relayer}`);
    const times = mine.map(({ blockTime }) => blockTime);
    const [chain = '', address = ''] = key.split(' ');
    return {
      address,
      chain,
      settlement_count: mine.length,
      settled_usd: Number(mine.reduce((sum, row) => sum + row.amountUsdMicros, 0n)) / 1_000_000,
      distinct_payers: new Set(mine.map(({ payer }) => payer)).size,
      distinct_payees: new Set(mine.map(({ payee }) => payee)).size,
      first_seen: timeText(Math.min(...times)),
      last_seen: timeText(Math.max(...times)),
    };
  });
  return counted.sort(
    (a, b) =>
      b.settlement_count - a.settlement_count ||
      (a.chain < b.chain ? -1 : Number(a.chain > b.chain)) ||
      (a.address < b.address ? -1 : 1),
  );
}

async function walkRelayers(limit: number, query = ''): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const at: number = offset;
    const { status, body, text } = await api.get(`/v0/facilitators?limit=${limit}&offset=${at}${query}`);
    if (status !== 200) throw new Error(`${status}: ${text}`);
    found.push(...body.facilitators);
    offset = body.next_offset;
  }
  return found;
}

interface Slot {
  readonly slot: number;
  readonly relayer: number;
  readonly payer: number;
  readonly payee: number;
}

function slotRow({ slot, relayer, payer, payee }: Slot): Settlement {
  return settlement({
    chain: slot % 3 === 0 ? POLYGON : BASE,
    blockTime: NOON - (slot % 5) * DAY - Math.floor(slot / 5) * 600,
    blockNumber: 1_020 - (slot % 5) * 10 - Math.floor(slot / 5),
    logIndex: slot,
    relayer: wallet(0x500 + relayer),
    payer: wallet(0x100 + payer),
    payee: wallet(0x200 + payee),
    amountUsdMicros: BigInt(slot * 1_001 + 1),
  });
}

const slots = fc.uniqueArray(
  fc.record<Slot>({
    slot: fc.integer({ min: 0, max: 99 }),
    relayer: fc.integer({ min: 0, max: 6 }),
    payer: fc.integer({ min: 0, max: 20 }),
    payee: fc.integer({ min: 0, max: 9 }),
  }),
  { minLength: 5, maxLength: 60, selector: ({ slot }) => slot },
);

describe('/v0/facilitators', () => {
  test('equals a naive recount, whatever is closed, merged, open, rewritten or retracted', async () => {
    const versions = createVersions(0n);
    const merge = () => mergeRelayerTotals({ writer: engine.writer, versions });
    await fc.assert(
      fc.asyncProperty(
        slots,
        fc.array(fc.nat(59), { maxLength: 20 }),
        fc.array(fc.nat(59), { maxLength: 20 }),
        fc.subarray([0, 1, 2, 3, 4]),
        fc.subarray(['closed', 'changed'] as const),
        fc.constantFrom(1, 3, 100),
        async (history, before, after, closedDays, mergedWhen, limit) => {
          await empty();
          const rows = history.map(slotRow);
          const pick = (indexes: readonly number[]): Settlement[] =>
            rows.filter((_, index) => indexes.includes(index));
          await insertSettlements(engine.writer, rows);
          await insertSettlements(engine.writer, pick(before));
          await tombstone(engine.writer, pick(before).slice(0, 4));
          await closeDays(
            engine.writer,
            closedDays.map((day) => NOON - day * DAY),
          );
          if (mergedWhen.includes('closed')) await merge();
          await tombstone(engine.writer, pick(after).slice(0, 4));
          if (mergedWhen.includes('changed')) await merge();
          const gone = new Set([...pick(before).slice(0, 4), ...pick(after).slice(0, 4)]);
          const live = rows.filter((row) => !gone.has(row));
          await api.close();
          api = await testApi(engine.reader);
          expect(await walkRelayers(limit)).toEqual(countNaively(live));
          expect(await walkRelayers(limit, `&chain=${BASE}`)).toEqual(
            countNaively(live.filter(({ chain }) => chain === BASE)),
          );
          expect(await walkRelayers(limit, `&chain=${POLYGON}`)).toEqual(
            countNaively(live.filter(({ chain }) => chain === POLYGON)),
          );
        },
      ),
      { numRuns: lengthOf('engineProperties'), endOnFailure: true },
    );
  }, 240_000);

  test('a row written again by another relayer counts for that one only', async () => {
    const row = settlement({ relayer: wallet(1) });
    await insertSettlements(engine.writer, [row]);
    await insertSettlements(engine.writer, [{ ...row, relayer: wallet(2) }]);
    expect(await walkRelayers(10)).toEqual(countNaively([{ ...row, relayer: wallet(2) }]));
  });

  test('names and accounts are shown where they are known and left out where they are not', async () => {
    await insertSettlements(engine.writer, [
      settlement({ relayer: wallet(1), logIndex: 1 }),
      settlement({ relayer: wallet(1), logIndex: 2 }),
      settlement({ relayer: wallet(2), logIndex: 3 }),
      settlement({ relayer: wallet(1), logIndex: 4, chain: POLYGON }),
    ]);
    await nameRelayer(BASE, wallet(1), 'coinbase', 'Coinbase');
    const balance = (2n ** 200n).toString();
    await enrich(BASE, wallet(1), 41, '7');
    await enrich(BASE, wallet(1), 42, balance);
    const [named, onPolygon, plain] = await walkRelayers(10, '&chain=all');
    expect(named).toMatchObject({
      chain: BASE,
      facilitator: 'coinbase',
      facilitator_name: 'Coinbase',
      facilitator_source: 'test',
      nonce: 42,
      gas_balance: balance,
      enriched_at: timeText(NOON),
    });
    const optional = [
      'facilitator',
      'facilitator_name',
      'facilitator_source',
      'nonce',
      'gas_balance',
      'enriched_at',
    ];
    for (const row of [onPolygon, plain])
      expect(optional.filter((field) => Object.hasOwn(row ?? {}, field))).toEqual([]);
  });

  test('filters choose by chain, facilitator, name and enrichment', async () => {
    await insertSettlements(
      engine.writer,
      [1, 2, 3].map((number) => settlement({ relayer: wallet(number), logIndex: number })),
    );
    await nameRelayer(BASE, wallet(1), 'coinbase', 'Coinbase');
    await nameRelayer(BASE, wallet(2), 'payai', 'PayAI');
    await enrich(BASE, wallet(3), 0, '0');
    const addresses = async (query: string): Promise<unknown[]> =>
      (await walkRelayers(10, query)).map(({ address }) => address);
    expect(await addresses('&facilitator=payai')).toEqual([wallet(2)]);
    expect(await addresses('&named_only=true')).toEqual([wallet(1), wallet(2)]);
    expect(await addresses('&enriched_only=1')).toEqual([wallet(3)]);
    expect(await addresses('&enriched_only=1&named_only=1')).toEqual([]);
    expect(await addresses(`&chain=${POLYGON}`)).toEqual([]);
  });

  test('pages of one ranking fit together while settlements arrive; the next ranking has them', async () => {
    const rows = Array.from({ length: 12 }, (_, index) =>
      settlement({ relayer: wallet(100 + index), logIndex: index }),
    );
    await insertSettlements(engine.writer, rows);
    const first = await api.get('/v0/facilitators?limit=6');
    const busy = Array.from({ length: 5 }, (_, index) =>
      settlement({ relayer: wallet(999), logIndex: 50 + index }),
    );
    await insertSettlements(engine.writer, busy);
    const second = await api.get('/v0/facilitators?limit=6&offset=6');
    const listed = [...first.body.facilitators, ...second.body.facilitators];
    expect(listed).toEqual(countNaively(rows));
    expect(second.body.meta.ranked_at).toBe(first.body.meta.ranked_at);
    api.clock.advanceSeconds(20);
    expect((await api.get('/v0/facilitators?limit=1')).body.facilitators[0]).toMatchObject({
      address: wallet(999),
      settlement_count: 5,
    });
  });

  test('the old ranking is answered while a new one is read, together with the parties that pages showed', async () => {
    const { reader, asked, goOn } = heldReader(engine.reader, 'relayers-', 4);
    const counting = await testApi(reader);
    const busy = (payers: number) =>
      insertSettlements(
        engine.writer,
        Array.from({ length: payers }, (_, logIndex) =>
          settlement({ relayer: wallet(1), payer: wallet(100 + logIndex), logIndex }),
        ),
      );
    const payers = async () =>
      (await counting.get('/v0/facilitators?limit=1')).body.facilitators[0].distinct_payers;
    await busy(2);
    expect(await payers()).toBe(2);
    await busy(5);
    counting.clock.advanceSeconds(15);
    expect(await payers()).toBe(2);
    await waitUntil('the parties are read without a caller', () => asked.length === 4);
    expect(await payers()).toBe(2);
    goOn();
    await waitUntil('the new ranking is read', async () => (await payers()) === 5);
    expect(asked).toEqual(['relayers-ranking', 'relayers-distinct', 'relayers-ranking', 'relayers-distinct']);
    await counting.close();
  });

  test('the link header leads to the next page, and next_offset is null at the end', async () => {
    await insertSettlements(
      engine.writer,
      [1, 2, 3].map((number) => settlement({ relayer: wallet(number), logIndex: number })),
    );
    const first = await api.get('/v0/facilitators?limit=2');
    expect(first.body.next_offset).toBe(2);
    expect(first.headers['link']).toContain('offset=2');
    const url = /<([^>]*)>/.exec(first.headers['link'] ?? '')?.[1] ?? '';
    const last = await api.get(url);
    expect(last.body.facilitators).toHaveLength(1);
    expect(last.body.next_offset).toBeNull();
    expect(last.headers['link']).toBeUndefined();
    expect((await api.get('/v0/facilitators?offset=500')).body.facilitators).toEqual([]);
  });

  test.each(['-1', '1.5', 'abc', '', '10001', '99999999999999999999'])(
    'offset %s: 400 naming it',
    async (offset) => {
      const { status, body } = await api.get(`/v0/facilitators?offset=${offset}`);
      expect({ status, code: body.code, parameter: body.parameter }).toEqual({
        status: 400,
        code: 'invalid_parameter',
        parameter: 'offset',
      });
    },
  );

  test('limit is clamped, and an empty list has facts about the dataset', async () => {
    await insertSettlements(
      engine.writer,
      Array.from({ length: 110 }, (_, index) =>
        settlement({ relayer: wallet(1_000 + index), logIndex: index }),
      ),
    );
    expect((await api.get('/v0/facilitators?limit=5000')).body.facilitators).toHaveLength(100);
    expect((await api.get('/v0/facilitators?limit=0')).body.facilitators).toHaveLength(1);
    const { body } = await api.get('/v0/facilitators?facilitator=unknown');
    expect(body).toMatchObject({ facilitators: [], next_offset: null, meta: { dataset_row_count: 110 } });
  });

  test('distinct numbers of thousands stay within three standard errors of the stated one', async () => {
    const payers = 6_000;
    const rows = Array.from({ length: payers }, (_, index) =>
      settlement({ logIndex: index, blockTime: NOON - (index % 2) * DAY, payer: wallet(50_000 + index) }),
    );
    await insertSettlements(engine.writer, rows);
    await closeDays(engine.writer, [NOON - DAY]);
    const { body } = await api.get('/v0/facilitators');
    const error = Math.abs(body.facilitators[0].distinct_payers - payers) / payers;
    expect(error).toBeLessThan(3 * body.meta.basis.distinct_standard_error);
    expect(body.facilitators[0].settlement_count).toBe(payers);
  });
});
