import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import { sql, trustedText } from '../../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { mintChangesCursor } from '../../../../core/domain/cursor.ts';
import { retractAbove } from '../../../../ingest/write/retract.ts';
import { createVersions, VERSION_STEP } from '../../../../ingest/write/versions.ts';
import { CURSOR_KEYS, type TestApi, testApi, walk } from '../../../kit/api.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import { createPoller, type Poller } from '../../../kit/poller.ts';
import {
  BASE,
  hash,
  insertSettlements,
  NOON,
  POLYGON,
  reportChain,
  settlement,
  wallet,
} from '../../../kit/rows.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

let engine: TestEngine;
let api: TestApi;
let versions = createVersions(0n);

test.beforeAll(async ({ ownEngine }) => {
  engine = ownEngine;
});
beforeEach(async () => {
  await api?.close();
  api = await testApi(engine.reader);
  versions = createVersions(0n);
  await emptyTables(engine.writer);
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
});
afterAll(() => api?.close());

const OF = wallet(0xa1);
const COLUMNS = [
  'chain',
  'block_number',
  'log_index',
  'tx_hash',
  'block_time',
  'facilitator',
  'amount',
] as const;
const shape = (row: Record<string, unknown>): string => COLUMNS.map((column) => row[column]).join(' ');

/** Polls until nothing is waiting and everything that was acknowledged has been given. */
async function catchUp(poller: Poller): Promise<void> {
  await pastHorizon(poller);
  while (await poller.poll());
}

/** A cursor made after everything that was written. */
async function pastHorizon(poller: Poller): Promise<void> {
  const { rows } = await engine.reader.rows({
    name: 'test-newest',
    maxSeconds: 10,
    maxRows: 1,
    sql: sql`SELECT toUnixTimestamp64Micro(max(at)) FROM settlement_changes`,
  });
  const newest = Number(rows[0]?.[0]);
  await waitUntil('the cursor is after everything that was written', async () => {
    await poller.poll();
    return cursorTime(poller.cursor()) >= newest;
  });
}

/** The time within a cursor: its fields are no secret. */
function cursorTime(cursor: string): number {
  const [from = 0] = JSON.parse(Buffer.from(cursor, 'base64url').subarray(17).toString('utf8')) as [number];
  return from;
}

async function expectEqual(poller: Poller, path: string, query = ''): Promise<void> {
  const { rows } = await walk(api, path, { limit: 100, query });
  const [ours, theirs] = [new Set(rows.map(shape)), new Set([...poller.copy.values()].map(shape))];
  const missing = [...ours].filter((row) => !theirs.has(row));
  const surplus = [...theirs].filter((row) => !ours.has(row));
  expect({ list: `${path} ${query}`, missing, surplus }).toEqual({
    list: `${path} ${query}`,
    missing: [],
    surplus: [],
  });
}

const LISTS: readonly (readonly [path: string, query: string])[] = [
  ['/v0/flows', ''],
  ['/v0/flows', `&chain=${POLYGON}`],
  ['/v0/transactions', ''],
  ['/v0/transactions', '&exclude_self_payments=true'],
  ['/v0/flows', `&since=${NOON - 5_000}&until=${NOON - 100}`],
  [`/v0/entities/${OF}/settlements`, ''],
  [`/v0/entities/${OF}/settlements`, '&role=payee&min_usd=0.000005'],
  [`/v0/entities/${OF}/settlements`, `&counterparty=${wallet(0xb1)}`],
];

const MAY_BE_OLD = { refreshAfterMs: 50, maxAgeMs: 400, checkAfterMs: 600_000 };

const FIRST_BLOCK = 100;
const FIRST_TIME = NOON - 9_000;
const BLOCK_SECONDS = 700;
const PLACES = 39;
const blockOf = (place: number): number => Math.floor(place / 3);

/**
 * An event at a place of the chain. A reorg puts other events there: each second time the transactions of two neighbouring blocks
 * change places, so that one that was taken back is in another block afterwards.
 */
