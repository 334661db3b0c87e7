/** A line as high as a line of text: how a figure moved. */

export interface SparkPoint {
  /** The name of the point: its day. */
  readonly label: string;
  /** Null where there is no value: the line has a gap. */
  readonly value: number | null;
  /** Whether its hour or day is not over: the value is only so far. */
  readonly isOpen?: boolean;
}

interface SparklineProps {
  /** The drawn figure, for screen readers: `Settled per day`. */
  readonly name: string;
  /** In the order of time. */
  readonly points: readonly SparkPoint[];
  /** How a value is written. */
  format(value: number): string;
  /** A CSS colour. Default: that of links. */
  readonly colour?: string;
  /** Pixels. Default 96 × 24. */
  readonly width?: number;
  readonly height?: number;
}

const WIDTH = 96;
const HEIGHT = 24;
/** Room for the thickness of the line and the mark of the newest point. */
const MARGIN = 3;

/**
 * A line over time, from zero. The accessible name has the first, the newest, the lowest and the highest figure; each point tells its own
 * under the pointer. Fewer than two values draw nothing.
 */
export function Sparkline({
  name,
  points,
  format,
  colour = 'var(--accent)',
  width = WIDTH,
  height = HEIGHT,
}: SparklineProps) {
  const values = points.flatMap(({ value }) => (value === null ? [] : [value]));
  if (values.length < 2) return <span class="muted">–</span>;
  const scale = scaleOf(values, { width, height, count: points.length });
  const step = width / points.length;
  const newest = points.findLastIndex(({ value }) => value !== null);
  const firstOpen = points.findIndex(({ isOpen }) => isOpen === true);
  const over = firstOpen === -1 ? points : points.slice(0, firstOpen);
  // With the point before, where the line that is over ends.
  const openOnly = (point: SparkPoint, at: number): SparkPoint =>
    at >= firstOpen - 1 ? point : { ...point, value: null };
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={sparklineText({ name, points, format })}
      style={{ color: colour }}
    >
      <path class="sparkline-area" d={areaPath(points, scale)} />
      <path class="sparkline-line" d={linePath(over, scale)} />
      {over.length === points.length ? null : (
        <path class="sparkline-line is-open" d={linePath(points.map(openOnly), scale)} />
      )}
      <circle class="sparkline-mark" cx={scale.x(newest)} cy={scale.y(points[newest]?.value ?? 0)} r="2" />
      {points.map(({ label, value, isOpen }, at) => (
        <rect key={label} class="sparkline-hit" x={at * step} y="0" width={step} height={height}>
          <title>{`${label}: ${value === null ? 'no value' : format(value)}${isOpen === true ? ' so far' : ''}`}</title>
        </rect>
      ))}
    </svg>
  );
}

interface Scale {
  x(at: number): number;
  y(value: number): number;
}

function scaleOf(
  values: readonly number[],
  { width, height, count }: { readonly width: number; readonly height: number; readonly count: number },
): Scale {
  const least = Math.min(0, ...values);
  const span = Math.max(0, ...values) - least || 1;
  return {
    x: (at) => round(((at + 0.5) / count) * width),
    y: (value) => round(height - MARGIN - ((value - least) / span) * (height - 2 * MARGIN)),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** One line for each run of points with values. */
function linePath(points: readonly SparkPoint[], { x, y }: Scale): string {
  return runsOf(points)
    .map((run) => run.map(({ at, value }, n) => `${n === 0 ? 'M' : 'L'}${x(at)} ${y(value)}`).join(''))
    .join('');
}

function areaPath(points: readonly SparkPoint[], { x, y }: Scale): string {
  return runsOf(points)
    .map((run) => {
      const first = run[0];
      const last = run.at(-1);
      if (first === undefined || last === undefined) return '';
      const top = run.map(({ at, value }) => `L${x(at)} ${y(value)}`).join('');
      return `M${x(first.at)} ${y(0)}${top}L${x(last.at)} ${y(0)}Z`;
    })
    .join('');
}

interface At {
  readonly at: number;
  readonly value: number;
}

function runsOf(points: readonly SparkPoint[]): At[][] {
  const runs: At[][] = [[]];
  for (const [at, { value }] of points.entries()) {
    if (value === null) runs.push([]);
    else runs.at(-1)?.push({ at, value });
  }
  return runs.filter((run) => run.length > 0);
}

interface Known {
  readonly label: string;
  readonly value: number;
  readonly isOpen: boolean;
}

/** The line in words: `Settled per day: 30 points, $1.00 (2026-10-28) to $9.00 (2026-11-26), lowest …, highest …`. */
export function sparklineText({
  name,
  points,
  format,
}: Pick<SparklineProps, 'name' | 'points' | 'format'>): string {
  const known = points.flatMap(({ label, value, isOpen = false }): Known[] =>
    value === null ? [] : [{ label, value, isOpen }],
  );
  const first = known[0];
  const last = known.at(-1);
  if (first === undefined || last === undefined) return `${name}: no values`;
  const lowest = known.reduce((least, one) => (one.value < least.value ? one : least));
  const highest = known.reduce((most, one) => (one.value > most.value ? one : most));
  const text = ({ label, value, isOpen }: Known): string =>
    `${format(value)} (${label}${isOpen ? ', so far' : ''})`;
  return `${name}: ${known.length} points, from ${text(first)} to ${text(last)}, lowest ${text(lowest)}, highest ${text(highest)}`;
}
