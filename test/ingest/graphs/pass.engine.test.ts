import { describe, expect } from 'vitest';
import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { trustedText } from '../../../clickhouse/engine/sql.ts';
import { GRAPH_DAYS_KEPT } from '../../../core/domain/payment-graph.ts';
import { graphPass, graphPasses } from '../../../ingest/graphs/pass.ts';
import { repeatPasses } from '../../../ingest/passes/repeat.ts';
import { testClock } from '../../kit/api.ts';
import { closeDays } from '../../kit/close-days.ts';
import { emptyTables } from '../../kit/empty-tables.ts';
import { type TestEngine, testLog } from '../../kit/engine.ts';
import { test } from '../../kit/fixtures.ts';
import { BASE, insertSettlements, NOON, settlement, wallet } from '../../kit/rows.ts';
import { waitUntil } from '../../kit/wait-until.ts';

const DAY = 86_400;
const TODAY = NOON - DAY / 2;

let engine: TestEngine;
test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(() => emptyTables(engine.writer));

const pass = (writer: Writer = engine.writer, pairsMax = 100) =>
  graphPass({ writer, chains: [BASE], clock: testClock(), pairsMax }, 7);

async function pay(payee: number, dollars: number, blockTime = TODAY - 100): Promise<void> {
  const amountUsdMicros = BigInt(dollars * 1_000_000);
  await insertSettlements(engine.writer, [
    settlement({ payer: wallet(99), payee: wallet(payee), amountUsdMicros, blockTime, logIndex: payee }),
  ]);
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

/** Rank, payee and dollars of the published pass, on all chains together. */
const published = () =>
  rowsOf(`SELECT rank, concat('0x', lower(hex(payee))), toFloat64(settled_usd) FROM largest_pairs
    WHERE chain = '' AND rank > 0 AND gen = (SELECT max(gen) FROM largest_pair_passes WHERE days = 7) ORDER BY rank`);

const close = () => closeDays(engine.writer, [TODAY - 100]);

describe('a pass', () => {
  test('waits for open days, is done once, and once more after a write to its days', async () => {
    await pay(1, 5);
    expect(await pass()).toBe('waiting');
    expect(await published()).toEqual([]);
    await close();
    expect(await pass()).toBe('done');
    expect(await pass()).toBe('current');
    await pay(2, 7);
    expect(await pass()).toBe('waiting');
    await close();
    expect(await pass()).toBe('done');
    expect(await published()).toEqual([
      [1, wallet(2), 7],
      [2, wallet(1), 5],
    ]);
  });

  test('does not wait for days outside of its own', async () => {
    await pay(1, 5);
    await close();
    await pay(2, 7, TODAY + 100);
    await pay(3, 7, TODAY - 8 * DAY);
    expect(await pass()).toBe('done');
  });

  test('keeps the largest pairs, equal ones by their addresses', async () => {
    for (const [payee, dollars] of [
      [1, 5],
      [2, 8],
      [3, 5],
      [4, 1],
    ] as const)
      await pay(payee, dollars);
    await close();
    expect(await pass(engine.writer, 3)).toBe('done');
    expect(await published()).toEqual([
      [1, wallet(2), 8],
      [2, wallet(1), 5],
      [3, wallet(3), 5],
    ]);
  });

  test('that is killed before any of its statements leaves the published graph, and no rows behind the next but one', async () => {
    await pay(1, 5);
    await close();
    await pass();
    const before = await published();
    await pay(2, 9);
    await close();
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
        expect(survived).toBe(3); // all chains, the one chain, the publication
        break;
      }
      expect(await published()).toEqual(before);
    }
    expect(await published()).toHaveLength(2);
    await pay(3, 1);
    await close();
    await pass();
    expect(await rowsOf('SELECT uniqExact(gen) FROM largest_pairs')).toEqual([['2']]);
  });

  test('is not read once a slice of its days was computed anew since', async () => {
    await pay(1, 5);
    await close();
    let isFirst = true;
    const interrupted: Writer = {
      ...engine.writer,
      run: async (statement) => {
        if (isFirst) {
          isFirst = false;
          await pay(2, 9);
          await close();
        }
        return engine.writer.run(statement);
      },
    };
    expect(await pass(interrupted)).toBe('done');
    expect(await pass()).toBe('done'); // the one before is not current
    expect(await published()).toHaveLength(2);
  });
});

test('the worker adds up every number of days that is kept', async () => {
  await pay(1, 5);
  await close();
  const stopping = new AbortController();
  const deps = { writer: engine.writer, chains: [BASE] as const, log: testLog, clock: testClock() };
  const running = repeatPasses({ ...deps, signal: stopping.signal }, [graphPasses(deps)]);
  const daysOf = async () => (await rowsOf('SELECT DISTINCT days FROM largest_pair_passes')).length;
  await waitUntil('all are published', async () => (await daysOf()) === GRAPH_DAYS_KEPT.length);
  stopping.abort();
  await running;
});
