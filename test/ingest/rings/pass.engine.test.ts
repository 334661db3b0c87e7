import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EngineError, type Writer } from '../../../clickhouse/engine/engine.ts';
import { sql, text, trustedText } from '../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import { loadConfig } from '../../../core/config/load.ts';
import type { Address } from '../../../core/domain/account.ts';
import { repeatPasses } from '../../../ingest/passes/repeat.ts';
import { PASS_LIMITS, type PassLimits, RING_METHOD_VERSION } from '../../../ingest/rings/edges.ts';
import { type RingPass, ringPass, ringPasses } from '../../../ingest/rings/pass.ts';
import { runRollupWorker } from '../../../ingest/rollup-worker.ts';
import { readRings } from '../../../src/operations/wallets/profile-totals.ts';
import { testClock } from '../../kit/api.ts';
import { type TestEngine, testEngine, testLog } from '../../kit/engine.ts';
import { insertSettlements, NOON, POLYGON, settlement, tombstone, wallet } from '../../kit/rows.ts';
import { waitUntil } from '../../kit/wait-until.ts';

const DAY = 86_400;
const TODAY = NOON - DAY / 2;
/** Inside the window: the day before the day of NOON. */
const YESTERDAY = TODAY - 1_000;

let engine: TestEngine;
beforeAll(async () => {
  engine = await testEngine();
});
afterAll(async () => {
  await engine?.close();
});
beforeEach(async () => {
  for (const table of ['settlements', 'wallet_rings', 'ring_passes']) {
    await engine.writer.run({
      name: 'test-empty',
      maxSeconds: 30,
      sql: sql`TRUNCATE TABLE ${trustedText(table)}`,
    });
  }
});

let places = 0;

/** `times` payments of `usdMicros` altogether, the rest of the division in the first. */
function payments(
  payer: Address,
  payee: Address,
  usdMicros: bigint,
  { times = 2, blockTime = YESTERDAY }: { readonly times?: number; readonly blockTime?: number } = {},
): Settlement[] {
  const share = usdMicros / BigInt(times);
  return Array.from({ length: times }, (_, at) => {
    places += 1;
    return settlement({
      payer,
      payee,
      blockTime,
      blockNumber: places,
      logIndex: at,
      amountUsdMicros: at === 0 ? usdMicros - share * BigInt(times - 1) : share,
    });
  });
}

function pass(
  limits: Partial<PassLimits> = {},
  nowMs = NOON * 1_000,
  writer = engine.writer,
): Promise<RingPass> {
  return ringPass(writer, { nowMs, limits: { ...PASS_LIMITS, generationSpread: 1, ...limits } });
}

const [A, B, C, D] = [wallet(1), wallet(2), wallet(3), wallet(4)];

