import { fail } from '../../../core/errors.ts';
import { isDay } from '../../../core/text.ts';
import { invalid, quoted } from '../params.ts';

/**
 * Values of a saved query's parameters, by the types of its placeholders. A value is read here and bound by the engine: it never
 * becomes a part of the text.
 */

/** What a placeholder of a saved query can be. */
interface ScalarType {
  readonly kind: 'integer' | 'number' | 'decimal' | 'text' | 'flag' | 'day' | 'time';
  /** Of an integer. */
  readonly bits?: { readonly count: number; readonly isUnsigned: boolean };
}

export interface ValueType {
  readonly scalar: ScalarType;
  readonly isList: boolean;
}

const WRAPPED = /^(?:LowCardinality|Nullable)\((.*)\)$/;
const LIST = /^Array\((.*)\)$/;
const INTEGER_TYPE = /^(U?)Int(8|16|32|64|128|256)$/;
const LIST_VALUES_MAX = 1_000;

/** Null for a type that a saved query's parameter cannot have. */
export function valueTypeOf(type: string): ValueType | null {
  const list = LIST.exec(type)?.[1];
  const scalar = scalarOf(list ?? type);
  return scalar === null ? null : { scalar, isList: list !== undefined };
}

function scalarOf(type: string): ScalarType | null {
  const inner = WRAPPED.exec(type)?.[1];
  if (inner !== undefined) return scalarOf(inner);
  const [, unsigned, bits] = INTEGER_TYPE.exec(type) ?? [];
  if (bits !== undefined)
    return { kind: 'integer', bits: { count: Number(bits), isUnsigned: unsigned === 'U' } };
  if (/^Float(32|64)$/.test(type)) return { kind: 'number' };
  if (/^Decimal(32|64|128|256)?\(\d{1,2}(,\d{1,2})?\)$/.test(type)) return { kind: 'decimal' };
  if (type === 'String') return { kind: 'text' };
  if (type === 'Bool') return { kind: 'flag' };
  if (/^Date(32)?$/.test(type)) return { kind: 'day' };
  if (/^DateTime(\(.*\))?$|^DateTime64\(.*\)$/.test(type)) return { kind: 'time' };
  return null;
}

/** In words, for refusals and documents. */
export function typeInWords({ scalar, isList }: ValueType): string {
  const one = scalarInWords(scalar);
  return isList ? `a JSON array or a comma-separated list, each value ${one}` : one;
}

function scalarInWords({ kind, bits }: ScalarType): string {
  switch (kind) {
    case 'integer':
      return `a whole number ${rangeInWords(bits)}`;
    case 'number':
    case 'decimal':
      return 'a number like 12.5';
    case 'text':
      return 'a text';
    case 'flag':
      return 'true or false';
    case 'day':
      return 'a day like 2026-11-25';
    case 'time':
      return 'a time like 2026-11-25T09:15:04Z';
  }
}

function rangeInWords(bits: ScalarType['bits']): string {
  const { count, isUnsigned } = bits ?? { count: 64, isUnsigned: false };
  if (count > 64) return isUnsigned ? `from 0 to 2^${count} - 1` : `of ${count} bits`;
  const width = BigInt(count);
  return isUnsigned
    ? `from 0 to ${2n ** width - 1n}`
    : `from ${-(2n ** (width - 1n))} to ${2n ** (width - 1n) - 1n}`;
}

/** Of a value as text: a list of a thousand addresses has 45 KB. What a payment bought is kept with it, values included. */
const SAVED_VALUE_MAX_CHARS = 64 * 1024;

/** The value as the engine reads it. Throws `invalid_parameter` with the name of the parameter. */
export function readValue(raw: unknown, name: string, type: string): string {
  const wanted = valueTypeOf(type);
  if (wanted === null) throw new Error(`a saved parameter of the type ${type}`);
  const text = wanted.isList ? readList(raw, name, wanted) : readScalar(raw, name, wanted);
  if (text.length > SAVED_VALUE_MAX_CHARS)
    throw invalid(name, `${name} is longer than ${SAVED_VALUE_MAX_CHARS} characters.`);
  return text;
}

