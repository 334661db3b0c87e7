import { uniqueNames } from '../results/column-names.ts';
import { type ColumnType, columnType, type ResultColumn } from '../results/column-type.ts';
import type { NumberForm } from '../sandbox.ts';

/**
 * The text that runs for Parquet and Arrow. Types that these formats do not have, or that their readers show as bytes or as bare
 * integers, are converted by an outer SELECT, from the types that the engine gives for the accepted text. The engine keeps the order
 * of a subquery's rows for a plain SELECT around it, and moves a limit into it (measured, docs/design/sandbox.md).
 */
export interface ExportForm {
  readonly format: 'parquet' | 'arrow';
  readonly numbers: NumberForm;
}

export function exportText(text: string, described: readonly ResultColumn[], form: ExportForm): string {
  const columns = described.map(({ type }) => convert(columnType(type), form));
  // Readers refuse a file with a name twice, or show one of its columns alone.
  const names = uniqueNames(described.map(({ name }) => name));
  const areUnique = names.every((name, at) => name === described[at]?.name);
  if (areUnique && columns.every((column) => column === null)) return text;
  const inner = columns.map((_, at) => innerName(at));
  const listed = columns.map(
    (column, at) =>
      `${column?.value(`${ROWS}.${inner[at]}`, at) ?? `${ROWS}.${inner[at]}`} AS ${quoted(names[at] ?? '')}`,
  );
  return `SELECT ${listed.join(', ')} FROM (SELECT *, rowNumberInAllBlocks() + 1 AS ${ROW} FROM (${text}) AS ${ROWS}(${inner.join(', ')})) AS ${ROWS}`;
}

/** Names that no column of a caller has: an alias of the same name would hide them. */
const ROWS = '__exported';
const ROW = '__exported_row';
const innerName = (at: number): string => `__exported_${at + 1}`;

function quoted(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``;
}

