import { describe, expect, test } from 'vitest';
import { address } from '../../../core/domain/account.ts';
import {
  proposalScore,
  proposedId,
  proposedName,
  type RelayerFigures,
} from '../../../core/domain/relayer-proposal.ts';

/** Everything that speaks for a facilitator. */
const FACILITATOR: RelayerFigures = {
  settlementCount: 1_000,
  relayedCount: 1_000,
  payerCount: 120,
  payerSpread: 60,
  sharedPayerCount: 100,
  payeeCount: 30,
  sharedPayeeCount: 20,
  sharedSettlementCount: 700,
  supportedBy: [],
  fundedWith: '',
};
const scoreOf = (over: Partial<RelayerFigures>): number => proposalScore({ ...FACILITATOR, ...over });

describe('the score', () => {
  test('is 1 where everything speaks for a facilitator', () => {
    expect(scoreOf({})).toBe(1);
  });

  test.each([
    ['a payroll: one payer', { payerCount: 5, payerSpread: 1.1 }],
    ['payers of whom none pays through a named facilitator', { sharedPayerCount: 0 }],
    ['sweeps to one wallet, which sellers use, too', { payeeCount: 1, sharedPayeeCount: 1 }],
    ['a sponsor of payees of its own', { sharedPayeeCount: 0, sharedSettlementCount: 0 }],
    ['a wallet whose users reach a seller now and then', { sharedSettlementCount: 80 }],
    ['one that pays for itself, too', { relayedCount: 850 }],
    ['too few payments', { settlementCount: 9, relayedCount: 9, sharedSettlementCount: 9 }],
    ['two payers', { payerCount: 2, payerSpread: 2, sharedPayerCount: 2 }],
    ['no payment at all', { settlementCount: 0, relayedCount: 0, payerCount: 0, payerSpread: 0 }],
  ])('is 0 for %s', (_what, over) => {
    expect(scoreOf(over)).toBe(0);
  });

  test('is the geometric mean of the four: pinned', () => {
    const half = { payerSpread: Math.sqrt(15), sharedPayerCount: 54, sharedPayeeCount: Math.sqrt(8) };
    expect(scoreOf({ ...half, sharedSettlementCount: 300 })).toBeCloseTo(0.5, 10);
    expect(scoreOf(half)).toBeCloseTo(0.5 ** 0.75, 10);
    expect(scoreOf({ relayedCount: 947.5 })).toBeCloseTo(0.5, 10);
  });

  test('rises with each figure, and never leaves 0 to 1', () => {
    const rising = [
      'relayedCount',
      'payerSpread',
      'sharedPayerCount',
      'sharedPayeeCount',
      'sharedSettlementCount',
    ] as const;
    for (const figure of rising) {
      const scores = [0, 0.1, 0.3, 0.6, 0.95, 1].map((part) =>
        scoreOf({ [figure]: FACILITATOR[figure] * part }),
      );
      expect(scores).toEqual(scores.toSorted((one, other) => one - other));
      for (const score of scores) expect(score >= 0 && score <= 1).toBe(true);
    }
  });

  test.each<Partial<RelayerFigures>>([{ supportedBy: ['coinbase'] }, { fundedWith: 'coinbase' }])(
    'counts %j as a part of the way to 1, but not for what is not relayed',
    (evidence) => {
      expect(scoreOf({ sharedPayeeCount: 0, ...evidence })).toBeCloseTo(0.6, 10);
      expect(scoreOf(evidence)).toBe(1);
      expect(scoreOf({ relayedCount: 500, ...evidence })).toBe(0);
    },
  );

  test('counts a listing and a shared funder each for what the other leaves', () => {
    expect(scoreOf({ sharedPayeeCount: 0, supportedBy: ['payAI'], fundedWith: 'payAI' })).toBeCloseTo(
      0.84,
      10,
    );
  });
});

test('an accepted relayer has an id that the filters of the API take, and a name that says what it is', () => {
  const relayer = address('0x1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c');
  expect(proposedId(relayer)).toBe('proposed-1f2e3d4c5b6a7988');
  expect(proposedId(relayer)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(proposedName(relayer)).toBe('Proposed 0x1f2e3d4c…');
});
