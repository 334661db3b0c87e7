import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  COLOURS,
  facilitatorColour,
  facilitatorSeries,
  facilitatorShape,
  UNNAMED_COLOUR,
} from '../../../console/chart/palette.ts';
import { FACILITATOR_NAMES } from '../../../core/domain/facilitator-names.ts';
import relayers from '../../../ingest/grading/facilitator-relayers.json' with { type: 'json' };

it('a facilitator has one of the colours, by its id alone, however its letters are written', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (id) => {
      const series = facilitatorSeries(id);
      expect(series !== null && Number.isInteger(series) && series >= 0 && series < COLOURS).toBe(true);
      expect(facilitatorColour(id)).toBe(`var(--series-${Number(series) + 1})`);
    }),
  );
  expect(facilitatorSeries('payAI')).toBe(facilitatorSeries('payai'));
});

it('the colours of facilitators do not change between releases', () => {
  expect(['coinbase', 'payAI', 'thirdweb', 'x402rs', 'dexter'].map(facilitatorSeries)).toEqual([
    1, 4, 0, 2, 5,
  ]);
});

it('the eight facilitators with the most relayers have eight colours', () => {
  const counts = new Map<string, number>();
  for (const { facilitator } of relayers.relayers)
    counts.set(facilitator, (counts.get(facilitator) ?? 0) + 1);
  const largest = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, COLOURS);
  expect(new Set(largest.map(([id]) => facilitatorSeries(id))).size).toBe(COLOURS);
});

it('a series without a name is grey', () => {
  expect([facilitatorColour(null), facilitatorColour('')]).toEqual([UNNAMED_COLOUR, UNNAMED_COLOUR]);
});

it('no two built-in facilitators have the same colour and shape', () => {
  const marks = Object.keys(FACILITATOR_NAMES).map(
    (id) => `${facilitatorColour(id)} ${facilitatorShape(id)}`,
  );
  expect(new Set(marks).size).toBe(marks.length);
});
