import type { RefusalCode } from '../../sandbox/judge/refusal.ts';

/**
 * A line of a file of this folder: an attack on the SQL sandbox and how each of the two walls must take it. The first wall is `inspect`:
 * it refuses with the code; or accepts a `harmless` text, for the reason given; or accepts a `bounded` one, which must end by its
 * limits. `%FILE%`, `%OUT%` and `%DB%` stand for a secret file, a file that must never come to be, and the database of the raw tables.
 */
export interface AttackLine {
  readonly refused?: RefusalCode;
  readonly harmless?: string;
  readonly bounded?: true;
  /** Where it is absent: `denied` where the first wall refuses, else as the first wall has it. */
  readonly raw?: RawOutcome;
  readonly what: string;
  readonly sql: string;
  readonly params?: Readonly<Record<string, string>>;
}

/**
 * The second wall: what the guest's rights and limits make of the same text when it reaches the engine unread.
 *
 * - denied: the engine refuses: no grant, read-only, not parsed, or disabled.
 * - harmless: it runs, on nothing but public data and constants.
 * - bounded: it runs into the limits of the profile.
 * - unstoppable: it runs on past its limits until the engine is started anew. Only the first wall stops it, so it is not tried raw.
 * - tells: functions need no grant, so it gives away facts about the server or the definition of our views, but no data.
 * - reads_files: it calls the scalar function file(), which needs no grant. The walls around the engine's process let it open nothing but
 *   the engine's own files (clickhouse/embedded/walls.ts).
 */
export type RawOutcome = 'denied' | 'harmless' | 'bounded' | 'unstoppable' | 'tells' | 'reads_files';
