import { h } from 'preact';
import { describe, expect, it } from 'vitest';
import { EndpointTable } from '../../../console/parts/endpoint-table.tsx';
import { SettlementTable } from '../../../console/parts/settlement-table.tsx';
import { WalletLink } from '../../../console/parts/wallet-link.tsx';
import type { Endpoint, Settlement } from '../../../console/wire.ts';
import { elementsOf, htmlOf, textOf } from '../../kit/drawn.ts';
import { wireAddress, wireSettlement } from '../../kit/wire-settlements.ts';

type OwnRole = Parameters<typeof SettlementTable>[0]['own'];

function settlements(rows: readonly Settlement[], own?: OwnRole): string {
  return htmlOf(h(SettlementTable, { caption: 'Settlements', rows, ...(own === undefined ? {} : { own }) }));
}
const cellOf = (html: string, name: string): string => elementsOf(html, `data-name="${name}"`)[0] ?? '';

describe('a settlement', () => {
  it('has its amount rounded, and in its title whole and in atomic units', () => {
    const html = settlements([wireSettlement(1, { amount: '1284029999', amount_usd: 1284.029999 })]);
    expect(textOf(cellOf(html, 'Amount'))).toBe('$1,284.03USDC');
    expect(html).toContain('title="$1,284.029999 · 1,284,029,999 atomic units of USDC"');
  });

  it('of a wallet to itself is marked in every list', () => {
    const row = wireSettlement(1, { is_self_payment: true });
    expect(textOf(cellOf(settlements([row]), 'Payee'))).toMatch(/^to itself/);
    expect(textOf(cellOf(settlements([row], 'payer'), 'Payee'))).toMatch(/^itself/);
    expect(textOf(cellOf(settlements([row], 'payee'), 'Payer'))).toMatch(/^itself/);
    expect(textOf(settlements([wireSettlement(1)]))).not.toContain('itself');
  });

  it('has no column for the wallet whose page it is on', () => {
    const heads = (own?: OwnRole): string[] =>
      elementsOf(settlements([wireSettlement(1)], own), 'scope="col"').map(textOf);
    expect(heads().slice(0, 3)).toEqual(['Time', 'Payer', 'Payee']);
    expect(heads('payee').slice(0, 3)).toEqual(['Time', 'Payer', 'Amount']);
    expect(heads('payer').slice(0, 3)).toEqual(['Time', 'Payee', 'Amount']);
  });

  it('that a reorg may still remove says so', () => {
    expect(settlements([wireSettlement(1, { finality: 'head' })])).toContain('not final');
    expect(settlements([wireSettlement(1)])).not.toContain('not final');
  });

  it('without a named facilitator shows who relayed it, and whether that was the payer', () => {
    const row = wireSettlement(1);
    expect(textOf(cellOf(settlements([row]), 'Facilitator'))).toBe('0x0000…0007');
    expect(textOf(cellOf(settlements([{ ...row, relayer: row.payer }]), 'Facilitator'))).toBe('payer itself');
    const named = settlements([wireSettlement(2, { facilitator: 'a/b', facilitator_name: 'Named' })]);
    expect(textOf(cellOf(named, 'Facilitator'))).toBe('Named');
    expect(named).toContain('href="/console/facilitators/a%2Fb"');
  });

  it('that was not graded has a dash for its probability', () => {
    const evidence = {
      verified: null,
      method: 'not_examined',
      probability: null,
      tier: 'ungraded',
      reasons: [],
    } as const;
    expect(
      textOf(
        cellOf(settlements([wireSettlement(1, { evidence: { ...evidence, reasons: [] } })]), 'Evidence'),
      ),
    ).toBe('ungraded–');
  });
});

describe('a name', () => {
  const link = (fields: { name?: string | null; source?: string | null }): string =>
    htmlOf(h(WalletLink, { wallet: wireAddress(0xab), party: 'payee', ...fields }));

  it('never stands in place of the address, and has its source next to it', () => {
    expect(textOf(link({ name: 'Weather desk', source: 'agent_card' }))).toBe(
      'Weather desk0x0000…00ab · agent card',
    );
    expect(link({ name: 'Weather desk', source: 'agent_card' })).toContain(
      `title="${wireAddress(0xab)}, named by its agent card"`,
    );
    expect(textOf(link({ name: null, source: null }))).toBe('0x0000…00ab');
  });

  it('with markup in it is text', () => {
    const html = link({ name: '<img src=x onerror=alert(1)>', source: 'agent_card' });
    expect(html).not.toContain('<img');
    expect(textOf(html)).toContain('<img src=x onerror=alert(1)>');
  });
});

