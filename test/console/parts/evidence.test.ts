import { h } from 'preact';
import { describe, expect, it } from 'vitest';
import { EvidenceBreakdown } from '../../../console/parts/evidence-breakdown.tsx';
import { EvidenceLadder } from '../../../console/parts/evidence-ladder.tsx';
import type { Profile, Settlement } from '../../../console/wire.ts';
import { EVIDENCE_LADDER, EVIDENCE_METHODS } from '../../../core/domain/evidence.ts';
import { elementsOf, htmlOf, textOf } from '../../kit/drawn.ts';

type Evidence = Settlement['evidence'];
const OFF_THE_LADDER: ReadonlySet<string> = new Set(['channel_move', 'not_examined']);

function ladder(method: Evidence['method'], reasons: Evidence['reasons'] = []): string {
  const { tier, probability } = EVIDENCE_LADDER[method];
  return htmlOf(h(EvidenceLadder, { evidence: { verified: null, method, probability, tier, reasons } }));
}

describe('the ladder of evidence', () => {
  it.each(EVIDENCE_METHODS.filter((method) => !OFF_THE_LADDER.has(method)))(
    'marks the one rung that %s reached, with its probability and meaning',
    (method) => {
      const reached = elementsOf(ladder(method), 'aria-current="true"');
      const { meaning, probability, tier } = EVIDENCE_LADDER[method];
      expect(reached).toHaveLength(1);
      expect(reached[0]).toContain(`is-${tier}`);
      expect(textOf(reached[0] ?? '')).toContain(`${probability}${meaning}`);
    },
  );

  it('falls from the strongest method to the weakest', () => {
    const rungs = elementsOf(ladder('bare_transfer'), 'class="rung').filter((one) => one.startsWith('<li'));
    const odds = rungs.map((rung) => Number(textOf(elementsOf(rung, 'class="number"')[0] ?? '')));
    expect(odds.length).toBe(EVIDENCE_METHODS.length - OFF_THE_LADDER.size);
    expect(odds).toEqual(odds.toSorted((a, b) => b - a));
  });

  it.each(['channel_move', 'not_examined'] as const)('has no rung for %s, and says what it is', (method) => {
    const html = ladder(method);
    expect(html).not.toContain('aria-current');
    expect(textOf(html)).toContain(EVIDENCE_LADDER[method].meaning);
  });

  it('says what was seen on chain, and where nothing was examined', () => {
    expect(textOf(ladder('facilitator_relay', ['relayer_named', 'self_payment']))).toContain(
      'The relayer belongs to a named facilitator. Payer and payee are the same address.',
    );
    expect(textOf(ladder('not_examined'))).toContain('Nothing has been examined yet.');
  });
});

type Figures = NonNullable<Profile['in_window']>;

function figures(tiers: Figures['tiers']): Figures {
  return {
    window: { since: '2026-10-21T00:00:00Z', until: '2026-11-20T00:00:00Z' },
    settlement_count: tiers.reduce((sum, one) => sum + one.settlement_count, 0),
    // The API sums exactly; one decimal is enough for these.
    usd: Number(tiers.reduce((sum, one) => sum + one.usd, 0).toFixed(6)),
    self_payment_usd: 0,
    tiers,
    daily: [],
    daily_window: { since: '2026-10-21', until: '2026-11-20' },
  };
}

function breakdown(tiers: Figures['tiers'], party: 'payer' | 'payee' = 'payee'): string {
  return htmlOf(h(EvidenceBreakdown, { figures: figures(tiers), party, span: 'in the last 30 days' }));
}

const TIERS: Figures['tiers'] = [
  { tier: 'proven', settlement_count: 9, usd: 0.3 },
  { tier: 'unproven', settlement_count: 1, usd: 0.1 },
];

describe('the evidence of a window', () => {
  it('names the proven share in the chip, the sentence and the table alike', () => {
    const html = breakdown(TIERS);
    expect(textOf(elementsOf(html, 'class="chip')[0] ?? '')).toBe('75% proven');
    expect(textOf(html)).toContain(
      '$0.30 of $0.40 received in the last 30 days was relayed by a named facilitator.',
    );
    const rows = html
      .split('<tr')
      .slice(2)
      .map((row) => textOf(`<tr${row}`));
    expect(rows).toEqual(['proven 9 $0.30 75%', 'unproven 1 $0.10 25%']);
  });

  it('draws parts that fill the bar', () => {
    const widths = [...breakdown(TIERS).matchAll(/<rect[^>]*width="([\d.]+)"/g)].map(([, width]) =>
      Number(width),
    );
    expect(widths).toEqual([75, 25]);
  });

  it('never rounds a part down to nothing or up to all', () => {
    const html = breakdown([
      { tier: 'proven', settlement_count: 1, usd: 0.000001 },
      { tier: 'unproven', settlement_count: 1, usd: 1_000 },
    ]);
    expect(textOf(html)).toContain('under 0.1% proven');
    expect(textOf(html)).toContain('99.9%');
  });

  it('says that nothing was received, or paid, instead of shares of nothing', () => {
    expect(textOf(breakdown([]))).toBe('Evidence Nothing was received in the last 30 days.');
    expect(textOf(breakdown([], 'payer'))).toBe('Evidence Nothing was paid in the last 30 days.');
  });
});
