import { describe, expect, test } from 'vitest';
import { type Chain, chainOf } from '../../../core/domain/chains.ts';
import { EVIDENCE_LADDER, type Reason, reasonsOf, SEEN } from '../../../core/domain/evidence.ts';
import { NO_CHANNEL, NO_CONTRACT } from '../../../core/domain/settlement.ts';
import { buildCatalogue } from '../../../ingest/grading/catalogue.ts';
import { gradeSettlement, methodOf, type UngradedSettlement } from '../../../ingest/grading/grade.ts';
import { RELAYER, USDC, wallet, word } from '../../kit/chain-logs.ts';

const BASE = chainOf(8453);
const [ALICE, SHOP, CAFE, NAMED] = [wallet(0xa11ce), wallet(0x5409), wallet(0xcafe), wallet(0x4a3ed)];
const FIRST_DAY = Date.parse('2026-06-12T00:00:00Z') / 1_000;

const catalogue = buildCatalogue(
  {
    facilitators: [
      {
        id: 'acme',
        name: 'Acme',
        builderCodes: ['acme_code'],
        relayers: [{ chain: BASE, address: NAMED, firstSeen: '2026-06-12' }],
      },
    ],
    payees: [{ chain: BASE, address: CAFE, name: 'Café', resource: '' }],
  },
  { builtIn: [] },
);

const found = (over: Partial<UngradedSettlement> = {}): UngradedSettlement => ({
  blockTime: FIRST_DAY,
  chain: BASE,
  blockNumber: 7,
  logIndex: 3,
  txHash: word(2),
  payer: ALICE,
  payee: SHOP,
  asset: USDC,
  assetSymbol: 'USDC',
  amount: 5n,
  amountUsdMicros: 5n,
  usdKnown: true,
  relayer: RELAYER,
  builderFacilitator: '',
  builderApps: '',
  kind: 'payment',
  scheme: 'exact',
  channel: NO_CHANNEL,
  contract: NO_CONTRACT,
  feeAmount: 0n,
  memo: '',
  marker: 'authorization',
  directCall: true,
  relayedByPayer: false,
  relayedByPayee: false,
  selfPayment: false,
  received: false,
  viaX402Contract: false,
  ...over,
});

const graded = (over: Partial<UngradedSettlement> = {}) => {
  const { method, facilitator, seen } = gradeSettlement(found(over), catalogue);
  return { method, facilitator, reasons: reasonsOf(seen) };
};

describe('the evidence ladder', () => {
  test('a named relayer proves a payment', () => {
    expect(graded({ relayer: NAMED })).toEqual({
      method: 'facilitator_relay',
      facilitator: 'acme',
      reasons: ['authorization_used', 'direct_call', 'third_party_relay', 'relayer_named'],
    });
  });

  test('money into or out of a channel is no payment, whichever relayer sends it', () => {
    const move = graded({ marker: 'move', kind: 'deposit', relayer: NAMED, builderFacilitator: 'acme_code' });
    expect(move).toMatchObject({ method: 'channel_move', facilitator: 'acme' });
    expect(move.reasons).toContain('channel_move');
    expect(EVIDENCE_LADDER.channel_move).toMatchObject({ tier: 'not_x402', verified: false });
  });

  test('a claim needs the voucher of the payer, so it is probable also if the seller sends it', () => {
    const claim = { marker: 'claim', relayedByPayee: true, viaX402Contract: true } as const;
    expect(graded(claim)).toMatchObject({ method: 'builder_code', facilitator: '' });
    expect(graded({ ...claim, relayer: NAMED })).toMatchObject({ method: 'facilitator_relay' });
  });

  test('a capture is as good as a payment that the same sender relayed: escrows serve other payments too', () => {
    expect(graded({ marker: 'capture' })).toMatchObject({ method: 'gasless_authorization' });
    expect(graded({ marker: 'capture', relayedByPayee: true })).toMatchObject({ method: 'self_relayed' });
    expect(graded({ marker: 'capture', payee: CAFE })).toMatchObject({ method: 'catalogued_payee' });
    expect(graded({ marker: 'capture' }).reasons).toContain('escrow_captured');
  });

  test('a Permit2 settlement by a named relayer is proven too', () => {
    expect(
      graded({ relayer: NAMED, marker: 'permit2', viaX402Contract: true, directCall: false }),
    ).toMatchObject({
      method: 'facilitator_relay',
    });
  });

  test('a builder code makes it probable and names the facilitator', () => {
    expect(graded({ builderFacilitator: 'acme_code' })).toMatchObject({
      method: 'builder_code',
      facilitator: 'acme',
    });
  });

  test('a code of no known facilitator still counts, without a name', () => {
    expect(graded({ builderFacilitator: 'who' })).toMatchObject({ method: 'builder_code', facilitator: '' });
  });

  test('codes of an app alone are no facilitator’s', () => {
    expect(graded({ builderApps: 'my_app' })).toMatchObject({ method: 'gasless_authorization' });
  });

  test('a call through an x402-only contract is as good as a code', () => {
    expect(graded({ viaX402Contract: true })).toMatchObject({ method: 'builder_code', facilitator: '' });
  });

  test('a catalogued payee makes it probable', () => {
    expect(graded({ payee: CAFE })).toMatchObject({
      method: 'catalogued_payee',
      reasons: expect.arrayContaining(['payee_catalogued']),
    });
  });

  test('a third party’s relay alone proves nothing', () => {
    expect(graded()).toEqual({
      method: 'gasless_authorization',
      facilitator: '',
      reasons: ['authorization_used', 'direct_call', 'third_party_relay'],
    });
  });

  test('a bare transfer is no x402, even from a named relayer with a code', () => {
    expect(
      graded({ marker: 'none', payee: CAFE, relayer: NAMED, builderFacilitator: 'acme_code' }),
    ).toMatchObject({ method: 'bare_transfer', facilitator: 'acme' });
  });
});

