import { describe, expect, it } from 'vitest';
import { flowPictureOf, UNNAMED } from '../../../console/parts/flow-layout.ts';
import { wireSettlement } from '../../kit/wire-settlements.ts';

const rows = Array.from({ length: 30 }, (_, at) => wireSettlement(at));

describe('the picture of the flow', () => {
  it('has every settlement once in each column, the smallest parties added up', () => {
    const { payers, facilitators, payees } = flowPictureOf(rows);
    for (const column of [payers, facilitators, payees]) {
      expect(column.reduce((sum, { count }) => sum + count, 0)).toBe(30);
      expect(column.reduce((sum, { usdMicros }) => sum + usdMicros, 0n)).toBe(465_000_000n);
    }
    expect(payees).toHaveLength(7);
    expect(payees.at(-1)).toMatchObject({ id: '', label: '24 others' });
  });

  it('draws all columns to one scale: the same dollars have the same height everywhere', () => {
    const { payers, facilitators, payees } = flowPictureOf(rows);
    const scales = [payers, facilitators, payees]
      .flat()
      .map(({ slot, usdMicros }) => slot.height / Number(usdMicros));
    for (const scale of scales) expect(scale).toBeCloseTo(scales[0] ?? 0, 12);
  });

  it('leaves a party with a millionth of the money a bar of its size, and every label room of its own', () => {
    const tiny = Array.from({ length: 5 }, (_, at) =>
      wireSettlement(at + 1, { payee: wireSettlement(90 + at).payee, amount_usd: 0.000001 }),
    );
    const { payees, height } = flowPictureOf([wireSettlement(0, { amount_usd: 1_000 }), ...tiny]);
    const middles = payees.map(({ slot }) => slot.top + slot.height / 2);
    for (const [at, { slot }] of payees.entries()) {
      if (at > 0) {
        expect(slot.height).toBeLessThan(0.001);
        expect((middles[at] ?? 0) - (middles[at - 1] ?? 0)).toBeGreaterThanOrEqual(36);
      }
    }
    expect(Math.min(...middles)).toBeGreaterThanOrEqual(18);
    expect(Math.max(...middles)).toBeLessThanOrEqual(height - 18);
  });

  it('divides every bar among its ribbons without rest, and names the facilitator of each', () => {
    const { payers, payees, facilitators, inflows, outflows } = flowPictureOf(rows);
    const heightOf = (slots: readonly { readonly height: number }[]): number =>
      slots.reduce((sum, { height }) => sum + height, 0);
    expect(heightOf(inflows.map(({ from }) => from))).toBeCloseTo(heightOf(payers.map(({ slot }) => slot)));
    expect(heightOf(inflows.map(({ to }) => to))).toBeCloseTo(heightOf(facilitators.map(({ slot }) => slot)));
    expect(heightOf(outflows.map(({ to }) => to))).toBeCloseTo(heightOf(payees.map(({ slot }) => slot)));
    expect(new Set([...inflows, ...outflows].map(({ facilitator }) => facilitator))).toEqual(
      new Set(['first', UNNAMED]),
    );
  });

  it('of no settlements is empty', () => {
    expect(flowPictureOf([])).toMatchObject({ payers: [], facilitators: [], payees: [], inflows: [] });
  });
});