function event(place: number, fork: number): Settlement {
  const block = blockOf(place);
  const isGraded = (place + fork) % 3 === 0;
  const transaction = (block ^ (fork % 2)) * 3 + (place % 3);
  return settlement({
    chain: (block >> 1) % 3 === 0 ? POLYGON : BASE,
    blockTime: FIRST_TIME + block * BLOCK_SECONDS,
    blockNumber: FIRST_BLOCK + block,
    logIndex: place % 3,
    txHash: hash(1_000 * (fork >> 1) + transaction + 1),
    payer: place % 2 === 0 ? OF : wallet(0xb0 + (place % 3)),
    payee: place % 2 === 0 ? wallet(0xb0 + ((place + fork) % 3)) : OF,
    amountUsdMicros: BigInt(place + fork),
    amount: BigInt(place + fork),
    facilitator: isGraded ? 'acme' : '',
    method: isGraded ? 'facilitator_relay' : 'not_examined',
  });
}

type Step =
  | { readonly kind: 'write'; readonly places: readonly number[]; readonly slow: boolean }
  | { readonly kind: 'reorg'; readonly pair: number }
  | { readonly kind: 'regrade'; readonly places: readonly number[]; readonly to: 'acme' | '' }
  | { readonly kind: 'lost view'; readonly places: readonly number[] }
  | { readonly kind: 'poll'; readonly which: number }
  | { readonly kind: 'start again'; readonly which: number }
  | { readonly kind: 'catch up'; readonly which: number };

const places = fc.uniqueArray(fc.integer({ min: 0, max: PLACES - 1 }), { minLength: 1, maxLength: 8 });
const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('write' as const), places, slow: fc.boolean() }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('reorg' as const), pair: fc.integer({ min: 0, max: 5 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('regrade' as const),
        places,
        to: fc.constantFrom('acme' as const, '' as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('lost view' as const), places }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('poll' as const), which: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('start again' as const), which: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('catch up' as const), which: fc.nat() }) },
  ),
  { minLength: 12, maxLength: 40 },
);

/** Writes the way ingest does, on both chains at once: inserts of the two overlap, and one may take long. */
function createWriters() {
  /** By place. */
  const forks = Array.from({ length: PLACES }, () => 0);
  const eventAt = (place: number): Settlement => event(place, forks[place] ?? 0);
  /** Both blocks of a pair go, as their transactions may change places. */
  const ancestorOf = (pair: number) => {
    const block = 2 * pair + 1;
    return { number: FIRST_BLOCK + block, time: FIRST_TIME + block * BLOCK_SECONDS };
  };
  const retract = async (pair: number): Promise<void> => {
    for (const chain of [BASE, POLYGON]) await retractAbove(engine.writer, versions, chain, ancestorOf(pair));
    for (const place of forks.keys())
      if (blockOf(place) > 2 * pair + 1) forks[place] = (forks[place] ?? 0) + 1;
  };
  let running: Promise<void>[] = [];
  const idle = async (): Promise<void> => {
    await Promise.all(running);
    running = [];
  };
  const pass = { last: 0 };
  const insert = (rows: readonly Settlement[], slow: boolean): Promise<void> => {
    const ver = versions.next();
    if (!slow) return insertSettlements(engine.writer, rows, { ver });
    // The rows come from a table of their own, so that the engine can be made to take its time over them.
    return slowInsert(rows, ver);
  };
  return {
    idle,
    async write(at: readonly number[], slow: boolean): Promise<void> {
      const rows = at.map(eventAt);
      for (const chain of [BASE, POLYGON]) {
        const ofChain = rows.filter((row) => row.chain === chain);
        if (ofChain.length > 0) running.push(insert(ofChain, slow && chain === BASE));
      }
      if (!slow) await idle();
    },
    async reorg(pair: number): Promise<void> {
      await idle();
      await retract(pair);
    },
    async regrade(at: readonly number[], to: 'acme' | ''): Promise<void> {
      await idle();
      pass.last += 1;
      const keys = at.map(eventAt).map((row) => `(${row.blockNumber}, ${row.logIndex})`);
      // The version of a regraded row only uses the room below the next one.
      await engine.writer.run({
        name: 'test-regrade',
        maxSeconds: 20,
        sql: trustedText(`INSERT INTO settlements SELECT * REPLACE('${to}' AS facilitator,
            '${to === '' ? 'not_examined' : 'facilitator_relay'}' AS method, intDiv(ver, ${VERSION_STEP}) * ${VERSION_STEP} + ${pass.last} AS ver)
          FROM (SELECT * FROM settlements FINAL WHERE (block_number, log_index) IN (${keys.join(', ')}) AND del = 0)`),
      });
    },
    /** A kill between the table and the view of changes; the writer repeats rows that were not acknowledged. */
    async loseView(at: readonly number[]): Promise<void> {
      await idle();
      await ddl('DROP VIEW settlement_changes_mv');
      const rows = at.map(eventAt);
      await insertSettlements(engine.writer, rows, { ver: versions.next() });
      await ddl(MADE.view);
      await insertSettlements(engine.writer, rows, { ver: versions.next() });
      // Tombstones too; the repeat of a retraction finds nothing live.
      const { number } = ancestorOf(4);
      await ddl('DROP VIEW settlement_changes_mv');
      await engine.writer.run({
        name: 'test-tombstones',
        maxSeconds: 20,
        sql: trustedText(`INSERT INTO settlements SELECT * REPLACE(${versions.next()} AS ver, 1 AS del)
          FROM (SELECT * FROM settlements FINAL WHERE block_number > ${number} AND del = 0)`),
      });
      await ddl(MADE.view);
      await retract(4);
    },
  };
}

