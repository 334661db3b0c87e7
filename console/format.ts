import { CHAIN_NAMES } from './chain-names.ts';
/** How values are written. Pure, so that tests can run it outside a browser. Only functions whose comment says so round. */

/** `1234567.50` → `1,234,567.50`. Works on text, so that a decimal of any length stays exact. */
export function groupDigits(decimal: string): string {
  const parts = /^([+-]?)(\d+)(\.\d+)?$/.exec(decimal);
  if (parts === null) return decimal;
  const [, sign = '', whole = '', fraction = ''] = parts;
  return `${sign}${whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',')}${fraction}`;
}

/** `1 row`, `2 rows`. */
export function rowsText(count: number): string {
  return `${countText(count)} ${count === 1 ? 'row' : 'rows'}`;
}

export function countText(count: number | string): string {
  return groupDigits(String(count));
}

const CENTS_PLACES = 2;

/**
 * Dollars with all digits that were sent and at least two decimals: `$1,284.03`, `$0.000125`. Numbers of the API have at most six
 * decimals, so that up to 15 digits (999 million dollars) they print as they were sent; SQL decimals are texts and always do.
 */
export function usdText(usd: number | string): string {
  const decimal = typeof usd === 'number' ? plainText(usd) : usd;
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal);
  if (parts === null) return decimal;
  const [, sign = '', whole = '', fraction = ''] = parts;
  return `${sign}$${groupDigits(whole)}.${fraction.replace(/(?<!0)0+$/, '').padEnd(CENTS_PLACES, '0')}`;
}

/** Decimals of amounts below a dollar, counted from the first digit that is not 0. */
const SIGNIFICANT_MAX = 4;

/**
 * Dollars as tables show them, rounded: two decimals from a dollar on, up to four significant ones below it, and never fewer than two.
 * `$1,284.03`, `$0.0125`, `$0.000125`. An amount that is shown as this must have the exact amount as its title.
 */
export function moneyText(usd: number | string): string {
  const decimal = typeof usd === 'number' ? plainText(usd) : usd;
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal);
  if (parts === null) return usdText(decimal);
  const [, sign = '', whole = '', fraction = ''] = parts;
  const isBelowOne = /^0+$/.test(whole);
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0;
  const places = isBelowOne ? Math.max(CENTS_PLACES, zeros + SIGNIFICANT_MAX) : CENTS_PLACES;
  return usdText(`${sign}${roundedTo(places, whole, fraction)}`);
}

