/** Geometry of flows drawn as ribbons between two columns. Pixels down, hundredths of the drawing's width across. */

export interface Slot {
  readonly top: number;
  readonly height: number;
}

export interface SlotRule {
  readonly height: number;
  readonly gap: number;
  /** What every slot gets at least, so that its label fits beside it. */
  readonly least: number;
}

/** Shares a column's height among values, in their order. The column grows when `least` does not fit. */
export function slotsOf(values: readonly number[], { height, gap, least }: SlotRule): Slot[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  const spare = Math.max(0, height - gap * (values.length - 1) - least * values.length);
  let top = 0;
  return values.map((value) => {
    const slot = { top, height: least + (total === 0 ? 0 : (value / total) * spare) };
    top += slot.height + gap;
    return slot;
  });
}

/** How far down the last slot reaches. */
export function columnHeight(slots: readonly Slot[]): number {
  const last = slots.at(-1);
  return last === undefined ? 0 : last.top + last.height;
}

/** The outline of a ribbon from a slot at x = 0 to one at x = 100, as an SVG path. */
export function ribbonPath(from: Slot, to: Slot): string {
  const fromEnd = from.top + from.height;
  const toEnd = to.top + to.height;
  return [
    `M0 ${round(from.top)}`,
    `C50 ${round(from.top)} 50 ${round(to.top)} 100 ${round(to.top)}`,
    `L100 ${round(toEnd)}`,
    `C50 ${round(toEnd)} 50 ${round(fromEnd)} 0 ${round(fromEnd)}Z`,
  ].join('');
}

/** Cuts a slot into pieces in proportion to `values`, from its top. */
export function piecesOf(slot: Slot, values: readonly number[]): Slot[] {
  return slotsOf(values, { height: slot.height, gap: 0, least: 0 }).map(({ top, height }) => ({
    top: slot.top + top,
    height,
  }));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
