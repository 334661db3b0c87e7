import type { FetchProblem } from '../fetch/document-fetcher.ts';
import type { AskProblem } from '../grading/ask-facilitator.ts';

/** A listing as it is being read: what a source publishes, handed on piece by piece, and how the reading ended. */

/** What the reading of a list can end with, beside what the asking can. */
export const LISTING_PROBLEMS = {
  no_listing: 'The host answers, and publishes no list.',
  not_json: 'The answer is no JSON.',
  not_a_list: 'The answer holds no list of resources.',
  ended_early: 'The list ended before the number of resources that it states.',
  repeats_itself: 'A page came a second time: the host does not turn pages.',
  too_many_items: 'The list is longer than is read.',
} as const;

/** Why a source was not read to its end; a code that may be stored, logged and shown. */
export type ListingProblem = keyof typeof LISTING_PROBLEMS | AskProblem | FetchProblem;

export interface ListingOutcome {
  /** Null for a source that answered to the end. */
  readonly problem: ListingProblem | null;
  /** Whether everything that it lists was seen: only then may anything be missed. */
  readonly isWhole: boolean;
}

/** Takes items in the order of the listing; resolves when they are safe, so that no more than a page is ever held. */
export type TakeItems = (items: readonly unknown[]) => Promise<void>;

export function partly(problem: ListingProblem): ListingOutcome {
  return { problem, isWhole: false };
}

export const WHOLE: ListingOutcome = { problem: null, isWhole: true };
