/** Where a value stands in a row of a narrow screen: two lines, and the rest when the row is opened. */
export type CardRole = 'head' | 'lead' | 'meta' | 'rest';

interface CardColumn {
  readonly name: string;
  readonly isFigure?: boolean;
  readonly isRowHeader?: boolean;
  readonly priority?: 1 | 2 | 3;
  /** Said by the column; else it follows from the other columns. */
  readonly card?: CardRole;
}

/** Values of the second line that follow from the columns: more would wrap at 390 px. */
const META_MAX = 2;

/**
 * The role of each column. The row header, else the first text, and the first figure make the first line; the next columns of priority
 * 1 the second. All others are shown when the row is opened. Pure.
 */
export function cardRolesOf(columns: readonly CardColumn[]): readonly CardRole[] {
  const isFree = ({ card, priority = 1 }: CardColumn): boolean => card === undefined && priority === 1;
  const head =
    columns.find(({ isRowHeader = false }) => isRowHeader) ??
    (columns.some(({ card }) => card === 'head')
      ? undefined
      : columns.find((column) => isFree(column) && column.isFigure !== true));
  const lead = columns.some(({ card }) => card === 'lead')
    ? undefined
    : columns.find((column) => column !== head && isFree(column) && column.isFigure === true);
  const meta = columns.some(({ card }) => card === 'meta')
    ? []
    : columns.filter((column) => column !== head && column !== lead && isFree(column)).slice(0, META_MAX);
  return columns.map((column) => {
    if (column.card !== undefined) return column.card;
    if (column === head) return 'head';
    if (column === lead) return 'lead';
    return meta.includes(column) ? 'meta' : 'rest';
  });
}
