import { describe, expect } from 'vitest';
import { sql } from '../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { countActivity } from '../../../ingest/endpoints/activity.ts';
import { offerTokens } from '../../../ingest/endpoints/item.ts';
import { deriveList, WHOLE } from '../../../ingest/endpoints/list.ts';
import { syncSource } from '../../../ingest/endpoints/sync.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { listedItem } from '../../kit/bazaar.ts';
import { closeDays, closeHours } from '../../kit/close-days.ts';
import { emptyTables } from '../../kit/empty-tables.ts';
import { type TestEngine, testLog } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';
import { payment } from '../../kit/listings.ts';
import { BASE, insertSettlements, NOON, POLYGON, settlement, tombstone, wallet } from '../../kit/rows.ts';

/** The tables that offers and settlements become, against counts made here. */

const versions = createVersions(0n);
const DAY = 86_400;

test.beforeEach(({ engine }) => emptyTables(engine.writer));

async function list(engine: TestEngine, items: readonly unknown[], source = 'file'): Promise<void> {
  const tokens = offerTokens(loadConfig({ env: {} }));
  const { signal } = new AbortController();
  await syncSource(
    { writer: engine.writer, versions, tokens, nowMs: () => NOON * 1_000, log: testLog, signal },
    { id: source, kind: 'file', host: '', mark: '', read: (take) => take(items).then(() => WHOLE) },
  );
}

const count = (engine: TestEngine, nowSeconds = NOON) =>
  countActivity(engine.writer, { chains: [BASE, POLYGON], nowMs: nowSeconds * 1_000, ver: versions.next() });
const derive = (engine: TestEngine) => deriveList(engine.writer, () => versions.next());

async function ask(
  engine: TestEngine,
  statement: ReturnType<typeof sql>,
): Promise<readonly (readonly unknown[])[]> {
  const { rows } = await engine.reader.rows({ name: 'test', sql: statement, maxSeconds: 10, maxRows: 1_000 });
  return rows;
}

const activity = (engine: TestEngine) =>
  ask(
    engine,
    sql`SELECT pay_to, chain, toUInt32(settlement_count), toUInt32(unique_payers), toString(settled_usd),
    toUnixTimestamp(last_settled_at) FROM payee_activity FINAL WHERE del = 0 ORDER BY pay_to, chain`,
  );
const rowsOf = async (engine: TestEngine, table: 'payee_activity' | 'endpoint_list') =>
  Number(
    (
      await ask(
        engine,
        table === 'payee_activity'
          ? sql`SELECT count() FROM payee_activity`
          : sql`SELECT count() FROM endpoint_list`,
      )
    )[0]?.[0],
  );

describe('the activity of listed addresses', () => {
  const [SHOP, MALL, OTHER] = [wallet(0xb2), wallet(0xb3), wallet(0xb4)];
  const some: readonly Settlement[] = Array.from({ length: 90 }, (_, at) =>
    settlement({
      chain: at % 5 === 0 ? POLYGON : BASE,
      blockNumber: 100 + at,
      blockTime: NOON - (at % 8) * 5 * DAY - at,
      payer: wallet(1 + (at % 7)),
      payee: [SHOP, MALL, OTHER][at % 3] ?? SHOP,
      method: at % 7 === 0 ? 'gasless_authorization' : 'builder_code',
      amountUsdMicros: BigInt(at) * 1_000_001n,
    }),
  );

  const naively = (rows: readonly Settlement[], nowSeconds = NOON) => {
    const since = (Math.floor(nowSeconds / DAY) - 29) * DAY;
    return [SHOP, MALL].flatMap((payee) =>
      [POLYGON, BASE].flatMap((chain) => {
        const mine = rows.filter(
          (row) =>
            row.payee === payee &&
            row.chain === chain &&
            row.blockTime >= since &&
            row.method === 'builder_code',
        );
        if (mine.length === 0) return [];
        const usd = mine.reduce((sum, { amountUsdMicros }) => sum + amountUsdMicros, 0n);
        const text = `${usd / 1_000_000n}.${String(usd % 1_000_000n).padStart(6, '0')}`.replace(/\.?0+$/, '');
        const payers = new Set(mine.map(({ payer }) => payer)).size;
        return [
          [payee, chain, mine.length, payers, text, Math.max(...mine.map(({ blockTime }) => blockTime))],
        ];
      }),
    );
  };

  test.beforeEach(({ engine }) =>
    list(
      engine,
      [listedItem('https://a.example/'), listedItem('https://b.example/', { payTo: MALL })].flatMap(
        (item) => [item, { ...item, accepts: [{ ...(item['accepts'] as object[])[0], network: 'polygon' }] }],
      ),
    ),
  );

  test('is that of the last thirty days, whatever is rolled up', async ({ engine }) => {
    await insertSettlements(engine.writer, some);
    await count(engine);
    expect(await activity(engine)).toEqual(naively(some));
    await closeDays(
      engine.writer,
      some.map(({ blockTime }) => blockTime).filter((time) => time < NOON - 3 * DAY),
    );
    await count(engine);
    expect(await activity(engine)).toEqual(naively(some));
    await closeHours(
      engine.writer,
      some.filter(({ blockTime }) => blockTime >= NOON - 3 * DAY),
    );
    await count(engine);
    expect(await activity(engine)).toEqual(naively(some));
    expect(await rowsOf(engine, 'payee_activity')).toBeLessThanOrEqual(4);
    // One hour of a day that is closed by hours is open again: its others must not count twice.
    const late = settlement({
      blockNumber: 900,
      blockTime: NOON - 7_200,
      payee: SHOP,
      payer: wallet(1),
      method: 'builder_code',
    });
    await insertSettlements(engine.writer, [late]);
    await count(engine);
    expect(await activity(engine)).toEqual(naively([...some, late]));
  });

  test('follows reorgs and the calendar, and writes what changed only', async ({ engine }) => {
    await insertSettlements(engine.writer, some);
    await count(engine);
    const before = await rowsOf(engine, 'payee_activity');
    await count(engine, NOON + 60);
    expect(await rowsOf(engine, 'payee_activity')).toBeLessThanOrEqual(before);
    const gone = some.slice(0, 1);
    await tombstone(engine.writer, gone);
    await count(engine);
    expect(await activity(engine)).toEqual(naively(some.slice(1)));
    await count(engine, NOON + 15 * DAY);
    expect(await activity(engine)).toEqual(naively(some.slice(1), NOON + 15 * DAY));
    await count(engine, NOON + 60 * DAY);
    expect(await activity(engine)).toEqual([]);
    await count(engine);
    expect(await activity(engine)).toEqual(naively(some.slice(1)));
  });
});

