import { describe, expect } from 'vitest';
import { EngineError, type Writer } from '../../../clickhouse/engine/engine.ts';
import { trustedText } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/account.ts';
import { WINDOWS } from '../../../core/domain/window.ts';
import { repeatPasses } from '../../../ingest/passes/repeat.ts';
import { rankingPasses } from '../../../ingest/rankings/follow.ts';
import { type RankingPass, rankingPass } from '../../../ingest/rankings/pass.ts';
import { deriveAll, registerAgent } from '../../kit/agents.ts';
import { testClock } from '../../kit/api.ts';
import { emptyTables } from '../../kit/empty-tables.ts';
import { type TestEngine, testLog } from '../../kit/engine.ts';
import { test } from '../../kit/fixtures.ts';
import { emptyIdentityTables } from '../../kit/identities.ts';
import { BASE, insertSettlements, NOON, settlement, tombstone, wallet } from '../../kit/rows.ts';
import { waitUntil } from '../../kit/wait-until.ts';

let engine: TestEngine;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(async () => {
  await emptyTables(engine.writer);
  await emptyIdentityTables(engine.writer);
});

const pass = (
  writer: Writer = engine.writer,
  options: { readonly nowMs?: number; readonly walletsMax?: number } = {},
): Promise<RankingPass | null> =>
  rankingPass(writer, { window: '7d', chains: [BASE], nowMs: NOON * 1_000, ...options });

let nextBlock = 100;

function payment(payee: Address, dollars: number, payer = wallet(0x9000 + nextBlock)) {
  nextBlock += 1;
  return settlement({
    payee,
    payer,
    amountUsdMicros: BigInt(Math.round(dollars * 1_000_000)),
    blockNumber: nextBlock,
    blockTime: NOON - 3_600,
  });
}

async function rowsOf(statement: string): Promise<readonly (readonly unknown[])[]> {
  const { rows } = await engine.reader.rows({
    name: 'test',
    sql: trustedText(statement),
    maxSeconds: 10,
    maxRows: 1_000,
  });
  return rows;
}

/** What readers see: the best payees of the published pass, with their dollars. */
const published = (window = '7d') =>
  rowsOf(`SELECT concat('0x', lower(hex(wallet))), toFloat64(organic_usd0) FROM ranked_wallets
    WHERE role = 'payee' AND gen = (SELECT max(gen) FROM ranking_passes WHERE span = '${window}') ORDER BY organic_usd0 DESC, wallet`);

const [A, B, C] = [wallet(1), wallet(2), wallet(3)];

describe('a pass', () => {
  test('replaces the one before as a whole, and the next one lacks the rows that a reorg took', async () => {
    const taken = payment(A, 5);
    await insertSettlements(engine.writer, [taken, payment(B, 3)]);
    await pass();
    expect(await published()).toEqual([
      [A, 5],
      [B, 3],
    ]);
    await tombstone(engine.writer, [taken]);
    expect(await published()).toHaveLength(2);
    await pass();
    expect(await published()).toEqual([[B, 3]]);
  });

  test('that is killed before any of its statements leaves the ranking as it was, and no rows behind the next', async () => {
    // A pays itself, so that it is among the wallets that pay and are paid.
    await insertSettlements(engine.writer, [payment(A, 5), payment(A, 1, A)]);
    await pass();
    await insertSettlements(engine.writer, [payment(B, 9)]);
    const before = await published();
    for (let survived = 0; ; survived++) {
      let left = survived;
      const dying: Writer = {
        ...engine.writer,
        run: (statement) => {
          if (left === 0) return Promise.reject(new Error('killed'));
          left -= 1;
          return engine.writer.run(statement);
        },
      };
      const outcome = await pass(dying).catch((error: Error) => error.message);
      if (outcome !== 'killed') {
        expect(survived).toBe(6); // wallets that pay and are paid, figures of two roles, the choice, facilitators, the publication
        break;
      }
      expect(await published()).toEqual(before);
    }
    expect(await published()).toEqual([
      [B, 9],
      [A, 5],
    ]);
    await pass();
    expect(await rowsOf('SELECT uniqExact(gen) FROM ranked_wallets')).toEqual([['2']]);
    expect(await rowsOf('SELECT count() FROM two_way_wallets')).toEqual([['0']]);
  });

  test('over one window drops nothing of another', async () => {
    await insertSettlements(engine.writer, [payment(A, 5)]);
    await rankingPass(engine.writer, { window: 'all', chains: [BASE], nowMs: NOON * 1_000 });
    for (const _ of [1, 2, 3]) await pass();
    expect(await published('all')).toEqual([[A, 5]]);
  });

  test('of two workers at the same moment is seen as one', async () => {
    await insertSettlements(engine.writer, [payment(A, 5)]);
    const passes = await Promise.all([pass(), pass()]);
    expect(new Set(passes.map((one) => one?.gen)).size).toBe(2);
    expect(await published()).toEqual([[A, 5]]);
  });

  test('keeps the best by every order, suspect or not, and every payee that an agent is paid at', async () => {
    const [rich, busy, popular, selfish, agent] = [1, 2, 3, 4, 5].map((at) => wallet(0x100 + at)) as [
      Address,
      ...Address[],
    ] as [Address, Address, Address, Address, Address];
    const times = (count: number, make: () => ReturnType<typeof payment>) =>
      Array.from({ length: count }, make);
    await insertSettlements(engine.writer, [
      payment(rich, 900),
      ...times(9, () => payment(busy, 0.01, wallet(0x200))),
      ...times(5, () => payment(popular, 0.02)),
      ...times(12, () => payment(selfish, 3, selfish)),
      payment(selfish, 0.5),
      ...times(3, () => payment(wallet(0x300 + nextBlock), 1)),
      payment(agent, 0.000001),
    ]);
    await registerAgent(engine.writer, { agentId: 1n, owner: agent });
    await deriveAll(engine.writer);
    await pass(engine.writer, { walletsMax: 1 });
    expect((await published()).map(([of]) => of)).toEqual([rich, selfish, popular, busy, agent]);
  });

  test('of an index without settlements publishes nothing', async () => {
    expect(await pass()).toBeNull();
    expect(await rowsOf('SELECT count() FROM ranking_passes')).toEqual([['0']]);
  });
});

