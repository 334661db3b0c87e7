import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EngineError, type Writer } from '../../../clickhouse/engine/engine.ts';
import { sql, text, trustedText, uint64 } from '../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import { type Address, address, addressRanges } from '../../../core/domain/account.ts';
import {
  type JudgedRole,
  NEWEST_ROWS_MAX,
  SIGNALS_OF_ROLE,
  WHOLE_WALLET_ROWS_MAX,
} from '../../../core/domain/data-quality.ts';
import { repeatPasses } from '../../../ingest/passes/repeat.ts';
import { type VerdictLimits, verdictPass, verdictPasses } from '../../../ingest/verdicts/pass.ts';
import { createRollups } from '../../../src/operations/index-state/rollups.ts';
import { lookUpLists } from '../../../src/operations/wallets/owners.ts';
import {
  judgeProfile,
  PROFILE_BOUNDS,
  type ProfileBounds,
  readProfile,
} from '../../../src/operations/wallets/read-profile.ts';
import { testClock } from '../../kit/api.ts';
import { emptyTables } from '../../kit/empty-tables.ts';
import { type TestEngine, testEngine, testLog } from '../../kit/engine.ts';
import { BASE, insertSettlements, NOON, POLYGON, settlement, tombstone, wallet } from '../../kit/rows.ts';
import { waitUntil } from '../../kit/wait-until.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await testEngine();
});
afterAll(() => engine?.close());
beforeEach(() => emptyTables(engine.writer));

const ROLES: readonly JudgedRole[] = ['payee', 'payer'];
const signal = new AbortController().signal;

function pass(limits: Partial<VerdictLimits> = {}, writer: Writer = engine.writer) {
  return verdictPass({ writer, log: testLog, signal, clock: testClock(), limits });
}

/** The published verdicts, by wallet and role. */
async function published(): Promise<Map<string, readonly unknown[]>> {
  const { rows } = await engine.reader.rows({
    name: 'test-verdicts',
    maxSeconds: 10,
    maxRows: 10_000,
    sql: sql`SELECT wallet, role, verdict, reasons, length(rings), settlement_count, toString(settled_usd), self_share, concentration, largest_share,
      reciprocal_share FROM wallet_verdicts WHERE gen = (SELECT max(gen) FROM verdict_passes) ORDER BY wallet, role`,
  });
  return new Map(rows.map(([of, role, ...verdict]) => [`${of} ${role}`, verdict]));
}

/** What a profile says of a wallet in a role, in the form of a row; null where it is not observed. */
async function profiled(
  of: Address,
  role: JudgedRole,
  bounds: ProfileBounds,
): Promise<readonly unknown[] | null> {
  const { reader } = engine;
  const rollups = createRollups({ reader, clock: testClock() });
  const query = { wallet: of, role, chain: undefined, final: undefined, nowSeconds: NOON, bounds };
  const profile = await readProfile({ reader, rollups, lists: lookUpLists(reader, of) }, query);
  const { verdict, signals } = judgeProfile(profile, role);
  if (verdict === 'unobserved') return null;
  const triggered = SIGNALS_OF_ROLE[role].filter((id) =>
    signals.some((one) => one.id === id && one.triggered),
  );
  const { settlements, usdMicros } = profile.scan.inRole;
  const share = (at: number): number => Math.round((signals[at]?.value ?? -1 / 10_000) * 10_000);
  return [
    ...[verdict, triggered, String(profile.rings.length), String(settlements), decimal(usdMicros)],
    ...[share(0), share(1), share(2), share(3)],
  ];
}

const decimal = (micros: bigint): string =>
  `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')}`.replace(/\.?0+$/, '');

async function publishRings(rings: readonly (readonly Address[])[], gen = 7): Promise<void> {
  const insert = (statement: ReturnType<typeof sql>) =>
    engine.writer.run({ name: 'test-rings', maxSeconds: 10, sql: statement });
  for (const [at, members] of rings.entries())
    for (const of of new Set(members))
      await insert(sql`INSERT INTO wallet_rings SELECT ${text(of)}, ${uint64(members.length)}, ${trustedText(`['${members.join("','")}']`)},
        ${uint64(at + 1)}, 9, toDateTime(1, 'UTC'), toDateTime(2, 'UTC'), 'rings-1', ${uint64(gen)}`);
  await insert(sql`INSERT INTO ring_passes (gen) SELECT ${uint64(gen)}`);
}

