import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import type { Reader } from '../../../../clickhouse/engine/engine.ts';
import { createReader } from '../../../../clickhouse/engine/http-engine.ts';
import { sql, trustedText } from '../../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import type { Meter } from '../../../../core/meter.ts';
import { retractAbove } from '../../../../ingest/write/retract.ts';
import { createVersions, VERSION_STEP } from '../../../../ingest/write/versions.ts';
import { readChainStatus } from '../../../../src/operations/index-state/chain-status.ts';
import { finalBlocks } from '../../../../src/operations/index-state/finality.ts';
import { readFeed } from '../../../../src/operations/settlements/feed.ts';
import { EVERY_SETTLEMENT } from '../../../../src/operations/settlements/filters.ts';
import { createTails, TAIL_TIMES, type TailTimes } from '../../../../src/operations/settlements/tail.ts';
import { type TestApi, testApi, testClock, walk } from '../../../kit/api.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import { pausableProxy } from '../../../kit/pausable-proxy.ts';
import { BASE, hash, insertSettlements, NOON, POLYGON, reportChain, settlement } from '../../../kit/rows.ts';
import { watchedLog } from '../../../kit/secrets-watch.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

let engine: TestEngine;
let versions = createVersions(0n);
const opened: TestApi[] = [];

test.beforeAll(async ({ ownEngine }) => {
  engine = ownEngine;
});
beforeEach(async () => {
  versions = createVersions(0n);
  await emptyTables(engine.writer);
  await reportChains();
});
afterEach(async () => {
  for (const api of opened.splice(0)) await api.close();
});

/** Served for as long as the test runs, and renewed when it is asked for. */
const OLD_ALLOWED: TailTimes = { refreshAfterMs: 0, maxAgeMs: 600_000, checkAfterMs: 600_000 };
/** The same, without being renewed. */
const HELD: TailTimes = { ...OLD_ALLOWED, refreshAfterMs: 600_000 };

async function open(
  options: NonNullable<Parameters<typeof testApi>[1]> = {},
  reader: Reader = engine.reader,
) {
  const api = await testApi(reader, options);
  opened.push(api);
  return api;
}

async function reportChains(): Promise<void> {
  for (const chain of [BASE, POLYGON]) await reportChain(engine.writer, chain, { finalized_block: '1990' });
}

/** Rows of both chains, three a second, the newest at noon. */
function rowsOf(count: number, from = 0): Settlement[] {
  return Array.from({ length: count }, (_, index) => rowAt(from + index));
}

function rowAt(place: number, fields: Partial<Settlement> = {}): Settlement {
  const second = Math.floor(place / 3);
  return settlement({
    chain: second % 4 === 3 ? POLYGON : BASE,
    blockTime: NOON - second,
    blockNumber: 2_000 - second,
    logIndex: place - 3 * second,
    txHash: hash(place + 1_000),
    ...fields,
  });
}

const insert = (rows: readonly Settlement[]): Promise<void> =>
  insertSettlements(engine.writer, rows, { ver: versions.next() });

const ddl = (text: string): Promise<void> =>
  engine.writer.run({ name: 'test-ddl', kind: 'other', sql: trustedText(text), maxSeconds: 20 });

function createCounts(): { readonly meter: Meter; of(name: string, label: string): number } {
  const counts = new Map<string, number>();
  return {
    of: (name, label) => counts.get(`${name} ${label}`) ?? 0,
    meter: {
      count(name, labels, by = 1) {
        const key = `${name} ${Object.values(labels)[0]}`;
        counts.set(key, (counts.get(key) ?? 0) + by);
      },
      observe: () => undefined,
      read: () => undefined,
    },
  };
}

function countStatements(): { readonly reader: Reader; readonly names: string[] } {
  const names: string[] = [];
  return {
    names,
    reader: {
      ...engine.reader,
      rows: (statement, signal) => {
        names.push(statement.name);
        return engine.reader.rows(statement, signal);
      },
    },
  };
}

