import { describe, expect } from 'vitest';
import { createReader } from '../../../../clickhouse/engine/http-engine.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { GRAPH_DAYS_KEPT } from '../../../../core/domain/payment-graph.ts';
import { graphPass } from '../../../../ingest/graphs/pass.ts';
import { createGraphs } from '../../../../src/operations/graph/read.ts';
import { OPERATIONS } from '../../../../src/operations/index.ts';
import { complaints } from '../../../kit/answer-schema.ts';
import { type ApiAnswer, type TestApi, testApi, testClock } from '../../../kit/api.ts';
import { closeDays, closeHours } from '../../../kit/close-days.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { IS_PUSH } from '../../../kit/lengths.ts';
import { pausableProxy } from '../../../kit/pausable-proxy.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  namePayee,
  POLYGON,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';

const DAY = 86_400;
const TODAY = NOON - DAY / 2;

let engine: TestEngine;
let api: TestApi;
test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(async ({ api: fresh }) => {
  api = fresh;
  await emptyTables(engine.writer);
});

interface Edge {
  readonly payer: string;
  readonly payee: string;
  readonly usdMicros: bigint;
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

/** A pass of the worker over every number of days that is kept. */
async function addUp(): Promise<void> {
  const deps = { writer: engine.writer, chains: [BASE, POLYGON] as const, clock: testClock() };
  for (const days of GRAPH_DAYS_KEPT) expect(await graphPass(deps, days)).toBe('done');
}

/** The same question, answered the slow and obvious way. */
function recount(rows: readonly Settlement[]): { edges: Edge[]; selfCount: number; selfMicros: bigint } {
  const edges = new Map<string, Edge>();
  const own = rows.filter(({ payer, payee }) => payer === payee);
  for (const { payer, payee, amountUsdMicros, blockTime } of rows) {
    if (payer === payee) continue;
    const known = edges.get(`${payer} ${payee}`);
    edges.set(`${payer} ${payee}`, {
      payer,
      payee,
      usdMicros: (known?.usdMicros ?? 0n) + amountUsdMicros,
      count: (known?.count ?? 0) + 1,
      first: Math.min(known?.first ?? blockTime, blockTime),
      last: Math.max(known?.last ?? blockTime, blockTime),
    });
  }
  const ordered = [...edges.values()].sort((a, b) => {
    if (a.usdMicros !== b.usdMicros) return a.usdMicros > b.usdMicros ? -1 : 1;
    return `${a.payer}${a.payee}` < `${b.payer}${b.payee}` ? -1 : 1;
  });
  const selfMicros = own.reduce((sum, { amountUsdMicros }) => sum + amountUsdMicros, 0n);
  return { edges: ordered, selfCount: own.length, selfMicros };
}

function printed({ payer, payee, usdMicros, count, first, last }: Edge) {
  const time = (seconds: number): string => `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;
  return {
    payer,
    payee,
    usd: Number(usdMicros) / 1e6,
    count,
    first_seen: time(first),
    last_seen: time(last),
  };
}

/** Of all chains, as `history` makes them, unless the query names one. */
async function graph(query: string): Promise<ApiAnswer['body']> {
  const all = query.includes('chain=') ? '' : '&chain=all';
  const { status, body, text } = await api.get(`/v0/graph?${query}${all}`);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  expect(complaints(OPERATIONS.find(({ id }) => id === 'getGraph')?.output ?? {}, body)).toEqual([]);
  expectInvariant(body);
  return body;
}

function expectInvariant({ nodes, edges }: ApiAnswer['body']): void {
  const micros = (usd: number): bigint => BigInt(Math.round(usd * 1e6));
  const moved = nodes.reduce(
    (sum: bigint, node: { window_usd: number }) => sum + micros(node.window_usd),
    0n,
  );
  expect(moved).toBe(2n * edges.reduce((sum: bigint, edge: { usd: number }) => sum + micros(edge.usd), 0n));
  const counted = nodes.reduce((sum: number, node: { window_count: number }) => sum + node.window_count, 0);
  expect(counted).toBe(2 * edges.reduce((sum: number, edge: { count: number }) => sum + edge.count, 0));
}

function expectGraph(body: ApiAnswer['body'], rows: readonly Settlement[]): void {
  const truth = recount(rows);
  expect(body.edges).toEqual(truth.edges.map(printed));
  expect(body.meta.excluded).toEqual({
    self_payments: truth.selfCount,
    self_payment_usd: Number(truth.selfMicros) / 1e6,
  });
  const wallets = new Set(truth.edges.flatMap(({ payer, payee }) => [payer, payee]));
  expect(new Set(body.nodes.map((node: { wallet: string }) => node.wallet))).toEqual(wallets);
}

/** A repeatable history: `count` settlements, `spacing` seconds apart, newest first, self-payments among them. */
function history(count: number, spacing: number, newest = NOON): Settlement[] {
  let state = 12_345;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
  return Array.from({ length: count }, (_, at) =>
    settlement({
      chain: random(3) === 0 ? POLYGON : BASE,
      blockTime: newest - Math.floor(at * spacing),
      blockNumber: 1_000_000 - at,
      logIndex: at % 7,
      payer: wallet(1 + random(9)),
      payee: wallet(1 + random(5)),
      amountUsdMicros: BigInt(random(5) === 0 ? 1_000 : random(3_000_000)),
    }),
  );
}

const newestFirst = (rows: readonly Settlement[]): Settlement[] =>
  [...rows].sort((a, b) => b.blockTime - a.blockTime || b.blockNumber - a.blockNumber);

describe('the window form', () => {
  test('adds up exactly the newest settlements, whatever their density', async () => {
    const rows = [...history(300, 2.5), ...history(60, 86_400 * 3, NOON - 40 * DAY)].map((row, at) => ({
      ...row,
      blockNumber: 2_000_000 - at,
    }));
    await insertSettlements(engine.writer, rows);
    await insertSettlements(engine.writer, rows.slice(0, 50)); // a second version of the same rows
    for (const size of [1, 7, 250, 340, 360, 50_000]) {
      const body = await graph(`window=${size}`);
      const counted = newestFirst(rows).slice(0, size);
      expectGraph(body, counted);
      expect(body).toMatchObject({
        complete: true,
        days: null,
        applied: { form: 'window', window: size, days: null, max_edges: 1_000, finality: 'any' },
      });
      const times = counted.map(({ blockTime }) => blockTime);
      expect([Date.parse(body.since), Date.parse(body.until)]).toEqual([
        Math.min(...times) * 1_000,
        Math.max(...times) * 1_000,
      ]);
    }
  });

  test('keeps to one wallet, one chain, or final settlements before it counts', async () => {
    const rows = history(240, 30);
    await insertSettlements(engine.writer, rows);
    await reportChain(engine.writer, BASE, { finalized_block: '999900' });
    const of = wallet(2);
    const own = ({ payer, payee }: Settlement): boolean => payer === of || payee === of;
    const isBase = ({ chain }: Settlement): boolean => chain === BASE;
    const isFinal = ({ chain, blockNumber }: Settlement): boolean => chain === BASE && blockNumber <= 999_900;
    const cases: readonly (readonly [string, (row: Settlement) => boolean])[] = [
      [`wallet=${of}`, own],
      [`chain=${BASE}`, isBase],
      ['finality=finalized', isFinal],
      [`wallet=${of}&chain=${BASE}&finality=finalized`, (row) => own(row) && isFinal(row)],
    ];
    for (const [query, matches] of cases) {
      const matching = newestFirst(rows).filter(matches);
      expect(matching.length).toBeGreaterThan(15);
      for (const size of [10, 5_000])
        expectGraph(await graph(`window=${size}&${query}`), matching.slice(0, size));
    }
  });

  test('rows that a reorg took away are not counted, and others take their place', async () => {
    const rows = history(40, 60);
    await insertSettlements(engine.writer, rows);
    await tombstone(engine.writer, rows.slice(3, 9));
    const alive = [...rows.slice(0, 3), ...rows.slice(9)];
    expectGraph(await graph('window=10'), alive.slice(0, 10));
    const of = wallet(1);
    const own = alive.filter(({ payer, payee }) => payer === of || payee === of);
    expectGraph(await graph(`window=10&wallet=${of}`), own.slice(0, 10));
  });

  test('of an empty index is an answer with facts about the dataset', async () => {
    const body = await graph('window=10');
    expect(body).toMatchObject({ nodes: [], edges: [], since: null, until: null, complete: true });
    expect(body.meta.dataset_row_count).toBe(0);
  });
});

describe('the days form', () => {
  test('adds up exactly the whole days before today', async () => {
    const rows = history(400, 1_700, TODAY + 40_000);
    await insertSettlements(engine.writer, rows);
    await insertSettlements(engine.writer, rows.slice(100, 200));
    const gone = rows.slice(60, 70);
    await tombstone(engine.writer, gone);
    for (const days of [1, 2, 5, 90]) {
      const within = ({ blockTime }: Settlement): boolean =>
        blockTime >= TODAY - days * DAY && blockTime < TODAY;
      const alive = rows.filter((row) => within(row) && !gone.includes(row));
      const body = await graph(`days=${days}`);
      expectGraph(body, alive);
      expect(body).toMatchObject({ complete: true, days, applied: { form: 'days', days, window: null } });
      expect([Date.parse(body.since), Date.parse(body.until)]).toEqual([
        (TODAY - days * DAY) * 1_000,
        TODAY * 1_000,
      ]);
      const of = wallet(3);
      expectGraph(
        await graph(`days=${days}&wallet=${of}&chain=${BASE}`),
        alive.filter(({ payer, payee, chain }) => chain === BASE && (payer === of || payee === of)),
      );
    }
  });

  test.skipIf(IS_PUSH)(
    'says the same from rows, from rollups of days and hours, and after a reorg and a regrade of closed days',
    async () => {
      const rows = history(400, 1_700, TODAY + 40_000).map((row, at) => ({
        ...row,
        ...(at % 17 === 0 && { method: 'channel_move' as const, kind: 'deposit' as const }),
      }));
      const of = wallet(3);
      const isBase = ({ chain }: Settlement): boolean => chain === BASE;
      const questions: readonly (readonly [string, (row: Settlement) => boolean])[] = [
        ['', () => true],
        [`&wallet=${of}`, ({ payer, payee }) => payer === of || payee === of],
        [`&chain=${BASE}`, isBase],
        // Blocks up to 999,900 are final: rows of closed days at most.
        ['&finality=finalized', (row) => isBase(row) && row.blockNumber <= 999_900],
      ];
      const expectDays = async (stored: readonly Settlement[]): Promise<void> => {
        for (const days of [1, 3, 7])
          for (const [query, matches] of questions) {
            const within = ({ blockTime, kind }: Settlement): boolean =>
              blockTime >= TODAY - days * DAY && blockTime < TODAY && kind === 'payment';
            expectGraph(
              await graph(`days=${days}${query}`),
              stored.filter((row) => within(row) && matches(row)),
            );
          }
      };
      await reportChain(engine.writer, BASE, { finalized_block: '999900' });
      await insertSettlements(engine.writer, rows);
      await expectDays(rows);
      const times = rows.map(({ blockTime }) => blockTime);
      api.clock.advanceSeconds(61);
      await closeDays(
        engine.writer,
        times.filter((time) => time < TODAY - 2 * DAY),
      );
      await expectDays(rows);
      api.clock.advanceSeconds(61);
      await closeHours(
        engine.writer,
        rows.filter(({ blockTime }) => blockTime >= TODAY - 2 * DAY && blockTime < TODAY),
      );
      await expectDays(rows);
      await addUp();
      api.clock.advanceSeconds(61);
      await expectDays(rows);
      const [gone, regraded] = [rows.slice(60, 90), rows.slice(200, 230)];
      await tombstone(engine.writer, gone);
      const deposits = regraded.map((row) => ({
        ...row,
        method: 'channel_move' as const,
        kind: 'deposit' as const,
      }));
      await insertSettlements(engine.writer, deposits);
      const now = [...rows.filter((row) => !gone.includes(row) && !regraded.includes(row)), ...deposits];
      await expectDays(now);
      api.clock.advanceSeconds(61);
      await closeDays(
        engine.writer,
        times.filter((time) => time < TODAY - 2 * DAY),
      );
      await expectDays(now);
      await closeHours(
        engine.writer,
        rows.filter(({ blockTime }) => blockTime >= TODAY - 2 * DAY && blockTime < TODAY),
      );
      await addUp();
      api.clock.advanceSeconds(61);
      await expectDays(now);
    },
  );

  test.skipIf(IS_PUSH)(
    'a pass of the worker answers until its days are written to, with a row for each edge, and then again from the next pass',
    async () => {
      const rows = history(2_000, 600, TODAY - 10);
      const days = Array.from({ length: 30 }, (_, back) => TODAY - (back + 1) * DAY);
      // Where final rows alone count, the day of the newest row is read live: here that is today, which no graph of days has.
      const today = settlement({ chain: BASE, blockTime: NOON - 60, blockNumber: 1_000_001 });
      await insertSettlements(engine.writer, [...rows, today]);
      await reportChain(engine.writer, BASE, { finalized_block: '1000000' });
      await closeDays(engine.writer, days);
      await addUp();
      const read: Record<string, number> = {};
      const counting = await testApi({
        ...engine.reader,
        rows: async (statement, signal) => {
          const answer = await engine.reader.rows(statement, signal);
          read[statement.name] = answer.readRows;
          return answer;
        },
      });
      const ask = async (query: string): Promise<readonly [ApiAnswer['body'], string[]]> => {
        for (const name of Object.keys(read)) delete read[name];
        counting.clock.advanceSeconds(61);
        const { body } = await counting.get(`/v0/graph?days=30&${query}`);
        return [
          body,
          Object.keys(read).filter((name) => name === 'graph-days' || name === 'graph-kept-days'),
        ];
      };
      const onBase = rows.filter(({ chain }) => chain === BASE);
      for (const [query, counted] of [
        ['chain=all', rows],
        [`chain=${BASE}`, onBase],
        [`chain=${BASE}&finality=finalized`, onBase],
      ] as const) {
        const [body, asked] = await ask(query);
        expectGraph(body, counted);
        expect(asked).toEqual(['graph-kept-days']);
      }
      const few = await ask('chain=all&max_edges=5');
      expect(few[0].edges).toEqual(recount(rows).edges.slice(0, 5).map(printed));
      expect(few[0].complete).toBe(false);
      expect(few[0].meta.excluded.self_payments).toBe(recount(rows).selfCount);
      expect(read['graph-kept-days']).toBeLessThan(1_000);
      const gone = rows.slice(500, 505);
      await tombstone(engine.writer, gone);
      const left = rows.filter((row) => !gone.includes(row));
      const [afterwards, asked] = await ask('chain=all');
      expectGraph(afterwards, left);
      expect(asked).toContain('graph-days');
      await closeDays(engine.writer, days);
      expect((await ask('chain=all'))[1]).toContain('graph-days');
      await addUp();
      const [next, askedNext] = await ask('chain=all');
      expectGraph(next, left);
      expect(askedNext).toEqual(['graph-kept-days']);
      await counting.close();
    },
  );

  test.skipIf(IS_PUSH)('closed days are read as pairs, not as settlements', async () => {
    await insertSettlements(engine.writer, history(20_000, 100, TODAY - 10));
    await closeDays(
      engine.writer,
      Array.from({ length: 24 }, (_, day) => TODAY - (day + 1) * DAY),
    );
    const read: Record<string, number> = {};
    const counting = await testApi({
      ...engine.reader,
      rows: async (statement, signal) => {
        const answer = await engine.reader.rows(statement, signal);
        read[statement.name] = answer.readRows;
        return answer;
      },
    });
    const body = (await counting.get('/v0/graph?days=24&chain=all')).body;
    await counting.close();
    const counted = body.edges.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
    expect(counted).toBeGreaterThan(15_000);
    expect(read['graph-days']).toBeLessThan(6_000);
    expect(read['graph-rows-by-day']).toBeLessThan(6_000);
  });

  test('a kept answer ends with the next write to its days', async () => {
    const rows = history(20, 600, TODAY - 10);
    await insertSettlements(engine.writer, rows);
    expectGraph(await graph('days=1'), rows);
    await tombstone(engine.writer, rows.slice(0, 1));
    expectGraph(await graph('days=1'), rows.slice(1));
    await insertSettlements(engine.writer, rows.slice(0, 1));
    expectGraph(await graph('days=1'), rows);
  });

  test('the same question is answered from memory, another is not', async () => {
    await insertSettlements(engine.writer, history(20, 600, TODAY - 10));
    const asked: string[] = [];
    const counting = await testApi({
      ...engine.reader,
      rows: (statement, signal) => {
        asked.push(statement.name);
        return engine.reader.rows(statement, signal);
      },
    });
    const scans = (): number => asked.filter((name) => name === 'graph-days').length;
    const first = await counting.get('/v0/graph?days=1');
    expect((await counting.get('/v0/graph?days=1')).body.edges).toEqual(first.body.edges);
    expect(scans()).toBe(1);
    await counting.get('/v0/graph?days=2');
    await counting.get('/v0/graph?days=1&max_edges=3');
    expect(scans()).toBe(3);
    counting.clock.advanceSeconds(61);
    await counting.get('/v0/graph?days=1');
    await counting.close();
    expect(scans()).toBe(4);
  });

  test('what was read when no write can be under way any more is kept until the next one', async () => {
    const rows = history(20, 600, TODAY - 10);
    await insertSettlements(engine.writer, rows);
    let scans = 0;
    const counting = await testApi({
      ...engine.reader,
      rows: (statement, signal) => {
        if (statement.name === 'graph-days') scans += 1;
        return engine.reader.rows(statement, signal);
      },
    });
    const scansAfter = async (seconds: number): Promise<number> => {
      counting.clock.advanceSeconds(seconds);
      await counting.get('/v0/graph?days=1');
      return scans;
    };
    expect([await scansAfter(0), await scansAfter(599), await scansAfter(61)]).toEqual([1, 2, 3]);
    expect([await scansAfter(61), await scansAfter(3_600), await scansAfter(3_600)]).toEqual([3, 3, 3]);
    await tombstone(engine.writer, rows.slice(0, 1));
    expect([await scansAfter(0), await scansAfter(61)]).toEqual([4, 5]);
    expectGraph((await counting.get('/v0/graph?days=1&chain=all')).body, rows.slice(1));
    await counting.close();
  });

  test('days beyond what one graph may read are left out, oldest first, and the answer says so', async () => {
    const rows = [1, 2, 3].flatMap((day) => history(10, 60, TODAY - (day - 1) * DAY - 10));
    const placed = rows.map((row, at) => ({ ...row, blockNumber: 5_000 + at }));
    await insertSettlements(engine.writer, placed);
    const graphs = createGraphs({ clock: testClock(), rowsScannedMax: 25 });
    const scope = { chain: undefined, final: undefined, edgesMax: 100, wallet: undefined };
    const answer = await graphs.read(engine.reader, { ...scope, span: { kind: 'days', days: 30 } });
    expect(answer).toMatchObject({ isScanCapped: true, days: 2, since: TODAY - 2 * DAY, until: TODAY });
    expect(answer.graph.edges.map(({ usdMicros }) => usdMicros)).toEqual(
      recount(placed.slice(0, 20)).edges.map(({ usdMicros }) => usdMicros),
    );
    const two = await graphs.read(engine.reader, { ...scope, span: { kind: 'days', days: 2 } });
    expect(two).toMatchObject({ isScanCapped: false, days: 2 });
    const busy = createGraphs({ clock: testClock(), rowsScannedMax: 1 });
    expect(await busy.read(engine.reader, { ...scope, span: { kind: 'days', days: 3 } })).toMatchObject({
      isScanCapped: true,
      days: 1,
    });
  });
});

describe('edges beyond max_edges', () => {
  test('are cut from the smallest, in both forms, and the nodes belong to the edges shown', async () => {
    const rows = history(200, 60, TODAY - 10);
    await insertSettlements(engine.writer, rows);
    const { edges, selfCount } = recount(rows);
    expect(edges.length).toBeGreaterThan(20);
    for (const form of ['window=50000', 'days=3']) {
      const body = await graph(`${form}&max_edges=6`);
      expect(body.edges).toEqual(edges.slice(0, 6).map(printed));
      expect(body).toMatchObject({ complete: false, applied: { max_edges: 6 } });
      expect(body.meta.warnings).toContain('graph_edges_cut');
      expect(body.meta.excluded.self_payments).toBe(selfCount);
      const whole = await graph(`${form}&max_edges=${edges.length}`);
      expect(whole.complete).toBe(true);
      expect(whole.meta.warnings ?? []).not.toContain('graph_edges_cut');
    }
  });

  test('payments to oneself are counted also when they are smaller than every edge that was cut', async () => {
    await insertSettlements(
      engine.writer,
      [2, 3, 4, 5, 1].map((payee, logIndex) =>
        settlement({
          payer: wallet(1),
          payee: wallet(payee),
          logIndex,
          blockTime: TODAY - 10,
          amountUsdMicros: payee === 1 ? 1n : 5_000_000n,
        }),
      ),
    );
    for (const form of ['window=10', 'days=1']) {
      const body = await graph(`${form}&max_edges=1`);
      expect(body.edges.map(({ payee }: { payee: string }) => payee)).toEqual([wallet(2)]);
      expect(body.meta.excluded).toEqual({ self_payments: 1, self_payment_usd: 0.000001 });
    }
  });

  test('max_edges is clamped and echoed', async () => {
    for (const [sent, effective] of [
      ['0', 1],
      ['-5', 1],
      ['999999', 5_000],
    ] as const)
      expect((await graph(`window=1&max_edges=${sent}`)).applied.max_edges).toBe(effective);
  });
});

test('nodes carry names, their figures by direction, and a total order', async () => {
  await namePayee(engine.writer, wallet(2), 'Weather by the call');
  await insertSettlements(engine.writer, [
    settlement({ payer: wallet(1), payee: wallet(2), amountUsdMicros: 2_500_000n, logIndex: 1 }),
    settlement({ payer: wallet(2), payee: wallet(1), amountUsdMicros: 1n, logIndex: 2 }),
    settlement({ payer: wallet(2), payee: wallet(2), amountUsdMicros: 7_000_000n, logIndex: 3 }),
  ]);
  const body = await graph('window=3');
  expect(body.nodes).toEqual([
    {
      wallet: wallet(1),
      name: null,
      name_source: null,
      window_usd: 2.500001,
      window_count: 2,
      in_usd: 0.000001,
      out_usd: 2.5,
    },
    {
      wallet: wallet(2),
      name: 'Weather by the call',
      name_source: 'operator_catalogue',
      window_usd: 2.500001,
      window_count: 2,
      in_usd: 2.5,
      out_usd: 0.000001,
    },
  ]);
  expect(body.meta.excluded).toEqual({ self_payments: 1, self_payment_usd: 7 });
});

describe('a question that cannot be answered', () => {
  test.each([
    ['', 'window'],
    ['window=5&days=5', 'days'],
    ['window=0', 'window'],
    ['window=50001', 'window'],
    ['window=1.5', 'window'],
    ['window=', 'window'],
    ['days=0', 'days'],
    ['days=91', 'days'],
    ['days=soon', 'days'],
    ['days=1&max_edges=many', 'max_edges'],
    ['days=1&wallet=0x12', 'wallet'],
    ['days=1&chain=eip155:1', 'chain'],
    ['days=1&finality=maybe', 'finality'],
  ])('%s is 400 naming %s', async (query, parameter) => {
    const { status, body } = await api.get(`/v0/graph?${query}`);
    expect({ status, code: body.code, parameter: body.parameter }).toEqual({
      status: 400,
      code: 'invalid_parameter',
      parameter,
    });
  });

  test('with a stopped engine is 503 naming the resource, in both forms', async () => {
    const proxy = await pausableProxy(engine.access.url);
    const reader = createReader({ ...engine.access, url: proxy.url });
    const cut = await testApi(reader);
    expect((await cut.get('/v0/graph?days=1')).status).toBe(200);
    await proxy.stop();
    cut.clock.advanceSeconds(3_600);
    const answers = [
      await cut.get('/v0/graph?days=1'),
      await cut.get(`/v0/graph?window=5&wallet=${wallet(1)}`),
    ];
    await cut.close();
    await reader.close();
    for (const { status, body } of answers) {
      expect({ status, code: body.code }).toEqual({ status: 503, code: 'upstream_unavailable' });
      expect(body.resource).toMatch(/^(graph|chains|names)$/);
      expect(body.retry_after).toBeGreaterThan(0);
    }
  });
});

test('a second graph over everybody waits for the first; one wallet’s waits for none', async () => {
  await insertSettlements(engine.writer, history(20, 600, TODAY - 10));
  let running = 0;
  let most = 0;
  const watched = await testApi({
    ...engine.reader,
    rows: async (statement, signal) => {
      if (statement.name !== 'graph-days') return engine.reader.rows(statement, signal);
      running += 1;
      most = Math.max(most, running);
      return engine.reader.rows(statement, signal).finally(() => {
        running -= 1;
      });
    },
  });
  const ask = (queries: readonly string[]) =>
    Promise.all(queries.map(async (query) => (await watched.get(`/v0/graph?${query}`)).status));
  expect(await ask(['days=1', 'days=2', 'days=3', 'days=4'])).toEqual([200, 200, 200, 200]);
  expect(most).toBe(1);
  most = 0;
  expect(await ask([1, 2, 3, 4, 5, 6].map((number) => `days=5&wallet=${wallet(number)}`))).toEqual(
    Array(6).fill(200),
  );
  expect(most).toBeGreaterThan(1);
  await watched.close();
});
