import { describe, expect } from 'vitest';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { EVIDENCE_METHODS } from '../../../../core/domain/evidence.ts';
import { createFreshness } from '../../../../src/operations/index-state/freshness.ts';
import { createRollups } from '../../../../src/operations/index-state/rollups.ts';
import { createSnapshots } from '../../../../src/operations/index-state/snapshots.ts';
import { createNames } from '../../../../src/operations/names.ts';
import { answerProfile, type ProfileDeps } from '../../../../src/operations/wallets/merchant.ts';
import type { ProfileAnswer } from '../../../../src/operations/wallets/profile-shape.ts';
import { PROFILE_BOUNDS, type ProfileBounds } from '../../../../src/operations/wallets/read-profile.ts';
import { type TestApi, testClock } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { IS_NIGHTLY } from '../../../kit/lengths.ts';
import { oracle } from '../../../kit/oracle/oracle.ts';
import type { Role, TruthQuery } from '../../../kit/oracle/profile.ts';
import { rollUp } from '../../../kit/roll-up.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  POLYGON,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';

/**
 * Profiles against a recount in plain code. 1,200 random settlements over 36 days and two chains, self-payments among them;
 * then, on the same rows: regrades, tombstones, another event in a tombstone's place, and rollups in every state.
 */

/** Closing a slice is seven statements, and a busy machine takes a second for them. */
const TIMEOUT_MS = 120_000;
const HUB = wallet(0xb0b);
/** Is paid four times in each of ten seconds. */
const CROWD = wallet(0xc0de);
const DAYS = 36;
const START = NOON - DAYS * 86_400;
const BASE_FINAL = 1_200_000;
const POLYGON_FINAL = 1_250_000;
const FINAL = { [BASE]: BASE_FINAL, [POLYGON]: POLYGON_FINAL };

let engine: TestEngine;
let api: TestApi;
const live = new Map<string, Settlement>();
const random = generator(20_261_120);

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
const below = (bound: number): number => Math.floor(random() * bound);
const keyOf = (row: Settlement): string => `${row.blockTime} ${row.chain} ${row.blockNumber} ${row.logIndex}`;

function randomSettlement(index: number): Settlement {
  const blockTime = START + below(DAYS * 86_400);
  const hubPays = random() < 0.3;
  const other = wallet(0x1000 + Math.floor(random() ** 3 * 80));
  const isSelf = random() < 0.08;
  return settlement({
    chain: random() < 0.7 ? BASE : POLYGON,
    blockTime,
    blockNumber: 1_000_000 + Math.floor((blockTime - START) / 12),
    logIndex: index,
    payer: isSelf || hubPays ? HUB : other,
    payee: isSelf || !hubPays ? HUB : other,
    amountUsdMicros: random() < 0.05 ? 0n : BigInt(below(5_000_000)),
    method: EVIDENCE_METHODS[below(EVIDENCE_METHODS.length)] ?? 'bare_transfer',
  });
}

async function write(rows: readonly Settlement[]): Promise<void> {
  await insertSettlements(engine.writer, rows);
  for (const row of rows) live.set(keyOf(row), row);
}

async function retract(rows: readonly Settlement[]): Promise<void> {
  await tombstone(engine.writer, rows);
  for (const row of rows) live.delete(keyOf(row));
}

/** Nothing is read whole, unless it is no more than `scanRowsMax` rows. */
const cutTo = (scanRowsMax: number): ProfileBounds => ({ scanRowsMax, wholeRowsReadMax: 1 });

const some = (share: number): Settlement[] => [...live.values()].filter(() => random() < share);