const PLACES = 1_800;
const place = fc.integer({ min: -60, max: PLACES });
const places = fc.uniqueArray(place, { minLength: 1, maxLength: 12 });
type Change = {
  readonly kind: 'write' | 'take' | 'regrade' | 'reorg' | 'empty';
  readonly places: readonly number[];
};
const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('write', 'write', 'write', 'take', 'regrade', 'reorg', 'empty'),
  places,
});
const question = fc.record({
  chain: fc.constantFrom(undefined, BASE, POLYGON),
  limit: fc.constantFrom(1, 50, 100),
  finality: fc.constantFrom('any' as const, 'finalized' as const),
  before: fc.option(place, { nil: undefined }),
});

interface Asked {
  readonly chain: typeof BASE | undefined;
  readonly limit: number;
  readonly finality: 'any' | 'finalized';
  readonly before: number | undefined;
}

/** A tail that may not be old, and the engine that it must equal. */
async function openBoth() {
  const { reader } = engine;
  const clock = testClock();
  const newestTime = () => Promise.resolve(NOON);
  const times = { ...TAIL_TIMES, refreshAfterMs: 0, maxAgeMs: 0 };
  const tails = createTails({ reader, clock, newestTime, log: watchedLog('tail'), meter: null, times });
  const statuses = await readChainStatus(reader);
  const final = finalBlocks(statuses);
  return {
    memory: ({ before, ...asked }: Asked) =>
      tails.page({ ...asked, before: before === undefined ? undefined : rowAt(before) }, statuses),
    engine: ({ before, ...asked }: Asked) =>
      readFeed(
        { reader, clock, newestTime },
        {
          ...EVERY_SETTLEMENT,
          ...asked,
          before: before === undefined ? undefined : rowAt(before),
          final: asked.finality === 'finalized' ? final : undefined,
        },
      ),
  };
}

test('every page from memory is the page of the engine, after whatever was written, taken, regraded or emptied', async () => {
  const pages = { memory: 0, engine: 0 };
  const steps = fc.array(fc.tuple(change, fc.array(question, { minLength: 2, maxLength: 6 })), {
    minLength: 6,
    maxLength: 14,
  });
  const follow = async (taken: readonly (readonly [Change, readonly Asked[]])[]): Promise<void> => {
    await emptyTables(engine.writer);
    await insert(rowsOf(PLACES));
    await reportChains();
    const both = await openBoth();
    for (const [fork, [{ kind, places: at }, questions]] of taken.entries()) {
      await make(kind, at, fork + 1);
      for (const asked of questions) pages[await compare(both, asked, kind)] += 1;
    }
  };
  await fc.assert(fc.asyncProperty(steps, follow), {
    numRuns: 3 * lengthOf('engineProperties'),
    endOnFailure: true,
  });
  expect(pages.memory).toBeGreaterThan(pages.engine);
}, 300_000);

async function compare(
  both: Awaited<ReturnType<typeof openBoth>>,
  asked: Asked,
  after: string,
): Promise<'memory' | 'engine'> {
  const page = await both.memory(asked);
  if (page === undefined) return 'engine';
  const expected = rowsAndEnd(await both.engine(asked));
  expect({ asked, after, ...rowsAndEnd(page) }).toEqual({ asked, after, ...expected });
  return 'memory';
}

const rowsAndEnd = ({ rows, nextBefore }: Awaited<ReturnType<typeof readFeed>>) => ({
  rows,
  nextBefore:
    nextBefore === undefined ? undefined : [nextBefore.blockTime, nextBefore.chain, nextBefore.logIndex],
});

async function make(kind: Change['kind'], at: readonly number[], fork: number): Promise<void> {
  const rows = at.map((one) =>
    rowAt(one, { txHash: hash(100_000 * fork + one + 1_000), facilitator: `f${fork}` }),
  );
  switch (kind) {
    case 'write':
      return insert(rows);
    case 'take':
      return insertSettlements(
        engine.writer,
        at.map((one) => rowAt(one)),
        { ver: versions.next(), del: 1 },
      );
    case 'regrade': {
      const keys = rows.map((row) => `(${row.blockNumber}, ${row.logIndex})`).join();
      return engine.writer.run({
        name: 'test-regrade',
        maxSeconds: 20,
        sql: trustedText(`INSERT INTO settlements SELECT * REPLACE('g${fork}' AS facilitator,
          intDiv(ver, ${VERSION_STEP}) * ${VERSION_STEP} + ${fork} AS ver) FROM settlements FINAL
          WHERE (block_number, log_index) IN (${keys}) AND del = 0`),
      });
    }
    case 'reorg': {
      const { blockNumber: number, blockTime: time } = rowAt((at[0] ?? 0) % 90);
      for (const chain of [BASE, POLYGON])
        await retractAbove(engine.writer, versions, chain, { number, time });
      return insert(rows);
    }
    case 'empty': {
      await emptyTables(engine.writer);
      return insert([...rows, ...rowsOf(at.length)]);
    }
  }
}

