import type { QueryParameters, Token } from '../parser.ts';
import { refuse } from '../refusal.ts';
import { dayText, isoTimeOf } from './times.ts';

export interface QueryParameter {
  readonly name: string;
  readonly type: string;
}

/** Names with values in one request, and different placeholders in one text. */
export const PARAMETERS_MAX = 100;
/** Of the type of a placeholder: an Enum or a Tuple with some tens of members. */
const TYPE_MAX_CHARS = 1_000;
const PARAMETER_TYPE_REFUSED = /Identifier|AggregateFunction|Dynamic|Object/i;

/**
 * The `{name:Type}` placeholders of a query, each once however often it is written. Throws `Refused` (`parameter`) for too many, and
 * for a type that is too long to be looked at.
 */
export function parametersOf(tokens: readonly Token[]): QueryParameter[] {
  const found = new Map<string, QueryParameter>();
  for (let at = 0; at < tokens.length; at += 1) {
    const [open, name, colon] = tokens.slice(at, at + 3);
    if (open?.kind !== 'OpeningCurlyBrace' || name?.kind !== 'BareWord' || colon?.kind !== 'Colon') continue;
    let type = '';
    for (at += 3; at < tokens.length && tokens[at]?.kind !== 'ClosingCurlyBrace'; at += 1)
      type += tokens[at]?.text ?? '';
    if (type.length > TYPE_MAX_CHARS)
      refuse('parameter', {
        near: name.text,
        detail: `The type of ${name.text} is longer than ${TYPE_MAX_CHARS} characters.`,
        hint: 'Give it a shorter type.',
      });
    found.set(`${name.text}:${type}`, { name: name.text, type });
    if (found.size > PARAMETERS_MAX)
      refuse('parameter', {
        detail: `The query has more than ${PARAMETERS_MAX} placeholders.`,
        hint: 'Name a value once and use it again, or send a list as one value of the type Array.',
      });
  }
  return [...found.values()];
}

/** Throws `Refused` (`parameter`) for a type that is not available. */
export function checkParameterTypes(declared: readonly QueryParameter[]): void {
  const refused = declared.find(({ type }) => PARAMETER_TYPE_REFUSED.test(type));
  if (refused !== undefined)
    refuse('parameter', {
      near: refused.name,
      hint: 'Parameters carry values: a number, text, date, array or map.',
    });
}

/** Throws `Refused` (`parameter`) if a placeholder has no value, or a value no placeholder. */
export function checkParameters(wanted: readonly QueryParameter[], given: QueryParameters): void {
  const missing = wanted.find(({ name }) => !Object.hasOwn(given, name));
  if (missing) {
    refuse('parameter', {
      near: missing.name,
      detail: `The query names {${missing.name}:${missing.type}}, but params has no ${missing.name}.`,
    });
  }
  const names = new Set(wanted.map(({ name }) => name));
  const unused = Object.keys(given).find((name) => !names.has(name));
  if (unused !== undefined) {
    refuse('parameter', {
      detail: `params has ${unused}, but the query has no placeholder {${unused}:Type}.`,
    });
  }
}

/** Types whose values the engine reads as literals; all others it reads as fields of a tab-separated file. */
export const READ_AS_LITERAL =
  /^(Array|Map|Tuple|Nested|Point|Ring|LineString|MultiLineString|Polygon|MultiPolygon)\b/i;
const MAY_BE_NULL = /^(LowCardinality\(\s*)?Nullable\b/i;
/** Lists of numbers, nested to any depth. */
const LIST_OF_NUMBERS = /^(?:(?:Array|LowCardinality|Nullable)\()+(?:U?Int\d+|B?Float\d+|Decimal\d*\b|Bool)/i;
const QUOTED_NUMBER = /'([+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|nan|inf(?:inity)?))'/gi;
/** NULL as a whole value. */
export const NULL_TEXT = '\\N';

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
};

const UNESCAPED: Readonly<Record<string, string>> = {
  t: '\t',
  n: '\n',
  r: '\r',
  b: '\b',
  f: '\f',
  '0': '\0',
};

/**
 * The values themselves, from those that a client of ClickHouse sent. Clients write a value in the escapes of TabSeparated, but lists and
 * other literals as they are: the type of its placeholder tells which.
 */
export function valuesAsRead(declared: readonly QueryParameter[], values: QueryParameters): QueryParameters {
  const types = typesByName(declared);
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const isPlain = value === NULL_TEXT || READ_AS_LITERAL.test(types.get(name) ?? '');
      return [name, isPlain ? value : value.replaceAll(/\\(.)/gs, (_, one: string) => UNESCAPED[one] ?? one)];
    }),
  );
}

/** Of a name with several types the first. */
function typesByName(declared: readonly QueryParameter[]): ReadonlyMap<string, string> {
  return new Map(declared.toReversed().map(({ name, type }) => [name, type]));
}

/**
 * The values of `{name:Type}` placeholders in the engine's wire format, which depends on the type: for a String, `it's` and `a\b` are
 * sent as escaped text; for an Array, `['it\'s']` is sent as is (tried on 26.7.2.1).
 */
