import { describe, expect, it } from 'vitest';
import {
  columnHeight,
  flowPictureOf,
  piecesOf,
  slotsOf,
  walletGraphOf,
} from '../../../console/parts/picture-layout.ts';
import type { Settlement } from '../../../console/wire.ts';

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

  it('every settlement is in the picture of the flow once on each side, the smallest parties added up', () => {
    const rows = Array.from({ length: 30 }, (_, at) => settlement(at));
    const { payers, facilitators, payees, inflows, outflows } = flowPictureOf(rows);
    for (const column of [payers, facilitators, payees]) {
      expect(column.reduce((sum, { count }) => sum + count, 0)).toBe(30);
      expect(column.reduce((sum, { usdMicros }) => sum + usdMicros, 0n)).toBe(465_000_000n);
    }
    expect(payees).toHaveLength(7);
    expect(payees.at(-1)).toMatchObject({ id: '', label: '24 others' });
    const thickness = (links: typeof inflows): number =>
      links.reduce((sum, { from }) => sum + from.height, 0);
    expect(thickness(inflows)).toBeCloseTo(payers.reduce((sum, { slot }) => sum + slot.height, 0));
    expect(thickness(outflows)).toBeCloseTo(facilitators.reduce((sum, { slot }) => sum + slot.height, 0));
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

function settlement(at: number): Settlement {
  return {
    chain: 'eip155:8453',
    block_number: at,
    block_time: '2026-11-20T09:15:01Z',
    tx_hash: `0x${at.toString(16).padStart(64, '0')}`,
    log_index: 0,
    payer: addressOf(at % 3),
    payee: addressOf(100 + at),
    asset: addressOf(9),
    asset_symbol: 'USDC',
    decimals: 6,
    amount: String((at + 1) * 1_000_000),
    amount_usd: at + 1,
    relayer: addressOf(7),
    facilitator: at % 2 === 0 ? 'first' : null,
    is_self_payment: false,
    finality: 'finalized',
    evidence: { verified: true, method: 'facilitator_relay', probability: 1, tier: 'proven', reasons: [] },
  };
}
