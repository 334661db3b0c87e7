import { expect, test } from 'vitest';
import type { ServedRow } from '../../demo/api-client.ts';
import { auditIndex } from '../../demo/audit.ts';
import type { NaivePayment } from '../../demo/solana/naive-reader.ts';

const PAID: NaivePayment = {
  slot: 7,
  blockTime: 1_790_000_000,
  transactionIndex: 0,
  signature: 'signature',
  feePayer: 'facilitator',
  mint: 'usdc',
  payer: 'agent',
  payee: 'seller',
  amount: 1_500n,
  isSponsored: true,
};
const SERVED: ServedRow = {
  chain: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  block_number: 7,
  block_time: new Date(1_790_000_000_000).toISOString(),
  tx_hash: 'signature',
  log_index: 2,
  payer: 'agent',
  payee: 'seller',
  amount: '1500',
  amount_usd: 0.0015,
  kind: 'payment',
  channel: null,
  relayer: 'facilitator',
  evidence: { method: 'facilitator_relay', tier: 'proven' },
};

test.each<[string, readonly Partial<ServedRow>[], object]>([
  ['the row of the payment', [{}], { lies: 0 }],
  ['no row', [], { lies: 1, missing: 1 }],
  ['a row of another transaction', [{}, { tx_hash: 'other' }], { lies: 1, extra: 1 }],
  ['a second row', [{}, { log_index: 3 }], { lies: 1, duplicate: 1 }],
  ['another payee', [{ payee: 'other' }], { lies: 2, missing: 1, extra: 1 }],
  ['another amount', [{ amount: '1501' }], { lies: 1, wrong: 1 }],
  ['another block', [{ block_number: 8 }], { lies: 1, wrong: 1 }],
  ['another fee payer', [{ relayer: 'other' }], { lies: 1, wrong: 1 }],
])('a payment on Solana and %s', async (_, changes, expected) => {
  const rows = changes.map((change) => ({ ...SERVED, ...change }));
  const client = { transactions: async () => ({ transactions: rows, next_before: null }) };
  const { evm, solana } = await auditIndex(client, { evm: [], solana: [PAID] }, 1_790_000_000);
  expect(evm.lies).toBe(0);
  expect(solana).toMatchObject(expected);
});
