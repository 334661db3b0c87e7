import { useMemo, useState } from 'preact/hooks';
import { cellText, kindOf } from '../cells.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/states.tsx';
import { countText } from '../format.ts';
import { isMoney } from './columns.ts';
import { ChartControls } from './controls.tsx';
import type { ChartHeight } from './draw.ts';
import { figuresOf } from './figures.ts';
import { completeSpec } from './guess.ts';
import { HeatScale } from './heat-scale.tsx';
import { leftText } from './labels.ts';
import { NumberCard } from './number-card.tsx';
import { Picture } from './picture.tsx';
import { prepare, valueText } from './series.ts';
import type { ChartData, ChartSpec } from './spec.ts';
import { chartTitle } from './titles.ts';

export interface ChartProps {
  /** The name of the chart: its title, its accessible name, and the name of the files that are downloaded. Default: from its columns. */
  readonly name?: string;
  /** Keep the object between renderings: another one draws the chart again. */
  readonly data: ChartData;
  /** The chart to draw. Fields that are missing, and columns that the data does not have, are guessed from the shape of the data. */
  readonly spec?: Partial<ChartSpec>;
  /** With it, the chart has controls; it is called with each choice of the visitor. The page keeps the choice, and gives it as `spec`. */
  onSpec?(spec: ChartSpec): void;
  /** Whether the table of its figures is open at first. */
  readonly isTableOpen?: boolean;
  /** Pixels, 320 by default; `fill`: what its place has left, at least 220. */
  readonly height?: ChartHeight;
}

const HEIGHT = 320;
const GUESSED: Partial<ChartSpec> = {};

/** Rows as a picture, with the figures under the pointer, downloads as PNG and SVG, and the same figures as a table. */
export function Chart(props: ChartProps) {
  const { name, data, spec: chosen = GUESSED, onSpec, height = HEIGHT, isTableOpen = false } = props;
  // By its text: pages may write the choice anew in each rendering.
  const chosenText = JSON.stringify(chosen);
  const spec = useMemo(
    () => completeSpec(data, JSON.parse(chosenText) as Partial<ChartSpec>),
    [data, chosenText],
  ); // written two lines above
  const prepared = useMemo(() => (spec === null ? null : prepare(data, spec)), [data, spec]);
  if (spec === null || prepared === null)
    return (
      <EmptyState title="Nothing to draw">
        <p>A chart needs rows and a column of numbers.</p>
      </EmptyState>
    );
  const title = name ?? chartTitle(prepared);
  const isCard = spec.kind === 'number';
  const left = isCard ? '' : leftText(prepared);
  return (
    <figure class={height === 'fill' && !isCard ? 'chart is-filling' : 'chart'}>
      {onSpec === undefined ? null : <ChartControls data={data} spec={spec} onSpec={onSpec} />}
      {isCard ? (
        <NumberCard title={title} figures={figuresOf(data, spec)} />
      ) : (
        <Picture title={title} prepared={prepared} height={height} />
      )}
      {spec.kind === 'heatmap' ? <HeatScale prepared={prepared} /> : null}
      {left === '' ? null : <p class="muted small">{left}</p>}
      <FiguresTable name={title} data={data} isOpen={isTableOpen} />
    </figure>
  );
}

const TABLE_ROWS_MAX = 200;

interface FiguresTableProps {
  readonly name: string;
  readonly data: ChartData;
  /** At first. */
  readonly isOpen?: boolean;
}

/** The figures of a chart for people who cannot see it, or who need a digit. Its rows are made when it is opened. */
export function FiguresTable({ name, data, isOpen: isOpenAtFirst = false }: FiguresTableProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const rows = data.rows.slice(0, TABLE_ROWS_MAX);
  return (
    <details
      class="as-table"
      open={isOpenAtFirst}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>As a table</summary>
      {isOpen ? (
        <DataTable
          caption={
            rows.length < data.rows.length ? `${name}: the first ${countText(rows.length)} rows` : name
          }
          isCaptionShown={rows.length < data.rows.length}
          columns={columnsOf(data)}
          rows={rows}
          keyOf={(row) => String(rows.indexOf(row))}
        />
      ) : null}
    </details>
  );
}

function columnsOf(data: ChartData): Column<readonly unknown[]>[] {
  return data.columns.map(({ name, type }, at) => ({
    name,
    isFigure: kindOf(type) === 'number',
    cell: (row) => (isMoney({ name, type }) ? valueText(row[at], true) : cellText(row[at], kindOf(type))),
  }));
}
