import { afterAll, beforeAll, expect, test } from 'vitest';
import { createReader } from '../../../clickhouse/engine/http-engine.ts';
import { trustedText } from '../../../clickhouse/engine/sql.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { offerTokens } from '../../../ingest/endpoints/item.ts';
import { WHOLE } from '../../../ingest/endpoints/list.ts';
import { syncSource } from '../../../ingest/endpoints/sync.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { listedItem } from '../../kit/bazaar.ts';
import { testLog } from '../../kit/engine.ts';
import { NOON, wallet } from '../../kit/rows.ts';
import { type SandboxEngine, sandboxEngine } from '../../kit/sandbox-engine.ts';

/** What analysts see of the listings, read as the guest. */

let engine: SandboxEngine;
const versions = createVersions(0n);

beforeAll(async () => {
  engine = await sandboxEngine();
});
afterAll(() => engine?.close());

async function list(items: readonly unknown[]): Promise<void> {
  const tokens = offerTokens(loadConfig({ env: {} }));
  const { signal } = new AbortController();
  await syncSource(
    { writer: engine.writer, versions, tokens, nowMs: () => NOON * 1_000, log: testLog, signal },
    { id: 'file', kind: 'file', host: '', mark: '', read: (take) => take(items).then(() => WHOLE) },
  );
}

const asGuest = (text: string) => engine.guest.explain({ name: 'view', text, maxSeconds: 10 });

test('endpoints shows each live offer once, and an address reads a few granules', async () => {
  const items = Array.from({ length: 3_000 }, (_, at) =>
    listedItem(`https://shop.example/${at}`, { payTo: wallet(1_000 + (at >> 1)) }),
  );
  await list([...items, listedItem('https://gone.example/')]);
  await list([{ ...items[0], serviceName: 'Shop', tags: ['b', 'a'] }, ...items.slice(1)]);
  expect(
    await asGuest(`SELECT resource, method, service_name, pay_to, chain, asset, toString(price_usd), tags, toString(last_updated)
      FROM endpoints WHERE pay_to = '${wallet(1_000)}' ORDER BY resource`),
  ).toEqual([
    [
      'https://shop.example/0',
      'GET',
      'Shop',
      wallet(1_000),
      'eip155:8453',
      '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      '0.01',
      ['a', 'b'],
      '2026-11-20 08:00:00',
    ],
    [
      'https://shop.example/1',
      'GET',
      null,
      wallet(1_000),
      'eip155:8453',
      '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      '0.01',
      [],
      '2026-11-20 08:00:00',
    ],
  ]);
  expect(await asGuest('SELECT toUInt32(count()) FROM endpoints')).toEqual([[3_000]]);
  const reader = createReader(engine.access, testLog);
  const view = `${engine.access.database}_public.endpoints`;
  const readRowsOf = async (where: string) =>
    (
      await reader.rows({
        name: 'pruned',
        sql: trustedText(`SELECT count() FROM ${view} WHERE ${where}`),
        maxSeconds: 10,
        maxRows: 10,
      })
    ).readRows;
  try {
    expect(await readRowsOf(`pay_to = '${wallet(2_000)}'`)).toBeLessThan(1_500);
    expect(await readRowsOf(`resource = 'https://shop.example/777'`)).toBeLessThan(1_500);
    expect(await readRowsOf(`lower(pay_to) = '${wallet(2_000)}'`)).toBeGreaterThanOrEqual(3_000);
  } finally {
    await reader.close();
  }
});
