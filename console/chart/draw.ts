import uPlot from 'uplot';
import { type AxisContext, axesOf } from './axes.ts';
import { type End, endsOf, endsWidth } from './ends.ts';
import { colourResolver } from './files.ts';
import { paint } from './paint.ts';
import type { Prepared, Series } from './series.ts';
import { type Scales, shapesOf, valueRange } from './shapes.ts';
import { type FileWords, type Picture, svgText, type Tick } from './svg.ts';

/**
 * Draws charts. Only this chunk holds the chart library: uPlot has the scales, the axes and the pointer, and our shapes are painted on
 * its canvas.
 */

/** The mark under the pointer. */
export interface Hover {
  /** Position among the places along x. */
  readonly at: number;
  /** The series, where the pointer chooses one: in a heatmap and among points. */
  readonly series: number | null;
  /** Pixels from the left and from the top of the picture. */
  readonly left: number;
  readonly top: number;
  /** Whether that is in the right half. */
  readonly isRight: boolean;
}

/** Pixels, or as high as the element. */
export type ChartHeight = number | 'fill';

/** Labels at the ends of lines, and how far from the left of the picture they begin. */
export interface EndLabels {
  readonly left: number;
  readonly width: number;
  readonly ends: readonly End[];
}

interface DrawOptions {
  readonly prepared: Prepared;
  /** All series, hidden ones too: each has a label. */
  readonly labelled: readonly Series[];
  readonly height: ChartHeight;
  onHover(hover: Hover | null): void;
  /** After each drawing. Null where the labels do not fit, so that a legend is needed. */
  onEnds(labels: EndLabels | null): void;
  /** A range of values along x was chosen with the pointer. Absent: nothing can be chosen. */
  readonly onRange?: ((range: readonly [number, number]) => void) | undefined;
}

export interface Drawing {
  /** The picture as a file. */
  svg(words: FileWords): string;
  remove(): void;
}

const WIDTH_MIN_PX = 200;
const HEIGHT_MIN_PX = 220;

/** A shorter movement is a click. */
const RANGE_MIN_PX = 6;
const TOP_PX = 8;
/** Half of the last label of the axis. */
const RIGHT_PX = 24;

export function drawChart(element: HTMLElement, options: DrawOptions): Drawing {
  const { prepared, labelled, height, onHover, onRange } = options;
  const colourOf = colourResolver(element);
  const ticks: Record<string, readonly Tick[]> = {};
  const sizeNow = (): { readonly width: number; readonly height: number } => ({
    width: Math.max(WIDTH_MIN_PX, element.clientWidth),
    height: height === 'fill' ? Math.max(HEIGHT_MIN_PX, element.clientHeight) : height,
  });
  const plot = new uPlot(
    {
      ...sizeNow(),
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
      legend: { show: false },
      scales: scalesOf(prepared),
      padding: [TOP_PX, (drawn) => endsWidth(prepared, labelled, drawn) || RIGHT_PX, 0, 0],
      axes: axesOf(prepared, { colourOf, ticks }),
      series: [
        {},
        ...prepared.series.map(({ name, isRight }) => ({
          label: name,
          scale: isRight ? 'right' : 'y',
          paths: () => null,
          points: { show: false },
        })),
      ],
      cursor: {
        points: { show: false },
        drag: { x: onRange !== undefined, y: false, setScale: false, dist: RANGE_MIN_PX },
        x: prepared.spec.kind !== 'heatmap',
        y: prepared.spec.kind === 'scatter',
      },
      hooks: {
        draw: [
          (drawn) =>
            paint(drawn.ctx, {
              shapes: shapesOf(prepared, pixels(drawn, prepared)),
              frame: frameOf(drawn),
              colourOf,
            }),
          (drawn) => options.onEnds(labelsOf(drawn, options)),
        ],
        setSelect: [(drawn) => chooseRange(drawn, onRange)],
        setCursor: [(drawn) => onHover(hoverOf(drawn, prepared))],
      },
    },
    [[...prepared.x.places], ...prepared.series.map(({ values }) => [...values])],
    element,
  );
  const observer = new ResizeObserver(() => {
    const size = sizeNow();
    if (size.width !== plot.width || size.height !== plot.height) plot.setSize(size);
  });
  observer.observe(element);
  return {
    svg: (words) =>
      svgText(pictureOf(plot, { prepared, ticks, colourOf, words, labels: labelsOf(plot, options) })),
    remove: () => {
      observer.disconnect();
      plot.destroy();
    },
  };
}

