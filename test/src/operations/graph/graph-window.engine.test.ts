import { beforeEach, describe, expect } from 'vitest';
import type { Reader } from '../../../../clickhouse/engine/engine.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { createGraphs, type GraphAnswer } from '../../../../src/operations/graph/read.ts';
import { testClock } from '../../../kit/api.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { BASE, insertSettlements, NOON, POLYGON, settlement, tombstone, wallet } from '../../../kit/rows.ts';

let engine: TestEngine;
test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
beforeEach(async () => {
  await emptyTables(engine.writer);
});

const HUB = wallet(1);
const FORMS = [
  ['of everybody', undefined],
  ['of one wallet', HUB],
] as const;

interface Asked {
  readonly rows: number;
  readonly wallet: typeof HUB | undefined;
  readonly edgesMax?: number;
}

function read(
  { rows, wallet: of, edgesMax = 1_000 }: Asked,
  reader: Reader = engine.reader,
): Promise<GraphAnswer> {
  const scope = { wallet: of, chain: undefined, final: undefined, edgesMax };
  return createGraphs({ clock: testClock() }).read(reader, { ...scope, span: { kind: 'window', rows } });
}

/** Each payment has a payee of its own, so that an edge names its settlement; every fourth is the hub's to itself. */
function payments(count: number, place: (at: number) => Partial<Settlement>): Settlement[] {
  return Array.from({ length: count }, (_, at) =>
    settlement({ payer: HUB, payee: at % 4 === 3 ? HUB : wallet(100 + at), ...place(at) }),
  );
}

const payees = (rows: readonly Settlement[]): string[] =>
  rows
    .filter(({ payee }) => payee !== HUB)
    .map(({ payee }) => payee)
    .sort();

function countedBy({ graph }: GraphAnswer): number {
  return graph.edges.reduce((sum, { count }) => sum + count, graph.selfPayments.count);
}

describe.each(FORMS)('the window %s', (_form, of) => {
  test('ends between settlements of one second: by chain, block and place in the block', async () => {
    const times = [0, 1, 2, 3, 4, 5, ...Array<number>(16).fill(100)].map((age) => NOON - age);
    const rows = payments(24, (at) => ({
      blockTime: times[at] ?? NOON - 200,
      chain: at % 2 === 0 ? BASE : POLYGON,
      // The block is higher where the chain sorts lower, so that neither stands for the other.
      blockNumber: (at % 2 === 0 ? 5_000 : 6_000) + (at % 3),
      logIndex: (at * 7) % 24,
    }));
    await insertSettlements(engine.writer, rows);
    await insertSettlements(engine.writer, rows.slice(5, 15)); // a second version of the same rows
    const gone = rows.slice(8, 11);
    await tombstone(engine.writer, gone);
    const ordered = rows
      .filter((row) => !gone.includes(row))
      .sort(
        (a, b) =>
          b.blockTime - a.blockTime ||
          Number(b.chain > a.chain) - Number(b.chain < a.chain) ||
          b.blockNumber - a.blockNumber ||
          b.logIndex - a.logIndex,
      );
    for (let size = 1; size <= ordered.length + 1; size++) {
      const answer = await read({ rows: size, wallet: of });
      const counted = ordered.slice(0, size);
      expect(answer.graph.edges.map(({ payee }) => payee).sort()).toEqual(payees(counted));
      expect(answer.graph.selfPayments.count).toBe(counted.length - payees(counted).length);
      expect([answer.until, answer.since]).toEqual([NOON, counted.at(-1)?.blockTime]);
    }
  });

  test('sends only the edges shown, and still says how far back it reaches', async () => {
    const rows = payments(40, (at) => ({
      blockTime: NOON - at * 300,
      blockNumber: 9_000 - at,
      amountUsdMicros: BigInt(1_000 - at),
    }));
    await insertSettlements(engine.writer, rows);
    let most = 0;
    const watched: Reader = {
      ...engine.reader,
      rows: async (statement, signal) => {
        const answer = await engine.reader.rows(statement, signal);
        most = Math.max(most, answer.rows.length);
        return answer;
      },
    };
    const answer = await read({ rows: 30, wallet: of, edgesMax: 2 }, watched);
    expect(most).toBe(4); // two edges, one that tells of others, and the payments to oneself
    expect(answer.graph.edges.map(({ payee }) => payee)).toEqual([wallet(100), wallet(101)]);
    expect(answer.graph).toMatchObject({ isCut: true, selfPayments: { count: 7 } });
    expect(answer).toMatchObject({ since: NOON - 29 * 300, until: NOON, isScanCapped: false });
  });

  test('holds no more than was asked for when a settlement arrives late while it is read', async () => {
    const rows = payments(20, (at) => ({ blockTime: NOON - at * 10, blockNumber: 9_000 - at }));
    await insertSettlements(engine.writer, rows);
    const late = settlement({ payer: HUB, payee: wallet(7), blockTime: NOON - 15, blockNumber: 8_999 });
    let hasArrived = false;
    const interrupted: Reader = {
      ...engine.reader,
      rows: async (statement, signal) => {
        if (statement.name === 'graph-window') {
          await insertSettlements(engine.writer, [late]);
          hasArrived = true;
        }
        return engine.reader.rows(statement, signal);
      },
    };
    expect(countedBy(await read({ rows: 10, wallet: of }, interrupted))).toBe(10);
    expect(hasArrived).toBe(true);
  });
});
