import { describe, expect, it } from 'vitest';
import { firstCopy, forwardCopy, newerThan, settlementKey } from '../../../console/flow/live-copy.ts';
import type { Flows, Settlement } from '../../../console/wire.ts';
import { wireSettlement } from '../../kit/wire-settlements.ts';

const meta = { chain: null, as_of: '2026-11-20T09:15:00Z', snapshot: null, freshness: { chains: [] } };
const MOST = 3;

function page(flows: Flows['flows'], fields: Partial<Flows> = {}): Flows {
  return { flows: [...flows], next_before: 'older', prev_after: 'cursor-1', meta, ...fields };
}

const newestFirst = [5, 4, 3].map((at) => wireSettlement(at));
const blocks = (rows: readonly Settlement[]): number[] => rows.map(({ block_number: block }) => block);

describe('a live copy of the newest settlements', () => {
  it('takes over new rows, newest first, and keeps as many rows as it shows', () => {
    const first = firstCopy(page(newestFirst));
    expect(first.added.size).toBe(0);
    // Read forward, the API sends the oldest first.
    const answer = page([wireSettlement(6), wireSettlement(7)], { prev_after: 'cursor-2' });
    const next = forwardCopy(first, answer, MOST);
    expect(blocks(next.rows)).toEqual([7, 6, 5]);
    expect([...next.added]).toEqual([6, 7].map((at) => settlementKey(wireSettlement(at))));
    expect([next.after, next.hasMore]).toEqual(['cursor-2', false]);
  });

  it('drops what a reorg took, and shows the settlement that came in its place', () => {
    const gone = wireSettlement(5);
    const retracted = [{ chain: gone.chain, tx_hash: gone.tx_hash, log_index: gone.log_index }];
    const other = wireSettlement(5, { tx_hash: `0x${'f'.repeat(64)}` });
    const next = forwardCopy(firstCopy(page(newestFirst)), page([other], { retracted }), MOST);
    expect(next.rows.map(({ tx_hash: hash }) => hash)).toEqual([
      other.tx_hash,
      ...newestFirst.slice(1).map(({ tx_hash: hash }) => hash),
    ]);
  });

  it('replaces a settlement that was graded again, and does not call it new', () => {
    const graded = wireSettlement(4, { facilitator: 'second' });
    const next = forwardCopy(firstCopy(page(newestFirst)), page([graded]), MOST);
    expect(next.rows[1]?.facilitator).toBe('second');
    expect(next.added.size).toBe(0);
  });

  it('leaves out an old settlement that was graded again: there would be a gap above it', () => {
    const first = firstCopy(page(newestFirst));
    expect(blocks(forwardCopy(first, page([wireSettlement(1)]), MOST).rows)).toEqual([5, 4, 3]);
    const retracted = newestFirst.slice(0, 1);
    expect(blocks(forwardCopy(first, page([wireSettlement(1)], { retracted }), MOST).rows)).toEqual([4, 3]);
  });

  it('takes over an old settlement where the list holds all there are', () => {
    const first = firstCopy(page(newestFirst.slice(0, 1), { next_before: null }));
    expect(blocks(forwardCopy(first, page([wireSettlement(1)]), MOST).rows)).toEqual([5, 1]);
  });

  it('counts as newer what lies above the first row, not changes below', () => {
    expect(
      blocks(
        newerThan(
          newestFirst[0],
          [4, 5, 6].map((at) => wireSettlement(at)),
        ),
      ),
    ).toEqual([6]);
    expect(newerThan(undefined, newestFirst)).toHaveLength(3);
  });
});
