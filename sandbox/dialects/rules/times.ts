import { type Call, firstOf, type Rule, type RuleFunction, type Rules } from '../call.ts';
import { functionName, isNode, type Node, numberOf, textOf, wordOf } from '../nodes.ts';
import { constantText } from './texts.ts';
import { timeFormat } from './time-formats.ts';

/** Times, days and intervals. All times of the tables are UTC. */

const UNITS: Readonly<Record<string, string>> = {
  second: 'second',
  seconds: 'second',
  sec: 'second',
  secs: 'second',
  minute: 'minute',
  minutes: 'minute',
  min: 'minute',
  mins: 'minute',
  hour: 'hour',
  hours: 'hour',
  hr: 'hour',
  day: 'day',
  days: 'day',
  week: 'week',
  weeks: 'week',
  isoweek: 'week',
  month: 'month',
  months: 'month',
  mon: 'month',
  quarter: 'quarter',
  quarters: 'quarter',
  year: 'year',
  years: 'year',
  isoyear: 'year',
};

export function unitOf(word: string): string | null {
  return UNITS[word.toLowerCase()] ?? null;
}

/** The unit that an argument names, as a word or a text; BigQuery's weeks name the day that they begin with. */
function unitNamed(node: Node | undefined): { readonly unit: string; readonly start: string } | null {
  if (node === undefined) return null;
  const call = node['type'] === 'function' ? functionName(node) : '';
  if (call === 'week') return { unit: 'week', start: wordOf(firstArgument(node)).toLowerCase() };
  const word = textOf(node) ?? wordOf('column' in node ? node['column'] : node['value']);
  const unit = unitOf(word);
  return unit === null ? null : { unit, start: word.toLowerCase() };
}

function firstArgument(call: Node): unknown {
  const args = call['args'];
  const list = isNode(args) ? args['value'] : undefined;
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  return isNode(first) ? first['column'] : undefined;
}

/** Seconds of each unit that has always the same. */
const SECONDS: Readonly<Record<string, number>> = {
  second: 1,
  minute: 60,
  hour: 3_600,
  day: 86_400,
  week: 604_800,
};

const COUNT_AND_UNIT = /(?<![\d.])(-?\d+(?:\.\d+)?)\s*([a-z]+)/gi;

/** `'7 days'`, `'1 day 12 hours'`, `'24:00:00'`. */
export function intervalOfText(text: string): string | null {
  const parts = [...text.matchAll(COUNT_AND_UNIT)];
  const rest = text.replace(COUNT_AND_UNIT, '').trim();
  if (parts.length === 0 || rest !== '') return null;
  const known = parts.map(([, count = '', unit = '']) => ({ count: Number(count), unit: unitOf(unit) }));
  const [only] = known;
  if (known.length === 1 && only !== undefined && only.unit !== null && Number.isInteger(only.count))
    return interval(String(only.count), only.unit);
  const seconds = known.map(({ count, unit }) => count * (SECONDS[unit ?? ''] ?? Number.NaN));
  const sum = seconds.reduce((total, value) => total + value, 0);
  return Number.isInteger(sum) ? interval(String(sum), 'second') : null;
}

/** A constant interval, or a function of the count. */
export function interval(count: string, unit: string): string {
  return /^\d+$/.test(count) ? `INTERVAL ${count} ${unit.toUpperCase()}` : intervalCall(count, unit);
}

function intervalCall(count: string, unit: string): string {
  return `toInterval${unit.charAt(0).toUpperCase()}${unit.slice(1)}(${count})`;
}

/** The interval of a node; null for anything else. */
export function intervalOfNode(node: Node, print: (node: Node) => string): string | null {
  if (node['type'] !== 'interval' || !isNode(node['expr'])) return null;
  const unit = wordOf(node['unit']);
  const text = textOf(node['expr']);
  if (unit === '') return text === null ? null : intervalOfText(text);
  const known = unitOf(unit);
  if (known === null) return null;
  return interval(text ?? print(node['expr']), known);
}