/** In different ranges, the first and the last among them. */
const WALLETS = ['0000', '00ff', '3fff', 'a000', 'ffff'].map((part) => address(`0x${part.repeat(10)}`));

/** Most of them only pay, so that figures of all kinds occur, not only money that comes back. */
const PAYERS = Array.from({ length: 12 }, (_, at) => wallet(0x3000 + at));
const party = (weight: number) =>
  fc.oneof(
    { weight, arbitrary: fc.constantFrom(...PAYERS) },
    { weight: 1, arbitrary: fc.constantFrom(...WALLETS) },
  );

const draft = fc.record({
  payer: party(20),
  payee: fc.constantFrom(...WALLETS),
  amountUsdMicros: fc.oneof(
    fc.constantFrom(0n, 1n, 1_000_000n, 5_000_000n),
    fc.bigInt({ min: 0n, max: 10n ** 17n }),
  ),
  chain: fc.constantFrom(BASE, POLYGON),
  method: fc.constantFrom(
    'facilitator_relay' as const,
    'channel_move' as const,
    'gasless_authorization' as const,
  ),
  isTakenBack: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  copies: fc.integer({ min: 1, max: 6 }),
});
type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never;

function rowsOf(drafts: readonly Draft[]): { readonly rows: Settlement[]; readonly lost: Settlement[] } {
  const made = drafts.flatMap(({ isTakenBack, copies, ...fields }, at) =>
    Array.from({ length: copies }, (_, copy) => ({
      isTakenBack,
      row: settlement({ ...fields, blockNumber: 1_000 + at, blockTime: NOON - at * 60, logIndex: copy }),
    })),
  );
  return {
    rows: made.map(({ row }) => row),
    lost: made.filter((one) => one.isTakenBack).map(({ row }) => row),
  };
}

async function expectAsProfiles(bounds: ProfileBounds, of: readonly Address[]): Promise<void> {
  const verdicts = await published();
  const asked = of.flatMap((one) => ROLES.map((role) => [one, role] as const));
  const profiles = await Promise.all(asked.map(([one, role]) => profiled(one, role, bounds)));
  for (const [at, [one, role]] of asked.entries())
    expect(verdicts.get(`${one} ${role}`) ?? null, `${one} ${role}`).toEqual(profiles[at]);
}

/** The same ones every time; `judge` itself is held against the engine on many more facts (test/clickhouse/engine/verdict-rule). */
const histories = fc.sample(
  fc.record({
    drafts: fc.array(draft, { minLength: 40, maxLength: 120 }),
    rings: fc.array(fc.uniqueArray(fc.constantFrom(...WALLETS), { minLength: 2, maxLength: 4 }), {
      maxLength: 2,
    }),
    isSplit: fc.boolean(),
  }),
  { seed: 28, numRuns: 4 },
);