describe('self-relaying outweighs every sign but the name of the relayer', () => {
  const signs = { viaX402Contract: true, builderFacilitator: 'acme_code', payee: CAFE };

  test.each([
    ['the payer sends it', { relayedByPayer: true }, 'relayed_by_payer'],
    ['the payee sends it', { relayedByPayee: true }, 'relayed_by_payee'],
    ['the payee pulls it', { received: true }, 'receive_with_authorization'],
  ] as const)('when %s', (_, over, reason) => {
    expect(graded({ ...signs, ...over })).toMatchObject({
      method: 'self_relayed',
      facilitator: '',
      reasons: expect.arrayContaining([reason]),
    });
  });

  test('a named relayer proves a payment of its own too, and the reasons say whose it is', () => {
    const own = graded({ relayer: NAMED, payer: NAMED, relayedByPayer: true });
    expect(own).toMatchObject({ method: 'facilitator_relay', facilitator: 'acme' });
    expect(own.reasons).toContain('relayed_by_payer');
  });

  test('a payment that the payee pulls is not relayed, whichever wallet the payee is', () => {
    expect(graded({ relayer: NAMED, payee: NAMED, relayedByPayee: true, received: true })).toMatchObject({
      method: 'self_relayed',
      facilitator: 'acme',
    });
  });
});

describe('a relayer’s name is dated and belongs to one chain', () => {
  test('the second before its first day it is a stranger', () => {
    expect(graded({ relayer: NAMED, blockTime: FIRST_DAY - 1 })).toMatchObject({
      method: 'gasless_authorization',
      facilitator: '',
    });
  });

  test('on another chain it is a stranger', () => {
    const elsewhere: Chain = chainOf(137);
    expect(graded({ relayer: NAMED, chain: elsewhere })).toMatchObject({ method: 'gasless_authorization' });
  });
});

test('a self-payment is stated in addition to its grade', () => {
  expect(graded({ payee: ALICE, selfPayment: true }).reasons).toContain('self_payment');
});

test('nothing seen is not examined, which is another thing than disproven', () => {
  expect(methodOf(0)).toBe('not_examined');
  expect(EVIDENCE_LADDER[methodOf(0)].probability).toBeNull();
});

test('another positive sign never lowers a grade', () => {
  const positive: readonly Reason[] = ['payee_catalogued', 'builder_code', 'x402_contract', 'relayer_named'];
  const probability = (seen: number) => EVIDENCE_LADDER[methodOf(seen)].probability ?? -1;
  const paired = SEEN.authorization_used | SEEN.third_party_relay;
  for (let signs = 0; signs < 2 ** positive.length; signs++) {
    const seen = positive.reduce(
      (bits, reason, bit) => (signs & (1 << bit) ? bits | SEEN[reason] : bits),
      paired,
    );
    for (const reason of positive)
      expect(probability(seen | SEEN[reason])).toBeGreaterThanOrEqual(probability(seen));
  }
});
