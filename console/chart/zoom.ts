import type { Prepared } from './series.ts';

/** A part of a chart along x. Pure. */

/** The first and the last place that is shown, both included, among all places of the chart. */
export interface Zoom {
  readonly from: number;
  readonly to: number;
}

/** One place is no range. */
const PLACES_MIN = 2;

/** Whether a range of the chart can be shown alone: along names and among points there is no order to zoom into. */
export function canZoom({ spec, x }: Pick<Prepared, 'spec' | 'x'>): boolean {
  return (
    x.kind !== 'text' &&
    ['line', 'area', 'stacked', 'bar'].includes(spec.kind) &&
    x.places.length > PLACES_MIN
  );
}

/** The chart of these places alone; its axes follow. */
export function zoomed(prepared: Prepared, zoom: Zoom | null): Prepared {
  if (zoom === null) return prepared;
  const part = <Value>(values: readonly Value[]): readonly Value[] => values.slice(zoom.from, zoom.to + 1);
  const { x, series } = prepared;
  const places = part(x.places);
  return {
    ...prepared,
    x: {
      ...x,
      places,
      labels: part(x.labels),
      openFrom: Math.min(places.length, Math.max(0, x.openFrom - zoom.from)),
    },
    series: series.map((one) => ({ ...one, values: part(one.values), texts: part(one.texts) })),
  };
}

/** The places between two values of the axis; null where these are fewer than two, or all. */
export function zoomBetween(places: readonly number[], [low, high]: readonly [number, number]): Zoom | null {
  const from = places.findIndex((place) => place >= low);
  const to = places.findLastIndex((place) => place <= high);
  return from === -1 || to - from < PLACES_MIN - 1 ? null : wholeAsNull({ from, to }, places.length);
}

/** The range that a key leads to: + and - around the middle, the arrows along the axis, Escape back to all. Undefined for other keys. */
export function zoomAfter(key: string, zoom: Zoom | null, count: number): Zoom | null | undefined {
  const { from, to } = zoom ?? { from: 0, to: count - 1 };
  const length = to - from + 1;
  switch (key) {
    case '+':
    case '=':
      return bounded(from + Math.floor(length / 4), Math.ceil(length / 2), count);
    case '-':
      return bounded(from - Math.floor(length / 2), length * 2, count);
    case 'ArrowLeft':
      return bounded(from - Math.ceil(length / 4), length, count);
    case 'ArrowRight':
      return bounded(from + Math.ceil(length / 4), length, count);
    case 'Escape':
      return null;
    default:
      return undefined;
  }
}

function bounded(from: number, length: number, count: number): Zoom | null {
  const size = Math.min(count, Math.max(PLACES_MIN, length));
  const first = Math.min(Math.max(0, from), count - size);
  return wholeAsNull({ from: first, to: first + size - 1 }, count);
}

function wholeAsNull(zoom: Zoom, count: number): Zoom | null {
  return zoom.from === 0 && zoom.to === count - 1 ? null : zoom;
}
