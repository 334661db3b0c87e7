import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { type Sql, sql } from '../../../clickhouse/engine/sql.ts';
import { BLOCKS, DEAD_LETTERS, type DeadLetter } from '../../../clickhouse/tables/ingest-state.ts';
import { SETTLEMENTS, type Settlement, writeSettlement } from '../../../clickhouse/tables/settlements.ts';
import { columnNames, encodeEvents, insertRows } from '../../../clickhouse/tables/table.ts';
import { address } from '../../../core/domain/account.ts';
import { microsFromDecimal, USD_MICROS_MAX } from '../../../core/domain/amount.ts';
import { chainOf } from '../../../core/domain/chains.ts';
import { EVIDENCE_METHODS } from '../../../core/domain/evidence.ts';
import {
  NO_CHANNEL,
  NO_CONTRACT,
  PAYMENT_SCHEMES,
  SETTLEMENT_KINDS,
} from '../../../core/domain/settlement.ts';
import { buildCatalogue } from '../../../ingest/grading/catalogue.ts';
import { publishCatalogue } from '../../../ingest/grading/published.ts';
import { blockRef, wallet, word } from '../../kit/chain-logs.ts';
import type { TestEngine } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';

const rowsOf = async (engine: TestEngine, statement: Sql) =>
  (await engine.writer.rows({ name: 'read-back', sql: statement, maxSeconds: 20, maxRows: 10_000 })).rows;

const hash = fc.bigInt(0n, 2n ** 256n - 1n).map(word);
const account = fc
  .bigInt(0n, 2n ** 160n - 1n)
  .map((value) => address(`0x${value.toString(16).padStart(40, '0')}`));
const settlement: fc.Arbitrary<Omit<Settlement, 'logIndex'>> = fc.record({
  chain: fc.constantFrom(chainOf(8453), chainOf(137), chainOf(1)),
  blockNumber: fc.oneof(fc.nat(), fc.constantFrom(0, 2 ** 32, 2 ** 53 - 1)),
  // The ends and one year: the engine refuses an insert into more than a hundred months.
  blockTime: fc.oneof(
    fc.integer({ min: 1_780_000_000, max: 1_811_536_000 }),
    fc.constantFrom(0, 2 ** 32 - 1),
  ),
  txHash: hash,
  payer: account,
  payee: account,
  asset: account,
  assetSymbol: fc.constantFrom('USDC', 'USD₮0', ''),
  amount: fc.oneof(
    fc.bigInt(0n, 2n ** 256n - 1n),
    fc.constantFrom(0n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 256n - 1n),
  ),
  amountUsdMicros: fc.oneof(fc.bigInt(0n, USD_MICROS_MAX), fc.constantFrom(0n, USD_MICROS_MAX)),
  relayer: account,
  facilitator: fc.constantFrom('', 'coinbase', 'x'.repeat(64)),
  method: fc.constantFrom(...EVIDENCE_METHODS),
  seen: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  builderFacilitator: fc.constantFrom('', 'cdp_facil1'),
  builderApps: fc.oneof(fc.constant(''), fc.string({ maxLength: 300 })),
  kind: fc.constantFrom(...SETTLEMENT_KINDS),
  scheme: fc.constantFrom(...PAYMENT_SCHEMES),
  channel: fc.oneof(fc.constant(NO_CHANNEL), hash),
  contract: fc.oneof(fc.constant(NO_CONTRACT), account),
  feeAmount: fc.bigInt(0n, 2n ** 256n - 1n),
  memo: fc.string({ unit: 'grapheme' }),
  usdKnown: fc.boolean(),
});

const READ_BACK = sql`SELECT chain, block_number, toUnixTimestamp(block_time), concat('0x', lower(hex(tx_hash))), log_index, concat('0x', lower(hex(payer))), concat('0x', lower(hex(payee))),
    concat('0x', lower(hex(asset))), asset_symbol, toString(amount), toString(amount_usd), concat('0x', lower(hex(relayer))),
    facilitator, toString(method), seen, builder_facilitator, builder_apps, kind, scheme, concat('0x', lower(hex(channel))), concat('0x', lower(hex(contract))), toString(fee_amount), memo, usd_known, toString(ver), del
  FROM settlements ORDER BY log_index`;

/** The row as the engine should tell it. */
const told = (row: Settlement, ver: bigint, del: number) => [
  row.chain,
  String(row.blockNumber),
  row.blockTime,
  row.txHash,
  row.logIndex,
  row.payer,
  row.payee,
  row.asset,
  row.assetSymbol,
  String(row.amount),
  row.amountUsdMicros,
  row.relayer,
  row.facilitator,
  row.method,
  row.seen,
  row.builderFacilitator,
  row.builderApps,
  row.kind,
  row.scheme,
  row.channel,
  row.contract,
  String(row.feeAmount),
  row.memo,
  row.usdKnown ? 1 : 0,
  String(ver),
  del,
];

