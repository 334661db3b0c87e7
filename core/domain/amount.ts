import type { TokenFacts } from './chains.ts';

/** Dollars are counted in millionths: exact, and the precision of the stablecoins that x402 settles in. */
export const USD_DECIMALS = 6;

/** The largest dollar amount a row can hold, in millionths: `Decimal(18,6)` in the engine. */
export const USD_MICROS_MAX = 10n ** 18n - 1n;

/** Below this the JSON number is exact: above 2^33 dollars a double is coarser than 1e-6. */
export const USD_EXACT_BELOW_MICROS = 2n ** 33n * 1_000_000n;

/**
 * The dollar value of an atomic amount, in millionths of a dollar, rounded down; null for a token of another currency without a rate.
 * The face value of a dollar token on purpose: the index reports what was authorised, not the token's market price on that day.
 */
export function usdMicros(amount: bigint, token: ValuedToken): bigint | null {
  const ratio = usdRatio(token);
  return ratio === null ? null : (amount * ratio.micros) / ratio.units;
}

/** `units` atomic units of a token are worth `micros` millionths of a dollar; null without a dollar value. */
export function usdRatio(token: ValuedToken): { readonly micros: bigint; readonly units: bigint } | null {
  if (!isValued(token)) return null;
  const [rate, rateDecimals] = token.usdRate === undefined ? [1n, 0] : scaled(token.usdRate.usd);
  const excess = token.decimals + rateDecimals - USD_DECIMALS;
  return excess >= 0
    ? { micros: rate, units: 10n ** BigInt(excess) }
    : { micros: rate * 10n ** BigInt(-excess), units: 1n };
}

/** What of a token decides the value of its amounts. */
export type ValuedToken = Pick<TokenFacts, 'decimals' | 'currency' | 'usdRate'>;

/** Whether amounts of a token have a dollar value. */
export function isValued({ currency, usdRate }: Pick<ValuedToken, 'currency' | 'usdRate'>): boolean {
  return currency === USD_CURRENCY || usdRate !== undefined;
}

/** ISO 4217. */
export const USD_CURRENCY = 'USD';

/** The digits of a decimal number as an integer, and how many of them are behind the point. */
function scaled(decimal: string): readonly [bigint, number] {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return [BigInt(whole + fraction), fraction.length];
}

/** Reads the engine's decimal text (`"12.5"`, `"-0.000001"`) into millionths. */
export function microsFromDecimal(text: string): bigint {
  const negative = text.startsWith('-');
  const [whole = '0', fraction = ''] = (negative ? text.slice(1) : text).split('.');
  const micros =
    BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(USD_DECIMALS, '0').slice(0, USD_DECIMALS));
  return negative ? -micros : micros;
}

/**
 * The JSON number of a dollar amount, with at most six decimals. Sums are made in bigint before; this is the last step.
 * Exact below `USD_EXACT_BELOW_MICROS`: there the shortest decimal that names the double is the amount itself.
 */
export function usdNumber(micros: bigint): number {
  const whole = micros / 1_000_000n;
  const rest = micros % 1_000_000n;
  if (rest === 0n) return Number(whole);
  const sign = micros < 0n ? '-' : '';
  const magnitude = micros < 0n ? -micros : micros;
  return Number(
    `${sign}${magnitude / 1_000_000n}.${(magnitude % 1_000_000n).toString().padStart(USD_DECIMALS, '0')}`,
  );
}
