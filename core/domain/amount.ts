/** Dollars are counted in millionths: exact, and the precision of the stablecoins that x402 settles in. */
export const USD_DECIMALS = 6;

/** The largest dollar amount a row can hold, in millionths: `Decimal(18,6)` in the engine. */
export const USD_MICROS_MAX = 10n ** 18n - 1n;

/** Below this the JSON number is exact: above 2^33 dollars a double is coarser than 1e-6. */
export const USD_EXACT_BELOW_MICROS = 2n ** 33n * 1_000_000n;

/**
 * The face value of an atomic amount of a dollar stablecoin, in millionths of a dollar, rounded down.
 * Face value on purpose: the index reports what was authorised, not the token's market price on that day.
 */
export function usdMicros(amount: bigint, decimals: number): bigint {
  if (decimals === USD_DECIMALS) return amount;
  if (decimals > USD_DECIMALS) return amount / 10n ** BigInt(decimals - USD_DECIMALS);
  return amount * 10n ** BigInt(USD_DECIMALS - decimals);
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
