import type { GridColumn } from '../cells.ts';

/** The columns of the grid as they are shown: pinned ones first, with the widths that the visitor chose. */
export interface ShownColumn extends GridColumn {
  /** Its place in the result. */
  readonly index: number;
  readonly isPinned: boolean;
  /** A length of CSS. */
  readonly width: string;
  /** The distance of a pinned column from the edge; null for the others. */
  readonly left: string | null;
}

export interface ColumnChoices {
  /** In the order in which they were pinned. */
  readonly pinned: readonly number[];
  readonly widthsPx: Readonly<Record<number, number>>;
}

export const NO_CHOICES: ColumnChoices = { pinned: [], widthsPx: {} };

export function shownColumns(
  columns: readonly GridColumn[],
  { pinned, widthsPx }: ColumnChoices,
): readonly ShownColumn[] {
  const widthOf = (index: number): string => {
    const px = widthsPx[index];
    return px === undefined ? `${columns[index]?.widthCh ?? 0}ch` : `${px}px`;
  };
  const others = columns.map((_column, index) => index).filter((index) => !pinned.includes(index));
  return [...pinned, ...others].flatMap((index, place) => {
    const column = columns[index];
    if (column === undefined) return [];
    const isPinned = place < pinned.length;
    const before = pinned.slice(0, place).map(widthOf);
    const left = isPinned ? `calc(${['0px', ...before].join(' + ')})` : null;
    return [{ ...column, index, isPinned, width: widthOf(index), left }];
  });
}

export function togglePin(choices: ColumnChoices, index: number): ColumnChoices {
  const others = choices.pinned.filter((one) => one !== index);
  return {
    ...choices,
    pinned: others.length === choices.pinned.length ? [...choices.pinned, index] : others,
  };
}

const WIDTH_MIN_PX = 56;
const WIDTH_MAX_PX = 1_200;

/** Null returns to the width that follows from the values. */
export function withWidth(choices: ColumnChoices, index: number, px: number | null): ColumnChoices {
  const { [index]: _old, ...others } = choices.widthsPx;
  if (px === null) return { ...choices, widthsPx: others };
  const bounded = Math.round(Math.min(Math.max(px, WIDTH_MIN_PX), WIDTH_MAX_PX));
  return { ...choices, widthsPx: { ...others, [index]: bounded } };
}
