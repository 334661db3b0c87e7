import type uPlot from 'uplot';
import { capitalized, columnWords } from './columns.ts';
import { clockText, timeLabel } from './dates.ts';
import { moneyLabel, numberLabel, shortLabel } from './labels.ts';
import { leastGap, type Prepared, type Series } from './series.ts';
import type { Tick } from './svg.ts';

/** The axes of a chart: their labels, and how much room these take. */

const FONT_PX = 12;
const FONT = `${FONT_PX}px system-ui, sans-serif`;
const CHAR_PX = 7;
const LABEL_GAP_PX = 14;
const ROW_LABEL_PX = 16;
const X_LABELS_PX = 30;
const DAY_SECONDS = 86_400;
/** Days between two labels; uPlot takes those from 30 on as months, and those from 365 on as years. */
const DAY_STEPS = [1, 2, 3, 4, 5, 7, 10, 15, 30, 60, 90, 180, 365, 730, 1_825];

export interface AxisContext {
  readonly colourOf: (css: string) => string;
  /** The labels that were drawn last, by scale, for files. */
  readonly ticks: Record<string, readonly Tick[]>;
}

const EVERY = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000];

export function axesOf(prepared: Prepared, context: AxisContext): uPlot.Axis[] {
  const { x, series, spec } = prepared;
  const isHeatmap = spec.kind === 'heatmap';
  const hasRight = series.some(({ isRight }) => isRight);
  const left = series.filter(({ isRight }) => !isRight);
  const rowNames = series.map(({ name }) => shortLabel(name)).reverse();
  return [
    axis(context, {
      scale: 'x',
      // Dates and hours say themselves that they are times.
      label: x.kind === 'time' || x.unit !== null ? '' : capitalized(columnWords(x.name)),
      hasGrid: spec.kind === 'scatter',
      ...(x.kind === 'text' ? named(x.labels.map(shortLabel)) : placeLabels(x)),
      space:
        x.kind === 'text'
          ? Math.max(...x.labels.map((label) => shortLabel(label).length)) * CHAR_PX + LABEL_GAP_PX
          : 64,
    }),
    axis(context, {
      scale: 'y',
      label: isHeatmap
        ? ''
        : labelOf(
            spec.by === null
              ? left.map(({ name }) => name)
              : spec.y.map((name) => capitalized(columnWords(name))),
          ),
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

function placeLabels({ kind, unit, places }: Prepared['x']): Pick<AxisProps, 'textOf' | 'incrs'> {
  if (unit !== null) return { incrs: EVERY, textOf: (value) => clockText(unit, value) };
  if (kind !== 'time') return { textOf: numberLabel };
  const gap = leastGap(places);
  // Between two days there is nothing to name.
  return gap < DAY_SECONDS
    ? { textOf: timeLabel }
    : { textOf: timeLabel, incrs: DAY_STEPS.map((days) => days * DAY_SECONDS) };
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
