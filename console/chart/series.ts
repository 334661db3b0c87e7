import { cellText, chartNumber, rawText } from '../cells.ts';
import { usdText } from '../format.ts';
import { capitalized, columnWords, isMoney, isSummable } from './columns.ts';
import { type ClockUnit, clockUnitOf, weekdayPlace } from './dates.ts';
import { axisKindOf, LARGEST } from './guess.ts';
import { namerOf } from './names.ts';
import { COLOURS, facilitatorColour, OTHER_COLOUR, seriesColour, UNNAMED_COLOUR } from './palette.ts';
import type { AxisKind, ChartData, ChartSpec } from './spec.ts';

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
  /** Of hours of a day and days of the week, which are numbers. */
  readonly unit: ClockUnit | null;
  /** The first place whose hour, day or week is not over: its values are only so far. The number of places where all are over. */
  readonly openFrom: number;
}

export interface Prepared {
  readonly spec: ChartSpec;
  readonly x: Axis;
  readonly series: readonly Series[];
  /** The parts that are too many for the picture. */
  readonly left: {
    readonly rows: number;
    readonly series: number;
    /** Series that are drawn as one. */
    readonly grouped: number;
  };
}

/** The drawing of a choice. `nowSeconds`: Unix time. */
export function prepare(whole: ChartData, asked: ChartSpec, nowSeconds = Date.now() / SECOND_MS): Prepared {
  const { data, spec } = byHour(whole, asked);
  const at = (name: string): number => data.columns.findIndex((column) => column.name === name);
  const rows = data.rows.slice(0, ROWS_MAX);
  const columns = { x: at(spec.x), y: spec.y.map(at), by: spec.by === null ? null : at(spec.by) };
  const x = axisOf(data, { rows, column: columns.x, isEach: spec.kind === 'scatter', nowSeconds });
  const tables =
    columns.by === null
      ? byColumn(spec, x, rows, { at: columns.y, data })
      : byValue(data, {
          x,
          rows,
          column: columns.y[0] ?? 0,
          by: columns.by,
          isHeat: spec.kind === 'heatmap',
        });
  const shown = fewer(tables, spec);
  return {
    spec,
    x: x.axis,
    series: coloured(shown, spec),
    left: {
      rows: data.rows.length - rows.length,
      series: tables.length - shown.reduce((sum, { holds }) => sum + holds, 0),
      grouped: shown.find(({ id }) => id === OTHER)?.holds ?? 0,
    },
  };
}

const [DAY_COLUMN, HOUR_COLUMN] = ['day', 'hour'];

/** A heatmap of hours has the days along x and the hours of the day as its rows. */
function byHour(data: ChartData, spec: ChartSpec): { readonly data: ChartData; readonly spec: ChartSpec } {
  const at = data.columns.findIndex(({ name }) => name === spec.x);
  const [measure = ''] = spec.y;
  const value = data.columns.findIndex(({ name }) => name === measure);
  const isHourly =
    spec.kind === 'heatmap' &&
    spec.by === null &&
    axisKindOf(data, at) === 'time' &&
    data.rows.some((row) => /[ T]\d/.test(rawText(row[at])));
  if (!isHourly) return { data, spec };
  const rows = data.rows.map((row) => {
    const time = rawText(row[at]);
    return [time.slice(0, 10), Number(time.slice(11, 13)), row[value]];
  });
  const columns = [
    { name: DAY_COLUMN, type: 'Date' },
    { name: HOUR_COLUMN, type: 'UInt8' },
    { name: measure, type: data.columns[value]?.type ?? '' },
  ];
  return { data: { columns, rows }, spec: { ...spec, x: DAY_COLUMN, by: HOUR_COLUMN } };
}

const OTHER = '\u0000other';

/** The largest ones, and the sum of the others where one is wanted and means something. */
function fewer(tables: readonly Table[], { kind, by, y, isGrouped }: ChartSpec): readonly Table[] {
  const isSplit = by !== null && kind !== 'heatmap' && kind !== 'scatter';
  if (!isSplit || !isGrouped || tables.length <= LARGEST + 1) return tables.slice(0, SERIES_MAX);
  const [largest, others] = [tables.slice(0, LARGEST), tables.slice(LARGEST)];
  return isSummable({ name: y[0] ?? '' }) ? [...largest, otherOf(others)] : largest;
}

function otherOf(others: readonly Table[]): Table {
  const isMoneySum = others.every((one) => one.isMoney);
  const values = (others[0]?.values ?? []).map((_value, at) => {
    const known = others.flatMap((one) => one.values[at] ?? []);
    return known.length === 0 ? null : roundSum(known.reduce((sum, value) => sum + value, 0));
  });
  return {
    id: OTHER,
    name: `Other (${others.length})`,
    isRight: false,
    isMoney: isMoneySum,
    values,
    texts: values.map((value) => (value === null ? null : valueText(value, isMoneySum))),
    holds: others.length,
  };
}

/** Without the last digits of a float, which are not those of the decimals that it is the sum of. */
function roundSum(value: number): number {
  return Number(value.toPrecision(15));
}

