import { useMemo } from 'preact/hooks';
import { Chart } from '../chart/chart.tsx';
import { readSpec, writeSpec } from '../chart/spec.ts';
import type { SqlResult } from '../wire.ts';

interface ChartViewProps {
  /** As the visitor or its author calls the query; null: a title that follows from the columns. */
  readonly name: string | null;
  readonly result: SqlResult;
  /** The visitor’s choice, as it is written in a link; null: guessed from the result. */
  readonly chart: string | null;
  onChart(chart: string): void;
}

/** A result as a chart. The choice belongs to the query, and travels in its link. */
export function ChartView({ name, result, chart, onChart }: ChartViewProps) {
  const spec = useMemo(() => (chart === null ? {} : readSpec(chart)), [chart]);
  return (
    <div class="chart-view">
      <Chart
        {...(name === null ? {} : { name })}
        data={result}
        spec={spec}
        height="fill"
        onSpec={(next) => onChart(writeSpec(next))}
      />
    </div>
  );
}