describe('questions to the engine', () => {
  test.each([
    '/v0/flows?limit=1',
    '/v0/flows?limit=100',
    `/v0/flows?chain=${POLYGON}&finality=finalized&limit=10`,
    '/v0/transactions?exclude_self_payments=true',
  ])('nothing for %s once it is held', async (path) => {
    await insert(rowsOf(200));
    const { reader, names } = countStatements();
    const api = await open({ tailTimes: HELD }, reader);
    const first = await api.get(path);
    const asked = names.length;
    const second = await api.get(path);
    expect(names.slice(asked)).toEqual([]);
    expect(second.text).toBe(first.text);
    expect(second.body.next_before).not.toBeNull();
  });

  test('the rows of a page that memory does not reach, and of every page with a filter', async () => {
    await insert(rowsOf(1_600));
    const counts = createCounts();
    const { reader, names } = countStatements();
    const api = await open({ tailTimes: HELD, observation: { meter: counts.meter, tracer: null } }, reader);
    let page = await api.get('/v0/flows?limit=100');
    for (let walked = 0; walked < 5; walked++)
      page = await api.get(`/v0/flows?limit=100&before=${page.body.next_before}`);
    expect(page.body.flows).toHaveLength(100);
    expect([counts.of('feed_pages_total', 'memory'), counts.of('feed_pages_total', 'engine')]).toEqual([
      4, 2,
    ]);
    for (const filter of [
      `since=${NOON - 9}`,
      `until=${NOON}`,
      'min_usd=0',
      'max_usd=9',
      'tier=proven',
      'facilitator=x',
      `asset=${settlement().asset}`,
    ]) {
      names.length = 0;
      await api.get(`/v0/flows?limit=100&${filter}`);
      expect([filter, names.includes('feed-window') || names.includes('feed-jump')]).toEqual([filter, true]);
    }
    expect([counts.of('feed_pages_total', 'memory'), counts.of('feed_pages_total', 'engine')]).toEqual([
      4, 2,
    ]);
  });

  test('one reading of the tail for many callers who come at once', async () => {
    await insert(rowsOf(10));
    const { reader, names } = countStatements();
    const api = await open({ tailTimes: HELD }, reader);
    await Promise.all(Array.from({ length: 40 }, (_, at) => api.get(`/v0/flows?limit=${at + 1}`)));
    expect(names.filter((name) => name === 'changes-newest')).toHaveLength(1);
    expect(names.filter((name) => name === 'changes-horizon')).toHaveLength(1);
  });
});

