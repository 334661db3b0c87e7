import type { Flows, Settlement } from '../wire.ts';

/** The newest settlements, kept up to date with the `after` cursor. Pure, so that tests can run it outside a browser. */

export interface LiveCopy {
  /** Newest first, at most `most`. */
  readonly rows: readonly Settlement[];
  /** Older settlements are not in the list; null where it holds all there are. */
  readonly floor: Settlement | null;
  /** To send as `after`; null where the list cannot be read forward. */
  readonly after: string | null;
  /** Whether more was written than the last answer holds. */
  readonly hasMore: boolean;
  /** Keys of the rows that the last answer brought; none in the first copy. */
  readonly added: ReadonlySet<string>;
  readonly meta: Flows['meta'];
}

/** Chain, transaction and the log index of its transfer identify a settlement. */
export function settlementKey({
  chain,
  tx_hash,
  log_index,
}: Pick<Settlement, 'chain' | 'tx_hash' | 'log_index'>): string {
  return `${chain}/${tx_hash}/${log_index}`;
}

/** The copy that the newest page gives. */
export function firstCopy({ flows, next_before: next, prev_after: after, meta }: Flows): LiveCopy {
  const floor = next === null ? null : (flows.at(-1) ?? null);
  return { rows: flows, floor, after, hasMore: false, added: new Set(), meta };
}

/**
 * The copy with the changes: settlements that are gone are removed, changed ones replaced, new ones added. A settlement that lies below
 * the list, which happens when an old one was graded again, stays out of it.
 */
export function forwardCopy(before: LiveCopy, answer: Flows, most: number): LiveCopy {
  const rows = new Map(before.rows.map((row) => [settlementKey(row), row]));
  for (const gone of answer.retracted ?? []) rows.delete(settlementKey(gone));
  const added = new Set<string>();
  for (const row of answer.flows) {
    const key = settlementKey(row);
    const isListed = rows.has(key);
    if (!isListed && before.floor !== null && byNewest(row, before.floor) > 0) continue;
    if (!isListed) added.add(key);
    rows.set(key, row);
  }
  const sorted = [...rows.values()].sort(byNewest);
  const shown = sorted.slice(0, most);
  return {
    rows: shown,
    floor: shown.length < sorted.length ? (shown.at(-1) ?? null) : before.floor,
    after: answer.prev_after,
    hasMore: answer.has_more ?? false,
    added,
    meta: answer.meta,
  };
}

/** Of rows that were read forward, those above a list whose first row is given. Changed rows of its middle do not count. */
export function newerThan(first: Settlement | undefined, rows: readonly Settlement[]): readonly Settlement[] {
  return first === undefined ? rows : rows.filter((row) => byNewest(row, first) < 0);
}

/** The order of the API: time, chain, block, log; the newest first. */
function byNewest(a: Settlement, b: Settlement): number {
  if (a.block_time !== b.block_time) return a.block_time > b.block_time ? -1 : 1;
  if (a.chain !== b.chain) return a.chain > b.chain ? -1 : 1;
  return b.block_number - a.block_number || b.log_index - a.log_index;
}
