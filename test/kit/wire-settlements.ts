import type { Flows } from '../../console/wire.ts';

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