describe('a pass over the payments', () => {
  test('publishes each ring under every member, with exact sums and its window', async () => {
    await insertSettlements(engine.writer, [
      ...payments(B, C, 7_000_001n),
      ...payments(C, A, 3_000_003n, { times: 3 }),
      ...payments(A, B, 900_000_000_000_000_001n),
      ...payments(A, D, 50_000_000n),
    ]);
    const done = await pass();
    expect(done).toMatchObject({ wallets: 3, rings: 1, edges: 3, capped: [] });
    const ring = {
      length: 3,
      members: [A, B, C],
      bottleneckUsdMicros: 3_000_003n,
      windowEnd: TODAY,
      methodVersion: RING_METHOD_VERSION,
    };
    for (const member of [A, B, C]) expect(await readRings(engine.reader, member)).toEqual([ring]);
    expect(await readRings(engine.reader, D)).toEqual([]);
    expect(await column(sql`SELECT toString(ring_usd) FROM wallet_rings LIMIT 1`)).toEqual([
      '900000000010.000005',
    ]);
  });

  test('counts chains together and payments to oneself not at all', async () => {
    const back = payments(B, A, 2_000_000n);
    await insertSettlements(engine.writer, [
      ...payments(A, B, 2_000_000n),
      ...back.map((row, at) => ({ ...row, chain: at === 0 ? POLYGON : row.chain })),
      ...payments(C, C, 9_000_000n),
    ]);
    const done = await pass();
    expect(done).toMatchObject({ wallets: 2, rings: 1, edges: 2 });
    expect(await readRings(engine.reader, C)).toEqual([]);
  });

  test('a reorg that takes one payment away takes the ring away at the next pass', async () => {
    const back = payments(B, A, 1_000_000n);
    await insertSettlements(engine.writer, [...payments(A, B, 5_000_000n), ...back]);
    await pass();
    expect(await readRings(engine.reader, A)).toHaveLength(1);
    await tombstone(engine.writer, back.slice(1));
    await pass({}, NOON * 1_000 + 1);
    expect(await readRings(engine.reader, A)).toEqual([]);
  });

  test('a row written twice counts once', async () => {
    const back = payments(B, A, 1_000_000n, { times: 1 });
    await insertSettlements(engine.writer, [...payments(A, B, 5_000_000n), ...back]);
    await insertSettlements(engine.writer, back);
    expect(await pass()).toMatchObject({ edges: 1, rings: 0 });
  });

  test('an edge below either threshold is none', async () => {
    await insertSettlements(engine.writer, [
      ...payments(A, B, 5_000_000n),
      ...payments(B, A, 999_999n),
      ...payments(C, D, 5_000_000n),
      ...payments(D, C, 5_000_000n, { times: 1 }),
    ]);
    expect(await pass()).toMatchObject({ edges: 2, rings: 0 });
    expect(await pass({ edgeUsdMicrosMin: 999_999n }, NOON * 1_000 + 1)).toMatchObject({
      edges: 3,
      rings: 1,
    });
  });

  test('the window is thirty whole days and ends before today', async () => {
    const since = TODAY - 30 * DAY;
    await insertSettlements(engine.writer, [
      ...payments(A, B, 5_000_000n, { blockTime: since }),
      ...payments(B, A, 5_000_000n, { blockTime: TODAY - 1 }),
      ...payments(C, D, 5_000_000n, { blockTime: since - 1 }),
      ...payments(D, C, 5_000_000n),
      ...payments(C, A, 5_000_000n),
      ...payments(A, C, 5_000_000n, { blockTime: TODAY }),
    ]);
    expect(await pass()).toMatchObject({ rings: 1, window: { from: since, to: TODAY } });
    expect((await readRings(engine.reader, A)).map(({ members }) => members)).toEqual([[A, B]]);
  });

  test('beyond the edge limit the strongest are looked at, and the pass says so', async () => {
    await insertSettlements(engine.writer, [
      ...payments(A, B, 5_000_000n),
      ...payments(B, A, 4_000_000n),
      ...payments(C, D, 2_000_000n),
      ...payments(D, C, 3_000_000n),
    ]);
    expect(await pass({ edgesMax: 3 })).toMatchObject({ edges: 3, rings: 1, capped: ['edges'] });
    expect(await readRings(engine.reader, A)).toHaveLength(1);
    expect(await column(sql`SELECT arrayStringConcat(capped, ',') FROM ring_passes`)).toEqual(['edges']);
  });

  test('works when the engine may keep only little of the grouping in memory', async () => {
    const rows = Array.from({ length: 200 }, (_, at) => [
      ...payments(wallet(1_000 + at), wallet(2_000 + at), 2_000_000n),
      ...payments(wallet(2_000 + at), wallet(1_000 + at), 2_000_000n),
    ]).flat();
    await insertSettlements(engine.writer, rows);
    expect(await pass({ readSpillBytes: 1, rowsPerBuffer: 7 })).toMatchObject({ rings: 200, wallets: 400 });
    expect(await readRings(engine.reader, wallet(2_199))).toHaveLength(1);
  });

  test('without any settlement it publishes that there are no rings', async () => {
    expect(await pass()).toMatchObject({ edges: 0, rings: 0, wallets: 0 });
    expect(await readRings(engine.reader, A)).toEqual([]);
  });
});