describe('a ranking that is published stays', () => {
  test.for([
    ['while less than a hundredth of its window is new', true, 1, 59, 'current'],
    ['until a hundredth of its window is new', true, 2, 59, 'done'],
    ['where nobody reads it, while less than a quarter of its window is new', false, 25, 59, 'current'],
    ['where nobody reads it, until a quarter of its window is new', false, 26, 59, 'done'],
    ['where nobody reads it, until its window has moved by a minute of a day', false, 0, 60, 'done'],
  ] as const)('%s', async ([, isRead, more, seconds, outcome]) => {
    const clock = testClock();
    const passes = { writer: engine.writer, chains: [BASE], log: testLog, clock, isRead: () => isRead };
    const [day] = rankingPasses(passes);
    const run = () => day?.run(new AbortController().signal);
    await insertSettlements(
      engine.writer,
      Array.from({ length: 101 }, () => payment(C, 1)),
    );
    expect(await run()).toBe('done');
    if (more > 0)
      await insertSettlements(
        engine.writer,
        Array.from({ length: more }, () => payment(A, 1)),
      );
    clock.advanceSeconds(seconds);
    expect(await run()).toBe(outcome);
  });
});

/** As the worker does. */
function repeat(writer: Writer, signal: AbortSignal): Promise<void> {
  const deps = { writer, chains: [BASE], log: testLog, clock: testClock() };
  return repeatPasses({ ...deps, signal }, [rankingPasses(deps)]);
}

describe('the worker', () => {
  test('waits for the first settlements, ranks every window, survives a failing engine, and ends when stopped', async () => {
    const stopping = new AbortController();
    const run = (writer: Writer): Promise<void> => repeat(writer, stopping.signal);
    const failing = run({
      ...engine.writer,
      rows: () => Promise.reject(new EngineError('unreachable', 'test', null, undefined)),
    });
    const running = run(engine.writer);
    await insertSettlements(engine.writer, [payment(C, 2)]);
    const ranked = async () =>
      (await rowsOf('SELECT DISTINCT span FROM ranking_passes')).length === WINDOWS.length;
    await waitUntil('all windows are ranked', ranked, 60_000);
    stopping.abort();
    await Promise.all([failing, running]);
    expect(await published('24h')).toEqual([[C, 2]]);
  }, 90_000);

  test('does not swallow a bug', async () => {
    const broken = { ...engine.writer, rows: () => Promise.reject(new TypeError('bug')) };
    const { signal } = new AbortController();
    await expect(repeat(broken, signal)).rejects.toThrow('bug');
  });
});
