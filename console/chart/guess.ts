import { kindOf, rawText } from '../cells.ts';
import { type ClockUnit, clockUnitOf } from './dates.ts';
import { beforeColumns, FIGURES_MAX } from './figures.ts';
import { isNameColumn } from './names.ts';
import type { AxisKind, ChartData, ChartKind, ChartSpec } from './spec.ts';

/** Which chart fits a result: a pure function of the types and the repetitions of its columns. */

const STANDARD = { isZeroBased: true, isGrouped: true };
/** A reader cannot distinguish more bars. */
const BARS_MAX = 60;
/** Rows that are looked at to see whether texts are dates. */
const SAMPLED_ROWS = 50;
const DATE_TEXT = /^\d{4}-\d{2}(-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z?)?)?$/;

/** What the values of a column are. Texts that are all dates, as `formatDateTime` writes them, are times. */
export function axisKindOf({ columns, rows }: ChartData, at: number): AxisKind {
  const kind = kindOf(columns[at]?.type ?? '');
  if (kind !== 'text') return kind;
  const texts = rows.slice(0, SAMPLED_ROWS).map((row) => rawText(row[at]));
  return texts.length > 0 && texts.every((text) => DATE_TEXT.test(text)) ? 'time' : 'text';
}

interface Columns {
  readonly times: readonly number[];
  readonly numbers: readonly number[];
  readonly texts: readonly number[];
}

function columnsByKind(data: ChartData): Columns {
  const of = (kind: AxisKind): number[] =>
    data.columns.flatMap((_column, at) => (axisKindOf(data, at) === kind ? [at] : []));
  return {
    times: of('time'),
    numbers: of('number'),
    texts: of('text').filter((at) => !isNameColumn(data, at)),
  };
}

/** The columns that can be drawn as heights. */
export function numberColumns(data: ChartData): readonly string[] {
  return columnsByKind(data).numbers.map((at) => nameOf(data, at));
}

function nameOf({ columns }: ChartData, at: number | undefined): string {
  return (at === undefined ? undefined : columns[at]?.name) ?? '';
}

function distinct({ rows }: ChartData, at: number): number {
  return new Set(rows.map((row) => rawText(row[at]))).size;
}

/**
 * Figures for one row of numbers; lines over time, one for each value of a text column where days repeat (day and facilitator); bars over names; a heatmap over pairs of
 * names; points for numbers against numbers. Null without rows or without a column of numbers.
 */
export function guessSpec(data: ChartData): ChartSpec | null {
  const { times, numbers, texts } = columnsByKind(data);
  const measure = numbers.findLast((at) => clockUnitOf(nameOf(data, at)) === null) ?? numbers.at(-1);
  if (measure === undefined || data.rows.length === 0) return null;
  const base = { y: [nameOf(data, measure)], by: null, right: [], isLog: false, ...STANDARD };
  const figures = figuresOf(data, numbers);
  if (figures !== null) return { ...base, kind: 'number', x: figures[0] ?? '', y: figures };
  const clock = clockSpec(data, times);
  if (clock !== null) return { ...base, ...clock };
  const [time] = times;
  if (time !== undefined) {
    const by = repeats(data, time) ? splitOf(data, texts) : null;
    return { ...base, kind: 'line', x: nameOf(data, time), by };
  }
  const [name, ...others] = texts;
  if (name !== undefined) return { ...base, ...overNames(data, name, others) };
  const [x = 0, second] = numbers;
  return second === undefined
    ? { ...base, kind: 'bar', x: nameOf(data, x) }
    : { ...base, kind: 'scatter', x: nameOf(data, x), y: [nameOf(data, second)], isZeroBased: false };
}

/** Hours of a day against days of the week or against dates; bars over hours or days of the week alone. Null for other results. */
function clockSpec(data: ChartData, times: readonly number[]): Pick<ChartSpec, 'kind' | 'x' | 'by'> | null {
  const named = (unit: ClockUnit): number | undefined => {
    const at = data.columns.findIndex(
      ({ name }, place) => clockUnitOf(name) === unit && !times.includes(place),
    );
    return at === -1 ? undefined : at;
  };
  const [hour, weekday, [day]] = [named('hour'), named('weekday'), times];
  const across = (x: number, by: number): ReturnType<typeof clockSpec> => ({
    kind: 'heatmap',
    x: nameOf(data, x),
    by: nameOf(data, by),
  });
  if (hour !== undefined && weekday !== undefined) return across(hour, weekday);
  if (hour !== undefined && day !== undefined && repeats(data, day)) return across(day, hour);
  const lone = hour ?? weekday;
  if (lone === undefined || day !== undefined || repeats(data, lone)) return null;
  return { kind: 'bar', x: nameOf(data, lone), by: null };
}

