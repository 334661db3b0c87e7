/** How charts write times, which are all in UTC. Pure. */

const DAY_SECONDS = 86_400;
const YEAR_SECONDS = 365 * DAY_SECONDS;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The label of a time, as precise as the distance of the labels needs it. */
export function timeLabel(seconds: number, everySeconds: number): string {
  const text = new Date(seconds * 1_000).toISOString();
  if (everySeconds >= YEAR_SECONDS) return text.slice(0, 4);
  const month = monthOf(text);
  if (everySeconds >= 28 * DAY_SECONDS) return `${month} ${text.slice(0, 4)}`;
  const day = `${Number(text.slice(8, 10))} ${month}`;
  if (everySeconds >= DAY_SECONDS) return day;
  const time = everySeconds >= 60 ? text.slice(11, 16) : text.slice(11, 19);
  return time === '00:00' ? day : time;
}

/** A time of a result with its year: `3 Nov 2026`, `3 Nov 2026, 14:00`, `Nov 2026`. Other texts stay as they are. */
export function dateText(raw: string): string {
  const parts = /^(\d{4})-(\d{2})(?:-(\d{2})(?:[ T](\d{2}:\d{2})(:\d{2})?.*)?)?$/.exec(raw);
  if (parts === null) return raw;
  const [, year = '', , day, minutes, seconds = ''] = parts;
  const month = `${monthOf(raw)} ${year}`;
  if (day === undefined) return month;
  const date = `${Number(day)} ${month}`;
  return minutes === undefined ? date : `${date}, ${minutes}${seconds === ':00' ? '' : seconds}`;
}

function monthOf(text: string): string {
  return MONTHS[Number(text.slice(5, 7)) - 1] ?? '';
}

/** What a place along a time axis stands for, by the distance of two of them. Null for other distances. */
export function grainOf(everySeconds: number): 'hour' | 'day' | 'week' | 'month' | null {
  if (everySeconds === 3_600) return 'hour';
  if (everySeconds === DAY_SECONDS) return 'day';
  if (everySeconds === 7 * DAY_SECONDS) return 'week';
  return everySeconds >= 28 * DAY_SECONDS && everySeconds <= 31 * DAY_SECONDS ? 'month' : null;
}

/** Hours of a day and days of a week are numbers in the engine; Monday is 1. */
export type ClockUnit = 'hour' | 'weekday';

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** By the name of the column. */
export function clockUnitOf(column: string): ClockUnit | null {
  if (/^(weekday|week_day|day_of_week|dow)$/i.test(column)) return 'weekday';
  return /^(hour|hour_of_day|hr)$/i.test(column) ? 'hour' : null;
}

export function clockText(unit: ClockUnit, value: string | number): string {
  const number = Number(value);
  if (!Number.isInteger(number)) return '';
  if (unit === 'weekday') return WEEKDAYS[number - 1] ?? String(value);
  return `${String(number).padStart(2, '0')}:00`;
}

/** Where a name of a day of the week stands: `Mon`, `monday`. Null for other texts. */
export function weekdayPlace(text: string): number | null {
  if (!/^(mon|tue|wed|thu|fri|sat|sun)[a-z]*$/i.test(text)) return null;
  return WEEKDAYS.findIndex((day) => day.toLowerCase() === text.slice(0, 3).toLowerCase());
}
