import { describe, expect, it } from 'vitest';
import { columnHeight, piecesOf, slotsOf, walletGraphOf } from '../../../console/parts/picture-layout.ts';

describe('pictures', () => {
  it('slots share a column in proportion, never overlap, and grow it when the least does not fit', () => {
    const slots = slotsOf([3, 1], { height: 100, gap: 4, least: 8 });
    expect(slots).toEqual([
      { top: 0, height: 68 },
      { top: 72, height: 28 },
    ]);
    expect(columnHeight(slotsOf([1, 1, 1], { height: 10, gap: 2, least: 20 }))).toBe(64);
    expect(slotsOf([0, 0], { height: 50, gap: 0, least: 10 }).map(({ height }) => height)).toEqual([10, 10]);
    expect(columnHeight(slotsOf([], { height: 50, gap: 2, least: 10 }))).toBe(0);
  });

  it('the pieces of a slot fill it exactly', () => {
    const pieces = piecesOf({ top: 5, height: 20 }, [1, 3]);
    expect(pieces).toEqual([
      { top: 5, height: 5 },
      { top: 10, height: 15 },
    ]);
  });

  it('a wallet that pays and is paid stands on both sides of the graph, the rest beyond ten is counted', () => {
    const [center, other] = [addressOf(1), addressOf(2)];
    const edges = [
      {
        payer: other,
        payee: center,
        usd: 5,
        count: 2,
        first_seen: '2026-11-20T09:15:01Z',
        last_seen: '2026-11-20T09:15:01Z',
      },
      {
        payer: center,
        payee: other,
        usd: 1,
        count: 1,
        first_seen: '2026-11-20T09:15:01Z',
        last_seen: '2026-11-20T09:15:01Z',
      },
      ...Array.from({ length: 12 }, (_, at) => ({
        payer: addressOf(10 + at),
        payee: center,
        usd: 0.5,
        count: 1,
        first_seen: '2026-11-20T09:15:01Z',
        last_seen: '2026-11-20T09:15:01Z',
      })),
    ];
    const picture = walletGraphOf(center, { nodes: [], edges });
    expect(picture.payees.map(({ wallet }) => wallet)).toEqual([other]);
    expect(picture.payers[0]?.wallet).toBe(other);
    expect(picture.payers).toHaveLength(10);
    expect(picture.hiddenPayers).toBe(3);
    for (const { slot } of [...picture.payers, ...picture.payees]) {
      expect(slot.top).toBeGreaterThanOrEqual(0);
      expect(slot.top + slot.height).toBeLessThanOrEqual(picture.height);
    }
  });
});

function addressOf(at: number): string {
  return `0x${at.toString(16).padStart(40, '0')}`;
}
