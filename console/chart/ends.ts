import { shortLabel } from './labels.ts';
import { type Prepared, type Series, stacked } from './series.ts';
import type { Scales } from './shapes.ts';

/** Labels at the ends of lines, in place of a legend. Pure. */

/** Where the label of a series stands, in pixels from the top of the picture. */
export interface End {
  readonly name: string;
  readonly colour: string;
  readonly y: number;
}

/** More labels than these are a legend. */
const LABELS_MAX = 8;
const LABEL_PX = 20;
const CHAR_PX = 6.6;
/** Of the swatch and the spaces of a label. */
const AROUND_PX = 34;
const LABEL_MAX_PX = 168;
/** The picture needs this much beside its labels. */
const PLOT_MIN_PX = 380;

/** The width that the labels take from the picture; 0 where they do not fit, so that a legend is needed. `labelled`: hidden ones too. */
export function endsWidth(
  { spec, series: shown }: Pick<Prepared, 'spec' | 'series'>,
  labelled: readonly Series[],
  size: { readonly width: number; readonly height: number },
): number {
  const isLine = spec.kind === 'line' || spec.kind === 'area' || spec.kind === 'stacked';
  if (!isLine || labelled.length < 2 || labelled.length > LABELS_MAX) return 0;
  if (shown.some(({ isRight }) => isRight) || labelled.length * LABEL_PX > size.height) return 0;
  const longest = Math.max(...labelled.map(({ name }) => shortLabel(name).length));
  const width = Math.min(LABEL_MAX_PX, Math.ceil(longest * CHAR_PX + AROUND_PX));
  return size.width - width >= PLOT_MIN_PX ? width : 0;
}

/** A label for each series next to its last value; those that are hidden stand at the bottom. */
export function endsOf(
  prepared: Prepared,
  labelled: readonly Series[],
  { scales, top, bottom }: { readonly scales: Scales; readonly top: number; readonly bottom: number },
): readonly End[] {
  const heights = endHeights(prepared, scales);
  const wanted = labelled.map(({ name }) => heights.get(name) ?? bottom);
  const placed = spread(wanted, { gap: LABEL_PX, top, bottom });
  return labelled.map(({ name, colour }, at) => ({ name, colour, y: placed[at] ?? bottom }));
}

function endHeights({ spec, series }: Prepared, scales: Scales): ReadonlyMap<string, number> {
  const heights = new Map<string, number>();
  const layers = spec.kind === 'stacked' ? stacked(series) : null;
  for (const [at, { name, values, isRight }] of series.entries()) {
    const layer = layers?.[at];
    const value =
      layer === undefined
        ? values.findLast((one) => one !== null)
        : ((layer.low.at(-1) ?? 0) + (layer.high.at(-1) ?? 0)) / 2;
    const height = value === undefined || value === null ? null : scales.y(value, isRight);
    if (height !== null) heights.set(name, height);
  }
  return heights;
}

interface Room {
  readonly gap: number;
  readonly top: number;
  readonly bottom: number;
}

/** Moves positions as little as needed, so that two of them are a gap apart and all of them are in their room, in the same order. */
export function spread(wanted: readonly number[], { gap, top, bottom }: Room): readonly number[] {
  const order = wanted
    .map((_position, at) => at)
    .sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0) || a - b);
  // Groups of labels that touch, each around the mean of what its members want.
  let groups: { readonly members: readonly number[]; readonly centre: number }[] = [];
  for (const at of order) {
    let group = { members: [at], centre: inside(wanted[at] ?? 0, 1, { gap, top, bottom }) };
    for (let before = groups.at(-1); before !== undefined; before = groups.at(-1)) {
      const distance = group.centre - before.centre;
      if (distance >= ((group.members.length + before.members.length) * gap) / 2) break;
      groups = groups.slice(0, -1);
      const members = [...before.members, ...group.members];
      const centre = members.reduce((sum, one) => sum + (wanted[one] ?? 0), 0) / members.length;
      group = { members, centre: inside(centre, members.length, { gap, top, bottom }) };
    }
    groups.push(group);
  }
  const placed: number[] = wanted.map(() => 0);
  for (const { members, centre } of groups)
    for (const [place, at] of members.entries())
      placed[at] = centre + (place - (members.length - 1) / 2) * gap;
  return placed;
}

function inside(centre: number, count: number, { gap, top, bottom }: Room): number {
  const half = ((count - 1) * gap) / 2;
  return Math.max(top + half, Math.min(bottom - half, centre));
}
