import { h } from 'preact';
import { describe, expect, it } from 'vitest';
import { GraphView } from '../../../console/parts/counterparties.tsx';
import type { Graph } from '../../../console/wire.ts';
import { elementsOf, htmlOf, textOf } from '../../kit/drawn.ts';
import { ON_SOLANA } from '../../kit/rows.ts';
import { wireAddress } from '../../kit/wire-settlements.ts';

const [WALLET, PAYER, PAYEE] = [wireAddress(1), wireAddress(2), ON_SOLANA.seller];
const SEEN = { first_seen: '2026-11-01T00:00:00Z', last_seen: '2026-11-20T09:15:00Z' };

function graph(fields: Partial<Graph> = {}, excluded = { self_payments: 0, self_payment_usd: 0 }): Graph {
  const node = { name_source: null, window_usd: 0, window_count: 0, in_usd: 0, out_usd: 0 };
  return {
    applied: {
      form: 'days',
      window: null,
      days: 30,
      wallet: WALLET,
      chain: null,
      finality: 'any',
      max_edges: 200,
    },
    complete: true,
    days: 30,
    since: '2026-10-21T00:00:00Z',
    until: '2026-11-20T00:00:00Z',
    nodes: [
      { ...node, wallet: WALLET, name: 'Weather desk' },
      { ...node, wallet: PAYER, name: 'Buyer' },
      { ...node, wallet: PAYEE, name: null },
    ],
    edges: [
      { payer: PAYER, payee: WALLET, usd: 12.5, count: 1_204, ...SEEN },
      { payer: WALLET, payee: PAYEE, usd: 0.000125, count: 1, ...SEEN },
    ],
    meta: { chain: null, as_of: '2026-11-20T09:15:00Z', freshness: { chains: [] }, snapshot: null, excluded },
    ...fields,
  };
}

const view = (one: Graph): string => htmlOf(h(GraphView, { wallet: WALLET, graph: one }));
const noteOf = (html: string): string => textOf(elementsOf(html, 'class="note')[0] ?? '');

describe('the graph of counterparties', () => {
  it('has a row for each edge, with the other wallet, the direction and both figures', () => {
    const rows = view(graph())
      .split('<tr')
      .slice(2)
      .map((row) => textOf(`<tr${row}`));
    expect(rows).toEqual([
      'Buyer0x0000…0002 paid this wallet $12.50 1,204',
      '2wKupL…DBg4 was paid by it $0.000125 1',
    ]);
  });

  it('links a payer as payer and a payee as merchant', () => {
    // The picture above the table has the same links.
    const [, html] = view(graph()).split('<table');
    expect(html).toContain(`href="/console/agents/${PAYER}"`);
    expect(html).toContain(`href="/console/merchants/${PAYEE}"`);
  });

  it('names its period, and says of a whole graph of others nothing more', () => {
    expect(noteOf(view(graph()))).toBe('2026-10-21 00:00:00 UTC to 2026-11-20 00:00:00 UTC.');
  });

  it('says what it leaves out: small edges, and payments of the wallet to itself', () => {
    const note = noteOf(view(graph({ complete: false }, { self_payments: 1_200, self_payment_usd: 3.5 })));
    expect(note).toContain('The smallest edges, or a part of the period, are left out.');
    expect(note).toContain('1,200 payments to itself ($3.50) are not drawn.');
  });

  it('without an edge says that payments to itself are not counted', () => {
    expect(textOf(view(graph({ edges: [] })))).toBe(
      'No payments to or from other wallets in this period. Payments of the wallet to itself are left out.',
    );
  });
});
