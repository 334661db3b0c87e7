/** Dollars as exact numbers of micros: a cap is compared, never rounded. */

const MICRO_DIGITS = 6;
const USD = /^(\d{1,12})(?:\.(\d{1,6}))?$/;

/** Micros of a dollar. Throws a `TypeError` that names the option for anything but a decimal text such as `'0.05'`. */
export function usdMicros(option: string, text: string): bigint {
  const [matched, whole, fraction = ''] = USD.exec(text) ?? [];
  if (matched === undefined || whole === undefined)
    throw new TypeError(`${option} must be dollars as a decimal text, such as '0.05'`);
  return BigInt(whole) * 10n ** BigInt(MICRO_DIGITS) + BigInt(fraction.padEnd(MICRO_DIGITS, '0'));
}

/** Micros of an amount in atomic units, rounded up; null for what is no amount. */
export function microsOfAtoms(atoms: unknown, decimals: number): bigint | null {
  if (typeof atoms !== 'string' || !/^\d{1,78}$/.test(atoms)) return null;
  const scale = 10n ** BigInt(decimals);
  return (BigInt(atoms) * 10n ** BigInt(MICRO_DIGITS) + scale - 1n) / scale;
}

/** `30000n` is `'0.03'`. */
export function usdText(micros: bigint): string {
  const scale = 10n ** BigInt(MICRO_DIGITS);
  const fraction = String(micros % scale)
    .padStart(MICRO_DIGITS, '0')
    .replace(/0+$/, '');
  return `${micros / scale}${fraction === '' ? '' : `.${fraction}`}`;
}
