/** What a key may do to what its organization keeps and shows, beyond reading and spending. */
export const KEY_RIGHTS = ['changes', 'publishes', 'schedules'] as const;
export type KeyRight = (typeof KEY_RIGHTS)[number];

/**
 * What a call can do. `reads`: answers from the index, about the key itself, and about a result whose id the caller has. `spends`: draws
 * units, or stops what draws them. `keeps`: shows, adds to or takes from what the organization keeps: its history, jobs, saved queries.
 * `manages`: makes and changes keys and the handle, which takes a key that manages keys. The others take that right.
 */
export type Effect = 'reads' | 'spends' | 'keeps' | 'manages' | KeyRight;

/** Each right in words, for documentation. */
export const KEY_RIGHT_TEXTS: Readonly<Record<KeyRight, string>> = {
  changes: 'saves queries of the organization and removes them',
  publishes: 'shows saved queries and results to others, and prices the queries',
  schedules: 'has saved queries run again by themselves',
};

/** The facts of a key that its rights follow from. */
interface RightsOf {
  readonly kind: 'live' | 'trial';
  readonly expiresAtMs: number | null;
  readonly limits?: {
    readonly unitsPerDay: number | null;
    readonly operations: readonly string[] | null;
    readonly rights?: readonly KeyRight[] | null;
  };
}

/**
 * Those that the key was given; a key that was given none by name has all of them, unless it is limited or expires: its effects would
 * outlive it.
 */
export function rightsOf({ kind, expiresAtMs, limits }: RightsOf): readonly KeyRight[] {
  if (kind === 'trial') return [];
  const given = limits?.rights ?? null;
  if (given !== null) return given;
  const isUnlimited =
    expiresAtMs === null && (limits?.unitsPerDay ?? null) === null && (limits?.operations ?? null) === null;
  return isUnlimited ? KEY_RIGHTS : [];
}
