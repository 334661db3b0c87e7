import { aboutText, groupDigits } from '../format.ts';
import type { Axis, Prepared } from './series.ts';
import type { ChartKind } from './spec.ts';

/** The words of a chart: labels of its axes, of a place under the pointer, and the whole of it in a sentence. Pure. */

const LABEL_CHARS_MAX = 20;
const DAY_SECONDS = 86_400;
const YEAR_SECONDS = 365 * DAY_SECONDS;

/** A name that fits an axis: addresses keep both ends, other names their beginning. */
export function shortLabel(label: string): string {
  if (/^0x[0-9a-f]{40,}$/i.test(label)) return `${label.slice(0, 6)}…${label.slice(-4)}`;
  return label.length > LABEL_CHARS_MAX ? `${label.slice(0, LABEL_CHARS_MAX - 1)}…` : label;
}

/** The label of a time in UTC, as precise as the distance of the labels needs it. */
export function timeLabel(seconds: number, everySeconds: number): string {
  const text = new Date(seconds * 1_000).toISOString();
  if (everySeconds >= YEAR_SECONDS) return text.slice(0, 4);
  const month = MONTHS[Number(text.slice(5, 7)) - 1] ?? '';
  if (everySeconds >= 28 * DAY_SECONDS) return `${month} ${text.slice(0, 4)}`;
  const day = `${Number(text.slice(8, 10))} ${month}`;
  if (everySeconds >= DAY_SECONDS) return day;
  const time = everySeconds >= 60 ? text.slice(11, 16) : text.slice(11, 19);
  return time === '00:00' ? day : time;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The label of a number, and of dollars. */
export function numberLabel(value: number): string {
  return aboutText(Number(value.toPrecision(12)));
}

export function moneyLabel(value: number): string {
  const text = numberLabel(Math.abs(value));
  return value < 0 ? `-$${text}` : `$${text}`;
}

/** A place along x as the title of the figures under the pointer. */
export function placeText({ kind, labels, openFrom }: Axis, at: number): string {
  const label = labels[at] ?? '';
  if (kind === 'number') return groupDigits(label);
  return at >= openFrom ? `${label} so far` : label;
}

export const KIND_NAMES: Readonly<Record<ChartKind, string>> = {
  line: 'Lines',
  area: 'Areas',
  stacked: 'Stacked areas',
  bar: 'Bars',
  heatmap: 'Heatmap',
  scatter: 'Points',
  number: 'Number',
};

const SENTENCES: Readonly<Record<ChartKind, string>> = {
  line: 'Line chart',
  area: 'Area chart',
  stacked: 'Stacked area chart',
  bar: 'Bar chart',
  heatmap: 'Heatmap',
  scatter: 'Scatter chart',
  number: 'Number',
};

/** Series that a sentence names. */
const NAMED_MAX = 5;

/** The chart in words, for screen readers. */
export function chartSentence({ spec, x, series }: Prepared): string {
  const what = spec.by === null ? '' : ` of ${spec.y[0] ?? ''} by ${spec.by}`;
  const named = series.slice(0, NAMED_MAX).map((one) => `${one.name} ${rangeText(one.texts, one.values, x)}`);
  const others = series.length > NAMED_MAX ? [`and ${series.length - NAMED_MAX} more series`] : [];
  const points = `${x.places.length} ${x.places.length === 1 ? 'point' : 'points'}`;
  return `${SENTENCES[spec.kind]}${what} along ${spec.x}, ${points}: ${[...named, ...others].join('; ')}.`;
}

function rangeText(texts: readonly (string | null)[], values: readonly (number | null)[], x: Axis): string {
  let [lowest, highest] = [-1, -1];
  for (const [at, value] of values.entries()) {
    if (value === null) continue;
    if (lowest === -1 || value < (values[lowest] ?? 0)) lowest = at;
    if (highest === -1 || value > (values[highest] ?? 0)) highest = at;
  }
  if (lowest === -1) return 'has no values';
  const text = (at: number): string => `${texts[at] ?? ''} (${placeText(x, at)})`;
  return `from ${text(lowest)} to ${text(highest)}`;
}

/** What the picture lacks or shows unfinished, as sentences. */
export function leftText({ left, x }: Prepared): string {
  return [
    left.series > 0 ? `The ${left.series} smallest series are not drawn.` : '',
    left.rows > 0 ? `${groupDigits(String(left.rows))} further rows are not drawn.` : '',
    x.openFrom < x.places.length ? `${x.labels[x.openFrom] ?? ''} is not over: its figures are so far.` : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}
