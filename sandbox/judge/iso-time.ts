/** Times as ISO 8601 writes them, which the engine reads in calls such as toDateTime('…') and in no comparison and no parameter. */

export interface IsoTime {
  readonly unixSeconds: number;
  /** Digits behind the second, without zeros at the end; '' for a whole second. */
  readonly fraction: string;
}

const ISO =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/i;
/** What the engine reads by itself, as UTC. */
const PLAIN = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}$/;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/** Without an offset it is UTC, as every time here. Undefined for what is no such time, or what the engine reads by itself. */
export function isoTimeOf(text: string): IsoTime | undefined {
  if (PLAIN.test(text)) return undefined;
  const [, date, minutes, seconds = '00', fraction = '', zone = 'Z'] = ISO.exec(text) ?? [];
  const written = `${date}T${minutes}:${seconds}`;
  const ms = Date.parse(`${written}Z`);
  // Dates that no month has come round into the next one.
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, written.length) !== written) return undefined;
  const unixSeconds = (ms - offsetMinutes(zone) * MINUTE_MS) / SECOND_MS;
  return unixSeconds < 0 ? undefined : { unixSeconds, fraction: fraction.replace(/0+$/, '') };
}

function offsetMinutes(zone: string): number {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  return sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
}

/** `2026-11-20 00:00:00`, in UTC. */
export function secondText({ unixSeconds }: IsoTime): string {
  return new Date(unixSeconds * SECOND_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/** The day that begins at this time in UTC; undefined where none does. */
export function dayText(time: IsoTime): string | undefined {
  const [day, clock] = secondText(time).split(' ');
  return clock === '00:00:00' && time.fraction === '' ? day : undefined;
}
