/**
 * How ratings of ERC-8004 agents become a score. The registry stores a number, its decimals and a tag, and no scale: a response time
 * of 653 and a quality of 65 look alike. So a tag's scale is what is written here and never what its values look like: whoever
 * rates cannot change it.
 */

/**
 * tag1 of feedback that rates an agent from 0 to 100: `starred` by the registry's own list of tags, the words in use for the same,
 * and none at all. Compared in lower case. Every other tag is a measure on a scale of its own, and no part of the score.
 */
export const RATING_TAGS = ['', 'starred', 'quality', 'rating', 'score'] as const;

/** A rating outside of it is on another scale, whatever its tag says, and does not count. */
export const RATING_MAX = 100;

/**
 * The score is a Bayesian mean: as if so many clients more had given the middle of the scale. A rating costs only gas, so one
 * client's 100 must stay below many clients' 80, and a hundred ratings by one client are his mean, once.
 */
export const PRIOR_CLIENTS = 5;
export const PRIOR_MEAN = 50;

/** Tags of an agent that keep a score of their own: those that most clients gave. Anybody can invent any number of them. */
export const TAG_SCORES_MAX = 16;

/** Whether feedback of this tag is a rating, if its value is on the scale. */
export function isRatingTag(tag1: string): boolean {
  return (RATING_TAGS as readonly string[]).includes(tag1.toLowerCase());
}

/** Whether a value of so many decimals is on the scale of ratings. */
export function isOnRatingScale(value: bigint, decimals: number): boolean {
  return value >= 0n && value <= BigInt(RATING_MAX) * 10n ** BigInt(decimals);
}