/** What the answer of a small or a truncated scan must say, from its own claim of how much it scanned. */
function expectTrue(answer: ProfileAnswer, query: TruthQuery): void {
  const { basis, ...aggregates } = answer.aggregates;
  expect(aggregates).toEqual(oracle.profile.aggregates(live.values(), query));
  expect(answer.coverage).toMatchObject(oracle.profile.seen(live.values(), query));
  const rows = oracle.profile.settlements(live.values(), query);
  const { settlements_scanned: scanned, scan_truncated: truncated } = answer.coverage;
  if (!truncated) expect(scanned).toBe(rows.length);
  // A scan ends between two seconds.
  else expect(rows[scanned]?.blockTime).not.toBe(rows[scanned - 1]?.blockTime);
  const shares = oracle.profile.shares(live.values(), query, scanned);
  const [side] = query.role === 'payee' ? ['payer'] : ['payee'];
  const values = Object.fromEntries(answer.data_quality.signals.map(({ id, value }) => [id, value]));
  expect(values).toEqual({
    self_payment_share: shares.self,
    [`${side}_concentration`]: shares.concentration,
    [`single_${side}_dominance`]: shares.dominance,
    reciprocity: shares.reciprocity,
    ring_membership: 0,
  });
  expect(basis).toEqual({
    totals: 'exact',
    distinct_counterparties: truncated ? 'estimated' : 'exact',
    signals: truncated ? 'newest_settlements' : 'all_settlements',
    finality: query.final === undefined ? 'any' : 'finalized',
  });
}

/** In the short run half of them: every two values of a pair still meet. */
const QUERIES = (['payee', 'payer'] as const)
  .flatMap((role) =>
    [undefined, POLYGON].flatMap((chain) => [undefined, FINAL].map((final) => ({ role, chain, final }))),
  )
  .filter(
    ({ role, chain, final }) =>
      IS_NIGHTLY || (role === 'payee') === ((chain === undefined) === (final === undefined)),
  );

/** New ones for each state of the index, so that no cache carries over. */
function freshDeps(): ProfileDeps {
  const clock = testClock();
  const { reader } = engine;
  return {
    reader,
    clock,
    deployment: { chains: [BASE, POLYGON] },
    index: {
      freshness: createFreshness({ reader, clock }),
      rollups: createRollups({ reader, clock }),
      names: createNames({ reader, clock }),
      snapshots: createSnapshots({ reader, clock, chains: [BASE, POLYGON] }),
    },
  };
}

/** Every question of the matrix, whole and with a cap that truncates the scan. */
async function expectEverythingTrue(): Promise<void> {
  const deps = freshDeps();
  for (const { role, chain, final } of QUERIES) {
    const truth = { wallet: HUB, role, nowSeconds: NOON, ...(chain && { chain }), ...(final && { final }) };
    const request = { wallet: HUB, role, chain, finality: final ? 'finalized' : 'any' } as const;
    const whole = await answerProfile(request, deps);
    expect(whole.coverage.scan_truncated).toBe(false);
    expectTrue(whole, truth);
    const capped = await answerProfile({ ...request, bounds: cutTo(150) }, deps);
    expect(capped.coverage).toMatchObject({ scan_truncated: true, scan_cap: 150 });
    expect(capped.coverage.settlements_scanned).toBeGreaterThan(30);
    expect(capped.coverage.settlements_scanned).toBeLessThanOrEqual(150);
    expectTrue(capped, truth);
  }
}

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  await write(Array.from({ length: 1_200 }, (_, index) => randomSettlement(index)));
  await insertSettlements(
    engine.writer,
    Array.from({ length: 40 }, (_, index) =>
      settlement({
        payee: CROWD,
        blockTime: NOON - Math.floor(index / 4),
        blockNumber: 900,
        logIndex: index,
      }),
    ),
  );
  await reportChain(engine.writer, BASE, { finalized_block: String(BASE_FINAL) });
  await reportChain(engine.writer, POLYGON, { finalized_block: String(POLYGON_FINAL) });
});

describe('a profile is what a recount gives', { timeout: TIMEOUT_MS }, () => {
  test('before anything was rolled up', expectEverythingTrue);

  test('after regrades, tombstones and another event in the place of one', async () => {
    await write(some(0.1).map((row) => ({ ...row, method: 'facilitator_relay', facilitator: 'coinbase' })));
    await retract(some(0.1));
    const replaced = some(0.05);
    await retract(replaced);
    await write(replaced.map((row) => ({ ...row, payer: wallet(0x9000), payee: HUB, amountUsdMicros: 7n })));
    await expectEverythingTrue();
  });

  test('with old days rolled up and new ones open', async () => {
    expect(await rollUp(engine.writer, { below: NOON - 16 * 86_400 })).toBeGreaterThan(15);
    await expectEverythingTrue();
  });

  test('with everything rolled up', async () => {
    await rollUp(engine.writer);
    await expectEverythingTrue();
  });

  test('with rolled-up days changed since, vanished keys among them', async () => {
    await retract(some(0.3));
    await write(Array.from({ length: 200 }, (_, index) => randomSettlement(2_000 + index)));
    await expectEverythingTrue();
    await rollUp(engine.writer, { below: NOON - 30 * 86_400 });
    await expectEverythingTrue();
  });

  test('with days closed by hours', async () => {
    const yesterday = { from: NOON - 1.5 * 86_400, below: NOON - 0.5 * 86_400 };
    expect(await rollUp(engine.writer, { ...yesterday, splitAboveRows: 5 })).toBeGreaterThan(10);
    await write(some(0.1));
    await expectEverythingTrue();
  });
});

