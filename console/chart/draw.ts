import uPlot from 'uplot';
import { moneyLabel, numberLabel, shortLabel, timeLabel } from './labels.ts';
import { paint } from './paint.ts';
import type { Prepared, Series } from './series.ts';
import { type Scales, shapesOf, valueRange } from './shapes.ts';
import { type Picture, svgText, type Tick } from './svg.ts';

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

interface DrawOptions {
  readonly prepared: Prepared;
  readonly height: ChartHeight;
  onHover(hover: Hover | null): void;
}

export interface Drawing {
  /** The picture as a file. */
  svg(title: string): string;
  remove(): void;
}

const WIDTH_MIN_PX = 200;
const HEIGHT_MIN_PX = 220;
const FONT_PX = 12;
const FONT = `${FONT_PX}px system-ui, sans-serif`;
const CHAR_PX = 7;
const LABEL_GAP_PX = 14;
const ROW_LABEL_PX = 16;
const X_LABELS_PX = 30;

export function drawChart(element: HTMLElement, { prepared, height, onHover }: DrawOptions): Drawing {
  const colourOf = resolver(element);
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
        drag: { x: false, y: false, setScale: false },
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
        ],
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
    svg: (title) => svgText(pictureOf(plot, { prepared, ticks, colourOf, title })),
    remove: () => {
      observer.disconnect();
      plot.destroy();
    },
  };
}

/** A canvas cannot resolve custom properties, so they are read from the computed colour of an element. */
function resolver(element: HTMLElement): (css: string) => string {
  const known = new Map<string, string>();
  return (css) => {
    const before = known.get(css);
    if (before !== undefined) return before;
    const probe = document.createElement('span');
    probe.style.color = css;
    element.append(probe);
    const colour = getComputedStyle(probe).color;
    probe.remove();
    known.set(css, colour);
    return colour;
  };
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

interface AxisContext {
  readonly colourOf: (css: string) => string;
  /** The labels that were drawn last, by scale, for files. */
  readonly ticks: Record<string, readonly Tick[]>;
}

const EVERY = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000];

function axesOf(prepared: Prepared, context: AxisContext): uPlot.Axis[] {
  const { x, series, spec } = prepared;
  const isHeatmap = spec.kind === 'heatmap';
  const hasRight = series.some(({ isRight }) => isRight);
  const left = series.filter(({ isRight }) => !isRight);
  const rowNames = series.map(({ name }) => shortLabel(name)).reverse();
  return [
    axis(context, {
      scale: 'x',
      label: x.name,
      hasGrid: spec.kind === 'scatter',
      ...(x.kind === 'text'
        ? named(x.labels.map(shortLabel))
        : { textOf: x.kind === 'time' ? timeLabel : numberLabel }),
      space:
        x.kind === 'text'
          ? Math.max(...x.labels.map((label) => shortLabel(label).length)) * CHAR_PX + LABEL_GAP_PX
          : 64,
    }),
    axis(context, {
      scale: 'y',
      label: isHeatmap ? (spec.by ?? '') : labelOf(spec.by === null ? left.map(({ name }) => name) : spec.y),
      hasGrid: !isHeatmap,
      ...(isHeatmap ? named(rowNames) : { textOf: valueLabel(left) }),
      space: isHeatmap ? ROW_LABEL_PX : 34,
    }),
    ...(hasRight
      ? [
          axis(context, {
            scale: 'right',
            label: labelOf(series.filter(({ isRight }) => isRight).map(({ name }) => name)),
            hasGrid: false,
            textOf: valueLabel(series.filter(({ isRight }) => isRight)),
            space: 34,
          }),
        ]
      : []),
  ];
}

/** Dollars where everything on the axis is dollars. */
function valueLabel(series: readonly Pick<Series, 'isMoney'>[]): (value: number) => string {
  return series.length > 0 && series.every(({ isMoney }) => isMoney) ? moneyLabel : numberLabel;
}

const NAMES_MAX = 3;

function labelOf(names: readonly string[]): string {
  return names.length > NAMES_MAX ? '' : names.join(', ');
}

/** Positions of names; only whole ones have a label. */
function named(labels: readonly string[]): Pick<AxisProps, 'textOf' | 'incrs'> {
  return {
    incrs: EVERY,
    textOf: (position) => (Number.isInteger(position) ? (labels[position] ?? '') : ''),
  };
}

interface AxisProps {
  readonly scale: 'x' | 'y' | 'right';
  readonly label: string;
  readonly hasGrid: boolean;
  /** Pixels between two labels at least. */
  readonly space: number;
  readonly incrs?: number[];
  textOf(value: number, every: number): string;
}

function axis(
  { colourOf, ticks }: AxisContext,
  { scale, label, hasGrid, space, incrs, textOf }: AxisProps,
): uPlot.Axis {
  const [muted, line] = [colourOf('var(--muted)'), colourOf('var(--line)')];
  return {
    scale,
    ...(scale === 'right' ? { side: 1 } : {}),
    ...(label === '' ? {} : { label: shortLabel(label), labelFont: FONT, labelSize: FONT_PX + 8 }),
    stroke: muted,
    font: FONT,
    space,
    ...(incrs === undefined ? {} : { incrs }),
    grid: { show: hasGrid, stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 5 },
    values: (_plot, splits, _axis, _space, every) => {
      const texts = splits.map((value) => (value === null ? '' : textOf(value, every)));
      ticks[scale] = splits.map((value, at) => ({ value, text: texts[at] ?? '' }));
      return texts;
    },
    ...(scale === 'x'
      ? { size: X_LABELS_PX }
      : {
          size: (_plot: uPlot, values: string[] | null) =>
            Math.max(4, ...(values ?? []).map((text) => text.length)) * CHAR_PX + LABEL_GAP_PX,
        }),
  };
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
  readonly title: string;
}

function pictureOf(plot: uPlot, { prepared, ticks, colourOf, title }: PictureProps): Picture {
  const { ratio, ...frame } = frameOf(plot);
  const placed = (scale: string): Picture['ticks']['x'] =>
    (ticks[scale] ?? [])
      .filter(({ text }) => text !== '')
      .map(({ value, text }) => ({ at: plot.valToPos(value, scale, true) / ratio, text }));
  return {
    title,
    width: plot.width,
    height: plot.height,
    frame,
    ticks: { x: placed('x'), y: placed('y'), right: placed('right') },
    hasGrid: prepared.spec.kind !== 'heatmap',
    shapes: shapesOf(prepared, pixels(plot, prepared)),
    legend: prepared.series.length > 1 && prepared.spec.kind !== 'heatmap' ? prepared.series : [],
    colourOf,
  };
}
