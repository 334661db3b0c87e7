import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fieldOf, isObject, listOf, parseJson } from '../fetch/document.ts';
import { askFacilitator, type FacilitatorAnswer } from '../fetch/facilitator.ts';
import { type ListingOutcome, type ListingProblem, partly, type TakeItems } from './list.ts';

/**
 * Pages through `GET <facilitator>/discovery/resources` (x402 Bazaar). The list changes while it is read, and the server may be broken
 * or hostile: every loop ends, every page is bounded, and a reading counts as complete only if it cannot have missed anything.
 */

export interface BazaarLimits {
  readonly pageItems: number;
  readonly pageBytes: number;
  readonly pageTimeoutMs: number;
  /** Pauses before each retry of a page: one attempt more than there are pauses. */
  readonly retryPausesMs: readonly number[];
  /** Upper bound for a `Retry-After`. */
  readonly retryAfterMaxMs: number;
  /** Pause between pages: a long list takes minutes, without straining its server. */
  readonly pauseMs: number;
  readonly pagesMax: number;
  readonly itemsMax: number;
  readonly totalMs: number;
}

/** The largest catalogue known has some 100,000 endpoints; an item with its schemas takes a few kB. */
export const BAZAAR_LIMITS: BazaarLimits = {
  pageItems: 100,
  pageBytes: 8_000_000,
  pageTimeoutMs: 20_000,
  retryPausesMs: [1_000, 5_000, 20_000],
  retryAfterMaxMs: 60_000,
  pauseMs: 200,
  pagesMax: 5_000,
  itemsMax: 250_000,
  totalMs: 2_400_000,
};

interface Page {
  readonly items: readonly unknown[];
  /** How many resources there are; null where the answer does not say. */
  readonly total: number | null;
  /** Whether the answer speaks of pages at all. */
  readonly isPaged: boolean;
  /** Rows that the server gives on a page. */
  readonly size: number;
}

interface Bounds {
  readonly limits: BazaarLimits;
  readonly signal: AbortSignal;
}

/** Problems for which a retry may succeed. */
const PASSING: ReadonlySet<ListingProblem> = new Set(['unreachable', 'timeout', 'refused']);
/** What a facilitator without a bazaar answers. */
const NOTHING_THERE: readonly (number | null)[] = [404, 405, 410, 501];

/** Throws only when `signal` aborts, and what `take` throws. */
export async function readBazaar(
  url: string,
  take: TakeItems,
  { limits, signal }: Bounds,
): Promise<ListingOutcome> {
  const deadline = AbortSignal.timeout(limits.totalMs);
  try {
    return await readPages(url, take, { limits, signal: AbortSignal.any([signal, deadline]) });
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.aborted && error === deadline.reason) return partly('timeout');
    if (deadline.aborted && error instanceof Error && error.name === 'AbortError') return partly('timeout');
    throw error;
  }
}

async function readPages(url: string, take: TakeItems, bounds: Bounds): Promise<ListingOutcome> {
  const { limits, signal } = bounds;
  const seen = createPageWatch();
  let offset = 0;
  for (let pages = 0; pages < limits.pagesMax && offset < limits.itemsMax; pages++) {
    if (pages > 0) await delay(limits.pauseMs, undefined, { signal });
    const page = await askPage(url, offset, bounds);
    if (typeof page === 'string') return partly(page);
    // An answer without pages that comes a second time was the whole list.
    if (seen.isRepeated(page)) return page.isPaged ? partly('repeats_itself') : seen.whole();
    await take(page.items.slice(0, limits.itemsMax - offset));
    offset += page.items.length;
    const end = endOf(page, offset);
    if (end === 'whole') return seen.whole();
    if (end === 'early') return partly('ended_early');
  }
  return partly('too_many_items');
}

/** Detects repeated pages and a list that shrank. */
function createPageWatch() {
  const marks = new Set<string>();
  let totalBefore = 0;
  let mayHaveMissed = false;
  return {
    isRepeated(page: Page): boolean {
      // Removals at the front moved the rest up: as many items may have been skipped between two pages.
      if (page.total !== null && page.total < totalBefore) mayHaveMissed = true;
      totalBefore = page.total ?? 0;
      if (page.items.length === 0) return false;
      const mark = markOf(page.items);
      if (marks.has(mark)) return true;
      marks.add(mark);
      return false;
    },
    whole: (): ListingOutcome => ({ problem: null, isWhole: !mayHaveMissed }),
  };
}

/** `early`: the answers ended although the list announced more. */
function endOf({ items, total, isPaged, size }: Page, offset: number): 'whole' | 'early' | 'no' {
  if (total !== null && offset >= total) return 'whole';
  if (items.length === 0) return total === null ? 'whole' : 'early';
  if (total !== null) return 'no';
  return items.length < size || (!isPaged && items.length > size) ? 'whole' : 'no';
}

/** A page, or why there is none after all attempts. */
async function askPage(
  url: string,
  offset: number,
  { limits, signal }: Bounds,
): Promise<Page | ListingProblem> {
  for (let tries = 0; ; tries++) {
    const answer = await askFacilitator(
      {
        url,
        path: 'discovery/resources',
        query: { type: 'http', limit: String(limits.pageItems), offset: String(offset) },
        maxBytes: limits.pageBytes,
        timeoutMs: limits.pageTimeoutMs,
      },
      signal,
    );
    const page = pageOf(answer, limits);
    // If nothing has been read yet the whole list is retried later; a half-read list would have to start again.
    const pauseMs = offset === 0 ? undefined : limits.retryPausesMs[tries];
    if (typeof page !== 'string' || !PASSING.has(page) || pauseMs === undefined) return page;
    const asked = answer.ok ? 0 : (answer.retryAfterMs ?? 0);
    await delay(Math.max(pauseMs, Math.min(asked, limits.retryAfterMaxMs)), undefined, { signal });
  }
}

function pageOf(answer: FacilitatorAnswer, limits: BazaarLimits): Page | ListingProblem {
  if (!answer.ok) return NOTHING_THERE.includes(answer.status) ? 'no_listing' : answer.problem;
  const body = parseJson(answer.text);
  if (body === undefined) return 'not_json';
  const items = Array.isArray(body) ? body : (fieldOf(body, 'items') ?? fieldOf(body, 'resources'));
  if (!Array.isArray(items)) return 'not_a_list';
  const pagination = fieldOf(body, 'pagination');
  return {
    items: listOf(items),
    total: countOf(fieldOf(pagination, 'total')),
    isPaged: isObject(pagination),
    size: countOf(fieldOf(pagination, 'limit')) ?? limits.pageItems,
  };
}

function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** Identifies a page by its content: a repeated page means that the server ignores paging. */
function markOf(items: readonly unknown[]): string {
  const names = items.map((item) => fieldOf(item, 'resource') ?? null);
  return createHash('sha256').update(JSON.stringify(names)).digest('base64');
}
