import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { createReader } from '../../../clickhouse/engine/http-engine.ts';
import { trustedText } from '../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import { EVIDENCE_LADDER, EVIDENCE_METHODS, EVIDENCE_TIERS } from '../../../core/domain/evidence.ts';
import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES } from '../../../core/domain/public-tables.ts';
import { channelMoves } from '../../kit/channel-rows.ts';
import { emptyTables } from '../../kit/empty-tables.ts';
import { IS_PUSH } from '../../kit/lengths.ts';
import { rollUp } from '../../kit/roll-up.ts';
import {
  BASE,
  hash,
  insertSettlements,
  NOON,
  POLYGON,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../kit/rows.ts';
import { type SandboxEngine, sandboxEngine } from '../../kit/sandbox-engine.ts';
import { onOneLine } from '../../kit/sql-api.ts';

/** Truth: the live settlements in an array here. The guest reads; the writer only makes rows. */

let engine: SandboxEngine;

beforeAll(async () => {
  engine = await sandboxEngine();
});
afterAll(() => engine?.close());
beforeEach(async () => {
  await emptyTables(engine.writer);
  await reportChain(engine.writer, BASE, { finalized_block: '1000' });
});

const asGuest = (text: string) => engine.guest.explain({ name: 'view', text, maxSeconds: 10 });

const DAY = 86_400;
const dayText = (time: number): string => new Date(time * 1_000).toISOString().slice(0, 10);
/** As the engine prints a decimal: without zeros at the end. */
const usdText = (micros: bigint): string =>
  `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')}`.replace(/\.?0+$/, '');

describe('every public table', () => {
  test.each(PUBLIC_TABLE_NAMES)('%s has the declared columns and types', async (name) => {
    const described = await asGuest(`DESCRIBE TABLE ${name}`);
    expect(described.map(([column, type]) => [column, onOneLine(type)])).toEqual(
      PUBLIC_TABLES[name].columns.map(({ name: column, type }) => [column, type]),
    );
    const some = await asGuest(`SELECT * FROM ${name} LIMIT 1`);
    // Tokens are constants, everything else is empty.
    expect(some).toHaveLength(name === 'tokens' ? 1 : 0);
  });

  test('is all that a guest may read', async () => {
    for (const table of ['settlements', 'wallet_rows', 'payee_day', 'checkpoints', 'rollup_slices']) {
      await expect(asGuest(`SELECT * FROM ${engine.access.database}.${table}`)).rejects.toThrow(EngineError);
    }
    for (const statement of [
      'CREATE VIEW mine AS SELECT 1',
      'DROP VIEW settlements',
      'INSERT INTO settlements (chain) VALUES (1)',
      'SET max_execution_time = 0',
      'SYSTEM FLUSH LOGS',
      'KILL QUERY WHERE 1',
      'SELECT * FROM system.processes',
    ]) {
      await expect(asGuest(statement), statement).rejects.toThrow(EngineError);
    }
  });
});

test('settlements and wallet_settlements show each live row once, in words', async () => {
  const rows = EVIDENCE_METHODS.map((method, at) =>
    settlement({
      blockNumber: 999 + at,
      method,
      payer: wallet(at + 1),
      payee: wallet(at % 2 === 0 ? at + 1 : 77),
      facilitator: at === 0 ? 'coinbase' : '',
      amount: 2n ** 255n + BigInt(at),
      amountUsdMicros: 1_234_567n + BigInt(at),
    }),
  );
  const gone = settlement({ blockNumber: 5_000 });
  await insertSettlements(engine.writer, [...rows, gone]);
  await insertSettlements(engine.writer, rows);
  await tombstone(engine.writer, [gone]);
  const seen = await asGuest(
    `SELECT payer, payee, toString(amount), toString(amount_usd), is_self_payment, finality, evidence_method, evidence_tier,
      evidence_probability, facilitator, tx_hash, toUnixTimestamp(block_time) FROM settlements ORDER BY block_number`,
  );
  expect(seen).toEqual(
    rows.map((row) => [
      row.payer,
      row.payee,
      String(row.amount),
      usdText(row.amountUsdMicros),
      row.payer === row.payee,
      row.blockNumber <= 1_000 ? 'finalized' : 'head',
      row.method,
      EVIDENCE_LADDER[row.method].tier,
      EVIDENCE_LADDER[row.method].probability,
      row.facilitator || null,
      row.txHash,
      row.blockTime,
    ]),
  );
  const parties = await asGuest('SELECT wallet, role, counterparty FROM wallet_settlements');
  expect(parties.map((row) => row.join()).sort()).toEqual(
    rows
      .flatMap(({ payer, payee }) => [[payer, 'payer', payee].join(), [payee, 'payee', payer].join()])
      .sort(),
  );
});

test('a row of a token without a dollar value has NULL, which sums leave out, and days count it without dollars', async () => {
  const payer = wallet(1);
  const euro = { payer, amountUsdMicros: 0n, usdKnown: false };
  const dollar = { payer, amountUsdMicros: 1_500_000n };
  await insertSettlements(engine.writer, [
    settlement({ ...dollar, blockNumber: 1 }),
    settlement({ ...euro, blockNumber: 2 }),
    ...channelMoves(hash(7), [{ ...euro, kind: 'deposit', amount: 9n }]),
    ...channelMoves(hash(8), [{ ...dollar, kind: 'deposit', amount: 9n }]),
  ]);
  const paid = "kind = 'payment' AND payer = ";
  const sums = 'count(), sum(amount_usd), countIf(amount_usd IS NULL)';
  expect(await asGuest(`SELECT ${sums} FROM settlements WHERE ${paid}'${payer}'`)).toEqual([
    ['2', '1.5', '1'],
  ]);
  expect(
    await asGuest(`SELECT ${sums} FROM wallet_settlements WHERE kind = 'payment' AND wallet = '${payer}'`),
  ).toEqual([['2', '1.5', '1']]);
  expect(await asGuest(`SELECT sum(amount_usd) FROM settlements WHERE ${paid}'0x'`)).toEqual([[null]]);
  await rollUp(engine.writer);
  const days = await asGuest(`SELECT settlement_count, settled_usd FROM payer_days WHERE payer = '${payer}'`);
  expect(days).toEqual([['2', '1.5']]);
  const channels = 'SELECT channel, deposited_usd, paid_usd, balance_usd FROM channels ORDER BY channel';
  expect(await asGuest(channels)).toEqual([
    [hash(7), null, null, null],
    [hash(8), '1.5', '0', '1.5'],
  ]);
});

describe('the day tables', () => {
  const daysOf = (rows: readonly Settlement[], of: 'payee' | 'payer', other: 'payee' | 'payer'): string[] => {
    const groups = new Map<string, Settlement[]>();
    for (const row of rows) {
      const key = keyOf(of)(row);
      groups.set(key, [...(groups.get(key) ?? []), row]);
    }
    return [...groups]
      .map(([key, group]) => {
        const usd = group.reduce((sum, { amountUsdMicros }) => sum + amountUsdMicros, 0n);
        return `${key},${group.length},${usdText(usd)},${new Set(group.map((row) => row[other])).size}`;
      })
      .sort();
  };
  const keyOf = (of: 'payee' | 'payer') => (row: Settlement) =>
    `${row.chain},${dayText(row.blockTime)},${row[of]}`;
  const read = async (table: string, of: string, others: string) =>
    (
      await asGuest(
        `SELECT chain, day, ${of}, toString(settlement_count), toString(settled_usd), toString(${others}) FROM ${table}`,
      )
    )
      .map((row) => row.join())
      .sort();
  /** Sums of any key: all, self-payments, each tier. */
  const sumsOf = (
    rows: readonly Settlement[],
    keyOf: (row: Settlement) => string,
    parts: readonly ((row: Settlement) => boolean)[],
    extra: (rows: readonly Settlement[]) => readonly string[],
  ): string[] => {
    const keys = [...new Set(rows.map(keyOf))];
    return keys
      .map((key) => {
        const group = rows.filter((row) => keyOf(row) === key);
        const sums = parts.flatMap((isPart) => {
          const own = group.filter(isPart);
          return [own.length, usdText(own.reduce((sum, { amountUsdMicros }) => sum + amountUsdMicros, 0n))];
        });
        return [key, ...sums, ...extra(group)].join();
      })
      .sort();
  };
  const all = (): boolean => true;
  const isSelf = ({ payer, payee }: Settlement): boolean => payer === payee;
  const tiers = EVIDENCE_TIERS.map(
    (tier) =>
      ({ method }: Settlement): boolean =>
        EVIDENCE_LADDER[method].tier === tier,
  );
  const place = ({ chain, blockTime }: Settlement): string => `${chain},${dayText(blockTime)}`;
  const times = (rows: readonly Settlement[]): string[] => {
    const found = rows.map(({ blockTime }) => blockTime);
    return [String(Math.min(...found)), String(Math.max(...found))];
  };
  const assets = (rows: readonly Settlement[]): string[] => [
    [...new Set(rows.map(({ asset }) => asset))].sort().join(' '),
  ];
  const PART_COLUMNS = ['settlement_count', 'settled_usd', 'self_payment_count', 'self_payment_usd'];
  const TIER_COLUMNS = EVIDENCE_TIERS.flatMap((tier) => [`${tier}_count`, `${tier}_usd`]);
  const TIME_COLUMNS = ['toUnixTimestamp(first_settled_at)', 'toUnixTimestamp(last_settled_at)'];
  const lines = async (table: string, columns: readonly string[]): Promise<string[]> =>
    (await asGuest(`SELECT ${columns.map((column) => `toString(${column})`).join()} FROM ${table}`))
      .map((row) => row.join())
      .sort();
  const expectParts = async (rows: readonly Settlement[]) => {
    for (const [table, party] of [
      ['merchant_days', 'payee'],
      ['payer_days', 'payer'],
    ] as const)
      expect(
        await lines(table, [
          'chain',
          'day',
          party,
          ...PART_COLUMNS,
          ...TIER_COLUMNS,
          ...TIME_COLUMNS,
          "arrayStringConcat(assets, ' ')",
        ]),
      ).toEqual(
        sumsOf(
          rows,
          (row) => `${place(row)},${row[party]}`,
          [all, isSelf, ...tiers],
          (group) => [...times(group), ...assets(group)],
        ),
      );
    expect(
      await lines('pair_days', [
        'chain',
        'day',
        'payer',
        'payee',
        'is_self_payment',
        'settlement_count',
        'settled_usd',
        'proven_count',
        'proven_usd',
        ...TIME_COLUMNS,
      ]),
    ).toEqual(
      sumsOf(
        rows,
        (row) => `${place(row)},${row.payer},${row.payee},${isSelf(row)}`,
        [all, ({ method }) => EVIDENCE_LADDER[method].tier === 'proven'],
        times,
      ),
    );
    expect(
      await lines('facilitator_days', [
        'chain',
        'day',
        "ifNull(facilitator, '')",
        "ifNull(facilitator_name, '')",
        ...PART_COLUMNS,
        ...TIER_COLUMNS,
      ]),
    ).toEqual(
      sumsOf(
        rows,
        (row) =>
          `${place(row)},${row.facilitator},${row.facilitator === 'coinbase' ? 'Coinbase' : row.facilitator}`,
        [all, isSelf, ...tiers],
        () => [],
      ),
    );
  };
  const expectTrue = async (stored: readonly Settlement[]) => {
    const rows = stored.filter(({ kind }) => kind === 'payment');
    expect(await read('merchant_days', 'payee', 'unique_payers')).toEqual(daysOf(rows, 'payee', 'payer'));
    expect(await read('payer_days', 'payer', 'unique_payees')).toEqual(daysOf(rows, 'payer', 'payee'));
    await expectParts(rows);
  };
  const some = Array.from({ length: 60 }, (_, at) =>
    settlement({
      chain: at % 7 === 0 ? POLYGON : BASE,
      blockNumber: 100 + at,
      blockTime: NOON - (at % 4) * DAY + at * 60,
      payer: wallet(at % 5),
      payee: wallet(at % 11 === 0 ? at % 5 : 10 + (at % 3)),
      asset: wallet(0xc3 + (at % 13 === 0 ? 1 : 0)),
      facilitator: ['coinbase', '', 'acme'][at % 3] ?? '',
      method: EVIDENCE_METHODS[at % EVIDENCE_METHODS.length] ?? 'not_examined',
      amountUsdMicros: BigInt(at) * 1_000_001n,
    }),
  );

  test('are the same whether days are open, closed, closed by hours, or dirty again', async () => {
    await insertSettlements(engine.writer, some);
    await expectTrue(some);
    await rollUp(engine.writer, { below: NOON - DAY });
    await expectTrue(some);
    await rollUp(engine.writer, { splitAboveRows: 10 });
    await expectTrue(some);
    const kept = some.filter((_, at) => at % 6 !== 0);
    await tombstone(
      engine.writer,
      some.filter((_, at) => at % 6 === 0),
    );
    await expectTrue(kept);
    await rollUp(engine.writer, { splitAboveRows: 10 });
    await expectTrue(kept);
  });
});

test.skipIf(IS_PUSH)('a wallet in WHERE reads a few granules, in every spelling of the table', async () => {
  const rows = Array.from({ length: 120_000 }, (_, at) =>
    settlement({
      blockNumber: at,
      blockTime: NOON + at,
      payer: wallet(1_000_000 + at),
      payee: wallet(at % 97),
    }),
  );
  await insertSettlements(engine.writer, rows);
  const reader = createReader(engine.access);
  const readRowsOf = async (text: string) =>
    (await reader.rows({ name: 'pruned', sql: trustedText(text), maxSeconds: 10, maxRows: 10 })).readRows;
  const view = `${engine.access.database}_public`;
  try {
    const wanted = wallet(1_030_000);
    expect(
      await readRowsOf(`SELECT count() FROM ${view}.settlements WHERE payer = '${wanted}'`),
    ).toBeLessThan(30_000);
    expect(
      await readRowsOf(`SELECT count() FROM ${view}.settlements WHERE tx_hash = '${rows[30_000]?.txHash}'`),
    ).toBeLessThan(30_000);
    expect(
      await readRowsOf(`SELECT count() FROM ${view}.wallet_settlements WHERE wallet = '${wanted}'`),
    ).toBeLessThan(30_000);
    // The same question where nothing can prune, so that the bound above is seen to be one.
    expect(
      await readRowsOf(`SELECT count() FROM ${view}.settlements WHERE lower(payer) = '${wanted}'`),
    ).toBeGreaterThan(100_000);
  } finally {
    await reader.close();
  }
});

test.skipIf(IS_PUSH)(
  'the days of a wallet are read from the rollup, the rows of open days only',
  async () => {
    const rows = Array.from({ length: 60_000 }, (_, at) =>
      settlement({
        blockNumber: at,
        blockTime: NOON - (at % 30) * DAY + Math.floor(at / 30),
        payer: wallet(1_000_000 + (at % 5_000)),
        payee: wallet(2_000_000 + (at % 3)),
      }),
    );
    await insertSettlements(engine.writer, rows);
    const reader = createReader(engine.access);
    const view = `${engine.access.database}_public`;
    const readRowsOf = async (table: string, where: string) => {
      const text = `SELECT sum(settlement_count) FROM ${view}.${table} WHERE ${where}`;
      return (await reader.rows({ name: 'days', sql: trustedText(text), maxSeconds: 10, maxRows: 10 }))
        .readRows;
    };
    const ofMerchant = () => readRowsOf('merchant_days', `payee = '${wallet(2_000_000)}'`);
    try {
      expect(await ofMerchant()).toBeGreaterThan(50_000);
      await rollUp(engine.writer, { below: NOON - DAY });
      expect(await ofMerchant()).toBeLessThan(20_000);
      expect(await readRowsOf('payer_days', `payer = '${wallet(1_000_000)}'`)).toBeLessThan(20_000);
      const ofPair = await readRowsOf('pair_days', `payer = '${wallet(1_000_000)}'`);
      const unpruned = await readRowsOf('pair_days', `lower(payer) = '${wallet(1_000_000)}'`);
      expect(unpruned - ofPair).toBeGreaterThan(3_000);
    } finally {
      await reader.close();
    }
  },
);
