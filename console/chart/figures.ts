import { cellText, chartNumber } from '../cells.ts';
import { aboutText, groupDigits, moneyText, usdText } from '../format.ts';
import { beforeOf, capitalized, columnWords, isMoney } from './columns.ts';
import type { ChartData, ChartSpec } from './spec.ts';

/** The figures of a number card: one row of a result, each with its value of the period before where the row has it. Pure. */

export interface Figure {
  readonly name: string;
  /** As short as it is read at a glance: `$1.28M`. */
  readonly text: string;
  /** With every digit. */
  readonly exact: string;
  readonly before: { readonly text: string; readonly exact: string } | null;
  /** How much more it is than before, as a share. Null where there was nothing before; undefined without a value before. */
  readonly change: number | null | undefined;
}

/** A reader takes in no more figures at a glance. */
export const FIGURES_MAX = 4;

/** Of columns of numbers, those that are values of the period before, by the column that they belong to. */
export function beforeColumns(numbers: readonly string[]): ReadonlyMap<string, string> {
  const pairs = numbers.flatMap((name) => {
    const base = beforeOf(name);
    if (base === null) return [];
    const others = numbers.filter((other) => other !== name);
    const of = others.find((other) => other === base) ?? (others.length === 1 ? others[0] : undefined);
    return of === undefined ? [] : [[of, name] as const];
  });
  return new Map(pairs);
}

export function figuresOf({ columns, rows }: ChartData, { y }: Pick<ChartSpec, 'y'>): readonly Figure[] {
  const row = rows[0] ?? [];
  const at = (name: string): number => columns.findIndex((column) => column.name === name);
  const before = beforeColumns(
    columns.map(({ name }) => name).filter((name) => chartNumber(row[at(name)]) !== null),
  );
  const shown = y.filter((name) => ![...before].some(([of, other]) => other === name && y.includes(of)));
  return shown.slice(0, FIGURES_MAX).flatMap((name): Figure[] => {
    const column = columns[at(name)];
    if (column === undefined) return [];
    const money = isMoney(column);
    const value = row[at(name)];
    const other = before.get(name);
    const earlier = other === undefined ? undefined : row[at(other)];
    return [
      {
        name: capitalized(columnWords(name)),
        ...textsOf(value, money),
        before: earlier === undefined ? null : textsOf(earlier, money),
        change: earlier === undefined ? undefined : changeOf(value, earlier),
      },
    ];
  });
}

function changeOf(value: unknown, before: unknown): number | null {
  const [now, then] = [chartNumber(value), chartNumber(before)];
  return now === null || then === null || then === 0 ? null : (now - then) / Math.abs(then);
}

/** Shorter numbers are written out. */
const SHORT_FROM = 100_000;

function textsOf(value: unknown, money: boolean): { readonly text: string; readonly exact: string } {
  const exact = cellText(value, 'number');
  const number = chartNumber(value);
  if (number === null) return { text: '–', exact };
  const size = Math.abs(number);
  if (money) {
    const plain = exact.replaceAll(',', '');
    const short = `${number < 0 ? '-' : ''}$${aboutText(size)}`;
    return { text: size >= SHORT_FROM ? short : moneyText(plain), exact: usdText(plain) };
  }
  const short = size >= SHORT_FROM || !Number.isInteger(number);
  return { text: short ? aboutText(number) : groupDigits(exact.replaceAll(',', '')), exact };
}