const MADE = { view: '' };
test.beforeAll(async () => {
  const { rows } = await engine.reader.rows({
    name: 'test-view',
    maxSeconds: 10,
    maxRows: 1,
    sql: sql`SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = 'settlement_changes_mv'`,
  });
  MADE.view = String(rows[0]?.[0]);
  await ddl('CREATE TABLE waiting AS settlements ENGINE = Memory');
});

const ddl = (text: string): Promise<void> =>
  engine.writer.run({ name: 'test-ddl', kind: 'other', sql: trustedText(text), maxSeconds: 20 });

async function slowInsert(rows: readonly Settlement[], ver: bigint): Promise<void> {
  await insertSettlements(
    { ...engine.writer, insert: (name, _table, ...rest) => engine.writer.insert(name, 'waiting', ...rest) },
    rows,
    { ver },
  );
  await engine.writer.run({
    name: 'test-slow-insert',
    maxSeconds: 20,
    sql: trustedText(
      `INSERT INTO settlements SELECT * FROM waiting WHERE ver = ${ver} AND NOT ignore(sleep(0.4))`,
    ),
  });
}

describe('a copy that is kept by polling equals the list', () => {
  test('through inserts that overlap, reorgs, regrades, late blocks and kills, polled at any moment with any limit', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(1, 3, 100), async (history, limit) => {
        await emptyTables(engine.writer);
        await reportChain(engine.writer, BASE);
        await reportChain(engine.writer, POLYGON);
        await insertSettlements(engine.writer, [event(7, 0), event(8, 0)], { ver: versions.next() });
        // Its first pages come from memory and may be old: what they miss must come after `prev_after`.
        const oldPages = await testApi(engine.reader, { tailTimes: MAY_BE_OLD });
        const pollers = [...LISTS, ...LISTS.slice(0, 4)].map(([path, query], at) => ({
          path,
          query,
          poller: createPoller(at < LISTS.length ? api : oldPages, path, { query, limit }),
        }));
        await Promise.all(pollers.map(({ poller }) => poller.start()));
        const writers = createWriters();
        for (const step of history) await take(step, writers, pollers);
        await writers.idle();
        for (const { poller, path, query } of pollers) {
          await catchUp(poller);
          await expectEqual(poller, path, query);
        }
        await oldPages.close();
      }),
      { numRuns: 2 * lengthOf('engineProperties'), endOnFailure: true },
    );
  }, 300_000);

  async function take(
    step: Step,
    writers: ReturnType<typeof createWriters>,
    pollers: readonly { readonly poller: Poller }[],
  ): Promise<void> {
    switch (step.kind) {
      case 'write':
        return writers.write(step.places, step.slow);
      case 'reorg':
        return writers.reorg(step.pair);
      case 'regrade':
        return writers.regrade(step.places, step.to);
      case 'lost view':
        return writers.loseView(step.places);
      case 'start again':
        return pollers[step.which % pollers.length]?.poller.start();
      case 'catch up':
      case 'poll': {
        const { poller } = pollers[step.which % pollers.length] ?? {};
        if (poller !== undefined) await (step.kind === 'poll' ? poller.poll() : catchUp(poller));
      }
    }
  }
});

