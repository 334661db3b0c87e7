import { afterEach, describe, expect } from 'vitest';
import { sql, uint64 } from '../../../clickhouse/engine/sql.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { BAZAAR_LIMITS, readBazaar } from '../../../ingest/endpoints/bazaar.ts';
import { offerTokens } from '../../../ingest/endpoints/item.ts';
import { remapOffers } from '../../../ingest/endpoints/offers.ts';
import { type EndpointSource, type SyncOutcome, syncSource } from '../../../ingest/endpoints/sync.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { type Bazaar, listedItem, sendPage, startBazaar } from '../../kit/bazaar.ts';
import { emptyTables } from '../../kit/empty-tables.ts';
import { type TestEngine, testLog } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';
import { NOON } from '../../kit/rows.ts';

/** One source, read again and again from a real server that behaves well, badly, or like an enemy. */

let bazaar: Bazaar;
let nowSeconds = NOON;
const versions = createVersions(0n);
const never = new AbortController().signal;
const LIMITS = { ...BAZAAR_LIMITS, pageItems: 10, pauseMs: 0, retryPausesMs: [1, 1], pageTimeoutMs: 2_000 };

test.beforeEach(async ({ engine }) => {
  await emptyTables(engine.writer);
  bazaar = await startBazaar();
  nowSeconds = NOON;
});
afterEach(() => bazaar.close());

function sync(engine: TestEngine, limits = LIMITS): Promise<SyncOutcome> {
  const source: EndpointSource = {
    id: 'bazaar:test',
    kind: 'bazaar',
    host: 'test',
    mark: '',
    read: (take, signal) => readBazaar(bazaar.url, take, { limits, signal }),
  };
  const tokens = offerTokens(loadConfig({ env: {} }));
  return syncSource(
    { writer: engine.writer, versions, tokens, nowMs: () => nowSeconds * 1_000, log: testLog, signal: never },
    source,
  );
}

async function ask(
  engine: TestEngine,
  statement: ReturnType<typeof sql>,
): Promise<readonly (readonly unknown[])[]> {
  const { rows } = await engine.reader.rows({ name: 'test', sql: statement, maxSeconds: 10, maxRows: 1_000 });
  return rows;
}

const stored = async (engine: TestEngine) =>
  (await ask(engine, sql`SELECT resource FROM endpoint_offers FINAL WHERE del = 0 ORDER BY resource`)).map(
    ([url]) => url,
  );
const rowsWritten = async (engine: TestEngine) =>
  Number((await ask(engine, sql`SELECT count() FROM endpoint_offers`))[0]?.[0]);
const url = (at: number) => `https://shop.example/${String(at).padStart(3, '0')}`;
const itemsTo = (end: number, from = 0) =>
  Array.from({ length: end - from }, (_, at) => listedItem(url(from + at)));
const urlsTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, at) => url(from + at));

test('a list of many pages is stored whole, and a second reading writes nothing', async ({ engine }) => {
  bazaar.items = itemsTo(95);
  expect(await sync(engine)).toEqual({ problem: null, isWhole: true, offers: 95, unread: {}, written: 95 });
  expect(await stored(engine)).toEqual(urlsTo(95));
  expect(bazaar.asked.map(({ offset }) => offset)).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
  expect(await sync(engine)).toEqual({ problem: null, isWhole: true, offers: 95, unread: {}, written: 0 });
});

test('only changed resources are written, and each keeps its first day', async ({ engine }) => {
  bazaar.items = itemsTo(30);
  await sync(engine);
  const before = await rowsWritten(engine);
  bazaar.items[7] = listedItem(url(7), { amount: '20000' });
  nowSeconds += 3_600;
  expect(await sync(engine)).toMatchObject({ written: 1 });
  expect(await rowsWritten(engine)).toBeLessThanOrEqual(before + 1);
  expect(
    await ask(
      engine,
      sql`SELECT toString(amount), toString(price_usd), toUnixTimestamp(first_seen) FROM endpoint_offers FINAL
      WHERE resource LIKE '%/007' AND del = 0`,
    ),
  ).toEqual([['20000', '0.02', NOON]]);
});

test('what a whole list no longer has is buried, and comes back when it is listed again', async ({
  engine,
}) => {
  bazaar.items = itemsTo(25);
  await sync(engine);
  bazaar.items = itemsTo(25, 12);
  expect(await sync(engine)).toMatchObject({ isWhole: true, written: 12 });
  expect(await stored(engine)).toEqual(urlsTo(25, 12));
  bazaar.items = itemsTo(25);
  nowSeconds += 3_600;
  await sync(engine);
  expect(await stored(engine)).toEqual(urlsTo(25));
  // As if they had never left: since when each was listed decides what counts for it.
  expect(
    await ask(
      engine,
      sql`SELECT DISTINCT toUnixTimestamp(first_seen), toUnixTimestamp(terms_since) FROM endpoint_offers FINAL WHERE del = 0`,
    ),
  ).toEqual([[NOON, NOON]]);
});

