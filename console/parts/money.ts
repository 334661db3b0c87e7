import { groupDigits, usdText } from '../format.ts';

/**
 * Dollars in millionths, so that sums on a page are exact. The wire's numbers have at most six decimals and are below 2^33, where
 * the shortest text of a double is the decimal that was sent (docs/methodology.md, Dollars).
 */

const USD_DECIMALS = 6;
const MICROS_PER_USD = 1_000_000n;

/** Millionths of a dollar of a wire number. */
export function microsOf(usd: number): bigint {
  const [whole = '0', fraction = ''] = plainText(Math.abs(usd)).split('.');
  const micros =
    BigInt(whole) * MICROS_PER_USD + BigInt(fraction.padEnd(USD_DECIMALS, '0').slice(0, USD_DECIMALS));
  return usd < 0 ? -micros : micros;
}

/** Without an exponent: JavaScript writes one below 1e-6 and from 1e21 on. */
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

/** A part of a whole in percent with one decimal, rounded down: `100 %` is all of it and nothing less. Null of nothing. */
export function shareText(part: bigint, whole: bigint): string | null {
  if (whole === 0n) return null;
  const tenths = (part * PER_MILLE) / whole;
  if (tenths === 0n && part > 0n) return 'under 0.1 %';
  return `${tenths / 10n}.${tenths % 10n} %`.replace('.0 %', ' %');
}

const WEI_DECIMALS = 18;
const GAS_DECIMALS_SHOWN = 6;

/** Wei as a text in the chain's coin, cut to six decimals: `0.183204`. */
export function coinText(wei: string): string {
  const digits = wei.padStart(WEI_DECIMALS + 1, '0');
  const whole = digits.slice(0, -WEI_DECIMALS);
  const fraction = digits.slice(-WEI_DECIMALS).slice(0, GAS_DECIMALS_SHOWN).replace(/0+$/, '');
  return groupDigits(fraction === '' ? whole : `${whole}.${fraction}`);
}
