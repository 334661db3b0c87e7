import type { SqlColumn, SqlResult } from '../wire.ts';
import { chartNumber, kindOf, rawText } from './cells.ts';

/** Which chart fits a result, its points, and its description in words. Pure, so that tests can run it outside a browser. */

export const CHART_KINDS = ['line', 'bar', 'scatter'] as const;
type ChartKind = (typeof CHART_KINDS)[number];

export interface ChartChoice {
  readonly kind: ChartKind;
  /** Index of the column on the horizontal axis. */
  readonly x: number;
  /** Indexes of the columns that are drawn. */
  readonly y: readonly number[];
}

/** The number of colours in the palette. */
export const SERIES_MAX = 5;
/** More points than pixels add nothing, and drawing them takes seconds. */
export const POINTS_MAX = 5_000;
/** More bars cannot be distinguished; a line is drawn instead. */
const BARS_MAX = 60;

/** The default chart: lines over time, bars over names, points for numbers against numbers. Null without a column of numbers. */
export function chooseChart({ columns, rows }: Pick<SqlResult, 'columns' | 'rows'>): ChartChoice | null {
  const numbers = columnsOf(columns, 'number');
  if (numbers.length === 0 || rows.length === 0) return null;
  const [time] = columnsOf(columns, 'time');
  if (time !== undefined) return { kind: 'line', x: time, y: firstOf(numbers) };
  const [text] = columnsOf(columns, 'text');
  if (text !== undefined)
    return { kind: rows.length > BARS_MAX ? 'line' : 'bar', x: text, y: firstOf(numbers) };
  const [x = 0, ...others] = numbers;
  return others.length === 0 ? { kind: 'bar', x, y: [x] } : { kind: 'scatter', x, y: others.slice(0, 1) };
}

/** One series by default: of two series of different size on one axis, the smaller one is hidden. */
function firstOf(numbers: readonly number[]): readonly number[] {
  return numbers.slice(-1);
}

export function columnsOf(columns: readonly SqlColumn[], kind: ReturnType<typeof kindOf>): readonly number[] {
  return columns.flatMap(({ type }, index) => (kindOf(type) === kind ? [index] : []));
}

export interface ChartPoint {
  readonly label: string;
  readonly x: number | null;
  readonly y: readonly (number | null)[];
}

/** The points in drawing order: sorted by time where the axis is time, otherwise in the order of the answer. */
export function chartPoints(
  { columns, rows }: Pick<SqlResult, 'columns' | 'rows'>,
  choice: ChartChoice,
): readonly ChartPoint[] {
  const points = rows.slice(0, POINTS_MAX).map((row) => ({
    label: rawText(row[choice.x]),
    x: chartNumber(row[choice.x]),
    y: choice.y.map((column) => chartNumber(row[column])),
  }));
  const isTime = kindOf(columns[choice.x]?.type ?? '') === 'time';
  return isTime ? points.sort((a, b) => Number(a.label > b.label) - Number(a.label < b.label)) : points;
}

/** The chart in words. */
export function chartSummary(
  { columns }: Pick<SqlResult, 'columns'>,
  choice: ChartChoice,
  points: readonly ChartPoint[],
): string {
  const name = (index: number): string => columns[index]?.name ?? '';
  const series = choice.y.map((column, index) => `${name(column)} ${rangeText(points, index)}`);
  const along = `along ${name(choice.x)}, ${points.length} points`;
  return `${CHART_NAMES[choice.kind]} ${along}: ${series.join('; ')}.`;
}

const CHART_NAMES: Readonly<Record<ChartKind, string>> = {
  line: 'Line chart',
  bar: 'Bar chart',
  scatter: 'Scatter chart',
};

interface Extreme {
  readonly at: string;
  readonly value: number;
}

function rangeText(points: readonly ChartPoint[], index: number): string {
  let lowest: Extreme | undefined;
  let highest: Extreme | undefined;
  for (const { label: at, y } of points) {
    const value = y[index];
    if (value === null || value === undefined) continue;
    if (lowest === undefined || value < lowest.value) lowest = { at, value };
    if (highest === undefined || value > highest.value) highest = { at, value };
  }
  if (lowest === undefined || highest === undefined) return 'has no values';
  return `from ${lowest.value} (${lowest.at}) to ${highest.value} (${highest.at})`;
}
