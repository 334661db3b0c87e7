import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Address } from '../../../../core/domain/account.ts';
import {
  buildPaymentGraph,
  type PaymentGraph,
  type PaymentPair,
} from '../../../../core/domain/payment-graph.ts';
import { edgeAnswer, nodeAnswer } from '../../../../src/operations/graph/shape.ts';
import { wallet } from '../../../kit/rows.ts';

/** Up to 8.5 billion dollars a JSON number shows every digit; all pairs of a graph together stay below that here. */
const USD_MICROS_MAX = 10n ** 14n;

const parties: fc.Arbitrary<Address> = fc.nat(9).map(wallet);

const pairs: fc.Arbitrary<PaymentPair[]> = fc.array(
  fc.record({
    payer: parties,
    payee: parties,
    usdMicros: fc.oneof(fc.bigInt(0n, USD_MICROS_MAX), fc.bigInt(0n, 3n)),
    count: fc.integer({ min: 1, max: 10_000 }),
    firstSeen: fc.nat(1_000_000),
    lastSeen: fc.nat(1_000_000),
  }),
  { maxLength: 80 },
);

const graphs = fc.tuple(pairs, fc.integer({ min: 1, max: 40 }));

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);

/** The decimal that the JSON text shows, in millionths. */
function printedMicros(value: number): bigint {
  const [whole = '', fraction = ''] = value.toFixed(6).split('.');
  expect(Number(`${whole}.${fraction}`)).toBe(value);
  return BigInt(whole) * 1_000_000n + BigInt(fraction);
}

describe('a payment graph', () => {
  test('nodes moved exactly twice what edges moved, in dollars and in settlements, cut or not', () => {
    fc.assert(
      fc.property(graphs, ([all, edgesMax]) => {
        const { nodes, edges } = buildPaymentGraph(all, edgesMax);
        expect(sum(nodes.map(({ inUsdMicros, outUsdMicros }) => inUsdMicros + outUsdMicros))).toBe(
          2n * sum(edges.map(({ usdMicros }) => usdMicros)),
        );
        const counted = nodes.reduce((total, { inCount, outCount }) => total + inCount + outCount, 0);
        expect(counted).toBe(2 * edges.reduce((total, { count }) => total + count, 0));
      }),
    );
  });

  test('the printed numbers keep that, digit by digit', () => {
    fc.assert(
      fc.property(graphs, ([all, edgesMax]) => {
        const { nodes, edges } = buildPaymentGraph(all, edgesMax);
        const printed = JSON.parse(
          JSON.stringify({
            nodes: nodes.map((node) => nodeAnswer(node, () => null)),
            edges: edges.map(edgeAnswer),
          }),
        ) as { nodes: { window_usd: number; in_usd: number; out_usd: number }[]; edges: { usd: number }[] };
        const moved = printed.nodes.map(({ window_usd }) => printedMicros(window_usd));
        expect(sum(moved)).toBe(2n * sum(printed.edges.map(({ usd }) => printedMicros(usd))));
        for (const { window_usd, in_usd, out_usd } of printed.nodes)
          expect(printedMicros(window_usd)).toBe(printedMicros(in_usd) + printedMicros(out_usd));
      }),
    );
  });

  test('shows the largest pairs, each once, and never a wallet paying itself', () => {
    fc.assert(
      fc.property(graphs, ([all, edgesMax]) => {
        const graph = buildPaymentGraph(all, edgesMax);
        const { edges } = graph;
        expect(edges.filter(({ payer, payee }) => payer === payee)).toEqual([]);
        expect(new Set(edges.map(({ payer, payee }) => `${payer}${payee}`)).size).toBe(edges.length);
        const whole = buildPaymentGraph(all, 1_000).edges;
        expect(edges).toEqual(whole.slice(0, edgesMax));
        expect(graph.isCut).toBe(whole.length > edgesMax);
        const usd = edges.map(({ usdMicros }) => usdMicros);
        expect(usd).toEqual([...usd].sort((a, b) => (a < b ? 1 : -Number(a > b))));
      }),
    );
  });

  test('a payment that is in no edge is excluded and counted', () => {
    fc.assert(
      fc.property(pairs, (all) => {
        const { edges, selfPayments } = buildPaymentGraph(all, 1_000);
        expect(selfPayments.usdMicros + sum(edges.map(({ usdMicros }) => usdMicros))).toBe(
          sum(all.map(({ usdMicros }) => usdMicros)),
        );
        const counted = edges.reduce((total, { count }) => total + count, selfPayments.count);
        expect(counted).toBe(all.reduce((total, { count }) => total + count, 0));
      }),
    );
  });

  test('the order in which pairs arrive changes nothing', () => {
    const shuffled = graphs.chain(([all, edgesMax]) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }), fc.constant(edgesMax)),
    );
    const build = (all: readonly PaymentPair[], edgesMax: number): PaymentGraph =>
      buildPaymentGraph(all, edgesMax);
    fc.assert(
      fc.property(shuffled, ([one, other, edgesMax]) => {
        expect(build(other, edgesMax)).toEqual(build(one, edgesMax));
      }),
    );
  });
});
