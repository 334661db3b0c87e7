import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ListedSettlement } from '../../../../clickhouse/tables/settlements.ts';
import type { Position } from '../../../../core/domain/settlement.ts';
import { mergeSlice, type WalletRole, type WalletVersion } from '../../../../src/operations/wallets/slice.ts';
import { settlement } from '../../../kit/rows.ts';

const listed = (logIndex: number, amount = 1n): ListedSettlement => settlement({ logIndex, amount });
const version = (
  logIndex: number,
  ver: number,
  { del = false, role = 'payer' as WalletRole } = {},
): WalletVersion => ({ settlement: listed(logIndex, BigInt(ver)), role, ver: BigInt(ver), del });

describe('mergeSlice', () => {
  test('the newest version of a row decides, in whatever order versions come', () => {
    const { live } = mergeSlice([version(5, 1), version(5, 9), version(5, 4)], { wasFull: false });
    expect(live.map((row) => row.amount)).toEqual([9n]);
  });

  test('a tombstone removes the row, and a later version brings it back', () => {
    expect(mergeSlice([version(5, 1), version(5, 2, { del: true })], { wasFull: false }).live).toEqual([]);
    const back = mergeSlice([version(5, 1), version(5, 2, { del: true }), version(5, 3)], { wasFull: false });
    expect(back.live).toHaveLength(1);
  });

  test('a payment to oneself is one row', () => {
    const both = [version(5, 1, { role: 'payee' }), version(5, 1, { role: 'payer' })];
    expect(mergeSlice(both, { wasFull: false }).live).toHaveLength(1);
  });

  test('the last row of a full read is left for the next slice: its tombstone may lie beyond the cut', () => {
    const cut = mergeSlice([version(7, 1), version(5, 1)], { wasFull: true });
    expect(cut.live.map((row) => row.logIndex)).toEqual([7]);
    expect(cut.resumeBelow).toMatchObject({ logIndex: 7 });
  });

  test('a full read of one row only asks for a larger slice', () => {
    expect(mergeSlice([version(7, 1), version(7, 2)], { wasFull: true })).toEqual({
      live: [],
      resumeBelow: 'larger',
    });
  });
});

/** Reads the log slice by slice as the page does, with slices too small for comfort. */
function readAll(log: readonly WalletVersion[], sliceRows: number): ListedSettlement[] {
  const rows: ListedSettlement[] = [];
  let below: Position | undefined;
  let size = sliceRows;
  for (let guard = 0; guard < 10_000; guard++) {
    const rest = log.filter((entry) => below === undefined || entry.settlement.logIndex < below.logIndex);
    const read = rest.slice(0, size);
    const slice = mergeSlice(read, { wasFull: read.length >= size });
    rows.push(...slice.live);
    if (slice.resumeBelow === 'end') return rows;
    if (slice.resumeBelow === 'larger') size *= 4;
    else below = slice.resumeBelow;
  }
  throw new Error('the log does not end');
}

test('slices of any size give what merging the whole log at once gives', () => {
  const entry = fc.record({
    logIndex: fc.integer({ min: 0, max: 12 }),
    del: fc.boolean(),
    role: fc.constantFrom<WalletRole>('payer', 'payee'),
  });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 60 }), fc.integer({ min: 1, max: 9 }), (entries, sliceRows) => {
      const log = entries
        .map(({ logIndex, del, role }, index) => version(logIndex, index + 1, { del, role }))
        .sort((a, b) => b.settlement.logIndex - a.settlement.logIndex || b.role.localeCompare(a.role));
      const whole = mergeSlice(log, { wasFull: false }).live;
      expect(readAll(log, sliceRows)).toEqual(whole);
    }),
    { numRuns: 500 },
  );
});
