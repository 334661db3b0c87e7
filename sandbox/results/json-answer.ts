import type { Readable } from 'node:stream';
import type { NumberForm } from '../sandbox.ts';
import { uniqueNames } from './column-names.ts';
import type { ResultColumn } from './column-type.ts';
import { nativeNumbers } from './native-numbers.ts';
import { plainLineEnds, type RowLimits, wholeRows } from './whole-rows.ts';

/** A JSON answer around rows that are still being read: facts known only after the last row follow the rows. */

export interface JsonAnswer {
  readonly rows: 'objects' | 'arrays';
  readonly numbers: NumberForm;
  readonly rowsMax: number;
  /** Places of columns in which a 0 is looked for. */
  readonly zeroColumns?: readonly number[];
  /** Fields after the rows; called when the rows have ended. `hasZero`: a row has a 0 in one of `zeroColumns`. */
  tail(rowCount: number, hasZero: boolean): Readonly<Record<string, unknown>>;
}

const HEAD_LINES = 2;

/** `{"columns":[…],"rows":[…],…tail}`, from the lines of JSONCompactEachRowWithNamesAndTypes. */
export async function* jsonAnswer(
  body: Readable,
  { rows, numbers, rowsMax, zeroColumns = [], tail }: JsonAnswer,
): AsyncGenerator<string, void, undefined> {
  const printed = printer({ rows, numbers, zeroColumns });
  for await (const chunk of wholeRows(body, plainLineEnds(), { rowsMax, headLines: HEAD_LINES })) {
    const text = printed.take(chunk.toString('utf8').split('\n').slice(0, -1));
    if (text !== '') yield text;
  }
  // An object without its opening brace.
  yield `${printed.end()},${JSON.stringify(tail(printed.rowCount(), printed.hasZero())).slice(1)}`;
}

interface Printer {
  /** Takes whole lines, the head lines first, and returns their JSON. */
  take(lines: readonly string[]): string;
  rowCount(): number;
  hasZero(): boolean;
  end(): string;
}

/** A number as the engine writes it, as a string or not. */
const ZERO = /^"?-?0(\.0*)?"?$/;

function printer(form: Required<Pick<JsonAnswer, 'rows' | 'numbers' | 'zeroColumns'>>): Printer {
  const head: string[] = [];
  let write: ((line: string) => string) | undefined;
  let count = 0;
  let hasZero = false;
  const isZeroIn = (line: string): boolean => {
    const values = valueTexts(line);
    return form.zeroColumns.some((place) => ZERO.test(values[place] ?? ''));
  };
  const begin = (): string => {
    const columns = columnsOf(head[0] ?? '[]', head[1] ?? '[]', { unique: form.rows === 'objects' });
    write = rowWriter(columns, form);
    return `{"columns":${columnsText(columns)},"rows":[`;
  };
  return {
    take(lines) {
      let text = '';
      for (const line of lines) {
        if (write === undefined) {
          head.push(line);
          if (head.length === HEAD_LINES) text += begin();
          continue;
        }
        text += count === 0 ? write(line) : `,${write(line)}`;
        count += 1;
        if (!hasZero && form.zeroColumns.length > 0) hasZero = isZeroIn(line);
      }
      return text;
    },
    rowCount: () => count,
    hasZero: () => hasZero,
    end: () => (write === undefined ? `${begin()}]` : ']'),
  };
}

/** The same rows as lines, each an object by column name. */
export async function* jsonLines(
  body: Readable,
  { rowsMax }: Pick<RowLimits, 'rowsMax'>,
): AsyncGenerator<Buffer, void, undefined> {
  const head: string[] = [];
  let write: ((line: string) => string) | undefined;
  for await (const chunk of wholeRows(body, plainLineEnds(), { rowsMax, headLines: HEAD_LINES })) {
    let text = '';
    for (const line of chunk.toString('utf8').split('\n').slice(0, -1)) {
      if (head.length < HEAD_LINES) {
        head.push(line);
        continue;
      }
      write ??= rowWriter(columnsOf(head[0] ?? '[]', head[1] ?? '[]', { unique: false }), {
        rows: 'objects',
        numbers: 'native',
      });
      text += `${write(line)}\n`;
    }
    if (text !== '') yield Buffer.from(text);
  }
}

/** Writes the line of a row, `["a",1,[2,3]]`, in the form that was asked for. */
function rowWriter(
  columns: readonly ResultColumn[],
  { rows, numbers }: Pick<JsonAnswer, 'rows' | 'numbers'>,
): (line: string) => string {
  const writers = columns.map(({ type }) => (numbers === 'native' ? nativeNumbers(type) : null));
  if (writers.every((writer) => writer === null))
    return rows === 'objects' ? objectWriter(columns) : (line) => line;
  const keys = rows === 'objects' ? columns.map(({ name }) => `${JSON.stringify(name)}:`) : [];
  const [open, close] = rows === 'objects' ? ['{', '}'] : ['[', ']'];
  return (line) => {
    const values = valueTexts(line);
    if (values.length !== columns.length)
      throw new Error('a row of the engine has other columns than its head');
    const written = values.map((value, at) => `${keys[at] ?? ''}${writers[at]?.(value) ?? value}`);
    return `${open}${written.join(',')}${close}`;
  };
}

function columnsText(columns: readonly ResultColumn[]): string {
  return JSON.stringify(columns);
}

/**
 * Converts rows of JSONCompactEachRowWithNamesAndTypes to the rows of a JSON answer. Values keep the engine's exact text: parsing
 * would round numbers that JavaScript cannot represent.
 */

/** Tokens that delimit values: whole strings, so that their contents are skipped, and structural characters. */
const TOKENS = /"(?:[^"\\]|\\.)*"?|[[\]{},]/g;
const DEPTH: Readonly<Record<string, number>> = { '[': 1, '{': 1, ']': -1, '}': -1 };

/** The values in the line of a row, `["a",1,[2,3]]`, each as its exact text. */
export function valueTexts(line: string): string[] {
  const texts: string[] = [];
  let depth = 0;
  let from = 1;
  for (const { 0: token, index } of line.matchAll(TOKENS)) {
    depth += DEPTH[token] ?? 0;
    const isEnd = depth === 0 || (depth === 1 && token === ',');
    if (!isEnd) continue;
    texts.push(line.slice(from, index).trim());
    from = index + 1;
  }
  return texts;
}

/** Writes rows as objects. The keys are serialized once, not per row. */
export function objectWriter(columns: readonly ResultColumn[]): (line: string) => string {
  const keys = columns.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return (line) => {
    const values = valueTexts(line);
    if (values.length !== keys.length) throw new Error('a row of the engine has other columns than its head');
    let text = '';
    for (const [index, key] of keys.entries()) text += key + (values[index] ?? '');
    return `${text}}`;
  };
}

/**
 * The columns of a result from its two head lines. An object cannot hold a name twice, so a repeated name gets a number and no value
 * is lost.
 */
export function columnsOf(
  namesLine: string,
  typesLine: string,
  { unique }: { readonly unique: boolean },
): ResultColumn[] {
  const names = JSON.parse(namesLine) as string[]; // by the requested format
  const types = JSON.parse(typesLine) as string[];
  const shown = unique ? uniqueNames(names) : names;
  return shown.map((name, index) => ({ name, type: types[index] ?? '' }));
}