test('an insert whose entry was made before it could be seen, while a higher version ended, is not missed', async () => {
  const poller = createPoller(api, '/v0/flows');
  await insertSettlements(engine.writer, [event(1, 0)], { ver: versions.next() });
  await poller.start();
  // Another view holds the insert up after its entry has been made.
  await ddl(
    'CREATE MATERIALIZED VIEW held_up ENGINE = Null AS SELECT sleepEachRow(2) AS x FROM settlements WHERE block_number = 7',
  );
  const held = insertSettlements(engine.writer, [settlement({ blockNumber: 7 })], { ver: versions.next() });
  await waitUntil('the insert has run for a second', async () => {
    const { rows } = await engine.reader.rows({
      name: 'test-running',
      maxSeconds: 5,
      maxRows: 1,
      sql: sql`SELECT max(elapsed) FROM engine_statements WHERE query_kind = 'Insert' AND current_database = currentDatabase()`,
    });
    return Number(rows[0]?.[0]) > 1;
  });
  await insertSettlements(engine.writer, [event(30, 0)], { ver: versions.next() });
  await poller.poll();
  await held;
  await ddl('DROP VIEW held_up');
  await catchUp(poller);
  await expectEqual(poller, '/v0/flows');
  expect(poller.copy.size).toBe(3);
});

test('tombstones whose entries were lost in a crash are given once the retraction is repeated', async () => {
  await insertSettlements(engine.writer, [settlement(), settlement({ logIndex: 1 })], {
    ver: versions.next(),
  });
  const poller = createPoller(api, '/v0/flows');
  await poller.start();
  await ddl('DROP VIEW settlement_changes_mv');
  await insertSettlements(engine.writer, [settlement()], { ver: versions.next(), del: 1 });
  await ddl(MADE.view);
  await retractAbove(engine.writer, versions, BASE, { number: 999, time: NOON });
  await catchUp(poller);
  expect(poller.copy.size).toBe(0);
});

test('a backfill far below the newest row is given, and each page is bounded', async () => {
  const poller = createPoller(api, '/v0/transactions', { limit: 100 });
  await insertSettlements(engine.writer, [event(1, 0)], { ver: versions.next() });
  await poller.start();
  const old = Array.from({ length: 1_250 }, (_, at) =>
    settlement({ blockTime: NOON - 60 * 86_400 + at * 900, blockNumber: at, logIndex: 0 }),
  );
  await insertSettlements(engine.writer, old, { ver: versions.next() });
  await catchUp(poller);
  await expectEqual(poller, '/v0/transactions');
});

