import { describe, expect } from 'vitest';
import type { Writer } from '../../../../clickhouse/engine/engine.ts';
import { type Sql, sql, uint64 } from '../../../../clickhouse/engine/sql.ts';
import { loadProgress } from '../../../../ingest/grading/regrade/passes.ts';
import { type SweepProgress, sweepPasses } from '../../../../ingest/grading/regrade/regrade.ts';
import { VERSION_STEP } from '../../../../ingest/write/versions.ts';
import { regradeTest as test } from '../../../kit/fixtures-ingest.ts';
import { IS_PUSH } from '../../../kit/lengths.ts';
import {
  ALICE,
  ANN,
  BOB,
  CAFE,
  catalogueWith,
  DAY,
  found,
  MIDNIGHT,
  payee,
  type RegradeWorld,
  regradeWorld,
  relayed,
} from '../../../kit/regrade-world.ts';

const EMPTY = catalogueWith();
/** Of the `batch-settlement` scheme. */
const withoutVer = async (world: RegradeWorld) => (await world.live()).map(({ ver: _, ...row }) => row);

test('exactly the rows under the changed keys are written again, everything else keeps its version', async ({
  world,
}) => {
  const rows = [
    found(),
    found({ relayer: BOB }),
    found({ relayer: BOB, payee: CAFE }),
    found({ blockTime: MIDNIGHT - 40 * DAY }),
  ];
  const ver = await world.ingest(rows, EMPTY);
  const wanted = catalogueWith({ facilitators: [relayed('ann', ANN)] });
  const { pass, rowsChanged } = await world.regrade(wanted);
  expect(rowsChanged).toBe(2);
  expect(await withoutVer(world)).toEqual(world.expected(rows, wanted));
  expect((await world.live()).map((row) => BigInt(row.ver) - ver)).toEqual([
    BigInt(pass ?? 0),
    0n,
    0n,
    BigInt(pass ?? 0),
  ]);
});

test('a relayer is named from the midnight of its first day on, and not a second before', async ({
  world,
}) => {
  const rows = [found({ blockTime: MIDNIGHT - 1 }), found({ blockTime: MIDNIGHT })];
  await world.ingest(rows, EMPTY);
  await world.regrade(catalogueWith({ facilitators: [relayed('ann', ANN, '2026-11-20')] }));
  expect((await world.live()).map(({ method }) => method)).toEqual([
    'gasless_authorization',
    'facilitator_relay',
  ]);
});

test('every kind of row follows every kind of change, forth and back, as if it had been indexed so', async ({
  world,
}) => {
  const section = {
    facilitators: [{ ...relayed('ann', ANN, '2026-11-20'), builderCodes: ['ann_code'] }],
    payees: [payee(CAFE)],
  };
  const full = catalogueWith(section);
  const rows = [ANN, BOB].flatMap((relayer) =>
    [CAFE, ALICE].flatMap((to) =>
      (['authorization', 'permit2'] as const).flatMap((marker) =>
        ['', 'ann_code', 'who'].flatMap((builderFacilitator) =>
          [true, false].flatMap((received) =>
            [MIDNIGHT - 1, MIDNIGHT + 1].map((blockTime) =>
              found({
                relayer,
                payee: to,
                marker,
                builderFacilitator,
                received,
                blockTime,
                selfPayment: to === ALICE,
              }),
            ),
          ),
        ),
      ),
    ),
  );
  await world.ingest(rows, EMPTY);
  const changes = IS_PUSH ? [full, EMPTY] : [full, EMPTY, catalogueWith({ payees: [payee(CAFE)] }), full];
  for (const catalogue of changes) {
    await world.regrade(catalogue);
    expect(await withoutVer(world)).toEqual(world.expected(rows, catalogue));
  }
});