/** The columns of a number card: one row of few numbers and of nothing else. Null for other results. */
function figuresOf(data: ChartData, numbers: readonly number[]): readonly string[] | null {
  if (data.rows.length !== 1 || numbers.length !== data.columns.length) return null;
  const names = numbers.map((at) => nameOf(data, at));
  const before = new Set(beforeColumns(names).values());
  const figures = names.filter((name) => !before.has(name));
  return figures.length <= FIGURES_MAX ? figures : null;
}

function repeats(data: ChartData, at: number): boolean {
  return distinct(data, at) < data.rows.length;
}

/** The text column with the fewest values, but two at least. */
function splitOf(data: ChartData, texts: readonly number[]): string | null {
  const counted = texts.map((at) => ({ at, count: distinct(data, at) })).filter(({ count }) => count > 1);
  const fewest = counted.sort((a, b) => a.count - b.count)[0];
  return fewest === undefined ? null : nameOf(data, fewest.at);
}

function overNames(
  data: ChartData,
  name: number,
  others: readonly number[],
): Pick<ChartSpec, 'kind' | 'x' | 'by'> {
  const x = nameOf(data, name);
  const by = repeats(data, name) ? splitOf(data, others) : null;
  if (by !== null) return { kind: 'heatmap', x, by };
  return { kind: data.rows.length > BARS_MAX ? 'line' : 'bar', x, by: null };
}

/** A choice with all its fields: what the visitor chose, as far as the data has it, and guesses for the rest. Null where nothing can be drawn. */
export function completeSpec(data: ChartData, chosen: Partial<ChartSpec>): ChartSpec | null {
  const guess = guessSpec(data);
  if (guess === null) return null;
  const names = new Set(data.columns.map(({ name }) => name));
  const numbers = new Set(numberColumns(data));
  const x = chosen.x !== undefined && names.has(chosen.x) ? chosen.x : guess.x;
  const wanted = (chosen.y ?? []).filter((name) => numbers.has(name));
  const y = wanted.length > 0 ? wanted : guess.y;
  const asked = chosen.by === undefined ? guess.by : chosen.by;
  const { kind = guess.kind, isGrouped = guess.isGrouped, right = [] } = chosen;
  const by = kind !== 'number' && asked !== null && names.has(asked) && asked !== x ? asked : null;
  return {
    kind,
    x,
    // A split draws one column, and so does a heatmap.
    y: kind !== 'number' && (by !== null || kind === 'heatmap') ? y.slice(0, 1) : y,
    by,
    right: hasRightAxis(kind, by) ? right.filter((name) => y.includes(name)).slice(0, y.length - 1) : [],
    isLog: (chosen.isLog ?? guess.isLog) && kind !== 'stacked',
    isGrouped,
    isZeroBased: chosen.isZeroBased ?? (chosen.kind === undefined ? guess.isZeroBased : kind !== 'scatter'),
  };
}

/** Whether columns can be moved to an axis at the right: not where one column is split or where heights are added up. */
export function hasRightAxis(kind: ChartKind, by: string | null): boolean {
  return by === null && kind !== 'heatmap' && kind !== 'stacked' && kind !== 'number';
}

/** Series with a place of their own where the others are drawn as one. */
export const LARGEST = 7;

/** Whether there are so many series that the smallest are better drawn as one. */
export function canGroup(data: ChartData, { kind, by }: Pick<ChartSpec, 'kind' | 'by'>): boolean {
  if (by === null || kind === 'heatmap' || kind === 'scatter' || kind === 'number') return false;
  return (
    distinct(
      data,
      data.columns.findIndex(({ name }) => name === by),
    ) >
    LARGEST + 1
  );
}
