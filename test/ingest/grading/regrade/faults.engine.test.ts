import { describe, expect } from 'vitest';
import { EngineError, type Writer } from '../../../../clickhouse/engine/engine.ts';
import { type Sql, sql } from '../../../../clickhouse/engine/sql.ts';
import { previewLines, previewRegrade } from '../../../../ingest/grading/regrade/command.ts';
import { recordPass, unfinishedPasses } from '../../../../ingest/grading/regrade/passes.ts';
import { sweepPasses } from '../../../../ingest/grading/regrade/regrade.ts';
import { retractAbove } from '../../../../ingest/write/retract.ts';
import { VERSION_STEP } from '../../../../ingest/write/versions.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { regradeTest as test } from '../../../kit/fixtures-ingest.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import {
  ANN,
  BOB,
  CAFE,
  catalogueWith,
  DAY,
  found,
  payee,
  type RegradeWorld,
  regradeWorld,
  relayed,
} from '../../../kit/regrade-world.ts';
import { BASE, NOON } from '../../../kit/rows.ts';
import { createFaultyWriter, SimulatedDeath } from '../../../kit/simulator/faulty-writer.ts';

const BEFORE = catalogueWith({ facilitators: [relayed('bob', BOB)], payees: [payee(CAFE)] });
const AFTER = catalogueWith({ facilitators: [relayed('ann', ANN), relayed('rob', BOB)] });
const history = () => [
  found({ blockTime: NOON }),
  found({ blockTime: NOON - 40 * DAY, relayer: BOB }),
  found({ blockTime: NOON - 80 * DAY, marker: 'none', payee: CAFE }),
  found({ blockTime: NOON - 80 * DAY, payee: CAFE, relayer: BOB }),
  found({ blockTime: NOON - 120 * DAY, relayer: found().payer }),
];

/** The engine stays; the process that writes dies. */
const NEVER_KILLED = { killEngine: () => Promise.reject(new Error('not here')), onFault: () => undefined };

/** Marked by the clock: a regraded row raises its hour by the room below the next version only, and not in every hour. */
function isMarked(now: unknown, before: unknown): boolean {
  return BigInt(String(now)) / VERSION_STEP > BigInt(String(before)) / VERSION_STEP;
}

async function settledState(
  engine: TestEngine,
  world: RegradeWorld,
  rows: ReturnType<typeof history>,
  catalogue: typeof AFTER,
): Promise<void> {
  expect((await world.live()).map(({ ver: _, ...row }) => row)).toEqual(world.expected(rows, catalogue));
  expect(await unfinishedPasses(engine.writer)).toEqual([]);
  const log = await world.rowsOf(
    sql`SELECT block_number, facilitator, toString(method), seen, ver, del FROM wallet_rows FINAL WHERE role = 'payee' ORDER BY block_number`,
  );
  expect(log).toEqual(
    await world.rowsOf(
      sql`SELECT block_number, facilitator, toString(method), seen, ver, del FROM settlements FINAL ORDER BY block_number`,
    ),
  );
}

test('a crash after a write of a change, whichever it is, is made good by the next start', async ({
  engine,
  world,
}) => {
  const rows = history();
  const hours = () =>
    world.rowsOf(sql`SELECT hour, max(ver) FROM hour_ver WHERE hour IN (SELECT toStartOfHour(block_time) FROM settlements
      WHERE payer != relayer) GROUP BY hour ORDER BY hour`);
  let dieAt = 1;
  for (let crashed = true; crashed; dieAt += lengthOf('deadlyWriteStep')) {
    await world.ingest(rows, BEFORE);
    await world.regrade(BEFORE);
    const before = await hours();
    const process = createFaultyWriter(engine.writer, NEVER_KILLED);
    process.arm({
      kind: 'lose-ack',
      after: dieAt - 1,
      only: '',
      delayMs: 0,
      meanwhile: async () => undefined,
    });
    crashed = await regradeWorld(engine, process)
      .regrade(AFTER)
      .then(
        () => false,
        (error: unknown) => error instanceof SimulatedDeath,
      );
    await world.regrade(AFTER);
    await settledState(engine, world, rows, AFTER);
    const marked = (await hours()).filter(([, ver], at) => isMarked(ver, before[at]?.[1]));
    expect(marked, `after a death at write ${dieAt}`).toHaveLength(3);
  }
  expect(dieAt).toBeGreaterThan(10 + lengthOf('deadlyWriteStep'));
}, 300_000);