test('the wallet log says the same as the settlements', async ({ world }) => {
  const rows = [found(), found({ relayer: BOB }), found({ marker: 'none', payee: CAFE })];
  await world.ingest(rows, catalogueWith({ payees: [payee(CAFE)] }));
  await world.regrade(catalogueWith({ payees: [payee(CAFE)] }));
  await world.regrade(catalogueWith({ facilitators: [relayed('ann', ANN)] }));
  const side = (role: string) =>
    world.rowsOf(
      sql`SELECT block_number, facilitator, toString(method), seen, ver, del FROM wallet_rows FINAL WHERE toString(role) = ${{ kind: 'value', type: 'String', value: role }} ORDER BY block_number`,
    );
  const settlements = await world.rowsOf(
    sql`SELECT block_number, facilitator, toString(method), seen, ver, del FROM settlements FINAL ORDER BY block_number`,
  );
  expect(settlements).toHaveLength(3);
  expect(await side('payer')).toEqual(settlements);
  expect(await side('payee')).toEqual(settlements);
});

describe('removing a payee', () => {
  const catalogued = catalogueWith({ payees: [payee(CAFE)] });

  test('takes its bare transfers away, with their keys left for the rollups, and the bit from its payments', async ({
    world,
  }) => {
    const bare = found({ marker: 'none', payee: CAFE });
    const paid = found({ payee: CAFE });
    await world.ingest([bare, paid, found()], catalogued);
    await world.regrade(catalogued);
    await world.regrade(EMPTY);
    expect(await withoutVer(world)).toEqual(
      world.expected([bare, paid, found({ blockNumber: paid.blockNumber + 1 })], EMPTY),
    );
    expect(
      await world.rowsOf(
        sql`SELECT concat('0x', lower(hex(payer))), concat('0x', lower(hex(payee))) FROM retracted_keys FINAL`,
      ),
    ).toEqual([[ALICE, CAFE]]);
  });

  test('for a time leaves its transfers away, also while the table holds the rows from before', async ({
    engine,
    world,
  }) => {
    await engine.writer.run({
      name: 'test',
      sql: sql`SYSTEM STOP MERGES settlements`,
      maxSeconds: 10,
      kind: 'other',
    });
    await world.ingest([found({ marker: 'none', payee: CAFE })], catalogued);
    await world.regrade(catalogued);
    await world.regrade(EMPTY);
    await world.regrade(catalogueWith({ payees: [payee(CAFE)], facilitators: [relayed('ann', ANN)] }));
    expect(await world.live()).toEqual([]);
  });

  test('leaves room for the transfer to come back by being indexed again', async ({ world }) => {
    const bare = found({ marker: 'none', payee: CAFE });
    await world.ingest([bare], catalogued);
    await world.regrade(catalogued);
    await world.regrade(EMPTY);
    await world.ingest([bare], catalogued);
    expect(await world.live()).toHaveLength(1);
  });
});

test('a row that was regraded never reaches the version of the next write', async ({ world }) => {
  const ver = await world.ingest([found()], EMPTY);
  for (let round = 0; round < 5; round++) {
    await world.regrade(round % 2 === 0 ? catalogueWith({ facilitators: [relayed('ann', ANN)] }) : EMPTY);
  }
  const [row] = await world.live();
  expect(BigInt(row?.ver ?? 0) > ver).toBe(true);
  expect(BigInt(row?.ver ?? 0) < ver + VERSION_STEP).toBe(true);
});

test('the hours of the rows that changed are dirty for the rollups, and no others', async ({ world }) => {
  await world.ingest(
    [found({ blockTime: MIDNIGHT }), found({ relayer: BOB, blockTime: MIDNIGHT + DAY })],
    EMPTY,
  );
  const hours = () =>
    world.rowsOf(sql`SELECT toUnixTimestamp(hour), max(ver) FROM hour_ver GROUP BY hour ORDER BY hour`);
  const before = await hours();
  await world.regrade(catalogueWith({ facilitators: [relayed('ann', ANN)] }));
  const after = await hours();
  expect(BigInt(String(after[0]?.[1])) >= BigInt(String(before[0]?.[1])) + VERSION_STEP).toBe(true);
  expect(after[1]).toEqual(before[1]);
});

