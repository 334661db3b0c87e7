/** The facts of an answer, in a form in which answers of both stores can be compared. */
export interface Facts {
  /** Must be equal, key by key. */
  readonly exact: Readonly<Record<string, string>>;
  /** Counts that we estimate where PostgreSQL counts. */
  readonly about?: Readonly<Record<string, number>>;
}

/** Four standard errors of the estimate (1.6 % with 2^12 registers). */
const ESTIMATE_TOLERANCE = 0.065;
/** Small sets are kept one by one, yet two of their hashes may meet. */
const ESTIMATE_SLACK = 1;

/** A fast wrong answer is no result. */
export function requireSameFacts(question: string, ours: Facts, theirs: Facts): void {
  const keys = new Set([...Object.keys(ours.exact), ...Object.keys(theirs.exact)]);
  for (const key of keys) {
    if (ours.exact[key] !== theirs.exact[key])
      throw new Error(`${question}: ${key} is ${ours.exact[key]}, PostgreSQL says ${theirs.exact[key]}`);
  }
  for (const [key, value] of Object.entries(theirs.about ?? {})) {
    const off = Math.abs((ours.about?.[key] ?? Number.NaN) - value);
    if (!(off <= value * ESTIMATE_TOLERANCE + ESTIMATE_SLACK))
      throw new Error(`${question}: ${key} is about ${ours.about?.[key]}, PostgreSQL says ${value}`);
  }
}

/** Dollars as the API prints them, in micros; exact below nine billion dollars. */
export function micros(usd: number): string {
  return String(Math.round(usd * 1e6));
}

/** A list of lists as one comparable text per position. */
export function listed(
  name: string,
  rows: readonly (readonly (string | number)[])[],
): Record<string, string> {
  return Object.fromEntries([
    [`${name} count`, String(rows.length)],
    ...rows.map((row, index) => [`${name} ${index}`, row.join(' ')] as const),
  ]);
}
