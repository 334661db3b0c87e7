import { Swatch } from '../components/chip.tsx';
import type { EndLabels } from './draw.ts';
import { shortLabel } from './labels.ts';
import type { Series } from './series.ts';

interface LegendProps {
  readonly series: readonly Series[];
  readonly hidden: ReadonlySet<string>;
  /** Where the names stand next to the ends of their lines; null: below the picture. */
  readonly labels: EndLabels | null;
  onToggle(name: string): void;
}

/** The names of the series; a click hides one and shows it again. */
export function Legend({ series, hidden, labels, onToggle }: LegendProps) {
  const ends = new Map(labels?.ends.map((end) => [end.name, end.y]));
  return (
    <ul class={labels === null ? 'chart-legend' : 'chart-legend is-direct'} aria-label="Series">
      {series.map(({ name, colour }) => (
        <li key={name} style={labels === null ? {} : placeOf(labels, ends.get(name) ?? 0)}>
          <button type="button" aria-pressed={!hidden.has(name)} title={name} onClick={() => onToggle(name)}>
            <Swatch colour={colour} />
            <span class="cut">{shortLabel(name)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function placeOf({ left, width }: EndLabels, y: number): { left: string; top: string; width: string } {
  return { left: `${left}px`, top: `${y}px`, width: `${width}px` };
}