test('items that are no offer are counted by their reason', async ({ engine }) => {
  bazaar.items = [
    ...itemsTo(3),
    'https://a.example/',
    { ...listedItem(url(9)), accepts: [] },
    { type: 'mcp' },
  ];
  expect(await sync(engine)).toMatchObject({ offers: 3, unread: { plain_url: 1, no_offer: 1, mcp_tool: 1 } });
});

describe('what was stored stays when the list', () => {
  test.beforeEach(async ({ engine }) => {
    bazaar.items = itemsTo(40);
    await sync(engine);
  });

  test('cannot be had', async ({ engine }) => {
    await bazaar.close();
    expect(await sync(engine)).toMatchObject({ problem: 'unreachable', isWhole: false, written: 0 });
    expect(await stored(engine)).toEqual(urlsTo(40));
  });

  test('breaks off in the middle; what was new until then is stored', async ({ engine }) => {
    bazaar.items = itemsTo(80, 20);
    bazaar.manners = (response, { offset }) => {
      if (offset < 30) return false;
      response.writeHead(500).end();
      return true;
    };
    expect(await sync(engine)).toMatchObject({ problem: 'refused', isWhole: false, offers: 30 });
    expect(await stored(engine)).toEqual(urlsTo(50));
  });

  test('ends before the number that it states', async ({ engine }) => {
    bazaar.manners = (response, question) => {
      sendPage(response, bazaar.items.slice(0, 15), { ...question, total: 40 });
      return true;
    };
    expect(await sync(engine)).toMatchObject({ problem: 'ended_early', isWhole: false });
    expect(await stored(engine)).toEqual(urlsTo(40));
  });

  test('shrinks while it is read: rows may have moved over the edge of a page', async ({ engine }) => {
    bazaar.manners = (_response, { offset }) => {
      if (offset === 10) bazaar.items.splice(0, 5);
      return false;
    };
    expect(await sync(engine)).toMatchObject({ problem: null, isWhole: false });
    expect(await stored(engine)).toEqual(urlsTo(40));
    bazaar.manners = () => false;
    expect(await sync(engine)).toMatchObject({ problem: null, isWhole: true });
    expect(await stored(engine)).toEqual(urlsTo(40, 5));
  });

  test('is no longer there, or is no list', async ({ engine }) => {
    for (const [status, body, problem] of [
      [404, '{}', 'no_listing'],
      [200, '<html>', 'not_json'],
      [200, '{"items":{"0":1}}', 'not_a_list'],
      [200, 'null', 'not_a_list'],
      [302, '', 'redirected'],
    ] as const) {
      bazaar.manners = (response) =>
        Boolean(response.writeHead(status, { location: '/elsewhere' }).end(body));
      expect(await sync(engine)).toMatchObject({ problem, isWhole: false, written: 0 });
    }
    expect(await stored(engine)).toEqual(urlsTo(40));
  });
});

describe('a reading ends although the list', () => {
  test('does not turn its pages', async ({ engine }) => {
    bazaar.manners = (response, { limit }) => {
      sendPage(response, itemsTo(10), { limit, offset: 0, total: 1_000_000 });
      return true;
    };
    expect(await sync(engine)).toMatchObject({ problem: 'repeats_itself', offers: 10 });
    expect(bazaar.asked.length).toBe(2);
  });

  test('turns them in a circle', async ({ engine }) => {
    bazaar.manners = (response, { limit, offset }) => {
      sendPage(response, itemsTo(30), { limit, offset: offset % 30, total: 1_000_000 });
      return true;
    };
    expect(await sync(engine)).toMatchObject({ problem: 'repeats_itself', offers: 30 });
  });

  test('never ends', async ({ engine }) => {
    bazaar.manners = (response, { limit, offset }) => {
      const items = Array.from({ length: limit }, (_, at) => listedItem(url(offset + at)));
      sendPage(response, items, { limit, offset: 0, total: offset + 1_000 });
      return true;
    };
    expect(await sync(engine, { ...LIMITS, itemsMax: 95 })).toMatchObject({
      problem: 'too_many_items',
      offers: 95,
    });
    expect(await sync(engine, { ...LIMITS, pagesMax: 4 })).toMatchObject({
      problem: 'too_many_items',
      offers: 40,
    });
  });

  test('comes byte by byte', async ({ engine }) => {
    bazaar.manners = (response) => response.write('{"items":[');
    expect(await sync(engine, { ...LIMITS, pageTimeoutMs: 100, retryPausesMs: [] })).toMatchObject({
      problem: 'timeout',
    });
    expect(await sync(engine, { ...LIMITS, totalMs: 100 })).toMatchObject({ problem: 'timeout' });
  });

  test('has a page without end', async ({ engine }) => {
    bazaar.manners = (response) => {
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', more);
      more();
      return true;
    };
    expect(await sync(engine, { ...LIMITS, pageBytes: 1_000_000 })).toMatchObject({ problem: 'too_large' });
  });
});