export function parametersAsSent(
  declared: readonly QueryParameter[],
  values: QueryParameters,
): Record<string, string> {
  const types = typesByName(declared);
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, asSent(types.get(name) ?? '', value)]),
  );
}

/** A time, or a list of times, in any wrapper type. The type alone decides: a value for `{t:String}` is sent unchanged. */
const TIME_TYPE = /^(?:(?:Array|LowCardinality|Nullable)\()*(Date|Date32|DateTime|DateTime64)\b/i;
const QUOTED = /'([^'\\]*)'/g;

function asSent(type: string, value: string): string {
  const time = TIME_TYPE.exec(type)?.[1];
  const sent = time === undefined ? value : timesAsSent(time, value, READ_AS_LITERAL.test(type));
  if (sent !== value) return sent;
  // JSON can carry large numbers only as strings, but the engine's lists of numbers take no strings.
  if (LIST_OF_NUMBERS.test(type)) return value.replaceAll(QUOTED_NUMBER, '$1');
  if (READ_AS_LITERAL.test(type)) return value;
  if (value === NULL_TEXT && mayBeNull(type)) return value;
  return value.replaceAll(/[\\\t\n\r\0]/g, (letter) => ESCAPES[letter] ?? letter);
}

function timesAsSent(type: string, value: string, isList: boolean): string {
  if (!isList) return timeAsSent(type, value);
  return value.replaceAll(QUOTED, (_, text: string) => `'${timeAsSent(type, text)}'`);
}

/** Converts ISO 8601 to Unix seconds, which mean the same in every time zone that a type may name. */
function timeAsSent(type: string, value: string): string {
  const time = isoTimeOf(value);
  if (time === undefined) return value;
  if (/^Date(32)?$/i.test(type)) return dayText(time) ?? value;
  const { unixSeconds, fraction } = time;
  return fraction === '' ? String(unixSeconds) : `${unixSeconds}.${fraction}`;
}

/** Whether a type admits NULL. */
export function mayBeNull(type: string): boolean {
  return MAY_BE_NULL.test(type);
}

/**
 * Values that the engine silently misreads: numbers out of range wrap around, invalid days become 1970-01-01, and NULL for a
 * non-nullable type becomes a text (tried on 26.7.2.1). It refuses all other bad values itself.
 */

const INTEGER_TYPE = /^(U?)Int(8|16|32|64|128|256)$/;
const INTEGER = /^[+-]?\d+$/;
const ONE_TIME_TYPE = /^(Date|Date32|DateTime|DateTime64)(?:\(.*\))?$/;
const WRITTEN_TIME = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.\d*)?)?)?/;
/** The range of years of a type. */
const YEARS: Readonly<Record<string, readonly [number, number]>> = {
  Date: [1970, 2149],
  DateTime: [1970, 2106],
  Date32: [1900, 2299],
  DateTime64: [1900, 2299],
};

/** Throws `Refused` (`parameter`). */
export function checkValues(declared: readonly QueryParameter[], values: QueryParameters): void {
  for (const { name, type } of declared) {
    const value = values[name] ?? '';
    if (isKept(type, value)) continue;
    refuse('parameter', {
      near: name,
      detail: `The value of ${name} in params cannot be read as ${type}.`,
      hint:
        value === NULL_TEXT
          ? `Declare it as Nullable(${type}), or send a value.`
          : 'Send a value that the type can hold, or change the type of the placeholder.',
    });
  }
}

function isKept(type: string, value: string): boolean {
  if (value === NULL_TEXT) return mayBeNull(type);
  const plain = unwrapped(type);
  const [, unsigned, bits] = INTEGER_TYPE.exec(plain) ?? [];
  if (bits !== undefined && INTEGER.test(value)) return fits(BigInt(value), Number(bits), unsigned === 'U');
  const kind = ONE_TIME_TYPE.exec(plain)?.[1];
  return kind === undefined || isTime(kind, value);
}

const WRAPPERS = ['LowCardinality(', 'Nullable('];

function unwrapped(type: string): string {
  let plain = type;
  let wrapper = WRAPPERS.find((one) => plain.startsWith(one));
  while (wrapper !== undefined && plain.endsWith(')')) {
    plain = plain.slice(wrapper.length, -1);
    wrapper = WRAPPERS.find((one) => plain.startsWith(one));
  }
  return plain;
}

function fits(value: bigint, bits: number, isUnsigned: boolean): boolean {
  return isUnsigned ? BigInt.asUintN(bits, value) === value : BigInt.asIntN(bits, value) === value;
}

/** True also for any other notation, which the engine checks. */
function isTime(kind: string, value: string): boolean {
  const parts = WRITTEN_TIME.exec(value)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (parts === undefined) return true;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  const [first, last] = YEARS[kind] ?? [0, 0];
  const date = new Date(Date.UTC(year, month - 1, day));
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDay && year >= first && year <= last && hour < 24 && minute < 60 && second < 60;
}
