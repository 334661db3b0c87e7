import { moneyLabel, numberLabel } from './labels.ts';
import type { Prepared } from './series.ts';
import { CELL_LEAST, HEAT_COLOUR, valueRange } from './shapes.ts';

/** What the strength of a cell of a heatmap means: the least and the largest value, and the colours between. */
export function HeatScale({ prepared }: { readonly prepared: Prepared }) {
  const { least, most } = valueRange(prepared);
  const label = prepared.series.every(({ isMoney }) => isMoney) ? moneyLabel : numberLabel;
  const faint = `color-mix(in srgb, ${HEAT_COLOUR} ${Math.round(CELL_LEAST * 100)}%, transparent)`;
  return (
    <p class="heat-scale small muted">
      <span>{label(prepared.spec.isLog ? least : Math.min(0, least))}</span>
      <span
        class="heat-scale-bar"
        style={{ backgroundImage: `linear-gradient(to right, ${faint}, ${HEAT_COLOUR})` }}
        aria-hidden="true"
      />
      <span>{label(most)}</span>
    </p>
  );
}