function readScalar(raw: unknown, name: string, type: ValueType): string {
  const text = textOf(raw);
  if (text !== null && fits(text, type.scalar)) return written(text, type.scalar);
  throw refusal(raw, name, type);
}

/** An array (of JSON), its text, or values with commas between them. */
function readList(raw: unknown, name: string, type: ValueType): string {
  const values = Array.isArray(raw) ? (raw as readonly unknown[]) : listOf(raw);
  if (values === null || values.length > LIST_VALUES_MAX) throw refusal(raw, name, type);
  const items = values.map((value) => {
    const text = textOf(value);
    if (text === null || !fits(text, type.scalar)) throw refusal(raw, name, type);
    const one = written(text, type.scalar);
    return isPlain(type.scalar) ? one : `'${one.replace(/[\\']/g, '\\$&')}'`;
  });
  return `[${items.join(',')}]`;
}

function listOf(raw: unknown): readonly unknown[] | null {
  if (typeof raw !== 'string') return textOf(raw) === null ? null : [raw];
  if (!raw.trimStart().startsWith('[')) return raw === '' ? [] : raw.split(',').map((one) => one.trim());
  try {
    const parsed: unknown = JSON.parse(raw);
    return Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function textOf(raw: unknown): string | null {
  if (typeof raw === 'string') return raw;
  if (typeof raw === 'boolean') return String(raw);
  const isExact =
    typeof raw === 'number' && Number.isFinite(raw) && (!Number.isInteger(raw) || Number.isSafeInteger(raw));
  return isExact ? String(raw) : null;
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
const DECIMAL = /^[+-]?\d{1,76}(?:\.\d{1,76})?$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})?)?$/;

function fits(text: string, { kind, bits }: ScalarType): boolean {
  switch (kind) {
    case 'integer':
      return /^[+-]?\d{1,80}$/.test(text) && isInRange(BigInt(text), bits);
    case 'number':
      return NUMBER.test(text) && Number.isFinite(Number(text));
    case 'decimal':
      return DECIMAL.test(text);
    case 'text':
      // The engine would read \N alone as NULL, and takes no lone surrogates.
      return text !== '\\N' && !/\0|\p{Cs}/u.test(text);
    case 'flag':
      return /^(?:true|false|1|0)$/.test(text);
    case 'day':
      return DAY.test(text) && isEngineDay(text);
    case 'time':
      return TIME.test(text) && isEngineDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(utc(text)));
  }
}

function isInRange(value: bigint, bits: ScalarType['bits']): boolean {
  const { count, isUnsigned } = bits ?? { count: 64, isUnsigned: false };
  return (isUnsigned ? BigInt.asUintN(count, value) : BigInt.asIntN(count, value)) === value;
}

const YEAR_MIN = 1970;
/** The last whole year of `DateTime`. */
const YEAR_MAX = 2105;

/** Whether the engine's DateTime can hold the day. */
function isEngineDay(text: string): boolean {
  const year = Number(text.slice(0, 4));
  return isDay(text) && year >= YEAR_MIN && year <= YEAR_MAX;
}

/** Without a zone it is UTC, as everywhere here. */
function utc(text: string): string {
  const time = text.length === 10 ? `${text}T00:00:00` : text.replace(' ', 'T');
  return /(?:Z|[+-]\d{2}:\d{2})$/.test(time) ? time : `${time}Z`;
}

function written(text: string, { kind }: ScalarType): string {
  if (kind === 'integer') return String(BigInt(text.replace(/^\+/, '')));
  if (kind === 'time') return utc(text);
  if (kind === 'flag') return text === '1' || text === 'true' ? 'true' : 'false';
  return text;
}

function isPlain({ kind }: ScalarType): boolean {
  return kind === 'integer' || kind === 'number' || kind === 'decimal' || kind === 'flag';
}

function refusal(raw: unknown, name: string, type: ValueType): Error {
  return fail('invalid_parameter', {
    parameter: name,
    detail: `${name} must be ${typeInWords(type)}${Array.isArray(raw) && !type.isList ? ', sent once' : ''}, not ${quoted(raw)}.`,
  });
}
