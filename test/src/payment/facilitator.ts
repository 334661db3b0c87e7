import { describe, expect, test } from 'vitest';
import type { Facilitator, PaymentToSettle } from '../../../src/payment/facilitator.ts';
import { offerOf, quoteOf } from '../../../src/payment/offer.ts';
import { readPurchase, toSettle, toVerify } from '../../../src/payment/purchase.ts';
import { payCeiling } from '../../kit/ceilings.ts';
import { orderOf, pay, type Wish, type X402World } from '../../kit/x402-world.ts';

/** The contract of `Facilitator`, on a chain where its settlements can be counted. */
export interface FacilitatorUnderTest {
  readonly facilitator: Facilitator;
  readonly world: X402World;
}

/** A payment as the lane hands it over, of a new payer with money. */
export async function paymentOf(world: X402World, x402Version: 1 | 2 = 1, wish: Wish = {}) {
  const payer = await world.payer();
  const quote = quoteOf(orderOf(), { accept: [world.accepted], offerSeconds: 60 });
  const { header, signature } = await pay(offerOf(quote, 'payment_required'), payer, x402Version, wish);
  return { payer, signature, payment: toSettle(readPurchase(quote, header)) };
}

async function ceilingOf(world: X402World) {
  const payer = await world.ceilingPayer();
  const order = orderOf({ priceUsdMicros: 30_000n, settledByUse: true });
  const quote = quoteOf(order, { accept: [world.accepted], offerSeconds: 60 }, () => world.relayer);
  const { header } = await payCeiling(offerOf(quote, 'payment_required'), payer);
  const purchase = readPurchase(quote, header);
  const settleFor = (asked: bigint) => toSettle({ ...purchase, asked });
  return { payer, verify: toVerify(purchase), settleFor };
}

export function facilitatorContract(name: string, make: () => FacilitatorUnderTest): void {
  describe(`facilitator contract: ${name}`, () => {
    test.each([1, 2] as const)(
      'in version %i a good payment is valid, moves nothing yet, and settles once',
      async (version) => {
        const { facilitator, world } = make();
        const { payer, payment } = await paymentOf(world, version);
        expect(await facilitator.verify(payment)).toEqual({ outcome: 'valid' });
        expect(await world.settlements(payer.address)).toBe(0);
        const settled = await facilitator.settle(payment);
        expect(settled).toEqual({
          outcome: 'settled',
          transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        });
        expect(await world.settlements(payer.address)).toBe(1);
        expect((await facilitator.settle(payment)).outcome).not.toBe('settled');
        expect(await facilitator.verify(payment)).toEqual({
          outcome: 'invalid',
          reason: 'invalid_exact_evm_nonce_already_used',
        });
        expect(await world.settlements(payer.address)).toBe(1);
      },
    );

    test.each<[string, Wish, string]>([
      ['signed as a text message', { asMessage: true }, 'invalid_exact_evm_signature'],
      ['signed for another chain', { domain: { chainId: 1 } }, 'invalid_exact_evm_signature'],
      [
        'over',
        { authorization: { validBefore: '1000' } },
        'invalid_exact_evm_payload_authorization_valid_before',
      ],
    ])(
      'a payment that is %s is invalid for a public reason, and settles nothing',
      async (_what, wish, reason) => {
        const { facilitator, world } = make();
        const { payer, payment } = await paymentOf(world, 1, wish);
        expect(await facilitator.verify(payment)).toEqual({ outcome: 'invalid', reason });
        expect((await facilitator.settle(payment)).outcome).not.toBe('settled');
        expect(await world.settlements(payer.address)).toBe(0);
      },
    );

    test('it tells the addresses for which payers sign ceilings', async () => {
      const { facilitator, world } = make();
      expect(await facilitator.announced()).toEqual({
        outcome: 'announced',
        signers: expect.arrayContaining([{ chain: 'eip155:84532', address: world.relayer }]),
      });
    });

    test('a ceiling is valid as a whole, settles once, for the amount asked, and never for more', async () => {
      const { facilitator, world } = make();
      const { payer, verify, settleFor } = await ceilingOf(world);
      expect(await facilitator.verify(verify)).toEqual({ outcome: 'valid' });
      expect((await facilitator.settle(settleFor(30_001n))).outcome).toBe('failed');
      expect((await facilitator.settle(settleFor(0n))).outcome).toBe('unknown');
      expect(await world.balance(payer.address)).toBe(1_000_000n);
      expect((await facilitator.settle(settleFor(10_000n))).outcome).toBe('settled');
      expect((await facilitator.settle(settleFor(10_000n))).outcome).not.toBe('settled');
      expect((await facilitator.verify(verify)).outcome).toBe('invalid');
      expect(await world.balance(payer.address)).toBe(990_000n);
    });

    test('a payment that is none is never valid and never settled, and nothing is thrown', async () => {
      const { facilitator, world } = make();
      const { payment } = await paymentOf(world);
      for (const paymentPayload of [{}, { x402Version: 1 }, { ...payment.paymentPayload, payload: {} }]) {
        const broken: PaymentToSettle = { ...payment, paymentPayload };
        expect((await facilitator.verify(broken)).outcome).not.toBe('valid');
        expect((await facilitator.settle(broken)).outcome).not.toBe('settled');
      }
    });
  });
}
