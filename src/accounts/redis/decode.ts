/** Redis answers text, null, or a list of these. Anything else means that another program wrote under the prefix. */
export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw unreadable();
  return value;
}

export function numberOf(value: unknown): number {
  const number = Number(textOf(value));
  if (!Number.isFinite(number)) throw unreadable();
  return number;
}

export function nullable<T>(decode: (value: unknown) => T, value: unknown): T | null {
  return value === null || value === undefined ? null : decode(value);
}

export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw unreadable();
  return value;
}

export function oneOf<const T extends string>(words: readonly T[], value: unknown): T {
  const found = words.find((candidate) => candidate === value);
  if (found === undefined) throw unreadable();
  return found;
}

/** Fields and values in turn, as HGETALL answers inside a script. */
export function fieldsOf(value: unknown): ReadonlyMap<string, string> {
  const flat = listOf(value).map(textOf);
  const fields = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) fields.set(flat[i] ?? '', flat[i + 1] ?? '');
  return fields;
}

function unreadable(): Error {
  return new Error('the control store holds a record that cannot be read');
}
