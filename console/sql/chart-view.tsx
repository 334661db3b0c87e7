import { useMemo } from 'preact/hooks';
import { Chart } from '../chart/chart.tsx';
import { CHART_KINDS, type ChartSpec } from '../chart/spec.ts';
import type { SqlResult } from '../wire.ts';

interface ChartViewProps {
  readonly name: string;
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
        name={name}
        data={result}
        spec={spec}
        height="fill"
        onSpec={(next) => onChart(writeSpec(next))}
      />
    </div>
  );
}

export function writeSpec(spec: ChartSpec): string {
  return JSON.stringify(spec);
}

/** The fields of the text that a spec can have: anybody can write a link. */
export function readSpec(text: string): Partial<ChartSpec> {
  const fields = parsed(text);
  const kind = CHART_KINDS.find((known) => known === fields['kind']);
  const { x, y, by, right, isLog, isZeroBased } = fields;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(typeof x === 'string' ? { x } : {}),
    ...(isNames(y) ? { y } : {}),
    ...(typeof by === 'string' || by === null ? { by } : {}),
    ...(isNames(right) ? { right } : {}),
    ...(typeof isLog === 'boolean' ? { isLog } : {}),
    ...(typeof isZeroBased === 'boolean' ? { isZeroBased } : {}),
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}