test('a row whose statement reached the settlements and not the wallet log is repaired by the repeat', async ({
  engine,
  world,
}) => {
  const rows = [found(), found({ blockTime: NOON + 1 })];
  await world.ingest(rows, BEFORE);
  await world.regrade(BEFORE);
  await engine.writer.run({ name: 'cut', sql: sql`DROP VIEW wallet_rows_mv SYNC`, maxSeconds: 10 });
  const { pass } = await world.change(AFTER);
  await engine.writer.run({
    name: 'half',
    sql: sql`INSERT INTO settlements SELECT * REPLACE('ann' AS facilitator, 'facilitator_relay' AS method, bitOr(seen, 2048) AS seen, ver + 2 AS ver) FROM settlements FINAL WHERE relayer = unhex(${{ kind: 'value', type: 'String', value: ANN.slice(2) }})`,
    maxSeconds: 10,
  });
  expect(pass).toBe(2);
  await engine.writer.run({
    name: 'mend',
    sql: sql`CREATE MATERIALIZED VIEW wallet_rows_mv TO wallet_rows AS
      SELECT concat('0x', lower(hex(if(role = 'payer', payer, payee)))) AS wallet, CAST(role, 'Enum8(\\'payer\\' = 1, \\'payee\\' = 2)') AS role,
        chain, block_number, block_time, tx_hash, log_index, if(role = 'payer', payee, payer) AS counterparty,
        asset, asset_symbol, amount - toUInt256(reinterpret(amount_usd, 'Int64')) AS amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del
      FROM settlements ARRAY JOIN ['payer', 'payee'] AS role`,
    maxSeconds: 10,
  });
  await sweepPasses(world.deps);
  await settledState(engine, world, rows, AFTER);
});

test('a row whose statement reached the wallet log and not the settlements is repaired, also when the catalogue is changed back before', async ({
  engine,
  world,
}) => {
  const rows = [found(), found({ blockTime: NOON + 1 })];
  await world.ingest(rows, BEFORE);
  await world.regrade(BEFORE);
  await world.change(AFTER);
  await engine.writer.run({
    name: 'half',
    sql: sql`INSERT INTO wallet_rows SELECT * REPLACE('ann' AS facilitator, 'facilitator_relay' AS method, bitOr(seen, 2048) AS seen, ver + 2 AS ver) FROM wallet_rows FINAL WHERE relayer = unhex(${{ kind: 'value', type: 'String', value: ANN.slice(2) }})`,
    maxSeconds: 10,
  });
  await world.change(BEFORE);
  await sweepPasses(world.deps);
  await settledState(engine, world, rows, BEFORE);
});

test('an attempt that failed in the middle is repeated whole, wallet log and dirty hours included', async ({
  engine,
  world,
}) => {
  const rows = history();
  await world.ingest(rows, BEFORE);
  await world.regrade(BEFORE);
  let cut = false;
  const writer: Writer = {
    ...engine.writer,
    async run(statement) {
      await engine.writer.run(statement);
      if (statement.name !== 'regrade-settlements' || cut) return;
      cut = true;
      throw new EngineError('unreachable', statement.name, null, undefined);
    },
  };
  const marked = () => world.rowsOf(sql`SELECT hour, max(ver) FROM hour_ver GROUP BY hour ORDER BY hour`);
  const before = await marked();
  await regradeWorld(engine, writer).regrade(AFTER);
  expect(cut).toBe(true);
  await settledState(engine, world, rows, AFTER);
  const after = await marked();
  expect(
    after.filter(([hour, ver], at) => before[at]?.[0] === hour && isMarked(ver, before[at]?.[1])),
  ).toHaveLength(3);
});

/** The INSERT with another target. */
function intoAnotherTable(insert: Sql, table: string): Sql {
  expect(insert.parts[1]).toBe('settlements');
  return { ...insert, parts: insert.parts.map((part, at) => (at === 1 ? table : part)) };
}

describe('a reorg during a regrade', () => {
  const retract = (engine: TestEngine, world: RegradeWorld) =>
    retractAbove(engine.writer, world.deps.versions, BASE, { number: 0, time: NOON - 365 * DAY });

  test('wins when its tombstones come first', async ({ engine, world }) => {
    await world.ingest(history(), BEFORE);
    await world.change(AFTER);
    await retract(engine, world);
    await sweepPasses(world.deps);
    expect(await world.live()).toEqual([]);
  });

  test('wins when its tombstones come last', async ({ engine, world }) => {
    await world.ingest(history(), BEFORE);
    await world.regrade(AFTER);
    await retract(engine, world);
    expect(await world.live()).toEqual([]);
  });

  test('wins when its tombstones land between the reading and the writing of a regrade', async ({
    engine,
    world,
  }) => {
    await world.ingest(history(), BEFORE);
    const stale: Writer = {
      ...engine.writer,
      async run(statement) {
        if (statement.name !== 'regrade-settlements') return engine.writer.run(statement);
        const run = (command: Sql) => engine.writer.run({ name: 'test', sql: command, maxSeconds: 10 });
        await run(sql`CREATE TABLE IF NOT EXISTS under_way AS settlements`);
        await engine.writer.run({ ...statement, sql: intoAnotherTable(statement.sql, 'under_way') });
        await retract(engine, world);
        await run(sql`INSERT INTO settlements SELECT * FROM under_way`);
      },
    };
    const late = regradeWorld(engine, stale);
    await late.change(AFTER);
    await sweepPasses(late.deps);
    expect(await world.live()).toEqual([]);
  });
});