test('retractions come in bounded pages, before the rows that take their place', async () => {
  const rows = Array.from({ length: 1_201 }, (_, logIndex) => settlement({ logIndex }));
  await insertSettlements(engine.writer, rows, { ver: versions.next() });
  const poller = createPoller(api, '/v0/flows');
  await poller.start();
  expect(poller.copy.size).toBe(1_201);
  await insertSettlements(engine.writer, rows, { ver: versions.next(), del: 1 });
  await insertSettlements(
    engine.writer,
    rows.slice(0, 3).map((row) => ({ ...row, txHash: hash(7 + row.logIndex) })),
    {
      ver: versions.next(),
    },
  );
  await catchUp(poller);
  await expectEqual(poller, '/v0/flows');
});

describe('a cursor that cannot be followed is refused', () => {
  const CODES = (answer: { status: number; body: { code: string; parameter: string } }) => [
    answer.status,
    answer.body.code,
    answer.body.parameter,
  ];
  const cursorOf = async (url: string): Promise<string> => (await api.get(url)).body.prev_after;

  test('of other filters, another list, another wallet, or altered: 400', async () => {
    const cursor = await cursorOf('/v0/flows?min_usd=1');
    for (const url of [
      `/v0/flows?after=${cursor}`,
      `/v0/flows?min_usd=2&after=${cursor}`,
      `/v0/transactions?min_usd=1&after=${cursor}`,
      `/v0/entities/${OF}/settlements?min_usd=1&after=${cursor}`,
      `/v0/flows?min_usd=1&after=${cursor.slice(0, -1)}`,
      `/v0/flows?min_usd=1&before=${cursor}`,
    ])
      expect([url, CODES(await api.get(url))[0], CODES(await api.get(url))[1]]).toEqual([
        url,
        400,
        'invalid_parameter',
      ]);
    expect((await api.get(`/v0/flows?min_usd=1&limit=3&after=${cursor}`)).status).toBe(200);
    expect((await api.get(`/v0/flows?min_usd=1.0&after=${cursor}`)).status).toBe(200);
  });

  test('together with before or finality=finalized: 400 naming after', async () => {
    await insertSettlements(engine.writer, [event(1, 0), event(2, 0)], { ver: versions.next() });
    const { body } = await api.get('/v0/flows?limit=1');
    for (const extra of [`before=${body.next_before}`, 'finality=finalized'])
      expect(CODES(await api.get(`/v0/flows?after=${body.prev_after}&${extra}`))).toEqual([
        400,
        'invalid_parameter',
        'after',
      ]);
    expect((await api.get('/v0/flows?finality=finalized')).body.prev_after).toBeNull();
  });

  test.each([
    ['older than the kept entries', -30 * 86_400e6],
    ['from a clock that was set back since', 3_600e6],
  ])('%s: 410', async (_what, offset) => {
    const at = cursorTime(await cursorOf('/v0/flows')) + offset;
    const cursor = mintChangesCursor(CURSOR_KEYS, 'listFlows after', { from: at, window: undefined });
    expect(CODES(await api.get(`/v0/flows?after=${cursor}`))).toEqual([410, 'cursor_expired', 'after']);
  });
});

test('a poll without news reads few rows and names the same place or a later one', async () => {
  await insertSettlements(engine.writer, [event(1, 0)], { ver: versions.next() });
  const poller = createPoller(api, '/v0/flows');
  await poller.start();
  await catchUp(poller);
  const before = cursorTime(poller.cursor());
  const { body } = await api.get(`/v0/flows?after=${poller.cursor()}`);
  expect(body).toMatchObject({ flows: [], retracted: [], has_more: false, next_before: null });
  expect(cursorTime(body.prev_after)).toBeGreaterThanOrEqual(before);
});

test.each(['facilitator=acme', 'tier=proven'])(
  '%s names no place to read forward from, and takes none',
  async (filter) => {
    const { body } = await api.get('/v0/flows?limit=1');
    expect((await api.get(`/v0/flows?limit=1&${filter}`)).body.prev_after).toBeNull();
    const refused = await api.get(`/v0/flows?limit=1&${filter}&after=${body.prev_after}`);
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      expect.stringContaining('Keep a copy of all grades'),
    ]);
  },
);
