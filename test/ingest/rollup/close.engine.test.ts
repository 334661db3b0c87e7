import { beforeEach, expect } from 'vitest';
import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { sql, trustedText } from '../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import type { EvidenceMethod } from '../../../core/domain/evidence.ts';
import { closeSlice } from '../../../ingest/rollup/close.ts';
import type { RollupLimits } from '../../../ingest/rollup/due.ts';
import { DAY_SECONDS, HOUR_SECONDS, type Slice } from '../../../ingest/rollup/statements.ts';
import { runRollup } from '../../../ingest/rollup-worker.ts';
import { retractAbove } from '../../../ingest/write/retract.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { readCoverage } from '../../../src/operations/index-state/rollups.ts';
import { type TestEngine, testLog } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';
import { readTotals } from '../../kit/index-totals.ts';
import { IS_PUSH } from '../../kit/lengths.ts';
import { oracle } from '../../kit/oracle/oracle.ts';
import { BASE, insertSettlements, POLYGON, settlement, wallet } from '../../kit/rows.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** 2026-11-20T00:00:00Z, a day of its own for every test. */
const FIRST_DAY = 1_795_132_800;
const DAYS_MAX = 100;
/** Few hours, so that closing all of them is quick on a busy machine. */
const MORNING = 7 * HOUR_SECONDS;
const AFTER_ALL = { nowMs: () => (FIRST_DAY + DAYS_MAX * DAY_SECONDS) * 1_000 };
const CLOSED_WITHIN_MS = 45_000;
const AT_ONCE: Partial<RollupLimits> = { pollMs: 10, quietMs: 0, closeAfterMs: 0 };

type RunStatement = Parameters<Writer['run']>[0];

let day = FIRST_DAY;
const versions = createVersions(0n);
const parts = { versions, log: testLog };
beforeEach(() => {
  day += DAY_SECONDS;
});

const wholeDay = (): Slice => ({ dayStart: day, hour: null });

/** Rows of the test's day: every hour, several parties, both chains, some proven, some paid to oneself, some no payment. */
function mixedRows(count = 60, seed = 0, seconds = DAY_SECONDS): Settlement[] {
  return Array.from({ length: count }, (_, at) => {
    const number = at + seed;
    return settlement({
      chain: number % 4 === 0 ? POLYGON : BASE,
      blockNumber: (day - FIRST_DAY) / 10 + number,
      blockTime: day + (Math.floor((number * DAY_SECONDS) / 97) % seconds),
      payer: wallet(100 + (number % 7)),
      payee: wallet(number % 9 === 0 ? 100 + (number % 7) : 200 + (number % 5)),
      relayer: wallet(300 + (number % 3)),
      facilitator: number % 3 === 0 ? 'acme' : '',
      method: methodOf(number),
      amount: BigInt(1_000 + number * 37),
      amountUsdMicros: BigInt(1_000 + number * 37),
    });
  });
}

function methodOf(number: number): EvidenceMethod {
  if (number % 8 === 5) return 'channel_move';
  return number % 3 === 0 ? 'facilitator_relay' : 'gasless_authorization';
}

const write = (engine: TestEngine, rows: readonly Settlement[], del: 0 | 1 = 0): Promise<void> =>
  insertSettlements(engine.writer, rows, { ver: versions.next(), del });

