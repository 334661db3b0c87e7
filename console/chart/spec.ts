import type { SqlColumn } from '../wire.ts';

/** What a chart shows, in terms of the columns of its data. Pure, so that tests can run it outside a browser. */

export const CHART_KINDS = ['line', 'area', 'stacked', 'bar', 'heatmap', 'scatter', 'number'] as const;
export type ChartKind = (typeof CHART_KINDS)[number];

export type AxisKind = 'time' | 'number' | 'text';

/** The engine’s types of dollars and of counts, for lists of the API that are brought into the shape of rows. */
export const USD_TYPE = 'Decimal(38, 6)';
export const COUNT_TYPE = 'UInt64';

/** Rows and columns as SQL answers them; lists of the API are brought into the same shape. */
export interface ChartData {
  readonly columns: readonly Pick<SqlColumn, 'name' | 'type'>[];
  readonly rows: readonly (readonly unknown[])[];
}

/** A choice of chart. Columns are named, so that a choice holds for the next result of the same query. */
export interface ChartSpec {
  readonly kind: ChartKind;
  /** The column along the horizontal axis. */
  readonly x: string;
  /** The columns of numbers that are drawn; with `by`, only the first one. */
  readonly y: readonly string[];
  /** The column whose values are the series: one line for each facilitator. Null: one series for each column of `y`. */
  readonly by: string | null;
  /** The columns of `y` on an axis of their own at the right. */
  readonly right: readonly string[];
  readonly isLog: boolean;
  /** Whether the vertical axis begins at 0. */
  readonly isZeroBased: boolean;
  /** Whether the seven largest of many series are drawn, and the others as one. */
  readonly isGrouped: boolean;
}

export function writeSpec(spec: ChartSpec): string {
  return JSON.stringify(spec);
}

/** The fields of the text that a choice can have, of any version of it: anybody can write a link. The others are guessed. */
export function readSpec(text: string): Partial<ChartSpec> {
  const fields = parsed(text);
  const kind = CHART_KINDS.find((known) => known === fields['kind']);
  const { x, y, by, right, isLog, isZeroBased, isGrouped } = fields;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(typeof x === 'string' ? { x } : {}),
    ...(isNames(y) ? { y } : {}),
    ...(typeof by === 'string' || by === null ? { by } : {}),
    ...(isNames(right) ? { right } : {}),
    ...(typeof isLog === 'boolean' ? { isLog } : {}),
    ...(typeof isZeroBased === 'boolean' ? { isZeroBased } : {}),
    ...(typeof isGrouped === 'boolean' ? { isGrouped } : {}),
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
