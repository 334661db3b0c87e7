import { mayBeNull, NULL_TEXT } from './parameter-texts.ts';
import type { QueryParameters } from './parser.ts';
import { refuse } from './refusal.ts';
import type { QueryParameter } from './tokens.ts';

/**
 * Values that the engine reads as others without a word: numbers beyond their type come round at its other end, days that no month
 * has become 1970-01-01, and NULL where there is none becomes a text (tried on 26.7.2.1). Everything else it refuses by itself.
 */

const WRAPPED = /^(?:(?:LowCardinality|Nullable)\()+(.*?)\)+$/;
const INTEGER_TYPE = /^(U?)Int(8|16|32|64|128|256)$/;
const INTEGER = /^[+-]?\d+$/;
const TIME_TYPE = /^(Date|Date32|DateTime|DateTime64)(?:\(.*\))?$/;
const TIME = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.\d*)?)?)?/;
/** First and last year that values of a type can have. */
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
  const plain = WRAPPED.exec(type)?.[1] ?? type;
  const [, unsigned, bits] = INTEGER_TYPE.exec(plain) ?? [];
  if (bits !== undefined && INTEGER.test(value)) return fits(BigInt(value), Number(bits), unsigned === 'U');
  const kind = TIME_TYPE.exec(plain)?.[1];
  return kind === undefined || isTime(kind, value);
}

function fits(value: bigint, bits: number, isUnsigned: boolean): boolean {
  return isUnsigned ? BigInt.asUintN(bits, value) === value : BigInt.asIntN(bits, value) === value;
}

/** Also for what is written in another way, which the engine judges. */
function isTime(kind: string, value: string): boolean {
  const parts = TIME.exec(value)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (parts === undefined) return true;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  const [first, last] = YEARS[kind] ?? [0, 0];
  const date = new Date(Date.UTC(year, month - 1, day));
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDay && year >= first && year <= last && hour < 24 && minute < 60 && second < 60;
}
