import type { RefusalCode } from '../../sandbox/judge/refusal.ts';

/**
 * An attack on the SQL sandbox and how each of the two walls must take it. The first wall is `inspect`; the second is what the
 * engine lets the guest user do when the same text reaches it unread. `%FILE%`, `%OUT%` and `%DB%` stand for a secret file, a
 * file that must never come to be, and the database of the raw tables.
 */
export interface Attack {
  readonly what: string;
  readonly sql: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly expect: Expectation;
  readonly raw: RawOutcome;
}

export type Expectation =
  | { readonly outcome: 'refused'; readonly code: RefusalCode }
  /** Accepted, and must end by its limits: a typed error, or a result of modest size. */
  | { readonly outcome: 'bounded' }
  /** Accepted; what it answers is public, and `because` says why. */
  | { readonly outcome: 'harmless'; readonly because: string };

/** What the guest's rights and limits make of the text alone, and why that is tolerable where it is not an error. */
export const RAW_OUTCOMES = {
  denied: 'The engine refuses: no grant, read-only, not parsed, or disabled.',
  harmless: 'It runs, on nothing but public data and constants.',
  bounded: 'It runs into the limits of the profile.',
  unstoppable:
    'It runs on past its limits until the engine is started anew: only the first wall stops it, so it is not tried raw.',
  tells:
    'Functions need no grant: it gives away facts about the server or the definition of our views, but no data.',
  reads_files:
    'It calls the scalar function file(), which needs no grant. The walls around the engine’s process let it open nothing but the engine’s own files (clickhouse/embedded/walls.ts).',
} as const;
export type RawOutcome = keyof typeof RAW_OUTCOMES;

/** Backslashes as they are written. */
export const sql = String.raw;

type Params = Readonly<Record<string, string>>;

export function refused(
  code: RefusalCode,
  what: string,
  text: string,
  raw: RawOutcome = 'denied',
  params?: Params,
): Attack {
  return { what, sql: text, expect: { outcome: 'refused', code }, raw, ...(params && { params }) };
}

export function harmless(
  what: string,
  because: string,
  text: string,
  raw: RawOutcome = 'harmless',
  params?: Params,
): Attack {
  return { what, sql: text, expect: { outcome: 'harmless', because }, raw, ...(params && { params }) };
}

export function bounded(what: string, text: string): Attack {
  return { what, sql: text, expect: { outcome: 'bounded' }, raw: 'bounded' };
}
