import { type Column, DataTable } from '../components/data-table.tsx';
import { kindOf, rawText } from '../sql/cells.ts';
import type { ChartData, ChartSpec } from './spec.ts';

export interface ChartProps {
  /** The name of the chart: its title, its accessible name, and the name of the files that are downloaded. */
  readonly name: string;
  readonly data: ChartData;
  /** What is drawn. Fields that are missing, and columns that the data does not have, are guessed from the shape of the data. */
  readonly spec?: Partial<ChartSpec>;
  /** With it, the chart has controls; it is called with each choice of the visitor. The page keeps the choice, and gives it as `spec`. */
  onSpec?(spec: ChartSpec): void;
  /** Pixels. Default 320. */
  readonly height?: number;
}

/** Rows as a picture, with the figures under the pointer, downloads as PNG and SVG, and the same figures as a table. */
export function Chart({ name, data }: ChartProps) {
  return (
    <figure class="chart">
      <figcaption class="chart-title">{name}</figcaption>
      <FiguresTable name={name} data={data} />
    </figure>
  );
}

/** The figures of a chart for people who cannot see it, or who need a digit. */
function FiguresTable({ name, data }: Pick<ChartProps, 'name' | 'data'>) {
  const columns = data.columns.map(
    (column, at): Column<readonly unknown[]> => ({
      name: column.name,
      isFigure: kindOf(column.type) === 'number',
      cell: (row) => rawText(row[at]),
    }),
  );
  return (
    <details class="as-table">
      <summary>As a table</summary>
      <DataTable
        caption={name}
        columns={columns}
        rows={data.rows}
        keyOf={(row) => row.map(rawText).join(' ')}
      />
    </details>
  );
}