/** Reports what was chosen, and takes the mark of it away: the chart is drawn anew. */
function chooseRange(plot: uPlot, onRange: DrawOptions['onRange']): void {
  const { left, width } = plot.select;
  if (width === 0) return;
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  if (width >= RANGE_MIN_PX) onRange?.([plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')]);
}

function labelsOf(plot: uPlot, { prepared, labelled }: DrawOptions): EndLabels | null {
  const width = endsWidth(prepared, labelled, plot);
  if (width === 0) return null;
  const frame = frameOf(plot);
  const [top, bottom] = [frame.top, frame.top + frame.height];
  const ends = endsOf(prepared, labelled, { scales: pixels(plot, prepared), top, bottom });
  return { left: frame.left + frame.width, width, ends };
}

function scalesOf(prepared: Prepared): uPlot.Scales {
  const x = rangeOfX(prepared);
  const isLog = prepared.spec.isLog && prepared.spec.kind !== 'heatmap';
  const y = (isRight: boolean): uPlot.Scale => {
    const range = rangeOfY(prepared, isRight);
    return { range: () => [...range], ...(isLog ? { distr: 3 as const, log: 10 as const } : {}) };
  };
  return {
    x: { time: prepared.x.kind === 'time', range: () => [...x] },
    y: y(false),
    ...(prepared.series.some(({ isRight }) => isRight) ? { right: y(true) } : {}),
  };
}

type Range = readonly [number, number];
const DAY_SECONDS = 86_400;

/** Bars and cells need half a place more at both ends. */
function rangeOfX({ x: { places, kind }, spec }: Prepared): Range {
  const [first = 0, last = 0] = [places[0], places.at(-1)];
  const isWide = spec.kind === 'bar' || spec.kind === 'heatmap' || kind === 'text';
  const gaps = places.slice(1).map((place, at) => place - (places[at] ?? 0));
  const least = gaps.reduce((a, b) => (b > 0 ? Math.min(a, b) : a), Number.POSITIVE_INFINITY);
  const lone = kind === 'time' ? DAY_SECONDS : 1;
  const gap = Number.isFinite(least) ? least : lone;
  if (isWide || first === last) return [first - gap / 2, last + gap / 2];
  const margin = spec.kind === 'scatter' ? (last - first) / 40 : 0;
  return [first - margin, last + margin];
}

const MARGIN = 0.05;

function rangeOfY(prepared: Prepared, isRight: boolean): Range {
  const { spec, series } = prepared;
  if (spec.kind === 'heatmap') return [-0.5, series.length - 0.5];
  const { least, most, leastPositive } = valueRange(prepared, isRight);
  if (spec.isLog) {
    const [low, high] = uPlot.rangeLog(leastPositive, Math.max(most, leastPositive), 10, true);
    return [low ?? leastPositive, high ?? most];
  }
  // Heights lie about their values where they do not begin at 0.
  const isFromZero = spec.isZeroBased || ['area', 'stacked', 'bar'].includes(spec.kind);
  const [low, high] = isFromZero ? [Math.min(0, least), Math.max(0, most)] : [least, most];
  const margin = (high - low || Math.abs(high) || 1) * MARGIN;
  return [isFromZero && low === 0 ? 0 : low - margin, high + margin];
}

/** The plot without its axes, in pixels of the page. */
function frameOf({ bbox }: uPlot): {
  left: number;
  top: number;
  width: number;
  height: number;
  ratio: number;
} {
  const ratio = uPlot.pxRatio;
  return {
    left: bbox.left / ratio,
    top: bbox.top / ratio,
    width: bbox.width / ratio,
    height: bbox.height / ratio,
    ratio,
  };
}

/** By arithmetic and not by `valToPos`, which looks its scale up again for each of 50,000 points. */
function pixels(plot: uPlot, { spec, series }: Prepared): Scales {
  const { left, top, width, height } = frameOf(plot);
  const along = (key: string): Range => {
    const { min = 0, max = 1 } = plot.scales[key] ?? {};
    return [min ?? 0, max ?? 1];
  };
  const [first, last] = along('x');
  const isLog = spec.isLog && spec.kind !== 'heatmap';
  const of = (value: number): number => (isLog ? Math.log10(value) : value);
  const heights = ['y', 'right'].map((key) => {
    const [low, high] = along(key).map(of);
    return { low: low ?? 0, perUnit: height / ((high ?? 1) - (low ?? 0) || 1) };
  });
  const bottom = top + height;
  const y = (value: number, isRight: boolean): number => {
    const { low, perUnit } = heights[isRight ? 1 : 0] ?? { low: 0, perUnit: 1 };
    return bottom - (of(value) - low) * perUnit;
  };
  return {
    x: (place) => left + ((place - first) / (last - first || 1)) * width,
    y: (value, isRight) => (isLog && value <= 0 ? null : y(value, isRight)),
    base: (isRight) => (isLog ? bottom : Math.min(bottom, y(0, isRight))),
    rowHeight: height / Math.max(1, series.length),
    top,
  };
}

/** The target of the pointer: a place, a cell, or the nearest point. Null outside the plot. */
function hoverOf(plot: uPlot, prepared: Prepared): Hover | null {
  const { idx, left = -1, top = -1 } = plot.cursor;
  if (left < 0 || idx === null || idx === undefined) return null;
  const frame = frameOf(plot);
  const scales = pixels(plot, prepared);
  const place = { left: frame.left + left, top: frame.top + top, isRight: left > frame.width / 2 };
  switch (prepared.spec.kind) {
    case 'heatmap':
      return {
        at: idx,
        series: Math.min(prepared.series.length - 1, Math.floor(top / scales.rowHeight)),
        ...place,
      };
    case 'scatter':
      return nearestPoint(prepared, scales, place);
    default:
      return { at: idx, series: null, ...place };
  }
}

function nearestPoint(
  prepared: Prepared,
  scales: Scales,
  place: Pick<Hover, 'left' | 'top' | 'isRight'>,
): Hover | null {
  let nearest: Hover | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const [series, { values, isRight }] of prepared.series.entries())
    for (const [at, value] of values.entries()) {
      const y = value === null ? null : scales.y(value, isRight);
      if (y === null) continue;
      const distance = Math.hypot(scales.x(prepared.x.places[at] ?? 0) - place.left, y - place.top);
      if (distance >= least) continue;
      least = distance;
      nearest = { at, series, ...place };
    }
  return nearest;
}

interface PictureProps extends AxisContext {
  readonly prepared: Prepared;
  readonly words: FileWords;
  readonly labels: EndLabels | null;
}

function pictureOf(plot: uPlot, { prepared, ticks, colourOf, words, labels }: PictureProps): Picture {
  const { ratio, ...frame } = frameOf(plot);
  const placed = (scale: string): Picture['ticks']['x'] =>
    (ticks[scale] ?? [])
      .filter(({ text }) => text !== '')
      .map(({ value, text }) => ({ at: plot.valToPos(value, scale, true) / ratio, text }));
  const hasLegend = labels === null && prepared.series.length > 1 && prepared.spec.kind !== 'heatmap';
  return {
    words,
    width: plot.width,
    height: plot.height,
    frame,
    ticks: { x: placed('x'), y: placed('y'), right: placed('right') },
    hasGrid: prepared.spec.kind !== 'heatmap',
    shapes: shapesOf(prepared, pixels(plot, prepared)),
    legend: hasLegend ? prepared.series : [],
    ends: (labels?.ends ?? []).filter(({ name }) => prepared.series.some((one) => one.name === name)),
    colourOf,
  };
}
