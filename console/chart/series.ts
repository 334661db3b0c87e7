import { cellText, chartNumber, rawText } from '../cells.ts';
import { isMoney } from './columns.ts';
import { type AxisKind, axisKindOf } from './guess.ts';
import { COLOURS, facilitatorColour, seriesColour, UNNAMED_COLOUR } from './palette.ts';
import type { ChartData, ChartSpec } from './spec.ts';

/** From rows to series: one column of values for each line, bar or row of a heatmap. Pure, so that tests can run it outside a browser. */

/** A reader cannot distinguish more lines than these; the largest are drawn. */
export const SERIES_MAX = 50;
/** More points than these add nothing to a picture, and drawing them takes seconds. */
export const ROWS_MAX = 100_000;

export interface Series {
  readonly name: string;
  /** A CSS colour. */
  readonly colour: string;
  /** 0 is a whole line; series of the same colour have different dashes. */
  readonly dash: number;
  readonly isRight: boolean;
  /** Whether its values are dollars. */
  readonly isMoney: boolean;
  /** At each place along x; null where there is none. */
  readonly values: readonly (number | null)[];
  /** The same with every digit, as a cell of the table has it. */
  readonly texts: readonly (string | null)[];
}

export interface Axis {
  readonly kind: AxisKind;
  readonly name: string;
  /** Ascending. Seconds since 1970, numbers, or positions of names. */
  readonly places: readonly number[];
  readonly labels: readonly string[];
  /** The first place whose hour, day or week is not over: its values are only so far. The number of places where all are over. */
  readonly openFrom: number;
}

export interface Prepared {
  readonly spec: ChartSpec;
  readonly x: Axis;
  readonly series: readonly Series[];
  /** The parts that are too many for the picture. */
  readonly left: { readonly rows: number; readonly series: number };
}

/** The drawing of a choice. `nowSeconds`: Unix time. */
export function prepare(data: ChartData, spec: ChartSpec, nowSeconds = Date.now() / SECOND_MS): Prepared {
  const at = (name: string): number => data.columns.findIndex((column) => column.name === name);
  const rows = data.rows.slice(0, ROWS_MAX);
  const columns = { x: at(spec.x), y: spec.y.map(at), by: spec.by === null ? null : at(spec.by) };
  const x = axisOf(data, { rows, column: columns.x, isEach: spec.kind === 'scatter', nowSeconds });
  const tables =
    columns.by === null
      ? byColumn(spec, x, rows, { at: columns.y, data })
      : byValue(x, rows, columns.y[0] ?? 0, columns.by).map((table) => ({
          ...table,
          isMoney: isMoneyAt(data, columns.y[0] ?? 0),
        }));
  const shown = tables.slice(0, SERIES_MAX);
  return {
    spec,
    x: x.axis,
    series: coloured(shown, spec),
    left: { rows: data.rows.length - rows.length, series: tables.length - shown.length },
  };
}

interface Placed {
  readonly axis: Axis;
  /** The place of each row. */
  readonly placeOf: readonly number[];
}

type Row = readonly unknown[];

interface AxisProps {
  readonly rows: readonly Row[];
  readonly column: number;
  /** Each row has a place of its own: points. */
  readonly isEach: boolean;
  readonly nowSeconds: number;
}

function axisOf(data: ChartData, { rows, column, isEach, nowSeconds }: AxisProps): Placed {
  const kind = axisKindOf(data, column);
  const keys = rows.map((row, at) => (isEach ? `${at}` : rawText(row[column])));
  const first = new Map<string, number>();
  for (const [at, key] of keys.entries()) if (!first.has(key)) first.set(key, at);
  const points = [...first].map(([key, at], order) => {
    const label = rawText(rows[at]?.[column]);
    return { key, label, place: kind === 'text' ? order : placeOf(kind, rows[at]?.[column], label) };
  });
  const known = points.filter((point): point is typeof point & { place: number } => point.place !== null);
  if (kind !== 'text') known.sort((a, b) => a.place - b.place);
  const positions = new Map(known.map(({ key }, position) => [key, position]));
  const places = known.map(({ place }) => place);
  return {
    axis: {
      kind,
      name: data.columns[column]?.name ?? '',
      places,
      openFrom: kind === 'time' && !isEach ? openFrom(places, nowSeconds) : places.length,
      labels: known.map(({ label }) => (label === '' ? 'NULL' : label)),
    },
    placeOf: keys.map((key) => positions.get(key) ?? -1),
  };
}

const SECOND_MS = 1_000;
/** With fewer places their distance says nothing. */
const PLACES_MIN = 3;