test.each([
  [40, 40],
  [39, 36],
  [10, 8],
  [8, 8],
  [7, 4],
  [3, 0],
])(
  'a scan of at most %i rows ends between two seconds: %i of ten times four settlements',
  async (scanRowsMax, scanned) => {
    const request = {
      wallet: CROWD,
      role: 'payee',
      chain: undefined,
      finality: 'any',
      bounds: cutTo(scanRowsMax),
    } as const;
    const { coverage, aggregates } = await answerProfile(request, freshDeps());
    expect(coverage).toMatchObject({ settlements_scanned: scanned, scan_truncated: scanned < 40 });
    expect(aggregates.inbound_count).toBe(40);
  },
);

test('a wallet with more rows than a scan takes is exact where all of them can be read at once', async () => {
  const bounds = { ...PROFILE_BOUNDS, scanRowsMax: 3 };
  const request = { wallet: CROWD, role: 'payee', chain: undefined, finality: 'any', bounds } as const;
  const { coverage, aggregates } = await answerProfile(request, freshDeps());
  expect(coverage).toMatchObject({ settlements_scanned: 40, scan_truncated: false, scan_cap: 3 });
  expect(aggregates.basis).toMatchObject({ distinct_counterparties: 'exact', signals: 'all_settlements' });
});

const PATH_OF: Readonly<Record<Role, string>> = { payee: '/v0/merchants', payer: '/v0/agents' };

describe.each(['payee', 'payer'] as const)('the route of role %s', (role) => {
  test('serves the recounted figures, of final settlements only when asked', async () => {
    const any = await api.get(`${PATH_OF[role]}/${HUB}`);
    expect(any.status).toBe(200);
    expect(any.body).toMatchObject({ wallet: HUB, role, erc8004_agents: [] });
    expectTrue(any.body, { wallet: HUB, role, nowSeconds: NOON });
    expect(any.body.meta.chain).toBeNull();
    const final = await api.get(`${PATH_OF[role]}/${HUB}?finality=finalized&chain=${BASE}`);
    expectTrue(final.body, { wallet: HUB, role, nowSeconds: NOON, chain: BASE, final: FINAL });
    expect(final.body.aggregates.inbound_count).toBeLessThan(any.body.aggregates.inbound_count);
    expect(final.body.meta.chain).toBe(BASE);
  });

  test('answers an unknown wallet with zeros, and says that it is unknown', async () => {
    const { status, body } = await api.get(`${PATH_OF[role]}/${wallet(0xdead)}`);
    expect(status).toBe(200);
    expect(body.coverage).toEqual({
      known: false,
      first_seen: null,
      last_seen: null,
      settlements_scanned: 0,
      scan_truncated: false,
      scan_cap: 20_000,
    });
    expect(body.data_quality.verdict).toBe('unobserved');
    expect(body.aggregates).toMatchObject({ inbound_usd: 0, outbound_count: 0, chain_split: [] });
    expect(body.aggregates).toMatchObject({
      daily: [],
      daily_window: { since: '2026-10-22', until: '2026-11-20' },
    });
    expect([body.name, body.name_source]).toEqual([null, null]);
  });

  test('refuses a text that is no address, a chain that is not served and a finality that does not exist', async () => {
    for (const [url, parameter] of [
      [`${PATH_OF[role]}/0x12`, role === 'payee' ? 'address' : 'wallet'],
      [`${PATH_OF[role]}/${HUB}?chain=eip155:1`, 'chain'],
      [`${PATH_OF[role]}/${HUB}?finality=soon`, 'finality'],
    ]) {
      const { status, body } = await api.get(url ?? '');
      expect({ status, code: body.code, parameter: body.parameter }).toEqual({
        status: 400,
        code: 'invalid_parameter',
        parameter,
      });
    }
  });
});
