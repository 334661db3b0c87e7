import { UserError } from '../../../core/user-error.ts';

/** Reads a whole number of a command line, or throws `UserError` with the range. */
export function wholeNumber(
  name: string,
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UserError(`${name} takes a whole number from ${min} to ${max}, not "${text}".`);
}