describe('the engine reads the values that were encoded', () => {
  test('any settlement comes back as it was written', async ({ engine }) => {
    const drawn = fc.sample(settlement, { numRuns: 2_000, seed: 8021 });
    const rows = drawn.map((row, logIndex): Settlement => ({ ...row, logIndex }));
    const ver = 2n ** 64n - 1n;
    await engine.writer.insert('settlements', SETTLEMENTS.name, columnNames(SETTLEMENTS), [
      encodeEvents(rows.slice(0, 1_500), writeSettlement, 0).at(ver),
      encodeEvents(rows.slice(1_500), writeSettlement, 1).at(ver),
    ]);
    const back = (await rowsOf(engine, READ_BACK)).map((row) =>
      row.map((field, column) => (column === 10 ? microsFromDecimal(String(field)) : field)),
    );
    expect(back).toEqual(rows.map((row) => told(row, ver, row.logIndex < 1_500 ? 0 : 1)));
  });

  test('dead letters and blocks come back as they were written', async ({ engine }) => {
    const letter: DeadLetter = {
      chain: chainOf(8453),
      blockNumber: 7,
      blockHash: word(1),
      txHash: word(2),
      logIndex: 3,
      reason: 'malformed_log',
      rawLog: JSON.stringify({ data: `0x${'ab'.repeat(5_000)}`, note: 'tab\tand ₮ and "quotes"' }),
    };
    await insertRows(engine.writer, {
      name: 'dead-letters',
      table: DEAD_LETTERS,
      rows: [letter],
      fixed: { ver: 5n, del: 0 },
    });
    expect(
      await rowsOf(
        engine,
        sql`SELECT chain, block_number, concat('0x', lower(hex(block_hash))), concat('0x', lower(hex(tx_hash))),
        log_index, reason, raw_log, ver, del FROM dead_letters`,
      ),
    ).toEqual([[letter.chain, '7', word(1), word(2), 3, 'malformed_log', letter.rawLog, '5', 0]]);

    await insertRows(engine.writer, {
      name: 'blocks',
      table: BLOCKS,
      rows: [blockRef(1), blockRef(2)],
      fixed: { chain: chainOf(8453), ver: 9n },
    });
    expect(
      await rowsOf(
        engine,
        sql`SELECT chain, number, concat('0x', lower(hex(hash))), toUnixTimestamp(time), ver FROM blocks ORDER BY number`,
      ),
    ).toEqual(
      [1, 2].map((number) => [
        'eip155:8453',
        String(number),
        blockRef(number).hash,
        blockRef(number).time,
        '9',
      ]),
    );
  });
});

describe('the published catalogue', () => {
  const payee = {
    chain: chainOf(8453),
    address: wallet(7),
    name: 'Café',
    resource: 'https://cafe.example/menu',
  };
  const facilitator = (firstSeen: string) => ({
    id: 'own',
    name: 'Own',
    builderCodes: [],
    relayers: [{ chain: chainOf(137), address: wallet(8), firstSeen }],
  });
  const relayers = (engine: TestEngine) =>
    rowsOf(
      engine,
      sql`SELECT chain, concat('0x', lower(hex(address))), facilitator, facilitator_name, toString(first_seen), source, ver
      FROM facilitator_relayers FINAL WHERE del = 0 AND facilitator IN ('own', 'corbits') AND chain LIKE 'eip155:%' ORDER BY facilitator, chain`,
    );
  const counted = async (engine: TestEngine) =>
    (
      await rowsOf(
        engine,
        sql`SELECT countIf(source != 'built-in'), count(), (SELECT count() FROM catalogued_payees) FROM facilitator_relayers`,
      )
    )[0];
  const publish = (engine: TestEngine, config: Parameters<typeof buildCatalogue>[0], ver: bigint) =>
    publishCatalogue(engine.writer, buildCatalogue(config), ver);

  test('is written once, changed where it changed, and forgets what vanished', async ({ engine }) => {
    await publish(engine, { facilitators: [facilitator('2026-02-28')], payees: [payee] }, 1n);
    expect(await relayers(engine)).toEqual([
      [
        'eip155:137',
        '0x06f0bfd2c8f36674df5cde852c1eed8025c268c9',
        'corbits',
        'Corbits',
        '2025-10-24',
        'built-in',
        '1',
      ],
      [
        'eip155:8453',
        '0x06f0bfd2c8f36674df5cde852c1eed8025c268c9',
        'corbits',
        'Corbits',
        '2025-09-22',
        'built-in',
        '1',
      ],
      ['eip155:137', wallet(8), 'own', 'Own', '2026-02-28', 'configured', '1'],
    ]);
    expect(
      await rowsOf(
        engine,
        sql`SELECT chain, concat('0x', lower(hex(address))), name, resource, source FROM catalogued_payees FINAL`,
      ),
    ).toEqual([[payee.chain, payee.address, payee.name, payee.resource, 'configured']]);
    const written = await counted(engine);
    expect(written).toEqual(['1', expect.any(String), '1']);

    await publish(engine, { facilitators: [facilitator('2026-02-28')], payees: [payee] }, 2n);
    expect(await counted(engine)).toEqual(written);

    await publish(engine, { facilitators: [facilitator('2026-03-01')], payees: [] }, 3n);
    expect((await relayers(engine)).at(-1)).toEqual([
      'eip155:137',
      wallet(8),
      'own',
      'Own',
      '2026-03-01',
      'configured',
      '3',
    ]);
    expect(await rowsOf(engine, sql`SELECT del FROM catalogued_payees FINAL`)).toEqual([[1]]);

    await publish(engine, { facilitators: [], payees: [payee] }, 4n);
    expect((await relayers(engine)).map(([, , id]) => id)).toEqual(['corbits', 'corbits']);
    expect(await rowsOf(engine, sql`SELECT del FROM catalogued_payees FINAL`)).toEqual([[0]]);
  });
});
