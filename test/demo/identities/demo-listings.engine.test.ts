import { afterAll, expect } from 'vitest';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { checked } from '../../../core/config/checked-file.ts';
import { ConfigSchema } from '../../../core/config/config.ts';
import { resolveConfig } from '../../../core/config/load.ts';
import { castOf } from '../../../demo/actors.ts';
import { USDC } from '../../../demo/chain/deploy-usdc.ts';
import { listingSources, listSince } from '../../../demo/history/list-offers.ts';
import { publishBazaars } from '../../../demo/identities/bazaar.ts';
import { type CardHost, startCardHost } from '../../../demo/identities/card-host.ts';
import { offerOf } from '../../../demo/identities/offers.ts';
import { offerTokens } from '../../../ingest/endpoints/item.ts';
import { syncSource } from '../../../ingest/endpoints/sync.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { type TestEngine, testLog } from '../../kit/engine.ts';
import { test } from '../../kit/fixtures.ts';
import { payment } from '../../kit/listings.ts';
import { insertSettlements } from '../../kit/rows.ts';

let engine: TestEngine;
let host: CardHost;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
  host = await startCardHost();
});
afterAll(async () => {
  await host?.stop();
});

const DAY_SECONDS = 86_400;

test('payments of the demo’s sample history count for offers, and ingest leaves the time of their listing as it is', async () => {
  const cast = castOf(1);
  const now = Math.floor(Date.now() / 1_000);
  const bazaars = publishBazaars(host, cast, now);
  const config = resolveConfig(
    checked(ConfigSchema, {
      chains: [{ chain: 'base-sepolia', rpcUrls: ['http://127.0.0.1:1'] }],
      catalogue: {
        facilitators: Object.entries(bazaars).map(([id, url]) => ({ id, name: id, url, relayers: [] })),
      },
      identities: { allowPrivateHosts: true },
    }),
    null,
  );
  const { signal } = new AbortController();
  const { writer } = engine;
  const deps = { config, writer, versions: createVersions(0n), log: testLog, signal };
  const ingest = async (): Promise<number> => {
    let written = 0;
    for (const source of listingSources(deps))
      written += (await syncSource({ ...deps, tokens: offerTokens(config), nowMs: Date.now }, source))
        .written;
    return written;
  };
  expect(await ingest()).toBeGreaterThan(0);
  const [merchant] = cast.merchants;
  const [chain] = config.chains;
  if (merchant === undefined || chain === undefined) throw new Error('there is a merchant and a chain');
  const paid = { chain: chain.chain, payee: merchant.address, asset: USDC, amount: offerOf(merchant).price };
  await insertSettlements(writer, [payment({ ...paid, blockTime: now - 2 * DAY_SECONDS })]);
  const since = now - 120 * DAY_SECONDS;
  await listSince(deps, since);
  expect(await ingest()).toBe(0);
  const rows = async (statement: ReturnType<typeof sql>) =>
    (await engine.reader.rows({ name: 'test', sql: statement, maxSeconds: 10, maxRows: 100 })).rows;
  expect(
    await rows(
      sql`SELECT DISTINCT toUnixTimestamp(first_seen), toUnixTimestamp(terms_since) FROM endpoint_offers FINAL WHERE del = 0`,
    ),
  ).toEqual([[since, since]]);
  expect(
    await rows(
      sql`SELECT resource, toUInt32(settlement_count) FROM endpoint_list FINAL WHERE del = 0 AND settlement_count > 0 ORDER BY resource`,
    ),
  ).toEqual(['/air-quality', '/forecast'].map((path) => [`${merchant.resource}${path}`, 1]));
});
