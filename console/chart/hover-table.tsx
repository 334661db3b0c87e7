import { Swatch } from '../components/chip.tsx';
import { columnWords } from './columns.ts';
import type { Hover } from './draw.ts';
import { placeText } from './labels.ts';
import type { Prepared, Series } from './series.ts';

/** More rows would cover the chart. */
const ROWS_MAX = 12;
/** Where the pointer is in the right half, the table is at its left. */
const SIDE_PX = 14;

interface HoverTableProps {
  readonly prepared: Prepared;
  readonly hover: Hover;
}

/** The figures under the pointer, largest first. For the eye only: the table below the chart has them for everybody. */
export function HoverTable({ prepared: { x, series, spec }, hover }: HoverTableProps) {
  const values = rowsAt(series, hover);
  const rows = values.slice(0, ROWS_MAX);
  if (rows.length === 0) return null;
  return (
    <div
      class={hover.isRight ? 'chart-hover is-left' : 'chart-hover'}
      style={{ left: `${hover.left + (hover.isRight ? -SIDE_PX : SIDE_PX)}px`, top: `${hover.top}px` }}
      aria-hidden="true"
    >
      <p class="chart-hover-title">
        {placeText(x, hover.at)}
        {x.kind === 'time' || x.unit !== null ? null : <span class="muted"> {columnWords(spec.x)}</span>}
      </p>
      <table>
        <tbody>
          {rows.map(({ name, colour, texts }) => (
            <tr key={name}>
              <th scope="row">
                {spec.kind === 'heatmap' ? null : <Swatch colour={colour} />}
                {name}
              </th>
              <td class="number">{texts[hover.at]}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {values.length > rows.length ? <p class="muted">{values.length - rows.length} more</p> : null}
    </div>
  );
}

function rowsAt(series: readonly Series[], { at, series: only }: Hover): readonly Series[] {
  const chosen = only === null ? series : series.slice(only, only + 1);
  return chosen
    .filter(({ values }) => values[at] !== null && values[at] !== undefined)
    .toSorted((a, b) => (b.values[at] ?? 0) - (a.values[at] ?? 0));
}
