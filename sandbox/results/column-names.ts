/** Names of a result's columns. A statement of 64 KiB can have thousands: each function reads them once. */

/**
 * The names, made unique: a repeated one gets the first number from 2 on that is free (`n`, `n_2`). An object, and a file of
 * columns, hold a name once.
 */
export function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  const numbers = new Map<string, number>();
  return names.map((name) => {
    let number = numbers.get(name) ?? 1;
    let shown = name;
    while (taken.has(shown)) {
      number += 1;
      shown = `${name}_${number}`;
    }
    numbers.set(name, number);
    taken.add(shown);
    return shown;
  });
}

/** The first name that was there before; undefined where all differ. */
export function repeatedName(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => {
    if (seen.has(name)) return true;
    seen.add(name);
    return false;
  });
}