describe('a pass over all wallets', () => {
  test.each(histories)(
    'says of every wallet and role what its profile says: history %#',
    async ({ drafts, rings, isSplit }) => {
      const { rows, lost } = rowsOf(drafts);
      await insertSettlements(engine.writer, rows);
      if (lost.length > 0) await tombstone(engine.writer, lost);
      await publishRings(rings);
      await pass(isSplit ? { rowsPerStatement: rows.length / 4 } : {});
      await expectAsProfiles(PROFILE_BOUNDS, [...WALLETS, ...PAYERS.slice(0, 1)]);
      const verdicts = new Set([...(await published()).values()].map(([verdict]) => verdict));
      expect(verdicts.size).toBeGreaterThan(1);
    },
  );

  test('judges a wallet with too many rows by its newest ones, as its profile does, and all others whole', async () => {
    const [BUSY = wallet(1), OTHER = wallet(2), QUIET = wallet(3)] = WALLETS;
    const pay = (count: number, from: number, payer: Address, payee: Address) =>
      Array.from({ length: count }, (_, at) =>
        settlement({ payer, payee, blockNumber: from + at, blockTime: NOON - from - at }),
      );
    // Long ago it was paid as well; of late it only pays.
    await insertSettlements(engine.writer, [...pay(30, 1, BUSY, OTHER), ...pay(40, 100, QUIET, BUSY)]);
    await pass({ wholeRowsMax: 50, newestRowsMax: 20 });
    await expectAsProfiles({ scanRowsMax: 20, wholeRowsReadMax: 1 }, [BUSY]);
    const verdicts = await published();
    expect(verdicts.get(`${BUSY} payee`)?.slice(0, 4)).toEqual(['insufficient', [], '0', '0']);
    expect(verdicts.get(`${BUSY} payer`)?.slice(3, 4)).toEqual(['20']);
    await expectAsProfiles(PROFILE_BOUNDS, [OTHER, QUIET]);
  });

  test('the bounds equal the bounds of profiles', () => {
    expect(PROFILE_BOUNDS).toEqual({ scanRowsMax: NEWEST_ROWS_MAX, wholeRowsReadMax: WHOLE_WALLET_ROWS_MAX });
  });

  test('takes the rings of the newest published search, strongest first', async () => {
    const [A = wallet(1), B = wallet(2), C = wallet(3)] = WALLETS;
    await insertSettlements(engine.writer, [settlement({ payer: A, payee: B })]);
    await publishRings([[A, C]], 5);
    await publishRings(
      [
        [A, B],
        [A, B, C],
      ],
      6,
    );
    await pass();
    const { rows } = await engine.reader.rows({
      name: 'test-rings',
      maxSeconds: 10,
      maxRows: 10,
      sql: sql`SELECT role, rings FROM wallet_verdicts WHERE wallet = ${text(A)}`,
    });
    expect(rows).toEqual([
      [
        'payer',
        [
          [A, B, C],
          [A, B],
        ],
      ],
    ]);
    // A member that has no settlement in any role is not judged.
    expect([...(await published()).keys()]).toEqual([`${A} payer`, `${B} payee`]);
  });

  test('is left out while nothing was written since, and done again after a settlement or another search for rings', async () => {
    await insertSettlements(engine.writer, [settlement()]);
    expect(await pass()).toMatchObject({ verdicts: 2 });
    expect(await pass()).toBeNull();
    await publishRings([], 8);
    expect(await pass()).toMatchObject({ verdicts: 2 });
    await insertSettlements(engine.writer, [settlement({ blockNumber: 9, payer: wallet(0xabc) })]);
    expect(await pass()).toMatchObject({ verdicts: 3 });
    expect(await pass()).toBeNull();
  });

  test('that fails half-way leaves the published one, and its rows are dropped by the next', async () => {
    await insertSettlements(engine.writer, [settlement()]);
    await pass();
    const before = await published();
    await insertSettlements(engine.writer, [settlement({ blockNumber: 9, payer: wallet(0xabc) })]);
    let statements = 0;
    const dying: Writer = {
      ...engine.writer,
      run: (statement) => {
        if (statement.name === 'verdicts-judge' && ++statements > 3) throw new Error('killed');
        return engine.writer.run(statement);
      },
    };
    await expect(pass({ rowsPerStatement: 1 }, dying)).rejects.toThrow('killed');
    expect(await published()).toEqual(before);
    await pass();
    await insertSettlements(engine.writer, [settlement({ blockNumber: 10 })]);
    await pass();
    const { rows } = await engine.reader.rows({
      name: 'test-generations',
      maxSeconds: 10,
      maxRows: 10,
      sql: sql`SELECT uniqExact(gen) FROM wallet_verdicts`,
    });
    expect(rows).toEqual([['2']]);
    expect((await published()).size).toBe(3);
  });
});

test('the ranges of wallets meet and leave none out', () => {
  for (const digits of [0, 1, 2]) {
    const ranges = addressRanges(digits);
    expect(ranges[0]?.from.startsWith('0x')).toBe(true);
    expect((ranges[0]?.from ?? '') <= wallet(0)).toBe(true);
    expect((ranges.at(-1)?.to ?? '') > `0x${'f'.repeat(40)}`).toBe(true);
    for (const [at, { from, to }] of ranges.entries()) {
      expect(from < to).toBe(true);
      if (at > 0) expect(ranges[at - 1]?.to).toBe(from);
    }
  }
});

function repeat(writer: Writer, signal: AbortSignal): Promise<void> {
  const deps = { writer, log: testLog, clock: testClock() };
  return repeatPasses({ ...deps, signal }, [[verdictPasses(deps)]]);
}

test('the worker judges after its start, goes on after a failed pass, and ends with the signal', async () => {
  await insertSettlements(engine.writer, [settlement()]);
  const stopping = new AbortController();
  const running = repeat(engine.writer, stopping.signal);
  await waitUntil('a pass is published', async () => (await published()).size === 2);
  stopping.abort();
  await running;
  const broken: Writer = {
    ...engine.writer,
    rows: () => Promise.reject(new EngineError('unreachable', 'verdicts-state', null, undefined)),
  };
  const ending = new AbortController();
  const failing = repeat(broken, ending.signal);
  ending.abort();
  await failing;
});