test('a server that knows no pages has given everything at once', async ({ engine }) => {
  bazaar.manners = (response) => Boolean(response.end(JSON.stringify({ items: itemsTo(10) })));
  expect(await sync(engine)).toMatchObject({ problem: null, isWhole: true, offers: 10 });
  bazaar.manners = (response) => Boolean(response.end(JSON.stringify(itemsTo(4))));
  expect(await sync(engine)).toMatchObject({ problem: null, isWhole: true, offers: 4 });
  expect(await stored(engine)).toEqual(urlsTo(4));
});

test('a server that gives fewer items than it is asked for is read to its end', async ({ engine }) => {
  bazaar.items = itemsTo(23);
  bazaar.manners = (response, { offset }) => {
    sendPage(response, bazaar.items, { limit: 4, offset });
    return true;
  };
  expect(await sync(engine)).toMatchObject({ problem: null, isWhole: true, offers: 23 });
});

test('a page that fails for a moment is asked for again', async ({ engine }) => {
  bazaar.items = itemsTo(30);
  let refusals = 2;
  bazaar.manners = (response, { offset }) => {
    if (offset !== 20 || refusals-- <= 0) return false;
    response.writeHead(429, { 'retry-after': '0' }).end();
    return true;
  };
  expect(await sync(engine)).toMatchObject({ problem: null, isWhole: true, offers: 30 });
});

test('the same offer listed twice is one, and offers that differ in one part of their key are different ones', async ({
  engine,
}) => {
  bazaar.items = [
    listedItem(url(1)),
    listedItem(url(1), { amount: '99' }),
    listedItem(url(1), { network: 'base' }),
    listedItem(url(1), { payTo: '0x00000000000000000000000000000000000000cc' }),
    listedItem(url(1), { item: { metadata: { method: 'post' } } }),
  ];
  expect(await sync(engine)).toMatchObject({ offers: 4, written: 4 });
  expect(
    await ask(
      engine,
      sql`SELECT method, network, chain, pay_to, toString(amount) FROM endpoint_offers FINAL WHERE del = 0
      ORDER BY method, network, pay_to`,
    ),
  ).toEqual([
    ['GET', 'base', 'eip155:8453', '0x00000000000000000000000000000000000000b2', '10000'],
    ['GET', 'eip155:8453', 'eip155:8453', '0x00000000000000000000000000000000000000b2', '10000'],
    ['GET', 'eip155:8453', 'eip155:8453', '0x00000000000000000000000000000000000000cc', '10000'],
    ['POST', 'eip155:8453', 'eip155:8453', '0x00000000000000000000000000000000000000b2', '10000'],
  ]);
});

test('offers that an older rule has mapped are mapped anew, and a reading then finds nothing to write', async ({
  engine,
}) => {
  bazaar.items = Array.from({ length: 30 }, (_, at) =>
    listedItem(url(at), {
      ...(at % 2 === 0 ? {} : { network: 'base' }),
      item: {
        tags: ['web search'],
        serviceName: 'Search',
        description: 'Finds pages',
        lastUpdated: NOON - at,
      },
    }),
  );
  await sync(engine);
  const capabilities = () =>
    ask(
      engine,
      sql`SELECT capabilities, rule_version, toUInt32(count()), toUnixTimestamp(min(first_seen)) FROM endpoint_offers FINAL
      WHERE del = 0 GROUP BY 1, 2`,
    );
  const mapped = await capabilities();
  expect(mapped.map(([, , count]) => count)).toEqual([30]);
  await engine.writer.run({
    name: 'test-older-rule',
    sql: sql`INSERT INTO endpoint_offers SELECT * REPLACE(['old-job'] AS capabilities, toUInt16(0) AS rule_version, toUInt128(0) AS content_id,
      ${uint64(versions.next())} AS ver) FROM (SELECT * FROM endpoint_offers FINAL)`,
    maxSeconds: 10,
  });
  nowSeconds += 60;
  expect(await remapOffers({ writer: engine.writer, versions, log: testLog, signal: never })).toBe(30);
  expect(await capabilities()).toEqual(mapped);
  expect(await remapOffers({ writer: engine.writer, versions, log: testLog, signal: never })).toBe(0);
  expect(await sync(engine)).toMatchObject({ offers: 30, written: 0 });
});