/** A day, or a time without a zone or in UTC. */
const TIME_IN_UTC = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?)?\s*(?:Z|UTC|\+00(?::?00)?)?$/i;

/** A day or a time as ClickHouse reads it. */
export function timeConstant(text: string): string {
  const [, day = '', time = '00:00:00'] = TIME_IN_UTC.exec(text.trim()) ?? [];
  if (day === '') return `parseDateTimeBestEffort(${constantText(text)}, 'UTC')`;
  return `toDateTime('${day} ${time.length === 5 ? `${time}:00` : time}', 'UTC')`;
}

export function dayConstant(text: string): string {
  return `toDate('${text.trim().slice(0, 10)}')`;
}

/** BigQuery's weeks begin on Sunday unless they name Monday; of another day there is no function. */
function truncated(
  value: string,
  { unit, start }: { readonly unit: string; readonly start: string },
): string | null {
  if (unit === 'week' && ['week', 'weeks', 'sunday'].includes(start)) return `toStartOfWeek(${value}, 0)`;
  if (unit === 'week' && !['isoweek', 'monday'].includes(start)) return null;
  return TRUNCATED[unit]?.replace('$', value) ?? null;
}

const TRUNCATED: Readonly<Record<string, string>> = {
  second: 'toStartOfSecond($)',
  minute: 'toStartOfMinute($)',
  hour: 'toStartOfHour($)',
  day: 'toStartOfDay($)',
  week: 'toMonday($)',
  month: 'toStartOfMonth($)',
  quarter: 'toStartOfQuarter($)',
  year: 'toStartOfYear($)',
};

/** `date_trunc('day', x)`, and BigQuery's `DATE_TRUNC(x, DAY)`. */
const trunc: Rule = (call) => {
  const [first, second] = call.args;
  if (first === undefined || second === undefined) return null;
  const leading = textOf(first) === null ? null : unitNamed(first);
  const named = leading ?? unitNamed(second);
  if (named === null) return null;
  const value = call.print(leading === null ? first : second);
  return leading === null ? truncated(value, named) : (TRUNCATED[named.unit]?.replace('$', value) ?? null);
};

/** Adds or subtracts: `DATE_ADD(x, INTERVAL 1 DAY)`, and Trino's `date_add('day', 1, x)`. */
const moved =
  (sign: '+' | '-'): Rule =>
  ({ args, print, operand }) => {
    const [first, second, third] = args;
    if (first === undefined || second === undefined) return null;
    if (third === undefined) {
      // MySQL counts days where no unit is named.
      const span = numberOf(second) === null ? intervalOfNode(second, print) : interval(print(second), 'day');
      return span === null ? null : `${operand(first)} ${sign} ${span}`;
    }
    const named = unitNamed(first);
    return named === null ? null : `${operand(third)} ${sign} ${intervalCall(print(second), named.unit)}`;
  };

/** Whole units between two times (`age`), or changes of the calendar's unit (`dateDiff`), which days of a calendar are compared by. */
const between =
  (name: 'age' | 'dateDiff', order: 'unit, from, to' | 'to, from, unit'): RuleFunction =>
  ({ args, print }) => {
    const [unit, from, to] = order === 'unit, from, to' ? args : args.toReversed();
    const named = unitNamed(unit);
    if (named === null || from === undefined || to === undefined) return null;
    return `${name}('${named.unit}', ${print(from)}, ${print(to)})`;
  };

/** Parts of a time by the name of `extract`. `dow` counts from Sunday in PostgreSQL, and from Monday in Trino. */
export function partOf(part: string, value: string, dialect: Call['dialect']): string | null {
  const word = part.toLowerCase();
  if (word === 'dow' || word === 'day_of_week')
    return dialect === 'trino' ? `toDayOfWeek(${value})` : `toDayOfWeek(${value}, 2)`;
  return PARTS[word]?.replace('$', value) ?? null;
}

