import type { Prepared, Series } from './series.ts';
import { stacked } from './series.ts';

/** The shapes of a chart, in pixels: the page paints these shapes on its canvas, and files are written from the same ones. Pure. */

export interface LineShape {
  readonly kind: 'line';
  readonly colour: string;
  readonly dash: number;
  /** One list of x, y, x, y … for each run without a gap. */
  readonly runs: readonly (readonly number[])[];
}

export interface AreaShape {
  readonly kind: 'area';
  readonly colour: string;
  readonly opacity: number;
  readonly runs: readonly (readonly number[])[];
}

export interface BoxShape {
  readonly kind: 'box';
  readonly colour: string;
  readonly opacity: number;
  /** x, y, width, height; one box after the other. */
  readonly boxes: readonly number[];
}

export interface DotShape {
  readonly kind: 'dot';
  readonly colour: string;
  readonly radius: number;
  /** x, y of the centre; one dot after the other. */
  readonly dots: readonly number[];
}

export type Shape = LineShape | AreaShape | BoxShape | DotShape;

/** From values to pixels. */
export interface Scales {
  x(place: number): number;
  /** Null where the value cannot be drawn: 0 on a logarithmic axis. */
  y(value: number, isRight: boolean): number | null;
  /** The height of 0, or the lower edge where the axis does not reach 0. */
  base(isRight: boolean): number;
  /** Height of a row of a heatmap. */
  readonly rowHeight: number;
  readonly top: number;
}

/** Of a line to a value that is only so far (paint.ts). */
const SO_FAR_DASH = 2;
const SO_FAR_OPACITY = 0.45;
const AREA_OPACITY = 0.22;
const STACK_OPACITY = 0.78;
const BAR_SHARE = 0.8;
const SLOT_MAX_PX = 64;
const BAR_MIN_PX = 1;
const DOT_RADIUS_PX = 3;
/** With more places than these, lines have no marks. */
const MARKED_MAX = 60;
/** The faintest cell of a heatmap that is not empty. */
export const CELL_LEAST = 0.08;

export function shapesOf(prepared: Prepared, scales: Scales): Shape[] {
  switch (prepared.spec.kind) {
    case 'line':
      return prepared.series.flatMap((series) => linesOf(prepared, series, scales));
    case 'area':
      return prepared.series.flatMap((series) => [
        areaOf(prepared, series, scales),
        ...linesOf(prepared, series, scales),
      ]);
    case 'stacked':
      return stackOf(prepared, scales);
    case 'bar':
      return prepared.spec.by === null ? groupedBars(prepared, scales) : stackedBars(prepared, scales);
    case 'heatmap':
      return cellsOf(prepared, scales);
    case 'scatter':
      return prepared.series.map((series) => ({
        kind: 'dot',
        colour: series.colour,
        radius: DOT_RADIUS_PX,
        dots: runsOf(prepared, series, scales).flat(),
      }));
    // Figures are text (number-card.tsx).
    case 'number':
      return [];
  }
}

/** Pixels of a series between two places, a list for each run of places with values. Default: all. */
function runsOf(
  { x }: Prepared,
  { values, isRight }: Series,
  scales: Scales,
  [from, to]: readonly [number, number] = [0, values.length],
): number[][] {
  const runs: number[][] = [];
  let run: number[] = [];
  for (const [at, value] of values.entries()) {
    const height = value === null || at < from || at >= to ? null : scales.y(value, isRight);
    if (height === null) {
      if (run.length > 0) runs.push(run);
      run = [];
      continue;
    }
    run.push(scales.x(x.places[at] ?? 0), height);
  }
  if (run.length > 0) runs.push(run);
  return runs;
}

function linesOf(prepared: Prepared, series: Series, scales: Scales): Shape[] {
  const runs = runsOf(prepared, series, scales);
  const { colour, dash } = series;
  const { openFrom, places } = prepared.x;
  const isOver = openFrom >= places.length;
  const soFar = isOver ? [] : runsOf(prepared, series, scales, [openFrom - 1, places.length]);
  // A value between two gaps has no line.
  const marked = prepared.x.places.length <= MARKED_MAX ? runs : runs.filter((run) => run.length === 2);
  return [
    { kind: 'line', colour, dash, runs: isOver ? runs : runsOf(prepared, series, scales, [0, openFrom]) },
    ...(soFar.length === 0 ? [] : [{ kind: 'line' as const, colour, dash: SO_FAR_DASH, runs: soFar }]),
    ...(marked.length === 0 ? [] : [{ kind: 'dot' as const, colour, radius: 2, dots: marked.flat() }]),
  ];
}

function areaOf(prepared: Prepared, series: Series, scales: Scales): AreaShape {
  const base = scales.base(series.isRight);
  const runs = runsOf(prepared, series, scales).map((run) => [
    run[0] ?? 0,
    base,
    ...run,
    run.at(-2) ?? 0,
    base,
  ]);
  return { kind: 'area', colour: series.colour, opacity: AREA_OPACITY, runs };
}

function stackOf({ series, x }: Prepared, scales: Scales): Shape[] {
  const edge = (heights: readonly number[], from: number, to: number): (readonly [number, number])[] =>
    heights
      .slice(from, to)
      .map((height, at) => [
        scales.x(x.places[from + at] ?? 0),
        scales.y(height, false) ?? scales.base(false),
      ]);
  const parts = [
    { from: 0, to: x.openFrom, opacity: STACK_OPACITY },
    ...(x.openFrom < x.places.length
      ? [{ from: Math.max(0, x.openFrom - 1), to: x.places.length, opacity: SO_FAR_OPACITY }]
      : []),
  ];
  return stacked(series).flatMap(({ low, high }, at) =>
    parts.map(({ from, to, opacity }) => ({
      kind: 'area' as const,
      colour: series[at]?.colour ?? '',
      opacity,
      runs: [[...edge(high, from, to), ...edge(low, from, to).reverse()].flat()],
    })),
  );
}

