import type { ListedSettlement } from '../../../clickhouse/tables/settlements.ts';
import type { ChangesPosition, CursorKeys } from '../../../core/domain/cursor.ts';
import type { Position } from '../../../core/domain/settlement.ts';
import type { Snapshot } from '../../../core/domain/snapshot.ts';
import type { OperationDeps } from '../deps.ts';
import type { FinalityFilter } from '../index-state/finality.ts';
import { metaAnswer, settlementMeta } from '../meta.ts';
import { invalid } from '../params.ts';
import { nextBefore, readBefore, SETTLEMENT_CURSOR } from '../walk.ts';
import type { Horizon } from './changes.ts';
import { checkBounds, type FeedFilters } from './filters.ts';
import {
  type ForwardSource,
  forwardAnswer,
  forwardBinding,
  prevAfter,
  readAfter,
  readForward,
} from './forward.ts';
import type { SettlementPage } from './slice-walk.ts';
import type { TailPage, Tails } from './tail.ts';

/** What every list of settlements does with its cursors, in both directions. */

interface Cursors<Before, After> extends FeedFilters {
  readonly before: Before;
  readonly after: After;
  readonly finality: FinalityFilter;
  readonly limit: number;
  readonly as_of: Snapshot | undefined;
}

/** The input with its cursors read. `list` names what a cursor belongs to. */
export function readCursors<Input extends Cursors<string | undefined, string | undefined>>(
  list: string,
  input: Input,
  { cursorKeys }: { readonly cursorKeys: CursorKeys },
) {
  checkBounds(input);
  if (input.as_of !== undefined && input.after !== undefined)
    throw invalid('as_of', 'as_of does not go with after: nothing is ever written to a snapshot.');
  return {
    ...input,
    before: readBefore(SETTLEMENT_CURSOR, { keys: cursorKeys, scope: list }, input.before),
    after: readAfter(forwardBinding(cursorKeys, list, input), input),
  };
}

export interface SettlementDeps extends OperationDeps {
  /** Up to which write everything can be seen; at most a second old. */
  readonly horizon: () => Promise<Horizon>;
  /** The newest settlements in memory. */
  readonly tails: Tails;
}

interface ListedPage {
  /** Rows that were read. */
  readonly rows: readonly ListedSettlement[];
  readonly cursors: ReturnType<typeof forwardAnswer> | BackCursors;
  readonly meta: (
    facts: Parameters<typeof metaAnswer>[0],
    shown: readonly ListedSettlement[],
  ) => ReturnType<typeof settlementMeta>;
}

interface BackCursors {
  readonly next_before: string | null;
  readonly prev_after: string | null;
}

/** A page in the direction that was asked for. */
export async function readPage(
  { reader, cursorKeys, index, horizon: readHorizon }: SettlementDeps,
  list: string,
  input: Cursors<Position | undefined, ChangesPosition | undefined>,
  sides: {
    readonly forward: ForwardSource;
    /** Filters of a page after it was read; reading back leaves them to the caller, whose walk goes on from what was read. */
    readonly isWanted?: (row: ListedSettlement) => boolean;
    readonly back: () => Promise<SettlementPage>;
    /** The page as it is held in memory, in place of `back`. */
    readonly held?: TailPage | undefined;
  },
): Promise<ListedPage> {
  const { after, finality } = input;
  const binding = forwardBinding(cursorKeys, list, input);
  if (after !== undefined) {
    const page = await readForward(reader, sides.forward, { ...input, ...sides, after });
    return {
      rows: page.rows,
      cursors: forwardAnswer(binding, page),
      // That a poll finds nothing is usual: facts about the table would cost it more than the poll.
      meta: (facts, shown) =>
        shown.length > 0 ? settlementMeta(facts, shown, index.dataset) : Promise.resolve(metaAnswer(facts)),
    };
  }
  const { held } = sides;
  // Before the rows: a row that is written during the read is given once more, and no row is missed.
  const horizon = held ?? (input.as_of === undefined ? await readHorizon() : undefined);
  const page = held ?? (await sides.back());
  return {
    rows: page.rows,
    cursors: {
      next_before: nextBefore(SETTLEMENT_CURSOR, { keys: cursorKeys, scope: list }, page.nextBefore),
      prev_after: horizon === undefined ? null : prevAfter(binding, finality, horizon),
    },
    meta: (facts, shown) => settlementMeta(facts, shown, index.dataset),
  };
}

/**
 * Answers about pages that are held in memory: each is made once a second, the resolution of `as_of`, and is one object for all its callers.
 * It lives as long as its page, which is replaced when a row or a chain's status changes.
 */
export function keepAnswers<Answer>(): (
  page: TailPage | undefined,
  nowMs: number,
  make: () => Promise<Answer>,
) => Promise<Answer> {
  const kept = new WeakMap<TailPage, { readonly second: number; readonly answer: Promise<Answer> }>();
  return (page, nowMs, make) => {
    // Facts about the dataset on an empty page change without the page.
    if (page === undefined || page.rows.length === 0) return make();
    const second = Math.floor(nowMs / 1_000);
    const known = kept.get(page);
    if (known?.second === second) return known.answer;
    const answer = make();
    kept.set(page, { second, answer });
    answer.catch(() => kept.delete(page));
    return answer;
  };
}