describe('how new it is', () => {
  test('a page that may be old is renewed while it is served, and never goes back', async () => {
    await insert(rowsOf(30));
    const api = await open({ tailTimes: OLD_ALLOWED });
    let newest = (await api.get('/v0/flows?limit=1')).body.flows[0].block_time;
    for (let at = 1; at <= 5; at++) {
      await insert([rowAt(-3 * at)]);
      await waitUntil('the row is served', async () => {
        const { block_time: time } = (await api.get('/v0/flows?limit=1')).body.flows[0];
        expect(time >= newest).toBe(true);
        newest = time;
        return time === new Date((NOON + at) * 1_000).toISOString().replace('.000', '');
      });
    }
  });

  test('a page that may not be old has every row that was acknowledged before its request', async () => {
    const api = await open();
    for (let at = 0; at < 25; at++) {
      await insert([rowAt(-at)]);
      expect((await api.get('/v0/flows?limit=100')).body.flows).toHaveLength(at + 1);
    }
  });

  test('the time of an answer goes on while its rows stay', async () => {
    await insert(rowsOf(3));
    // Within the second for which the statuses of chains are kept.
    const api = await open({ tailTimes: HELD, clock: testClock(NOON + 0.7) });
    const before = (await api.get('/v0/flows')).body;
    api.clock.advanceSeconds(0.5);
    const after = (await api.get('/v0/flows')).body;
    expect([before.meta.as_of, after.meta.as_of]).toEqual(['2026-11-20T12:00:00Z', '2026-11-20T12:00:01Z']);
    expect(after.meta.freshness.chains[0].lag_seconds).toBe(before.meta.freshness.chains[0].lag_seconds + 1);
    expect(after.flows).toEqual(before.flows);
  });

  test('a page says final of a row at most three seconds after its chain does', async () => {
    await insert(rowsOf(9));
    const api = await open({ tailTimes: HELD });
    expect((await api.get('/v0/flows')).body.flows[0].finality).toBe('head');
    expect((await api.get('/v0/flows?finality=finalized')).body.flows).toEqual([]);
    await reportChain(engine.writer, BASE, { finalized_block: '2000' });
    api.clock.advanceSeconds(3);
    expect((await api.get('/v0/flows')).body.flows[0].finality).toBe('finalized');
    expect((await api.get('/v0/flows?finality=finalized')).body.flows).toHaveLength(9);
  });

  test('without the engine a held page is served while it may be old, and is 503 afterwards', async () => {
    await insert(rowsOf(3));
    const proxy = await pausableProxy(engine.access.url);
    const reader = createReader({ ...engine.access, url: proxy.url }, watchedLog('tail'));
    const [held, strict] = [await open({ tailTimes: HELD }, reader), await open({}, reader)];
    for (const api of [held, strict]) expect((await api.get('/v0/flows')).status).toBe(200);
    await proxy.stop();
    const answers = [await held.get('/v0/flows'), await strict.get('/v0/flows')];
    await proxy.start();
    expect(answers.map(({ status }) => status)).toEqual([200, 503]);
    // Written while it was away.
    await insert([rowAt(-3)]);
    await waitUntil('it answers again', async () => (await strict.get('/v0/flows')).status === 200);
    expect((await strict.get('/v0/flows')).body.flows).toHaveLength(4);
    await reader.close();
    await proxy.stop();
  });
});

test('a walk that begins in memory and ends in the engine meets every surviving row once while rows arrive and a reorg takes some', async () => {
  await insert(rowsOf(900));
  const api = await open();
  const { rows } = await walk(api, '/v0/transactions', {
    limit: 70,
    between: async (page) => {
      await insert(rowsOf(3, -3 * page));
      // Below the page, in memory and beyond.
      if (page === 2)
        await insertSettlements(engine.writer, rowsOf(30, 450), { ver: versions.next(), del: 1 });
      if (page === 9)
        await insertSettlements(engine.writer, rowsOf(30, 800), { ver: versions.next(), del: 1 });
    },
  });
  const hashes = rows.map((row) => row['tx_hash']);
  expect(new Set(hashes).size).toBe(hashes.length);
  const expected = rowsOf(900).filter((_, at) => !(at >= 450 && at < 480) && !(at >= 800 && at < 830));
  expect(hashes.filter((one) => expected.some(({ txHash }) => txHash === one))).toHaveLength(expected.length);
});

test('rows that the log of changes does not name are found by the comparison with the engine, counted and read', async () => {
  await insert(rowsOf(5));
  const counts = createCounts();
  const observation = { meter: counts.meter, tracer: null };
  const tailTimes = { refreshAfterMs: 0, maxAgeMs: 0, checkAfterMs: 0 };
  const api = await open({ tailTimes, observation });
  await waitUntil('an equal comparison', async () => {
    await api.get('/v0/flows');
    return counts.of('feed_checks_total', 'equal') > 0;
  });
  const { rows } = await engine.reader.rows({
    name: 'test-view',
    maxSeconds: 10,
    maxRows: 1,
    sql: sql`SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = 'settlement_changes_mv'`,
  });
  await ddl('DROP VIEW settlement_changes_mv');
  await insert([rowAt(30)]);
  await ddl(String(rows[0]?.[0]));
  expect((await api.get('/v0/flows')).body.flows).toHaveLength(5);
  await waitUntil('the row is served', async () => (await api.get('/v0/flows')).body.flows.length === 6);
  expect(counts.of('feed_checks_total', 'different')).toBe(1);
});
