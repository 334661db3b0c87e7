/** How values are written on every page. Pure: also run by tests outside of a browser. Figures are never rounded unless a name says so. */

/** Thin enough to read, safe to copy: 1,234,567. */
const GROUP = ',';

/** `1234567.50` → `1,234,567.50`. Works on the digits, so that a decimal of any length stays exact. */
export function groupDigits(decimal: string): string {
  const parts = /^([+-]?)(\d+)(\.\d+)?$/.exec(decimal);
  if (parts === null) return decimal;
  const [, sign = '', whole = '', fraction = ''] = parts;
  return `${sign}${whole.replace(/\B(?=(\d{3})+(?!\d))/g, GROUP)}${fraction}`;
}

/** A whole number, grouped. */
/** `1 row`, `2 rows`. */
export function rowsText(count: number): string {
  return `${countText(count)} ${count === 1 ? 'row' : 'rows'}`;
}

export function countText(count: number | string): string {
  return groupDigits(String(count));
}

const CENTS_PLACES = 2;

/**
 * Dollars with every digit that was sent, at least two decimals: `$1,284.03`, `$0.000125`. Numbers of the API have at most six
 * decimals, so up to 15 digits (999 million dollars) a number prints as it was sent; SQL decimals are texts and always do.
 */
export function usdText(usd: number | string): string {
  const decimal = typeof usd === 'number' ? plainDecimal(usd) : usd;
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal);
  if (parts === null) return decimal;
  const [, sign = '', whole = '', fraction = ''] = parts;
  return `${sign}$${groupDigits(whole)}.${fraction.replace(/0+$/, '').padEnd(CENTS_PLACES, '0')}`;
}

const USD_PLACES = 6;

/** 1e-7 and 1e21 are how JavaScript writes small and large numbers; nobody wants to read that. */
function plainDecimal(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  return value.toFixed(USD_PLACES);
}

const UNITS = ['', 'k', 'M', 'B', 'T'] as const;
const UNIT = 1_000;

/** About: 1.23k, 4.5M. For axes and tiles; give the whole figure as `title`. */
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

/** `0x4020…0001`. Show the whole one as `title`: the `Address` component does. */
export function shortAddress(address: string): string {
  return address.length <= 13 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** `2026-11-20T09:15:04Z` → `2026-11-20 09:15:04 UTC`. */
export function timeText(rfc3339: string): string {
  return `${rfc3339.slice(0, 19).replace('T', ' ')} UTC`;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

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

const CHAIN_NAMES: Readonly<Record<string, string>> = {
  'eip155:1': 'Ethereum',
  'eip155:10': 'Optimism',
  'eip155:56': 'BNB Chain',
  'eip155:137': 'Polygon',
  'eip155:8453': 'Base',
  'eip155:42161': 'Arbitrum',
  'eip155:43114': 'Avalanche',
  'eip155:84532': 'Base Sepolia',
  'eip155:80002': 'Polygon Amoy',
};

/** The name people use, or the CAIP-2 name. */
export function chainText(chain: string): string {
  return CHAIN_NAMES[chain] ?? chain;
}
