/**
 * Reads single fields of an engine row. A field of another shape than the SELECT promises is a bug of ours, so it throws
 * instead of becoming a wrong answer.
 */

export function textField(field: unknown): string {
  if (typeof field !== 'string') throw new TypeError(`expected a text from the engine, got ${typeof field}`);
  return field;
}

/** Counts and block numbers: the engine quotes 64-bit integers, ours stay below 2^53. */
export function integerField(field: unknown): number {
  const value = typeof field === 'string' && field !== '' ? Number(field) : field;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw new TypeError(`expected an integer from the engine, got ${String(field).slice(0, 40)}`);
  }
  return value;
}

export function numberField(field: unknown): number {
  const value = typeof field === 'string' && field !== '' ? Number(field) : field;
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new TypeError(`expected a number from the engine, got ${String(field).slice(0, 40)}`);
  }
  return value;
}

export function bigintField(field: unknown): bigint {
  return BigInt(textField(field));
}