/** With every digit, and in dollars where it is money. */
export function valueText(value: unknown, money: boolean): string {
  const text = money ? usdText(rawText(value)) : '';
  return text.includes('$') ? text : cellText(value, 'number');
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
  const nameOf = namerOf(data, column, kind);
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
      unit: kind === 'number' ? clockUnitOf(data.columns[column]?.name ?? '') : null,
      openFrom: kind === 'time' && !isEach ? openFrom(places, nowSeconds) : places.length,
      labels: known.map(({ label }) => (label === '' ? 'NULL' : nameOf(label))),
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
  const step = leastGap(places);
  const at = places.findIndex((place) => place <= nowSeconds && place + step > nowSeconds);
  return at === -1 ? places.length : at;
}

/** The shortest distance of two places; infinite where there are not two. */
export function leastGap(places: readonly number[]): number {
  return places
    .slice(1)
    .reduce((least, place, at) => Math.min(least, place - (places[at] ?? 0)), Number.POSITIVE_INFINITY);
}

function placeOf(kind: AxisKind, value: unknown, label: string): number | null {
  if (kind === 'number') return chartNumber(value);
  // The engine writes `2026-11-20 09:15:04` for UTC.
  const ms = Date.parse(/[ T]\d/.test(label) ? `${label.replace(' ', 'T').replace(/Z$/, '')}Z` : label);
  return Number.isNaN(ms) ? null : ms / SECOND_MS;
}

type Table = Pick<Series, 'name' | 'isRight' | 'isMoney' | 'values' | 'texts'> & {
  readonly id: string | null;
  /** How many series it is. */
  readonly holds: number;
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
  const words = spec.y.map((id) => capitalized(columnWords(id)));
  return columns.at.map((column, at) => {
    const id = spec.y[at] ?? '';
    const money = isMoneyAt(columns.data, column);
    const wanted = words[at] ?? id;
    const name = words.filter((other) => other === wanted).length > 1 ? id : wanted;
    const about = { id, name, isRight: spec.right.includes(id), isMoney: money, holds: 1 };
    return { ...about, ...filled(x, rows, column, money) };
  });
}

interface SplitProps {
  readonly x: Placed;
  readonly rows: readonly Row[];
  readonly column: number;
  readonly by: number;
  readonly isHeat: boolean;
}

/** One series for each value of a column, largest first; the rows of a heatmap in their own order where they have one. */
function byValue(data: ChartData, { x, rows, column, by, isHeat }: SplitProps): Table[] {
  const groups = new Map<string | null, number[]>();
  for (const [at, row] of rows.entries()) {
    const value = row[by];
    const id = value === null || value === undefined || value === '' ? null : rawText(value);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [at]);
    else group.push(at);
  }
  const nameOf = namerOf(data, by, axisKindOf(data, by));
  const money = isMoneyAt(data, column);
  const tables = [...groups].map(
    ([id, members]): Table => ({
      id,
      name: id === null ? 'no name' : nameOf(id),
      isRight: false,
      isMoney: money,
      holds: 1,
      ...filled(
        { ...x, placeOf: members.map((at) => x.placeOf[at] ?? -1) },
        members.map((at) => rows[at] ?? []),
        column,
        money,
      ),
    }),
  );
  const order = isHeat ? rowOrder(tables) : null;
  if (order !== null) return tables.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  const sizes = new Map(
    tables.map((table) => [
      table,
      table.values.reduce<number>((sum, value) => sum + Math.abs(value ?? 0), 0),
    ]),
  );
  return tables.sort((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0));
}

/** Numbers, dates and days of the week have an order of their own. Null for other rows. */
function rowOrder(tables: readonly Table[]): ReadonlyMap<Table, number> | null {
  const places = tables.map((table) => {
    const id = table.id ?? '';
    const place = /^\d{4}-\d{2}/.test(id) ? placeOf('time', id, id) : (weekdayPlace(id) ?? chartNumber(id));
    return [table, place] as const;
  });
  const known = places.flatMap(([table, place]) => (place === null ? [] : [[table, place] as const]));
  return known.length === places.length ? new Map(known) : null;
}

/** The values at their places. Rows at the same place are added up: the query has a further column that the chart does not show. */
function filled(
  { axis, placeOf }: Placed,
  rows: readonly Row[],
  column: number,
  money: boolean,
): Pick<Series, 'values' | 'texts'> {
  const values: (number | null)[] = axis.places.map(() => null);
  const texts: (string | null)[] = axis.places.map(() => null);
  for (const [at, row] of rows.entries()) {
    const place = placeOf[at] ?? -1;
    const value = chartNumber(row[column]);
    if (place < 0 || value === null) continue;
    const before = values[place];
    const isFirst = before === null || before === undefined;
    values[place] = isFirst ? value : roundSum(before + value);
    texts[place] = valueText(isFirst ? row[column] : values[place], money);
  }
  return { values, texts };
}

/** Facilitators have their own colours, a series without a name is grey, and everything else takes the colours in turn. */
function coloured(tables: readonly Table[], { by }: ChartSpec): Series[] {
  const isFacilitator = by !== null && /facilitator/i.test(by);
  const used = new Map<string, number>();
  return tables.map(({ id, holds: _holds, ...table }, at) => {
    const colour = colourOf(id, at, isFacilitator);
    const dash = used.get(colour) ?? 0;
    used.set(colour, dash + 1);
    return { ...table, colour, dash };
  });
}

function colourOf(id: string | null, at: number, isFacilitator: boolean): string {
  if (id === OTHER) return OTHER_COLOUR;
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
