import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { EmptyState } from '../components/states.tsx';
import { countText } from '../format.ts';
import { useStore } from '../store.ts';
import { isDark } from '../theme.ts';
import type { SqlResult } from '../wire.ts';
import {
  CHART_KINDS,
  type ChartChoice,
  chartPoints,
  chartSummary,
  chooseChart,
  columnsOf,
  POINTS_MAX,
  SERIES_MAX,
} from './chart-choice.ts';

const KIND_NAMES = { line: 'Line', bar: 'Bars', scatter: 'Points' } as const;

/** A result as a chart, with a description in words. */
export function ResultChart({ result }: { readonly result: SqlResult }) {
  const first = useMemo(() => chooseChart(result), [result]);
  const [chosen, setChosen] = useState<{ readonly of: SqlResult; readonly choice: ChartChoice } | null>(null);
  // The columns of another result may differ, so a choice holds for its result only.
  const choice = chosen?.of === result ? chosen.choice : first;
  if (choice === null)
    return (
      <EmptyState title="Nothing to draw">
        <p>A chart needs rows and a column of numbers.</p>
      </EmptyState>
    );
  return (
    <div class="chart-box">
      <ChartControls
        result={result}
        choice={choice}
        onChange={(next) => setChosen({ of: result, choice: next })}
      />
      <Picture result={result} choice={choice} />
    </div>
  );
}

interface ControlsProps {
  readonly result: SqlResult;
  readonly choice: ChartChoice;
  onChange(choice: ChartChoice): void;
}

function ChartControls({ result: { columns }, choice, onChange }: ControlsProps) {
  const numbers = columnsOf(columns, 'number');
  const toggle = (column: number): void => {
    const others = choice.y.filter((one) => one !== column);
    const y = others.length === choice.y.length ? [...choice.y, column].slice(-SERIES_MAX) : others;
    if (y.length > 0) onChange({ ...choice, y });
  };
  return (
    <div class="chart-controls">
      <label>
        <span>Chart</span>
        <select
          value={choice.kind}
          onChange={({ currentTarget }) => {
            const kind = CHART_KINDS.find((known) => known === currentTarget.value);
            if (kind !== undefined) onChange({ ...choice, kind });
          }}
        >
          {CHART_KINDS.map((kind) => (
            <option key={kind} value={kind}>
              {KIND_NAMES[kind]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Along</span>
        <select
          value={choice.x}
          onChange={({ currentTarget }) => onChange({ ...choice, x: Number(currentTarget.value) })}
        >
          {columns.map(({ name }, index) => (
            <option key={index} value={index}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <fieldset class="chart-series">
        <legend>Show</legend>
        {numbers.map((column) => (
          <label key={column} class="chip">
            <input type="checkbox" checked={choice.y.includes(column)} onChange={() => toggle(column)} />
            <span>{columns[column]?.name}</span>
          </label>
        ))}
      </fieldset>
    </div>
  );
}

function Picture({ result, choice }: Pick<ControlsProps, 'result' | 'choice'>) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dark = useStore(isDark);
  const points = useMemo(() => chartPoints(result, choice), [result, choice]);
  const summary = chartSummary(result, choice, points);
  // `dark` is only a trigger: the chart reads its colours from the page.
  useEffect(() => {
    let isHere = true;
    let remove: (() => void) | undefined;
    const nameOf = (index: number): string => result.columns[index]?.name ?? '';
    const drawing = { choice, points, names: choice.y.map(nameOf), xName: nameOf(choice.x) };
    void import('./draw-chart.ts').then(({ drawChart }) => {
      if (isHere && canvas.current !== null) remove = drawChart(canvas.current, drawing);
    });
    return () => {
      isHere = false;
      remove?.();
    };
  }, [result, choice, points, dark]);
  return (
    <figure class="chart">
      <div class="chart-canvas">
        <canvas ref={canvas} role="img" aria-label={summary} />
      </div>
      <figcaption class="muted small">
        {summary} The figures themselves are in the table.
        {result.rows.length > POINTS_MAX ? ` Only the first ${countText(POINTS_MAX)} rows are drawn.` : ''}
      </figcaption>
    </figure>
  );
}