/** Half away from zero, on the digits: floats would round some halves down. */
function roundedTo(places: number, whole: string, fraction: string): string {
  if (fraction.length <= places) return fraction === '' ? whole : `${whole}.${fraction}`;
  const up = Number(fraction[places]) >= 5 ? 1n : 0n;
  const digits = (BigInt(`${whole}${fraction.slice(0, places)}`) + up).toString().padStart(places + 1, '0');
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

const TIMES_FROM = 10;

/** A change as a share of what was before: `+12%`, `−3.4%`, and from eleven times as much on `×12`. */
export function changeText(share: number): string {
  if (share >= TIMES_FROM) return `×${aboutText(Math.round(share + 1))}`;
  const percent = Math.abs(share * 100);
  const text = percent < 10 && percent > 0 ? String(Number(percent.toFixed(1))) : percent.toFixed(0);
  if (text === '0') return percent === 0 ? '0%' : 'under 0.1%';
  return `${share < 0 ? '−' : '+'}${text}%`;
}

const UNITS = ['', 'k', 'M', 'B', 'T'] as const;
const UNIT = 1_000;

/** Rounded to three digits: 1.23k, 4.5M. For the axes of charts. */
export function aboutText(value: number): string {
  let scaled = Math.abs(value);
  let unit = 0;
  while (scaled >= UNIT && unit < UNITS.length - 1) {
    scaled /= UNIT;
    unit += 1;
  }
  const digits =
    unit === 0 && Number.isInteger(scaled) ? String(scaled) : String(Number(scaled.toPrecision(3)));
  return `${value < 0 ? '-' : ''}${digits}${UNITS[unit] ?? ''}`;
}

const BYTE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

export function bytesText(bytes: number): string {
  let scaled = bytes;
  let unit = 0;
  while (scaled >= UNIT && unit < BYTE_UNITS.length - 1) {
    scaled /= UNIT;
    unit += 1;
  }
  return `${unit === 0 ? scaled : Number(scaled.toPrecision(3))} ${BYTE_UNITS[unit] ?? ''}`;
}

/** `0x4020…0001`. The whole address must be shown as `title`. */
export function shortAddress(address: string): string {
  return address.length <= 13 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** `2026-11-20T09:15:04Z` → `2026-11-20 09:15:04 UTC`. */
export function timeText(rfc3339: string): string {
  return `${rfc3339.slice(0, 19).replace('T', ' ')} UTC`;
}

/** Every date (YYYY-MM-DD) from the first to the last one, both included. */
export function datesFrom(since: string, until: string): string[] {
  const [first, last] = [Date.parse(since), Date.parse(until)];
  const days = Math.round((last - first) / DAY_MS) + 1;
  return Array.from({ length: Math.max(0, days) }, (_, day) =>
    new Date(first + day * DAY_MS).toISOString().slice(0, 10),
  );
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DAY_MS = DAY * 1_000;

/** `12 s ago`, `3 min ago`, `5 h ago`, `12 d ago`. */
export function agoText(rfc3339: string, nowMs: number): string {
  return `${durationText(Math.max(0, (nowMs - Date.parse(rfc3339)) / 1_000))} ago`;
}

/** One unit, rounded down: `12 s`, `3 min`, `5 h`, `12 d`. */
export function durationText(seconds: number): string {
  if (seconds < MINUTE) return `${Math.floor(seconds)} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h`;
  return `${Math.floor(seconds / DAY)} d`;
}

export function millisecondsText(ms: number): string {
  return ms < UNIT ? `${Math.round(ms)} ms` : `${(ms / UNIT).toFixed(ms < 10 * UNIT ? 2 : 1)} s`;
}

/** The common name of a chain, or its CAIP-2 name. */
export function chainText(chain: string): string {
  return CHAIN_NAMES[chain] ?? chain;
}

export function isSolana(chain: string): boolean {
  return chain.startsWith('solana:');
}

/** `block 12,345`, or the slot on Solana. */
export function blockText(chain: string, block: number): string {
  return `${isSolana(chain) ? 'slot' : 'block'} ${countText(block)}`;
}

/** On Solana, `log_index` counts so many for each transaction of a block (docs/design/solana.md). */
const PLACES_PER_TRANSACTION = 1_024;

/** Where a settlement is in its block: `log 7`; on Solana the transaction and the instruction, counted from 0. */
export function placeText(chain: string, log: number): string {
  if (!isSolana(chain)) return `log ${countText(log)}`;
  const [transaction, instruction] = [Math.floor(log / PLACES_PER_TRANSACTION), log % PLACES_PER_TRANSACTION];
  return `transaction ${countText(transaction)}, instruction ${countText(instruction)}`;
}

// Sums on a page are exact, because they are made of millionths of a dollar: numbers of the API have at most six decimals and are below
// 2^33, where the shortest text of a double is the decimal that was sent (docs/methodology.md, Dollars).

const USD_DECIMALS = 6;
const MICROS_PER_USD = 1_000_000n;

/** A number of the API in millionths of a dollar; nothing for an amount without a dollar value. */
export function microsOf(usd: number | null): bigint {
  if (usd === null) return 0n;
  const [whole = '0', fraction = ''] = plainText(Math.abs(usd)).split('.');
  const micros =
    BigInt(whole) * MICROS_PER_USD + BigInt(fraction.padEnd(USD_DECIMALS, '0').slice(0, USD_DECIMALS));
  return usd < 0 ? -micros : micros;
}

/** Without the exponent that JavaScript writes below 1e-6 and from 1e21 on. */
function plainText(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(USD_DECIMALS) : text;
}

export function usdTextOfMicros(micros: bigint): string {
  const magnitude = micros < 0n ? -micros : micros;
  const fraction = (magnitude % MICROS_PER_USD).toString().padStart(USD_DECIMALS, '0');
  return usdText(`${micros < 0n ? '-' : ''}${magnitude / MICROS_PER_USD}.${fraction}`);
}

const PER_MILLE = 1_000n;

/** A part of a whole in percent with one decimal, rounded down, so that only the whole is `100%`. Null where the whole is 0. */
export function shareText(part: bigint, whole: bigint): string | null {
  if (whole === 0n) return null;
  const tenths = (part * PER_MILLE) / whole;
  if (tenths === 0n && part > 0n) return 'under 0.1%';
  return `${tenths / 10n}.${tenths % 10n}%`.replace('.0%', '%');
}

const WEI_DECIMALS = 18;
const GAS_DECIMALS_SHOWN = 6;

const GAS_SIGNIFICANT = 4;

/** Wei in the coin of the chain, cut to four significant digits below one: `0.0000003859`. */
export function smallCoinText(wei: string): string {
  const text = tokenText(wei, WEI_DECIMALS);
  const [, zeros = '', digits = ''] = /^0\.(0*)([1-9]\d*)$/.exec(text) ?? [];
  return digits === '' ? coinText(wei) : `0.${zeros}${digits.slice(0, GAS_SIGNIFICANT)}`;
}

/** Wei in the coin of the chain, cut to six decimals: `0.183204`. */
export function coinText(wei: string): string {
  const digits = wei.padStart(WEI_DECIMALS + 1, '0');
  const whole = digits.slice(0, -WEI_DECIMALS);
  const fraction = digits
    .slice(-WEI_DECIMALS)
    .slice(0, GAS_DECIMALS_SHOWN)
    .replace(/(?<!0)0+$/, '');
  return groupDigits(fraction === '' ? whole : `${whole}.${fraction}`);
}

/** Atomic units of a token in whole tokens, exactly: `10000` with 6 decimals is `0.01`. */
export function tokenText(atomic: string, decimals: number): string {
  const digits = atomic.padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/(?<!0)0+$/, '');
  return groupDigits(fraction === '' ? whole : `${whole}.${fraction}`);
}
