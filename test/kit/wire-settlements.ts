import type { Channel, Flows } from '../../console/wire.ts';

type Settlement = Flows['flows'][number];

/** Settlements as the API sends them, for tests of what the console makes of them. */

export function wireAddress(at: number): string {
  return `0x${at.toString(16).padStart(40, '0')}`;
}

/** One of a series: `at` gives the block, the second, the payee and the amount of `at + 1` dollars. */
export function wireSettlement(at: number, fields: Partial<Settlement> = {}): Settlement {
  return {
    chain: 'eip155:8453',
    block_number: at,
    block_time: new Date(Date.UTC(2026, 10, 20, 9, 15, at)).toISOString().replace('.000Z', 'Z'),
    tx_hash: `0x${at.toString(16).padStart(64, '0')}`,
    log_index: 0,
    payer: wireAddress(at % 3),
    payee: wireAddress(100 + at),
    asset: wireAddress(9),
    asset_symbol: 'USDC',
    decimals: 6,
    amount: String((at + 1) * 1_000_000),
    amount_usd: at + 1,
    relayer: wireAddress(7),
    facilitator: at % 2 === 0 ? 'first' : null,
    is_self_payment: false,
    finality: 'finalized',
    kind: 'payment',
    scheme: 'exact',
    channel: null,
    fee_amount: null,
    payer_name: null,
    payee_name: null,
    facilitator_name: null,
    payer_name_source: null,
    payee_name_source: null,
    evidence: { verified: true, method: 'facilitator_relay', probability: 1, tier: 'proven', reasons: [] },
    ...fields,
  };
}

/** 5 dollars put into a channel, of which 1.25 were claimed, 0.25 refunded and 0.5 withdrawn. */
export function wireChannel(fields: Partial<Channel> = {}): Channel {
  const money = (usd: number) => ({ amount: String(usd * 1_000_000), usd });
  return {
    channel: `0x${'5e'.repeat(32)}`,
    chain: 'eip155:8453',
    scheme: 'batch-settlement',
    contract: wireAddress(0x40),
    payer: wireAddress(1),
    payer_name: null,
    payer_name_source: null,
    payee: wireAddress(2),
    payee_name: null,
    payee_name_source: null,
    asset: wireAddress(9),
    asset_symbol: 'USDC',
    decimals: 6,
    deposited: money(5),
    paid: money(1.25),
    returned: money(0.75),
    refunded: money(0.25),
    withdrawn: money(0.5),
    voided: money(0),
    balance: money(3),
    payment_count: 12,
    opened_at: '2026-11-02T08:00:11Z',
    last_event_at: '2026-11-20T09:15:01Z',
    ...fields,
  };
}
