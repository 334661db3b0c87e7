import { dayText, isoTimeOf } from './iso-time.ts';
import type { QueryParameters } from './parser.ts';
import type { QueryParameter } from './tokens.ts';

/** Types whose values the engine reads as literals; all others it reads as fields of a tab-separated file. */
const READ_AS_LITERAL =
  /^(Array|Map|Tuple|Nested|Point|Ring|LineString|MultiLineString|Polygon|MultiPolygon)\b/i;
const MAY_BE_NULL = /^(LowCardinality\(\s*)?Nullable\b/i;
/** Lists, however deep, of numbers. */
const LIST_OF_NUMBERS = /^(?:(?:Array|LowCardinality|Nullable)\()+(?:U?Int\d+|B?Float\d+|Decimal\d*\b|Bool)/i;
const QUOTED_NUMBER = /'([+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|nan|inf(?:inity)?))'/gi;
/** What stands for NULL in place of a whole value. */
export const NULL_TEXT = '\\N';

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
};

/**
 * The values of `{name:Type}` placeholders as the engine reads them off the wire, which depends on the type: `it's` and `a\b` travel
 * as escaped text where a String is wanted, `['it\'s']` as it is where an Array is (tried on 26.7.2.1).
 */
export function parametersAsSent(
  declared: readonly QueryParameter[],
  values: QueryParameters,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const type = declared.find((one) => one.name === name)?.type ?? '';
      return [name, asSent(type, value)];
    }),
  );
}

/** A time, or a list of times, however wrapped. Only the type says what a text means: `{t:String}` is sent as it is. */
const TIME_TYPE = /^(?:(?:Array|LowCardinality|Nullable)\()*(Date|Date32|DateTime|DateTime64)\b/i;
const QUOTED = /'([^'\\]*)'/g;

function asSent(type: string, value: string): string {
  const time = TIME_TYPE.exec(type)?.[1];
  const sent = time === undefined ? value : timesAsSent(time, value, READ_AS_LITERAL.test(type));
  if (sent !== value) return sent;
  // JSON keeps large numbers as texts only, and a list of the engine's has no texts among its numbers.
  if (LIST_OF_NUMBERS.test(type)) return value.replaceAll(QUOTED_NUMBER, '$1');
  if (READ_AS_LITERAL.test(type)) return value;
  if (value === NULL_TEXT && mayBeNull(type)) return value;
  return value.replaceAll(/[\\\t\n\r\0]/g, (letter) => ESCAPES[letter] ?? letter);
}

function timesAsSent(type: string, value: string, isList: boolean): string {
  if (!isList) return timeAsSent(type, value);
  return value.replaceAll(QUOTED, (_, text: string) => `'${timeAsSent(type, text)}'`);
}

/** Seconds since 1970 where it was ISO 8601: they mean the same in every time zone that a type may name. */
function timeAsSent(type: string, value: string): string {
  const time = isoTimeOf(value);
  if (time === undefined) return value;
  if (/^Date(32)?$/i.test(type)) return dayText(time) ?? value;
  const { unixSeconds, fraction } = time;
  return fraction === '' ? String(unixSeconds) : `${unixSeconds}.${fraction}`;
}

/** Whether NULL is a value of a type. */
export function mayBeNull(type: string): boolean {
  return MAY_BE_NULL.test(type);
}