function literal(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

interface Conversion {
  readonly type: string;
  /** Whether a cast to `type` does it, also inside of other types. */
  readonly isCast: boolean;
  /** The converted value of an expression; `at` is the column, for an error. */
  value(expression: string, at: number): string;
}

function cast(type: string): Conversion {
  return { type, isCast: true, value: (expression) => `CAST(${expression}, ${literal(type)})` };
}

function convert(type: ColumnType, form: ExportForm, depth = 0): Conversion | null {
  switch (type.kind) {
    case 'leaf':
      return convertLeaf(type.text, form);
    case 'nullable':
      return convertNullable(type.of, form, depth);
    case 'low_cardinality': {
      const inner = convert(type.of, form, depth);
      if (inner === null) return null;
      return { ...inner, value: (of, at) => inner.value(`CAST(${of}, ${literal(type.of.text)})`, at) };
    }
    case 'array':
      return convertArray(type.of, form, depth);
    case 'map':
      return convertMap(type, form, depth);
    case 'tuple':
      return convertTuple(type.elements, form, depth);
  }
}

/** The engine makes tuples that may be NULL, but casts to none: they stay as they are. */
function convertNullable(of: ColumnType, form: ExportForm, depth: number): Conversion | null {
  if (of.kind !== 'leaf') return null;
  const inner = convert(of, form, depth);
  if (inner === null) return null;
  const type = inner.type.startsWith('Nullable(') ? inner.type : `Nullable(${inner.type})`;
  if (inner.isCast) return cast(type);
  return {
    type,
    isCast: false,
    value: (x, at) => `if(isNull(${x}), NULL, ${inner.value(`assumeNotNull(${x})`, at)})`,
  };
}

function convertArray(of: ColumnType, form: ExportForm, depth: number): Conversion | null {
  const inner = convert(of, form, depth + 1);
  if (inner === null) return null;
  const type = `Array(${inner.type})`;
  if (inner.isCast) return cast(type);
  return { type, isCast: false, value: (x, at) => eachOf(inner, x, { depth, at }) };
}

function eachOf(
  inner: Conversion | null,
  list: string,
  { depth, at }: { readonly depth: number; readonly at: number },
): string {
  const element = `__element_${depth}`;
  return inner === null ? list : `arrayMap(${element} -> ${inner.value(element, at)}, ${list})`;
}

function convertMap(
  { key, value }: Extract<ColumnType, { kind: 'map' }>,
  form: ExportForm,
  depth: number,
): Conversion | null {
  const keys = convert(key, form, depth + 1);
  const values = convert(value, form, depth + 1);
  if (keys === null && values === null) return null;
  const type = `Map(${keys?.type ?? key.text}, ${values?.type ?? value.text})`;
  if ((keys?.isCast ?? true) && (values?.isCast ?? true)) return cast(type);
  return {
    type,
    isCast: false,
    value: (x, at) =>
      `CAST((${eachOf(keys, `mapKeys(${x})`, { depth, at })}, ${eachOf(values, `mapValues(${x})`, { depth, at })}), ${literal(type)})`,
  };
}

function convertTuple(
  elements: Extract<ColumnType, { kind: 'tuple' }>['elements'],
  form: ExportForm,
  depth: number,
): Conversion | null {
  const inner = elements.map(({ type }) => convert(type, form, depth));
  if (inner.every((one) => one === null)) return null;
  const types = elements.map(({ name, type }, nth) =>
    [name, inner[nth]?.type ?? type.text].filter((part) => part !== null).join(' '),
  );
  const type = `Tuple(${types.join(', ')})`;
  if (inner.every((one) => one?.isCast ?? true)) return cast(type);
  return {
    type,
    isCast: false,
    value: (x, at) => {
      const values = inner.map((one, nth) => {
        const element = `tupleElement(${x}, ${nth + 1})`;
        return one?.value(element, at) ?? element;
      });
      return `CAST(tuple(${values.join(', ')}), ${literal(type)})`;
    },
  };
}

/** What readers show as bytes, or one of the formats does not have. A value of the mixed types may be NULL. */
const CASTS: readonly (readonly [RegExp, string])[] = [
  [/^(Nothing|IPv4|IPv6|Time)$|^Time64\(/, 'String'],
  [/^(JSON|Variant|Dynamic)\b/, 'Nullable(String)'],
  [/^Interval[A-Z]/, 'Int64'],
  [/^BFloat16$/, 'Float32'],
];
/** Arrow has no type for these, or the engine writes their numbers alone. */
const AS_TEXT_IN_ARROW = /^(Enum8|Enum16)\(|^UUID$/;
const TIME = /^DateTime(?:\('(.*)'\))?$/;
const WIDE_INTEGER = /^(U?)Int(128|256)$/;
const WIDE_DECIMAL = /^Decimal\((\d+), (\d+)\)$/;
/** Digits of the widest decimal that readers of both formats know. */
const DIGITS_MAX = 38;

function convertLeaf(type: string, { format, numbers }: ExportForm): Conversion | null {
  const plain = CASTS.find(([pattern]) => pattern.test(type))?.[1];
  if (plain !== undefined) return cast(plain);
  if (format === 'arrow' && AS_TEXT_IN_ARROW.test(type)) return cast('String');
  // Parquet has it as a timestamp already.
  const time = format === 'arrow' ? TIME.exec(type) : null;
  if (time !== null) return cast(`DateTime64(3, ${literal(time[1] ?? 'UTC')})`);
  const [integer, unsigned] = WIDE_INTEGER.exec(type) ?? [];
  const [, digits = '0', scale = '0'] = WIDE_DECIMAL.exec(type) ?? [];
  if (integer === undefined && Number(digits) <= DIGITS_MAX) return null;
  if (numbers === 'text') return cast('String');
  return integer === undefined ? narrowDecimal(type, Number(scale)) : narrowInteger(type, unsigned === 'U');
}

/** By its digits: the engine has no conversion from these integers to decimals. `OrZero`, because constants are converted before `if` chooses. */
function narrowInteger(type: string, isUnsigned: boolean): Conversion {
  const bound = (sign: '' | '-'): string => `CAST(${literal(sign + '9'.repeat(DIGITS_MAX))}, '${type}')`;
  const fits = (x: string): string => `${x} <= ${bound('')}${isUnsigned ? '' : ` AND ${x} >= ${bound('-')}`}`;
  return {
    type: `Decimal(${DIGITS_MAX}, 0)`,
    isCast: false,
    value: (x, at) => `if(${fits(x)}, toDecimal128OrZero(toString(${x}), 0), ${tooWide(x, at, 0)})`,
  };
}

function narrowDecimal(type: string, scale: number): Conversion | null {
  if (scale > DIGITS_MAX) return cast('String');
  const most = `${'9'.repeat(DIGITS_MAX - scale) || '0'}${scale === 0 ? '' : `.${'9'.repeat(scale)}`}`;
  const bound = (sign: '' | '-'): string => `CAST(${literal(sign + most)}, ${literal(type)})`;
  const narrow = `Decimal(${DIGITS_MAX}, ${scale})`;
  return {
    type: narrow,
    isCast: false,
    value: (x, at) =>
      `if(${x} <= ${bound('')} AND ${x} >= ${bound('-')}, accurateCastOrDefault(${x}, ${literal(narrow)}), ${tooWide(x, at, scale)})`,
  };
}

/**
 * Evaluated for a value that does not fit, and no other: the engine computes the branches of `if` for their own rows. It fails, and
 * the engine's message has the text that it could not read.
 */
function tooWide(x: string, at: number, scale: number): string {
  return `toDecimal128(concat('export ', toString(${ROWS}.${ROW}), ' ${at + 1} ', toString(${x})), ${scale})`;
}

/** The value that did not fit, from the engine's message. */
export interface TooWide {
  /** From 1, in the order of the result. */
  readonly row: number;
  readonly column: number;
  readonly value: string;
}

export function tooWideOf(message: string): TooWide | null {
  const [, row, column, value] = /'export (\d+) (\d+) (-?[\d.]+)' as Decimal/.exec(message) ?? [];
  if (row === undefined || value === undefined) return null;
  return { row: Number(row), column: Number(column), value };
}
