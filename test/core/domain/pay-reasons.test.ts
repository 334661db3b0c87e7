import { describe, expect, test } from 'vitest';
import { type PayFacts, payReasons, REASONS_AGAINST, REASONS_FOR } from '../../../core/domain/pay-reasons.ts';

const NOW = 1_795_176_000;
const days = (count: number): number => NOW - count * 86_400;

/** Neither good nor bad. */
const PLAIN: PayFacts = {
  verdict: 'clean',
  isPaidElsewhere: false,
  triggered: [],
  paid: {
    payers: 3,
    settlements: 20,
    usdMicros: 20n,
    provenUsdMicros: 20n,
    firstSeen: days(40),
    lastSeen: days(2),
  },
  nowSeconds: NOW,
  identity: { domainProof: 'unchecked', isImitation: false, paidScore: null, paidClients: 0 },
  offers: { count: 0, published: 0, contested: 0 },
};

const reasonsOf = (facts: Partial<PayFacts>): string[] => {
  const { speaksFor, speaksAgainst } = payReasons({ ...PLAIN, ...facts });
  return [...speaksFor, ...speaksAgainst];
};
const identity = (fields: Partial<NonNullable<PayFacts['identity']>>) => ({
  identity: {
    domainProof: 'unchecked',
    isImitation: false,
    paidScore: null,
    paidClients: 0,
    ...fields,
  } as const,
});

const paid = (fields: Partial<PayFacts['paid']>) => ({ paid: { ...PLAIN.paid, ...fields } });

/** What a wallet has that no other wallet paid. */
const UNPAID = {
  paid: {
    payers: 0,
    settlements: 0,
    usdMicros: 0n,
    provenUsdMicros: 0n,
    firstSeen: null,
    lastSeen: null,
  },
} as const;

test('a plain wallet has no reason but how it is paid', () => {
  expect(reasonsOf({})).toEqual(['mostly_proven']);
});

const CASES: readonly (readonly [string, Partial<PayFacts>, Partial<PayFacts>])[] = [
  [
    'mostly_proven',
    paid({ usdMicros: 8n, provenUsdMicros: 4n }),
    paid({ usdMicros: 9n, provenUsdMicros: 4n }),
  ],
  ['many_counterparties', paid({ payers: 10 }), paid({ payers: 9 })],
  ['long_history', paid({ firstSeen: days(90) }), paid({ firstSeen: days(90) + 1 })],
  ['domain_proven', identity({ domainProof: 'proven' }), identity({ domainProof: 'unreachable' })],
  [
    'offer_published',
    { offers: { count: 1, published: 1, contested: 0 } },
    { offers: { count: 1, published: 0, contested: 0 } },
  ],
  ['well_rated', identity({ paidScore: 60, paidClients: 5 }), identity({ paidScore: 99, paidClients: 4 })],
  ['never_paid', { ...UNPAID, verdict: 'suspect' }, { ...UNPAID, isPaidElsewhere: true }],
  ['not_paid_on_chain', { ...UNPAID, isPaidElsewhere: true }, paid({ settlements: 1 })],
  ['few_settlements', { verdict: 'insufficient' }, { verdict: 'mixed' }],
  ['self_payment_share', { triggered: ['self_payment_share'] }, {}],
  ['payer_concentration', { triggered: ['payer_concentration'] }, {}],
  ['single_payer_dominance', { triggered: ['single_payer_dominance'] }, {}],
  ['reciprocity', { triggered: ['reciprocity'] }, {}],
  ['ring_membership', { triggered: ['ring_membership'] }, {}],
  [
    'mostly_unproven',
    paid({ usdMicros: 9n, provenUsdMicros: 4n }),
    paid({ usdMicros: 8n, provenUsdMicros: 4n }),
  ],
  ['new_wallet', paid({ firstSeen: days(7) + 1 }), paid({ firstSeen: days(7) })],
  ['inactive', paid({ lastSeen: days(30) - 1 }), paid({ lastSeen: days(30) })],
  ['no_identity', { identity: null }, { identity: null, offers: { count: 1, published: 0, contested: 0 } }],
  ['name_imitates_facilitator', identity({ isImitation: true }), identity({})],
  ['domain_refuted', identity({ domainProof: 'refuted' }), identity({ domainProof: 'unreachable' })],
  [
    'offer_contested',
    { offers: { count: 1, published: 0, contested: 1 } },
    { offers: { count: 1, published: 0, contested: 0 } },
  ],
  [
    'badly_rated',
    identity({ paidScore: 39.99, paidClients: 5 }),
    identity({ paidScore: 40, paidClients: 5 }),
  ],
];

test('every reason is tried below', () => {
  expect(CASES.map(([reason]) => reason)).toEqual([
    ...Object.keys(REASONS_FOR),
    ...Object.keys(REASONS_AGAINST),
  ]);
});

describe.each(CASES)('%s', (reason, holds, not) => {
  test('is given where it holds, and not one step before', () => {
    expect(reasonsOf(holds)).toContain(reason);
    expect(reasonsOf(not)).not.toContain(reason);
  });
});

test('a wallet that was never seen is neither new nor inactive', () => {
  expect(reasonsOf({ ...UNPAID, verdict: 'unobserved', identity: null })).toEqual([
    'never_paid',
    'no_identity',
  ]);
});