const PARTS: Readonly<Record<string, string>> = {
  year: 'toYear($)',
  quarter: 'toQuarter($)',
  month: 'toMonth($)',
  week: 'toISOWeek($)',
  isoweek: 'toISOWeek($)',
  isoyear: 'toISOYear($)',
  day: 'toDayOfMonth($)',
  day_of_month: 'toDayOfMonth($)',
  hour: 'toHour($)',
  minute: 'toMinute($)',
  second: 'toSecond($)',
  epoch: 'toUnixTimestamp($)',
  isodow: 'toDayOfWeek($)',
  dayofweek: 'toDayOfWeek($, 3)',
  doy: 'toDayOfYear($)',
  day_of_year: 'toDayOfYear($)',
  dayofyear: 'toDayOfYear($)',
  date: 'toDate($)',
};

/** `a - b` of two times inside `extract`: the dialects make an interval of it, ClickHouse a number. */
export function partOfDifference(part: string, later: string, earlier: string): string | null {
  const word = part.toLowerCase();
  if (word === 'epoch') return `dateDiff('second', ${earlier}, ${later})`;
  const unit = unitOf(word);
  return unit === null ? null : `age('${unit}', ${earlier}, ${later})`;
}

const datePart: Rule = ({ args, dialect, print }) => {
  const [part, value] = args;
  if (part === undefined || value === undefined) return null;
  const word = textOf(part) ?? wordOf(part['column']);
  if (
    value['type'] === 'binary_expr' &&
    value['operator'] === '-' &&
    isNode(value['left']) &&
    isNode(value['right'])
  )
    return partOfDifference(word, print(value['left']), print(value['right']));
  return partOf(word, print(value), dialect);
};

/** A time as text. */
const formatted =
  (valueFirst: boolean): RuleFunction =>
  ({ args, dialect, print }) => {
    const [value, format] = valueFirst ? args : args.toReversed();
    const pattern = format === undefined ? null : textOf(format);
    const ours = pattern === null ? null : timeFormat(pattern, dialect);
    return ours === null || value === undefined
      ? null
      : `formatDateTime(${print(value)}, ${constantText(ours)})`;
  };

/** `to_char(x, 'FM999,990.00')`: rounded, without the separators of thousands. */
const formattedNumber: Rule = ({ args, print }) => {
  const [value, format] = args;
  const pattern = format === undefined ? null : textOf(format);
  if (value === undefined || pattern === null || !/^[FM$09,.DG ]+%?$/.test(pattern)) return null;
  const decimals = /[.D]([09]+)/.exec(pattern)?.[1]?.length ?? 0;
  return `toString(round(${print(value)}, ${decimals}))`;
};

const toDay: RuleFunction = (call) => {
  const [value, second, third] = call.args;
  const text = value === undefined ? null : textOf(value);
  if (text !== null && second === undefined) return dayConstant(text);
  if (third !== undefined) return `makeDate(${call.args.map(call.print).join(', ')})`;
  const isUtc = second === undefined || /^utc$/i.test(textOf(second) ?? '');
  return value === undefined || !isUtc ? null : `toDate(${call.print(value)})`;
};

const toTime: Rule = ({ args, print }) => {
  const [value] = args;
  if (value === undefined || args.length > 1) return null;
  const text = textOf(value);
  if (text !== null) return timeConstant(text);
  return numberOf(value) === null
    ? `toDateTime(${print(value)}, 'UTC')`
    : `fromUnixTimestamp(${print(value)})`;
};

/** In UTC; a precision changes no answer, and another zone is another day. */
const current =
  (text: string): Rule =>
  ({ args: [zone] }) =>
    zone === undefined || numberOf(zone) !== null || /^(utc|gmt)$/i.test(textOf(zone) ?? '') ? text : null;
const NOW = current('now()');
const TODAY = current('today()');
const fromSeconds = 'fromUnixTimestamp(toInt64($1))';

const toSeconds: Rule = ({ args, print }) =>
  `toUnixTimestamp(${args[0] === undefined ? 'now()' : print(args[0])})`;

