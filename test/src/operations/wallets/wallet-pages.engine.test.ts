import fc from 'fast-check';
import { afterAll, describe, expect } from 'vitest';
import { sql, text, trustedText } from '../../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import type { Address } from '../../../../core/domain/account.ts';
import { rowKey, type TestApi, testApi, walk } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import { BASE, insertSettlements, NOON, nextVer, POLYGON, settlement, wallet } from '../../../kit/rows.ts';

let engine: TestEngine;
let api: TestApi;

test.beforeAll(async ({ ownEngine }) => {
  engine = ownEngine;
  api = await testApi(engine.reader);
  // Versions must stay apart: the page is tested for merging them.
  await engine.writer.run({
    name: 'test-stop-merges',
    sql: trustedText('SYSTEM STOP MERGES wallet_rows'),
    maxSeconds: 10,
  });
});
afterAll(() => api?.close());

/** Truth by the engine's own merge. */
async function finalKeys(of: Address, condition = '1'): Promise<string[]> {
  const { rows } = await engine.reader.rows({
    name: 'test-final',
    maxSeconds: 30,
    maxRows: 100_000,
    sql: sql`SELECT DISTINCT block_time, chain, block_number, log_index, concat('0x', lower(hex(tx_hash)))
      FROM (SELECT * FROM wallet_rows FINAL WHERE wallet = ${text(of)}) WHERE del = 0 AND ${trustedText(condition)}
      ORDER BY block_time DESC, chain DESC, block_number DESC, log_index DESC`,
  });
  return rows.map((row) => `${row[1]}/${row[2]}/${row[3]}/${row[4]}`);
}

interface Write {
  readonly slot: number;
  readonly del: 0 | 1;
}

/** The contents of a slot never change: another event at one place would be tombstoned first. */
function slotRow(of: Address, slot: number): Settlement {
  const other = wallet(0x900 + (slot % 3));
  return settlement({
    chain: slot % 4 === 0 ? POLYGON : BASE,
    blockTime: NOON - Math.floor(slot / 5),
    blockNumber: 100 - Math.floor(slot / 5),
    logIndex: slot,
    payer: slot % 2 === 0 ? of : other,
    payee: slot % 2 === 0 && slot % 6 !== 0 ? other : of,
  });
}

describe('wallet pages', () => {
  test('equal the engine’s own FINAL under random versions and tombstones, for any limit and filter', async () => {
    let scenario = 0;
    const writes = fc.array(
      fc.record<Write>({ slot: fc.integer({ min: 0, max: 24 }), del: fc.constantFrom(0, 0, 1) }),
      { minLength: 20, maxLength: 90 },
    );
    await fc.assert(
      fc.asyncProperty(writes, fc.constantFrom(1, 2, 5), async (history, limit) => {
        scenario += 1;
        const of = wallet(0x10_000 + scenario);
        await writeHistory(of, history);
        for (const [query, condition] of [
          ['', '1'],
          ['&role=payer', "role = 'payer'"],
          [`&counterparty=${wallet(0x901)}`, `counterparty = unhex('${wallet(0x901).slice(2)}')`],
          [`&chain=${POLYGON}`, `chain = '${POLYGON}'`],
        ] as const) {
          const { rows } = await walk(api, `/v0/entities/${of}/settlements`, { limit, query });
          expect(rows.map(rowKey)).toEqual(await finalKeys(of, condition));
        }
      }),
      { numRuns: lengthOf('engineProperties'), endOnFailure: true },
    );
  }, 120_000);

  /** Batches reach the table newest first here, so that a slice meets old versions before the ones that decide. */
  async function writeHistory(of: Address, history: readonly Write[]): Promise<void> {
    const batches: { readonly rows: readonly Settlement[]; readonly del: 0 | 1; readonly ver: bigint }[] = [];
    for (let start = 0; start < history.length; start += 8) {
      // Rows of one batch share a version, as ingest writes them, so a slot appears in it once.
      const batch = [
        ...new Map(history.slice(start, start + 8).map((write) => [write.slot, write])).values(),
      ];
      for (const del of [0, 1] as const) {
        const rows = batch.filter((write) => write.del === del).map(({ slot }) => slotRow(of, slot));
        if (rows.length > 0) batches.push({ rows, del, ver: nextVer() });
      }
    }
    for (const { rows, del, ver } of batches.reverse()) {
      await insertSettlements(engine.writer, rows, { ver, del });
    }
  }

  test('a row rewritten more often than a slice is long is still served once', async () => {
    const of = wallet(0x20_001);
    const rewritten = settlement({ payer: of, blockNumber: 7, logIndex: 3 });
    for (let times = 0; times < 30; times++) await insertSettlements(engine.writer, [rewritten]);
    await insertSettlements(engine.writer, [settlement({ payer: of, blockNumber: 6, logIndex: 1 })]);
    const { rows } = await walk(api, `/v0/entities/${of}/settlements`, { limit: 1 });
    expect(rows.map((row) => row['block_number'])).toEqual([7, 6]);
  });

  test('payer and payee are put the right way round for both roles', async () => {
    const of = wallet(0x20_002);
    const other = wallet(0x20_003);
    await insertSettlements(engine.writer, [
      settlement({ payer: of, payee: other, logIndex: 1 }),
      settlement({ payer: other, payee: of, logIndex: 2 }),
    ]);
    const { body } = await api.get(`/v0/entities/${of}/settlements`);
    expect(body.settlements).toMatchObject([
      { log_index: 2, payer: other, payee: of },
      { log_index: 1, payer: of, payee: other },
    ]);
  });

  test('a payment to oneself appears once, whatever role is asked for', async () => {
    const of = wallet(0x20_004);
    await insertSettlements(engine.writer, [settlement({ payer: of, payee: of })]);
    for (const role of ['any', 'payer', 'payee']) {
      const { body } = await api.get(`/v0/entities/${of}/settlements?role=${role}`);
      expect(body.settlements).toHaveLength(1);
      expect(body.settlements[0].is_self_payment).toBe(true);
    }
  });

  test('a cursor of another wallet is refused', async () => {
    const [one, two] = [wallet(0x20_005), wallet(0x20_006)];
    await insertSettlements(
      engine.writer,
      [0, 1, 2].map((logIndex) => settlement({ payer: one, payee: two, logIndex })),
    );
    const first = await api.get(`/v0/entities/${one}/settlements?limit=1`);
    const { status, body } = await api.get(
      `/v0/entities/${two}/settlements?before=${first.body.next_before}`,
    );
    expect({ status, parameter: body.parameter }).toEqual({ status: 400, parameter: 'before' });
  });
});