const OBSERVED = {
  settlement_count_30d: 1_204,
  unique_payers_30d: 40,
  settled_usd_30d: 12.04,
  last_settled_at: null,
  counted_at: null,
  since: '2026-10-21T00:00:00Z',
  resources_on_same_terms: 0,
};

function endpoint(fields: Partial<Endpoint> = {}): Endpoint {
  return {
    resource: 'https://weather.example/v1/forecast?city=Rome',
    method: 'POST',
    service_name: null,
    description: null,
    mime_type: null,
    accepts: [],
    price_usd: 0.0125,
    price_implausible: false,
    pay_to: wireAddress(1),
    network: 'eip155:8453',
    published_by_domain: false,
    contested: false,
    claimants: [],
    tags: [],
    capabilities: [],
    last_updated: null,
    observed: OBSERVED,
    unobserved_reason: null,
    payee_observed: OBSERVED,
    shared_pay_to: false,
    stale: false,
    call: null,
    ...fields,
  };
}

const listed = (fields: Partial<Endpoint> = {}): string =>
  htmlOf(h(EndpointTable, { caption: 'Endpoints', rows: [endpoint(fields)] }));

describe('a listed endpoint', () => {
  it('is never said to have no payments where this service could not have seen one', () => {
    const html = listed({ observed: null, unobserved_reason: 'chain_not_indexed' });
    expect(textOf(cellOf(html, '30-day settlements'))).toBe('not observed');
    for (const name of ['30-day payers', '30-day dollars', 'Last paid'])
      expect(textOf(cellOf(html, name))).toBe('–');
    const none = listed({ observed: { ...OBSERVED, settlement_count_30d: 0 } });
    expect(textOf(cellOf(none, '30-day settlements'))).toBe('0');
    expect(textOf(cellOf(none, 'Last paid'))).toBe('never seen');
  });

  it('says where its dollars may be those of other resources, and names how many', () => {
    const html = listed({ observed: { ...OBSERVED, resources_on_same_terms: 3 } });
    expect(textOf(cellOf(html, '30-day dollars'))).toBe('$12.04shared');
    expect(html).toContain('title="3 more resources of this origin');
  });

  it('warns of a stale listing, an implausible price and listings that disagree about the payee', () => {
    const claim = {
      published_by_domain: false,
      settlement_count_30d: 0,
      listed_since: OBSERVED.since,
      networks: [],
      sources: [],
    };
    const claimants = [1, 2].map((at) => ({ ...claim, pay_to: wireAddress(at) }));
    const html = listed({ stale: true, price_implausible: true, contested: true, claimants });
    expect(elementsOf(html, 'class="chip tone-warn"').map(textOf)).toEqual([
      'stale',
      'contested',
      'implausible',
    ]);
    expect(html).toContain(`Listings name 2 different payees: ${wireAddress(1)}, ${wireAddress(2)}`);
    expect(listed()).not.toContain('tone-warn');
  });

  it('without a price in dollars has none, instead of zero', () => {
    expect(textOf(cellOf(listed({ price_usd: null }), 'Price'))).toBe('not in dollars');
    expect(textOf(cellOf(listed(), 'Price'))).toBe('$0.0125');
  });

  it('is a link to its page here, and never one to what its listing names', () => {
    const html = listed();
    expect(textOf(elementsOf(html, 'class="resource-name"')[0] ?? '')).toBe('weather.example');
    expect([...html.matchAll(/href="([^"]*)"/g)].every(([, href = '']) => href.startsWith('/console/'))).toBe(
      true,
    );
  });

  it('paid to an address of a chain without pages has that as text', () => {
    const html = listed({ pay_to: 'So1anaAddress', network: 'solana:mainnet' });
    expect(cellOf(html, 'Paid to')).not.toContain('<a');
    expect(textOf(cellOf(html, 'Paid to'))).toBe('So1anaAddress');
  });
});