const PART_FUNCTIONS: Rules = Object.fromEntries(
  ['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second'].map((part) => [
    part,
    PARTS[part]?.replace('$', '$1') ?? '',
  ]),
);

export const TIMES: Rules = {
  ...PART_FUNCTIONS,
  now: NOW,
  current_timestamp: NOW,
  current_datetime: NOW,
  localtimestamp: NOW,
  sysdate: NOW,
  getdate: NOW,
  utc_timestamp: NOW,
  current_date: TODAY,
  curdate: TODAY,
  utc_date: TODAY,
  date_trunc: trunc,
  timestamp_trunc: trunc,
  datetime_trunc: trunc,
  date_add: moved('+'),
  adddate: moved('+'),
  timestamp_add: moved('+'),
  datetime_add: moved('+'),
  date_sub: moved('-'),
  subdate: moved('-'),
  timestamp_sub: moved('-'),
  datetime_sub: moved('-'),
  date_diff: firstOf(
    (call) => (call.dialect === 'bigquery' ? between('dateDiff', 'to, from, unit')(call) : null),
    between('age', 'unit, from, to'),
  ),
  timestamp_diff: between('age', 'to, from, unit'),
  datetime_diff: between('dateDiff', 'to, from, unit'),
  timestampdiff: between('age', 'unit, from, to'),
  datediff: firstOf("dateDiff('day', $2, $1)", between('dateDiff', 'unit, from, to')),
  timestampadd: moved('+'),
  extract: datePart,
  date_part: datePart,
  day_of_month: 'toDayOfMonth($1)',
  dayofmonth: 'toDayOfMonth($1)',
  day_of_week: 'toDayOfWeek($1)',
  dow: 'toDayOfWeek($1)',
  dayofweek: 'toDayOfWeek($1, 3)',
  weekday: 'toDayOfWeek($1, 1)',
  day_of_year: 'toDayOfYear($1)',
  dayofyear: 'toDayOfYear($1)',
  doy: 'toDayOfYear($1)',
  week_of_year: 'toISOWeek($1)',
  weekofyear: 'toISOWeek($1)',
  yearweek: firstOf('toYearWeek($1)', 'toYearWeek($1, $2)'),
  dayname: "dateName('weekday', $1)",
  monthname: "dateName('month', $1)",
  last_day: 'toLastDayOfMonth($1)',
  last_day_of_month: 'toLastDayOfMonth($1)',
  to_char: firstOf(formattedNumber, formatted(true)),
  date_format: formatted(true),
  format_timestamp: formatted(false),
  format_date: formatted(false),
  format_datetime: firstOf(
    ({ args, dialect, print }) => {
      const format = dialect === 'trino' && args[1] !== undefined ? textOf(args[1]) : null;
      return format === null || args[0] === undefined
        ? null
        : `formatDateTimeInJodaSyntax(${print(args[0])}, ${constantText(format)})`;
    },
    (call) => (call.dialect === 'trino' ? null : formatted(false)(call)),
  ),
  to_iso8601: "formatDateTime($1, '%Y-%m-%dT%H:%i:%SZ')",
  from_unixtime: fromSeconds,
  timestamp_seconds: fromSeconds,
  to_timestamp: fromSeconds,
  timestamp_millis: 'fromUnixTimestamp(intDiv($1, 1000))',
  to_unixtime: toSeconds,
  unix_timestamp: toSeconds,
  unix_seconds: toSeconds,
  unix_date: 'toInt32($1)',
  date: toDay,
  to_date: (call) => (call.args.length === 1 ? toDay(call) : null),
  parse_date: (call) => (call.args[1] === undefined ? null : `toDate(${call.print(call.args[1])})`),
  str_to_date: 'parseDateTime($1, $2)',
  from_iso8601_date: 'toDate($1)',
  from_iso8601_timestamp: toTime,
  timestamp: toTime,
  datetime: toTime,
  make_date: 'makeDate($1, $2, $3)',
};
