import { h } from 'preact';
import { describe, expect, it, test } from 'vitest';
import { AnswerBody } from '../../../console/parts/pay-answer.tsx';
import type { WalletSummary } from '../../../console/wire.ts';
import { REASONS_AGAINST, REASONS_FOR } from '../../../core/domain/pay-reasons.ts';
import { elementsOf, factOf, htmlOf, textOf } from '../../kit/drawn.ts';
import { wireAddress } from '../../kit/wire-settlements.ts';

/** A seller that nothing speaks against. */
const SELLER: WalletSummary = {
  wallet: wireAddress(1),
  name: null,
  name_source: null,
  verdict: 'clean',
  reasons_for: ['mostly_proven', 'many_counterparties'],
  reasons_against: [],
  received: {
    settlement_count: 1_204,
    usd: 1284.029999,
    organic_usd: 1284,
    proven_usd: 1200,
    counterparties: 40,
  },
  first_seen: '2026-05-01T00:00:00Z',
  last_seen: '2026-11-20T09:15:00Z',
  age_days: 203,
  identity: null,
  offers: { count: 0, published: 0, contested: 0, site: null },
  refunds: { payers: 0, settlement_count: 0, usd: 0 },
  compare: {
    payments: 120,
    min_usd: 0.01,
    median_usd: 0.0125,
    max_usd: 2,
    listed_min_usd: null,
    listed_max_usd: null,
  },
  meta: { chain: null, as_of: '2026-11-20T09:15:04Z', lag_seconds: 2 },
};
const NEVER_PAID: Partial<WalletSummary> = {
  verdict: 'unobserved',
  reasons_for: [],
  reasons_against: ['never_paid'],
  received: { settlement_count: 0, usd: 0, organic_usd: 0, proven_usd: 0, counterparties: 0 },
  first_seen: null,
  last_seen: null,
  age_days: null,
};
const ELSEWHERE = [
  { chain: 'eip155:8453', settlement_count: 12, usd: 0.24, last_seen: '2026-11-20T09:15:00Z' },
  { chain: 'eip155:137', settlement_count: 1, usd: 0.01, last_seen: '2026-11-20T09:15:00Z' },
];

const answer = (fields: Partial<WalletSummary> = {}): string =>
  htmlOf(h(AnswerBody, { answer: { ...SELLER, ...fields } }));
const verdictOf = (html: string): string[] => elementsOf(html, 'class="pay-verdict');
const headlineOf = (html: string): string => textOf(elementsOf(html, 'class="pay-headline"')[0] ?? '');
const fact = (html: string, name: string): string => textOf(factOf(html, name));

describe('the answer to “should I pay”', () => {
  it.each([
    ['clean', 'good', 'Clean', 'No warning signs.'],
    ['mixed', 'warn', 'Mixed', 'Look closer before you pay.'],
    ['suspect', 'bad', 'Suspect', 'Be careful: its figures are no evidence of trade.'],
    ['insufficient', 'neutral', 'Too little data', 'Too few payments to tell.'],
    ['unobserved', 'neutral', 'Not seen', 'No wallet has paid it on the indexed chains.'],
  ] as const)(
    'of the verdict %s says it in a word, a colour and a sentence',
    (verdict, tone, word, sentence) => {
      const html = answer({ verdict });
      const [shown = ''] = verdictOf(html);
      expect([textOf(shown), shown.includes(`tone-${tone}"`), headlineOf(html)]).toEqual([
        word,
        true,
        sentence,
      ]);
    },
  );

  it('never calls a clean wallet free of warning signs while there are some', () => {
    expect(headlineOf(answer({ reasons_against: ['new_wallet'] }))).toBe('One warning sign.');
    expect(headlineOf(answer({ reasons_against: ['new_wallet', 'no_identity'] }))).toBe('2 warning signs.');
  });

  it('lists each reason in words on its own side, with their number', () => {
    const html = answer({ reasons_against: ['ring_membership'] });
    const [speaksFor = ''] = elementsOf(html, 'class="reasons is-for"');
    const [speaksAgainst = ''] = elementsOf(html, 'class="reasons is-against"');
    expect(textOf(speaksFor)).toBe(`${REASONS_FOR.mostly_proven} ${REASONS_FOR.many_counterparties}`);
    expect(textOf(speaksAgainst)).toBe(REASONS_AGAINST.ring_membership);
    expect(textOf(html)).toContain('In its favor 2');
    expect(textOf(html)).toContain('Warning signs 1');
    expect(textOf(answer())).toContain('Warning signs 0 None.');
  });

  it('does not call a wallet unpaid that is paid on a chain which was left out', () => {
    const html = answer({ ...NEVER_PAID, elsewhere: ELSEWHERE });
    expect(headlineOf(html)).toBe('No wallet has paid it on this chain: it is paid on Base, Polygon.');
    expect(fact(html, 'Known since')).toBe('not paid on this chain');
    expect(fact(html, 'Identity')).toBe('no ERC-8004 agent uses it on this chain');
    expect(fact(answer(NEVER_PAID), 'Known since')).toBe('never paid');
  });
});

test('a price is compared with the median and the whole range, and never with nothing', () => {
  expect(fact(answer(), 'Usual price')).toBe('$0.0125 median of 120, $0.01 to $2.00');
  const unpaid = { ...SELLER.compare, payments: 0, min_usd: null, median_usd: null, max_usd: null };
  expect(fact(answer({ compare: unpaid }), 'Usual price')).toBe('no payments to compare with');
});

test('a listed price is a range only where the offers differ', () => {
  const listed = (listed_min_usd: number | null, listed_max_usd: number | null): string =>
    fact(answer({ compare: { ...SELLER.compare, listed_min_usd, listed_max_usd } }), 'Listed price');
  expect(listed(null, null)).toBe('no listed offer has a price in dollars');
  expect(listed(0.01, 0.01)).toBe('$0.01');
  expect(listed(0.01, 0.5)).toBe('$0.01 to $0.50');
});

test('sums are rounded to the eye and whole in their titles', () => {
  const html = answer();
  expect(fact(html, 'Received')).toBe('$1,284.03 in 1,204 settlements, $1,200.00 proven');
  expect(html).toContain('title="$1,284.029999"');
});

test('refunds name how many payers got money back', () => {
  expect(fact(answer(), 'Refunds, 30 days')).toBe('none');
  const refunds = { payers: 3, settlement_count: 4, usd: 1.5 };
  expect(fact(answer({ refunds }), 'Refunds, 30 days')).toBe('$1.50 to 3 payers');
});

test('contested offers are counted next to the offers, which lead to their list', () => {
  const html = answer({ offers: { count: 1, published: 0, contested: 2, site: 'weather.example' } });
  expect(fact(html, 'Offers')).toBe('1 endpoint on weather.example 2 contested');
  expect(html).toContain(`href="/console/endpoints?pay_to=${SELLER.wallet}"`);
  expect(fact(answer(), 'Offers')).toBe('none listed');
});

test('a domain stands with what its proof gave', () => {
  const identity = {
    agent_count: 1,
    chain: 'eip155:8453',
    agent_id: '42',
    domain: 'weather.example',
    domain_proof: 'refuted' as const,
    paid_score: null,
    paid_rating_clients: 0,
  };
  expect(fact(answer({ identity }), 'Identity')).toBe('agent #42 of weather.example, refuted');
});