describe('generations', () => {
  const ringOfTwo = (): Settlement[] => [...payments(A, B, 5_000_000n), ...payments(B, A, 5_000_000n)];

  test('a pass that dies before it is published is not seen, and its rows are dropped later', async () => {
    await insertSettlements(engine.writer, ringOfTwo());
    await pass();
    const before = await readRings(engine.reader, A);
    await insertSettlements(engine.writer, [...payments(B, C, 5_000_000n), ...payments(C, A, 5_000_000n)]);
    const dying = { ...engine.writer, run: () => Promise.reject(new Error('killed')) };
    await expect(pass({}, NOON * 1_000 + 10, dying)).rejects.toThrow('killed');
    expect(await readRings(engine.reader, A)).toEqual(before);
    await pass({}, NOON * 1_000 + 20);
    expect(await readRings(engine.reader, A)).toHaveLength(2);
    expect(await generations()).toEqual([NOON * 1_000, NOON * 1_000 + 20]);
  });

  test('rise when the clock is set back, and two are kept', async () => {
    await insertSettlements(engine.writer, ringOfTwo());
    const gens: bigint[] = [];
    for (const nowMs of [5_000, 0, -60_000, 7_000].map((ms) => NOON * 1_000 + ms))
      gens.push((await pass({}, nowMs)).gen);
    expect(gens).toEqual([5_000n, 5_001n, 5_002n, 7_000n].map((ms) => BigInt(NOON) * 1_000n + ms));
    expect(await generations()).toEqual(gens.slice(-2).map(Number));
    expect(await readRings(engine.reader, A)).toHaveLength(1);
  });

  test('of two workers at the same moment each writes a pass of its own, and one is seen', async () => {
    await insertSettlements(engine.writer, ringOfTwo());
    const { generationSpread } = PASS_LIMITS;
    const passes = await Promise.all([pass({ generationSpread }), pass({ generationSpread })]);
    expect(new Set(passes.map(({ gen }) => gen)).size).toBe(2);
    expect(await readRings(engine.reader, A)).toHaveLength(1);
  });

  test('rows of a pass that another worker is writing stay', async () => {
    await insertSettlements(engine.writer, ringOfTwo());
    await pass();
    const writing = NOON * 1_000 + 10_000;
    await engine.writer.run({
      name: 'test-other-worker',
      maxSeconds: 10,
      sql: sql`INSERT INTO wallet_rings SELECT * REPLACE(${text(String(writing))}::UInt64 AS gen) FROM wallet_rings`,
    });
    await engine.writer.run({
      name: 'test-older',
      maxSeconds: 10,
      sql: sql`INSERT INTO ring_passes (gen) VALUES (${text(String(NOON * 1_000 + 5))})`,
    });
    await dropByPassOf(NOON * 1_000 + 7);
    expect(await generations()).toContain(writing);
  });
});

/** The generation of a real pass is above every row, so one below a foreign row is simulated by its own statements. */
async function dropByPassOf(nowMs: number): Promise<void> {
  const blind: Writer = {
    ...engine.writer,
    rows: (statement, signal) =>
      statement.name === 'ring-generation'
        ? Promise.resolve({ rows: [['0']], readRows: 0, readBytes: 0, elapsedMs: 0 })
        : engine.writer.rows(statement, signal),
  };
  await pass({}, nowMs, blind);
}

function repeat(writer: Writer, signal: AbortSignal): Promise<void> {
  const deps = { writer, log: testLog, clock: testClock() };
  return repeatPasses({ ...deps, signal }, [[ringPasses(deps)]]);
}

describe('the worker', () => {
  test('looks for rings after its start, survives a failing engine, and ends when stopped', async () => {
    await insertSettlements(engine.writer, [...payments(A, B, 5_000_000n), ...payments(B, A, 5_000_000n)]);
    const stopping = new AbortController();
    const run = (writer: Writer): Promise<void> => repeat(writer, stopping.signal);
    const failing = run({
      ...engine.writer,
      rows: () => Promise.reject(new EngineError('unreachable', 'test', null, undefined)),
    });
    const running = run(engine.writer);
    await waitUntil('rings', async () => (await readRings(engine.reader, A)).length === 1);
    stopping.abort();
    await Promise.all([failing, running]);
  });

  test('is part of what role rollup does', async () => {
    await insertSettlements(engine.writer, [...payments(A, B, 5_000_000n), ...payments(B, A, 5_000_000n)]);
    const stopping = new AbortController();
    const { signal } = stopping;
    const { writer } = engine;
    const config = loadConfig({ env: {} });
    const running = runRollupWorker({
      config,
      writer,
      log: testLog,
      signal,
      clock: testClock(),
      terminal: null,
    });
    await waitUntil('rings', async () => (await readRings(engine.reader, A)).length === 1);
    stopping.abort();
    await running;
  });

  test('a bug is not swallowed', async () => {
    const broken = { ...engine.writer, rows: () => Promise.reject(new TypeError('bug')) };
    const { signal } = new AbortController();
    await expect(repeat(broken, signal)).rejects.toThrow('bug');
  });
});

async function column(statement: ReturnType<typeof sql>): Promise<unknown[]> {
  const { rows } = await engine.reader.rows({ name: 'test', maxSeconds: 10, maxRows: 100, sql: statement });
  return rows.map(([value]) => value);
}

async function generations(): Promise<number[]> {
  return (await column(sql`SELECT DISTINCT gen FROM wallet_rings ORDER BY gen`)).map(Number);
}
