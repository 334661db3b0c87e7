import { isAddressText, isTransactionText, keptCase } from '../account-texts.ts';
import { aboutText, groupDigits } from '../format.ts';
import type { Axis, Prepared } from './series.ts';
import type { ChartKind } from './spec.ts';

/** The words of a chart: labels of its axes, of a place under the pointer, and the whole of it in a sentence. Pure. */

const LABEL_CHARS_MAX = 20;

/** A name that fits an axis: addresses keep both ends, other names their beginning. */
export function shortLabel(label: string): string {
  const account = keptCase(label);
  if (isAddressText(account) || isTransactionText(account)) return `${label.slice(0, 6)}…${label.slice(-4)}`;
  return label.length > LABEL_CHARS_MAX ? `${label.slice(0, LABEL_CHARS_MAX - 1)}…` : label;
}

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
  // Hours and days of the week are words, which this leaves as they are.
  if (kind === 'number') return groupDigits(label);
  return at >= openFrom ? `${label} so far` : label;
}

/** Two places of an axis as a range: `3 Nov 2026 to 9 Nov 2026`. */
export function rangeText(x: Axis, { from, to }: { readonly from: number; readonly to: number }): string {
  return `${placeText(x, from)} to ${placeText(x, to)}`;
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
  const named = series
    .slice(0, NAMED_MAX)
    .map((one) => `${one.name} ${extremesText(one.texts, one.values, x)}`);
  const others = series.length > NAMED_MAX ? [`and ${series.length - NAMED_MAX} more series`] : [];
  const points = `${x.places.length} ${x.places.length === 1 ? 'point' : 'points'}`;
  return `${SENTENCES[spec.kind]}${what} along ${spec.x}, ${points}: ${[...named, ...others].join('; ')}.`;
}

function extremesText(
  texts: readonly (string | null)[],
  values: readonly (number | null)[],
  x: Axis,
): string {
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
    left.grouped > 0 ? `Other is the sum of the ${left.grouped} smallest.` : '',
    left.rows > 0 ? `${groupDigits(String(left.rows))} further rows are not drawn.` : '',
    x.openFrom < x.places.length ? `${x.labels[x.openFrom] ?? ''} is not over: its figures are so far.` : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}