/** A place stands for the time up to the next one: as long as the shortest distance of two. */
function openFrom(places: readonly number[], nowSeconds: number): number {
  if (places.length < PLACES_MIN) return places.length;
  const gaps = places.slice(1).map((place, at) => place - (places[at] ?? 0));
  const step = gaps.reduce((least, gap) => Math.min(least, gap));
  const at = places.findIndex((place) => place <= nowSeconds && place + step > nowSeconds);
  return at === -1 ? places.length : at;
}

function placeOf(kind: AxisKind, value: unknown, label: string): number | null {
  if (kind === 'number') return chartNumber(value);
  // The engine writes `2026-11-20 09:15:04` for UTC.
  const ms = Date.parse(/[ T]\d/.test(label) ? `${label.replace(' ', 'T').replace(/Z$/, '')}Z` : label);
  return Number.isNaN(ms) ? null : ms / SECOND_MS;
}

type Table = Pick<Series, 'name' | 'isRight' | 'isMoney' | 'values' | 'texts'> & {
  readonly id: string | null;
};

function isMoneyAt({ columns }: ChartData, at: number): boolean {
  const column = columns[at];
  return column !== undefined && isMoney(column);
}

/** One series for each column of numbers. */
function byColumn(
  spec: ChartSpec,
  x: Placed,
  rows: readonly Row[],
  columns: { readonly at: readonly number[]; readonly data: ChartData },
): Table[] {
  return columns.at.map((column, at) => {
    const name = spec.y[at] ?? '';
    const about = { isRight: spec.right.includes(name), isMoney: isMoneyAt(columns.data, column) };
    return { id: name, name, ...about, ...filled(x, rows, column) };
  });
}

/** One series for each value of a column, largest first. */
function byValue(x: Placed, rows: readonly Row[], column: number, by: number): Omit<Table, 'isMoney'>[] {
  const groups = new Map<string | null, number[]>();
  for (const [at, row] of rows.entries()) {
    const value = row[by];
    const id = value === null || value === undefined || value === '' ? null : rawText(value);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [at]);
    else group.push(at);
  }
  const tables = [...groups].map(([id, members]) => ({
    id,
    name: id ?? 'no name',
    isRight: false,
    ...filled(
      { ...x, placeOf: members.map((at) => x.placeOf[at] ?? -1) },
      members.map((at) => rows[at] ?? []),
      column,
    ),
  }));
  const sizes = new Map(
    tables.map((table) => [
      table,
      table.values.reduce<number>((sum, value) => sum + Math.abs(value ?? 0), 0),
    ]),
  );
  return tables.sort((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0));
}

/** The values at their places. Rows at the same place are added up: the query has a further column that the chart does not show. */
function filled(
  { axis, placeOf }: Placed,
  rows: readonly Row[],
  column: number,
): Pick<Series, 'values' | 'texts'> {
  const values: (number | null)[] = axis.places.map(() => null);
  const texts: (string | null)[] = axis.places.map(() => null);
  for (const [at, row] of rows.entries()) {
    const place = placeOf[at] ?? -1;
    const value = chartNumber(row[column]);
    if (place < 0 || value === null) continue;
    const before = values[place];
    values[place] = (before ?? 0) + value;
    texts[place] = cellText(before === null || before === undefined ? row[column] : values[place], 'number');
  }
  return { values, texts };
}

/** Facilitators have their own colours, a series without a name is grey, and everything else takes the colours in turn. */
function coloured(tables: readonly Table[], { by }: ChartSpec): Series[] {
  const isFacilitator = by !== null && /facilitator/i.test(by);
  const used = new Map<string, number>();
  return tables.map(({ id, ...table }, at) => {
    const colour = colourOf(id, at, isFacilitator);
    const dash = used.get(colour) ?? 0;
    used.set(colour, dash + 1);
    return { ...table, colour, dash };
  });
}

function colourOf(id: string | null, at: number, isFacilitator: boolean): string {
  if (id === null) return UNNAMED_COLOUR;
  return isFacilitator ? facilitatorColour(id) : seriesColour(at % COLOURS);
}

/** Each series on top of those before it: the heights of its lower and its upper edge. Nothing counts as 0. */
export function stacked(
  series: readonly Pick<Series, 'values'>[],
): { readonly low: number[]; readonly high: number[] }[] {
  let below: number[] = (series[0]?.values ?? []).map(() => 0);
  return series.map(({ values }) => {
    const low = below;
    const high = low.map((height, at) => height + (values[at] ?? 0));
    below = high;
    return { low, high };
  });
}