test('an event that another one with another relayer replaced stays replaced, also in the log of its parties', async ({
  engine,
  world,
}) => {
  const run = (statement: Sql) => engine.writer.run({ name: 'test', sql: statement, maxSeconds: 10 });
  const old = found({ blockNumber: 900_001, relayer: ANN });
  const next = found({ blockNumber: 900_001, relayer: BOB, payer: CAFE, payee: BOB });
  await world.ingest([old], EMPTY);
  // Its tombstone is in the log only, as after a merge with the event that replaced it.
  await run(
    sql`INSERT INTO wallet_rows SELECT * REPLACE(ver + ${uint64(VERSION_STEP)} AS ver, 1 AS del) FROM wallet_rows`,
  );
  await world.ingest([next], EMPTY);
  const wanted = catalogueWith({ facilitators: [relayed('ann', ANN), relayed('rob', BOB)] });
  await world.regrade(wanted);
  expect(await withoutVer(world)).toEqual(world.expected([next], wanted));
  expect(
    await world.rowsOf(sql`SELECT DISTINCT wallet FROM wallet_rows FINAL WHERE del = 0 ORDER BY wallet`),
  ).toEqual([[BOB], [CAFE]]);
});

test.skipIf(IS_PUSH)(
  'a sweep reads the table twice at most, however many batches it takes',
  async ({ engine, world }) => {
    const hours = Array.from({ length: 5 }, (_, at) => found({ blockTime: MIDNIGHT - at * 40 * DAY }));
    await world.ingest(hours, EMPTY);
    const statements: string[] = [];
    const counting: Writer = {
      ...engine.writer,
      rows: (statement) => {
        statements.push(statement.name);
        return engine.writer.rows(statement);
      },
      run: (statement) => {
        statements.push(statement.name);
        return engine.writer.run(statement);
      },
    };
    await regradeWorld(engine, counting).regrade(catalogueWith({ facilitators: [relayed('ann', ANN)] }));
    const count = (name: string) => statements.filter((one) => one === name).length;
    expect(count('regrade-settlements')).toBe(5);
    expect(count('plan-regrade')).toBe(1);
    expect(statements.filter((one) => /regrade-(count|retract-keys)/.test(one))).toEqual([]);
  },
);

test('rows under a changed key that keep their grade are counted as looked at, and their hours stay closed', async ({
  world,
}) => {
  const days = [10, 20, 30, 40];
  await world.ingest(
    days.map((day) => found({ blockTime: MIDNIGHT - day * DAY })),
    EMPTY,
  );
  await world.regrade(catalogueWith({ facilitators: [relayed('ann', ANN, '2026-10-25')] }));
  const hours = () =>
    world.rowsOf(
      sql`SELECT toUnixTimestamp(hour), sum(writes) FROM hour_ver GROUP BY hour ORDER BY hour DESC`,
    );
  const before = await hours();
  const seen: SweepProgress[] = [];
  const { pass } = await world.change(catalogueWith({ facilitators: [relayed('ann', ANN, '2026-10-15')] }));
  await sweepPasses({ ...world.deps, onProgress: (progress) => seen.push(progress) }, [pass ?? 0]);
  expect(
    seen.map(({ rowsLookedAt, rowsTotal, rowsChanged }) => [rowsLookedAt, rowsTotal, rowsChanged]),
  ).toEqual([[3, 4, 1]]);
  expect((await loadProgress(world.deps.writer, pass ?? 0))?.rowsLookedAt).toBe(4);
  const changed = (await hours()).filter(([, writes], at) => writes !== before[at]?.[1]);
  expect(changed.map(([hour]) => hour)).toEqual([MIDNIGHT - 30 * DAY]);
});

test('a catalogue that is the same again is no pass at all', async ({ world }) => {
  const wanted = catalogueWith({ facilitators: [relayed('ann', ANN)] });
  expect((await world.change(wanted)).pass).toBe(1);
  expect((await world.change(wanted)).pass).toBeNull();
});