/** The room of a place along x: the smallest distance of two places. */
export function slotPx({ x }: Prepared, scales: Pick<Scales, 'x'>): number {
  let least = SLOT_MAX_PX;
  for (let at = 1; at < x.places.length; at += 1)
    least = Math.min(least, scales.x(x.places[at] ?? 0) - scales.x(x.places[at - 1] ?? 0));
  return Math.max(BAR_MIN_PX, least);
}

function groupedBars(prepared: Prepared, scales: Scales): Shape[] {
  const slot = slotPx(prepared, scales) * BAR_SHARE;
  const width = Math.max(BAR_MIN_PX, slot / prepared.series.length);
  return prepared.series.flatMap(({ colour, values, isRight }, series) => {
    const base = scales.base(isRight);
    const bars = values.flatMap((value, at): Bar[] => {
      const top = value === null ? null : scales.y(value, isRight);
      if (top === null) return [];
      const left = scales.x(prepared.x.places[at] ?? 0) - slot / 2 + series * width;
      return [{ at, box: [left, Math.min(top, base), width, Math.abs(base - top)] }];
    });
    return boxesOf(bars, prepared, colour);
  });
}

function stackedBars(prepared: Prepared, scales: Scales): Shape[] {
  const width = slotPx(prepared, scales) * BAR_SHARE;
  return stacked(prepared.series).flatMap(({ low, high }, series) => {
    const bars = high.flatMap((height, at): Bar[] => {
      if (height === low[at]) return [];
      const top = scales.y(height, false);
      const bottom = scales.y(low[at] ?? 0, false) ?? scales.base(false);
      if (top === null) return [];
      const left = scales.x(prepared.x.places[at] ?? 0) - width / 2;
      return [{ at, box: [left, Math.min(top, bottom), width, Math.abs(bottom - top)] }];
    });
    return boxesOf(bars, prepared, prepared.series[series]?.colour ?? '');
  });
}

interface Bar {
  /** Its place along x. */
  readonly at: number;
  readonly box: readonly number[];
}

/** Bars of places that are not over are fainter. */
function boxesOf(bars: readonly Bar[], { x: { openFrom } }: Prepared, colour: string): BoxShape[] {
  const shape = (some: readonly Bar[], opacity: number): BoxShape[] =>
    some.length === 0 ? [] : [{ kind: 'box', colour, opacity, boxes: some.flatMap(({ box }) => box) }];
  return [
    ...shape(
      bars.filter(({ at }) => at < openFrom),
      1,
    ),
    ...shape(
      bars.filter(({ at }) => at >= openFrom),
      SO_FAR_OPACITY,
    ),
  ];
}

/** A cell for each value, the stronger the larger. */
function cellsOf(prepared: Prepared, scales: Scales): Shape[] {
  const width = slotPx(prepared, scales);
  const { least, most } = valueRange(prepared);
  const strength = strengthOf({ least, most, isLog: prepared.spec.isLog });
  return prepared.series.flatMap(({ values }, row) =>
    values.flatMap((value, at): Shape[] => {
      if (value === null) return [];
      const left = scales.x(prepared.x.places[at] ?? 0) - width / 2;
      const box = [left, scales.top + row * scales.rowHeight, width - 1, scales.rowHeight - 1];
      return [{ kind: 'box', colour: HEAT_COLOUR, opacity: strength(value), boxes: box }];
    }),
  );
}

export const HEAT_COLOUR = 'var(--series-2)';

interface StrengthProps {
  readonly least: number;
  readonly most: number;
  readonly isLog: boolean;
}

/** 0.08 to 1. */
function strengthOf({ least, most, isLog }: StrengthProps): (value: number) => number {
  const of = (value: number): number => (isLog ? Math.log10(Math.max(value, Number.MIN_VALUE)) : value);
  const low = isLog && least <= 0 ? of(most) - 6 : of(Math.min(least, isLog ? least : 0));
  const span = of(most) - low || 1;
  return (value) => CELL_LEAST + (1 - CELL_LEAST) * Math.min(1, Math.max(0, (of(value) - low) / span));
}

/** The smallest and the largest value that is drawn; of one side where axes differ. */
export function valueRange(
  { series, spec }: Pick<Prepared, 'series' | 'spec'>,
  isRight = false,
): { readonly least: number; readonly most: number; readonly leastPositive: number } {
  const isSum = spec.kind === 'stacked' || (spec.kind === 'bar' && spec.by !== null);
  const sides = series.filter((one) => one.isRight === isRight);
  const all = isSum ? stacked(sides).flatMap(({ high }) => high) : sides.flatMap(({ values }) => values);
  let [least, most, leastPositive] = [
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.POSITIVE_INFINITY,
  ];
  for (const value of all) {
    if (value === null) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
    if (value > 0) leastPositive = Math.min(leastPositive, value);
  }
  if (least > most) return { least: 0, most: 1, leastPositive: 1 };
  return { least, most, leastPositive: Number.isFinite(leastPositive) ? leastPositive : 1 };
}