test('a preview tells the numbers that the regrade then has, writes nothing, and names each change', async ({
  engine,
  world,
}) => {
  const rows = history();
  await world.ingest(rows, BEFORE);
  await world.regrade(BEFORE);
  const before = await world.live();
  const preview = await previewRegrade(engine.writer, AFTER);
  expect(await world.live()).toEqual(before);
  expect(await unfinishedPasses(engine.writer)).toEqual([]);
  const { rowsChanged } = await world.regrade(AFTER);
  expect(preview.rows).toBe(rowsChanged);
  expect(preview.rows).toBe(4);
  expect(preview.changes).toHaveLength(3);
  expect(preview.lines).toContainEqual({
    change: `relayer ${BASE} ${ANN}`,
    from: { method: 'gasless_authorization', facilitator: '' },
    to: { method: 'facilitator_relay', facilitator: 'ann' },
    rows: 1,
    firstDay: '2026-11-20',
    lastDay: '2026-11-20',
  });
  expect(preview.lines).toContainEqual({
    change: `payee ${BASE} ${CAFE}`,
    from: { method: 'bare_transfer', facilitator: '' },
    to: null,
    rows: 1,
    firstDay: '2026-09-01',
    lastDay: '2026-09-01',
  });
  expect((await previewRegrade(engine.writer, AFTER)).rows).toBe(0);
});

test('a preview names the entries that change a row, and no others that it meets', async ({
  engine,
  world,
}) => {
  const rows = [
    found({ blockTime: NOON, payee: CAFE, relayer: BOB }),
    found({ blockTime: NOON - 80 * DAY, relayer: ANN, payee: CAFE }),
  ];
  const relayers = (annSince: string) => [relayed('bob', BOB), relayed('ann', ANN, annSince)];
  await world.ingest(rows, catalogueWith({ facilitators: relayers('2026-01-01'), payees: [payee(CAFE)] }));
  await world.regrade(catalogueWith({ facilitators: relayers('2026-01-01'), payees: [payee(CAFE)] }));
  // Ann counts from a later day on that is before both rows; the payee goes, which changes no grade of a named relayer.
  const preview = await previewRegrade(
    engine.writer,
    catalogueWith({ facilitators: relayers('2026-01-02') }),
  );
  expect(preview.changes).toHaveLength(2);
  expect(preview.rows).toBe(2);
  expect(new Set(preview.lines.map(({ change }) => change))).toEqual(new Set([`payee ${BASE} ${CAFE}`]));
  expect(previewLines(preview)).toEqual([
    '2 entries of the catalogue change, 1 of them without a row that does',
    expect.stringContaining('1 rows, facilitator_relay (ann) for another reason, 2026-09-01 to 2026-09-01'),
    expect.stringContaining('1 rows, facilitator_relay (bob) for another reason, 2026-11-20 to 2026-11-20'),
    'total: 2 rows would be regraded; nothing was written',
  ]);
});

test('a row that two entries change is in the lines of both, and the total says so', async ({
  engine,
  world,
}) => {
  await world.ingest([found({ payee: CAFE })], catalogueWith());
  await world.regrade(catalogueWith());
  const preview = await previewRegrade(
    engine.writer,
    catalogueWith({ facilitators: [relayed('ann', ANN)], payees: [payee(CAFE)] }),
  );
  expect(preview.lines).toHaveLength(2);
  expect(previewLines(preview).at(-1)).toBe(
    'total: 1 rows would be regraded (one that two entries change is in the lines of both); nothing was written',
  );
});

test('a preview counts also what a pass that was begun has yet to do', async ({ engine, world }) => {
  await world.ingest(history(), BEFORE);
  await world.change(AFTER);
  const preview = await previewRegrade(engine.writer, AFTER);
  expect(preview.lines.map(({ change }) => change)).toContain('unfinished pass');
  const { rowsChanged } = await sweepPasses(world.deps);
  expect(preview.rows).toBe(rowsChanged);
});

test('a preview of thousands of payees is answered', async ({ engine, world }) => {
  await world.ingest(history(), BEFORE);
  const many = Array.from({ length: 2_400 }, (_, at) =>
    payee(found({ payee: ANN }).payee.replace(/.{8}$/, (at + 1).toString(16).padStart(8, '0')) as typeof ANN),
  );
  expect(
    (await previewRegrade(engine.writer, catalogueWith({ payees: many }))).changes.length,
  ).toBeGreaterThan(2_000);
});

test('of many processes that record a pass at the same moment no two get the same number', async ({
  engine,
}) => {
  const change = { kind: 'code', code: 'x', before: null, after: 'ann' } as const;
  const passes = await Promise.all(Array.from({ length: 3 }, () => recordPass(engine.writer, [change])));
  expect(new Set(passes).size).toBe(3);
});