async function dirtyCount(engine: TestEngine): Promise<number> {
  const { rows } = await engine.reader.rows({
    name: 'dirty',
    sql: sql`SELECT count() FROM rollup_slices WHERE ver > rolled_ver`,
    maxSeconds: 10,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}

interface Worker {
  stop(): Promise<void>;
}

function startWorker(engine: TestEngine, limits: Partial<RollupLimits> = {}, own = versions): Worker {
  const stopping = new AbortController();
  const running = runRollup({
    writer: engine.writer,
    versions: own,
    log: testLog,
    signal: stopping.signal,
    clock: AFTER_ALL,
    limits: { ...AT_ONCE, ...limits },
  });
  running.catch(() => undefined);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function closeEverything(engine: TestEngine, limits: Partial<RollupLimits> = {}): Promise<void> {
  const worker = startWorker(engine, limits);
  await waitUntil('no slice is dirty', async () => (await dirtyCount(engine)) === 0, CLOSED_WITHIN_MS);
  await worker.stop();
}

async function expectExact(engine: TestEngine): Promise<void> {
  const coverage = await readCoverage(engine.reader);
  expect(await readTotals(engine.reader, coverage)).toEqual(await oracle.totals.ofStoredRows(engine.reader));
}

/** Exact, and from the tables alone: nothing that was written is read live. */
async function expectExactFromTables(engine: TestEngine): Promise<void> {
  expect((await readCoverage(engine.reader)).open).toHaveLength(1);
  expect(await dirtyCount(engine)).toBe(0);
  await expectExact(engine);
}

test('figures are the same before and after a day is closed', async ({ engine }) => {
  await write(engine, mixedRows());
  await expectExact(engine);
  await closeEverything(engine);
  await expectExactFromTables(engine);
});

test('late rows of a closed day are read live at once and rolled up later', async ({ engine }) => {
  await write(engine, mixedRows());
  await closeEverything(engine);
  await write(engine, mixedRows(10, 1_000));
  await expectExact(engine);
  expect(await dirtyCount(engine)).toBe(1);
  await closeEverything(engine);
  // The counted writes are kept however the engine merges them.
  await engine.writer.run({ name: 'merge', sql: sql`OPTIMIZE TABLE hour_ver FINAL`, maxSeconds: 10 });
  await expectExactFromTables(engine);
});

test('rows that a reorg took away leave every table', async ({ engine }) => {
  const rows = mixedRows();
  await write(engine, rows);
  await closeEverything(engine);
  await write(engine, [...rows.slice(0, 20), ...rows.slice(40)], 1);
  await expectExact(engine);
  await closeEverything(engine);
  await expectExactFromTables(engine);
});

test('the parties of a retracted row vanish although another event took its place', async ({ engine }) => {
  const old = settlement({
    blockNumber: day / 10,
    blockTime: day + 60,
    payer: wallet(801),
    payee: wallet(802),
    relayer: wallet(803),
  });
  await write(engine, [old]);
  await closeEverything(engine);
  await retractAbove(engine.writer, versions, BASE, { number: old.blockNumber - 1, time: day });
  await write(engine, [{ ...old, payer: wallet(811), payee: wallet(812), relayer: wallet(813) }]);
  await expectExact(engine);
  await closeEverything(engine);
  await expectExactFromTables(engine);
});

test('a retraction whose view was cut off is seen after its repeat', async ({ engine }) => {
  const rows = [
    settlement({ blockNumber: day / 10, blockTime: day + 60, payer: wallet(821), payee: wallet(822) }),
  ];
  await write(engine, rows);
  await closeEverything(engine);
  const before = await hourVer(engine);
  await retractAbove(engine.writer, versions, BASE, { number: day / 10 - 1, time: day });
  // What a crash between the table and the view leaves behind: the one write from before.
  await engine.writer.run({
    name: 'cut',
    sql: sql`ALTER TABLE hour_ver DELETE WHERE hour = toDateTime(${trustedText(String(day))}) SETTINGS mutations_sync = 1`,
    maxSeconds: 10,
  });
  await engine.writer.run({
    name: 'cut',
    sql: sql`INSERT INTO hour_ver SELECT toDateTime(${trustedText(String(day))}), ${trustedText(before)}`,
    maxSeconds: 10,
  });
  expect(await dirtyCount(engine)).toBe(0);
  await retractAbove(engine.writer, versions, BASE, { number: day / 10 - 1, time: day });
  expect(await dirtyCount(engine)).toBe(1);
  await closeEverything(engine);
  await expectExactFromTables(engine);
});

async function hourVer(engine: TestEngine): Promise<string> {
  const { rows } = await engine.reader.rows({
    name: 'hour-ver',
    sql: sql`SELECT max(ver) FROM hour_ver WHERE hour = toDateTime(${trustedText(String(day))})`,
    maxSeconds: 10,
    maxRows: 1,
  });
  return String(rows[0]?.[0]);
}

test('a facilitator that was regraded leaves its hours', async ({ engine }) => {
  const rows = mixedRows();
  await write(engine, rows);
  await closeEverything(engine);
  await write(
    engine,
    rows.map((row) => ({
      ...row,
      facilitator: row.facilitator === 'acme' ? 'renamed' : 'found',
      method: 'bare_transfer' as const,
    })),
  );
  await expectExact(engine);
  await closeEverything(engine);
  await expectExactFromTables(engine);
});

test.skipIf(IS_PUSH)(
  'a day that grows too large is closed by hours, in whatever order they come, and stays split',
  async ({ engine }) => {
    await write(engine, mixedRows(60, 0, MORNING));
    await closeEverything(engine);
    await write(engine, mixedRows(60, 2_000, MORNING));
    for (const hour of [5, 0, 6]) {
      await closeSlice({ writer: engine.writer, ...parts }, { dayStart: day, hour });
      await expectExact(engine);
    }
    await closeEverything(engine, { splitAboveRows: 1_000_000 });
    const name = new Date(day * 1_000).toISOString().slice(0, 10);
    expect((await readCoverage(engine.reader)).splitDays).toContain(name);
    await expectExactFromTables(engine);
    await write(engine, mixedRows(1, 4_000, MORNING));
    await expectExact(engine);
    await closeEverything(engine);
    await expectExactFromTables(engine);
  },
);

test.skipIf(IS_PUSH)(
  'the worker splits a day above the limit and closes only the dirty hours afterwards',
  async ({ engine }) => {
    await write(engine, mixedRows(60, 0, MORNING));
    await closeEverything(engine, { splitAboveRows: 59 });
    await expectExactFromTables(engine);
    const before = await generations(engine);
    expect(before.length).toBe(7);
    await write(engine, [settlement({ blockNumber: day / 10 + 9_999, blockTime: day + 3 * HOUR_SECONDS })]);
    await closeEverything(engine, { splitAboveRows: 59 });
    await expectExactFromTables(engine);
    const changed = (await generations(engine))
      .filter((line) => !before.includes(line))
      .map((line) => line.split(' ')[0]);
    expect(changed).toEqual(['3']);
  },
);

async function generations(engine: TestEngine): Promise<string[]> {
  const { rows } = await engine.reader.rows({
    name: 'generations',
    sql: sql`SELECT hour, gen FROM rollup_state FINAL WHERE day = toDate(toDateTime(${trustedText(String(day))}, 'UTC')) ORDER BY hour`,
    maxSeconds: 10,
    maxRows: 25,
  });
  return rows.map((row) => row.join(' '));
}

test.for(IS_PUSH ? [3] : [1, 2, 3, 4, 5])(
  'a crash after statement %i of five changes no figure, and the next worker completes',
  async (done, { engine }) => {
    const rows = mixedRows();
    await write(engine, rows);
    await closeEverything(engine);
    await write(engine, rows.slice(5, 25), 1);
    let statements = 0;
    const dying = {
      ...engine.writer,
      run: (statement: RunStatement) =>
        statements++ < done ? engine.writer.run(statement) : Promise.reject(new Error('killed')),
    };
    await expect(closeSlice({ writer: dying, ...parts }, wholeDay())).rejects.toThrow('killed');
    await expectExact(engine);
    await closeEverything(engine);
    await expectExactFromTables(engine);
  },
);

test.skipIf(IS_PUSH)(
  'two workers at once, with new rows, tombstones and regrades between them, agree with the rows',
  async ({ engine }) => {
    const other = createVersions(0n);
    const workers = [startWorker(engine, {}, versions), startWorker(engine, {}, other)];
    for (let round = 0; round < 8; round++) {
      const rows = mixedRows(20, round * 20);
      await write(engine, rows);
      await write(engine, rows.slice(3, 9), 1);
      await write(
        engine,
        rows.slice(9).map((row) => ({ ...row, facilitator: `regraded-${round % 2}` })),
      );
    }
    await waitUntil('no slice is dirty', async () => (await dirtyCount(engine)) === 0, CLOSED_WITHIN_MS);
    await Promise.all(workers.map((worker) => worker.stop()));
    await expectExact(engine);
    await closeEverything(engine); // the slower one may have reopened a slice in which it was overtaken
    await expectExactFromTables(engine);
  },
);

test('an insert that began before a newer one and lands after the day was closed makes it dirty', async ({
  engine,
}) => {
  const early = versions.next();
  await write(engine, mixedRows());
  await closeEverything(engine);
  await insertSettlements(engine.writer, mixedRows(5, 3_000), { ver: early });
  expect(await dirtyCount(engine)).toBe(1);
  await expectExact(engine);
  await closeEverything(engine);
  await expectExactFromTables(engine);
});

test('a row that is written while a slice is computed leaves it dirty', async ({ engine }) => {
  await write(engine, mixedRows());
  let late: Promise<void> | undefined;
  const writer = {
    ...engine.writer,
    run: async (statement: RunStatement) => {
      await engine.writer.run(statement);
      late ??= write(engine, mixedRows(5, 3_000));
      await late;
    },
  };
  expect(await closeSlice({ writer, ...parts }, wholeDay())).toBe('closed');
  expect(await dirtyCount(engine)).toBe(1);
  await expectExact(engine);
  await closeEverything(engine);
  await expectExactFromTables(engine);
});

test('a computation that another one overtook is done again', async ({ engine }) => {
  const rows = mixedRows();
  await write(engine, rows);
  let overtaken = false;
  const writer = {
    ...engine.writer,
    run: async (statement: RunStatement) => {
      if (!overtaken && statement.name.startsWith('rollup-chain-hour')) {
        overtaken = true;
        await write(
          engine,
          rows.map((row) => ({ ...row, facilitator: 'newer' })),
        );
        await closeSlice({ writer: engine.writer, ...parts }, wholeDay());
        // The insert of this worker, which had read before the regrade, arrives last.
        await engine.writer.run({
          name: 'stale-facilitator',
          sql: sql`INSERT INTO chain_hour (chain, hour, facilitator, settlement_count, settled_usd, gen) SELECT ${trustedText(`'${BASE}'`)}, toDateTime(${trustedText(String(day))}, 'UTC'), 'older', 7, 7, 1`,
          maxSeconds: 10,
        });
        return;
      }
      await engine.writer.run(statement);
    },
  };
  expect(await closeSlice({ writer, ...parts }, wholeDay())).toBe('overtaken');
  expect(await dirtyCount(engine)).toBe(1);
  await expectExact(engine);
  await closeEverything(engine);
  await expectExactFromTables(engine);
});