describe('the directory', () => {
  const listed = (engine: TestEngine) =>
    ask(
      engine,
      sql`SELECT resource, method, service_name, pay_to, network, toString(price_usd), sources, shared_pay_to, toUInt32(settlement_count),
      toUInt32(unique_payers), toString(settled_usd) FROM endpoint_list FINAL WHERE del = 0 ORDER BY resource, method`,
    );

  test('has one row per resource and method, with the offer that was paid most, its price and its payments', async ({
    engine,
  }) => {
    const two = wallet(0xc1);
    await list(engine, [
      listedItem('https://a.example/x', { amount: '30000', item: { serviceName: 'A' } }),
      listedItem('https://a.example/x', { payTo: two, amount: '20000', network: 'base' }),
      listedItem('https://a.example/x', { payTo: two, item: { metadata: { method: 'POST' } } }),
    ]);
    await list(engine, [listedItem('https://a.example/x', { amount: '25000' })], 'bazaar:one');
    await insertSettlements(engine.writer, [
      payment({ payee: two, payer: wallet(1), amount: 20_000n }),
      payment({ payee: two, payer: wallet(2), amount: 20_000n }),
      payment({ payee: wallet(0xb2), payer: wallet(1), amount: 30_000n }),
      payment({ payee: wallet(0xb2), payer: wallet(2), amount: 30_000n }),
      payment({ payee: wallet(0xb2), payer: wallet(3), amount: 30_000n }),
    ]);
    await count(engine);
    await derive(engine);
    const a = 'https://a.example/x';
    expect(await listed(engine)).toEqual([
      [a, 'GET', 'A', wallet(0xb2), 'eip155:8453', '0.03', ['bazaar:one', 'file'], 0, 3, 3, '0.09'],
      [a, 'POST', '', two, 'eip155:8453', '0.01', ['file'], 0, 0, 0, '0'],
    ]);
    const [[offers] = []] = await ask(
      engine,
      sql`SELECT offers FROM endpoint_list FINAL WHERE method = 'GET'`,
    );
    expect(
      JSON.parse(String(offers)).map(({ amount, source }: Record<string, unknown>) => [amount, source]),
    ).toEqual([
      ['20000', 'file'],
      ['25000', 'bazaar:one'],
      ['30000', 'file'],
    ]);
  });

  test('says of an address that several resources share it', async ({ engine }) => {
    await list(engine, [
      listedItem('https://a.example/'),
      listedItem('https://b.example/'),
      listedItem('https://c.example/', { payTo: wallet(9) }),
    ]);
    await derive(engine);
    expect((await listed(engine)).map(([resource, , , , , , , shared]) => [resource, shared])).toEqual([
      ['https://a.example/', 1],
      ['https://b.example/', 1],
      ['https://c.example/', 0],
    ]);
  });

  test('writes only changed rows, buries an unlisted resource, and shows it again when it is listed', async ({
    engine,
  }) => {
    const items = Array.from({ length: 20 }, (_, at) =>
      listedItem(`https://a.example/${at}`, { payTo: wallet(at + 1) }),
    );
    await list(engine, items);
    await derive(engine);
    const before = await rowsOf(engine, 'endpoint_list');
    await derive(engine);
    expect(await rowsOf(engine, 'endpoint_list')).toBeLessThanOrEqual(before);
    await list(engine, items.slice(5));
    await derive(engine);
    expect((await listed(engine)).length).toBe(15);
    await list(engine, items);
    await derive(engine);
    expect((await listed(engine)).length).toBe(20);
    await list(engine, [{ ...items[0], description: 'news' }, ...items.slice(1)]);
    await derive(engine);
    expect(
      await ask(
        engine,
        sql`SELECT resource FROM endpoint_list FINAL WHERE description = 'news' AND position(search_text, 'news') > 0`,
      ),
    ).toEqual([['https://a.example/0']]);
  });
});
