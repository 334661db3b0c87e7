import type { PaymentRequirements } from '@x402/core/types';
import { toClientSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Facilitator } from '../../../demo/facilitator.ts';
import { readSolanaNaively } from '../../../demo/solana/naive-reader.ts';
import { caip2Of } from '../../../demo/solana/programs.ts';
import { type SolanaLaneWorld, startSolanaLane } from '../../kit/solana-lane.ts';
import type { SolanaWorld } from '../../kit/solana-world.ts';
import { waitUntil } from '../../kit/wait-until.ts';

describe('x402 on a local Solana', () => {
  let lane: SolanaLaneWorld;
  let world: SolanaWorld;
  let facilitator: Facilitator;

  beforeAll(async () => {
    lane = await startSolanaLane();
    ({ solana: world, facilitator } = lane);
  });
  afterAll(() => lane?.stop());

  const requirements = (amount: string): PaymentRequirements => ({
    scheme: 'exact',
    network: caip2Of(world.node.network),
    amount,
    asset: world.usdc,
    payTo: world.payee,
    maxTimeoutSeconds: 60,
    extra: { feePayer: world.facilitator.address },
  });
  const pay = async (accepted: PaymentRequirements) => {
    const client = new ExactSvmScheme(toClientSvmSigner(world.payer), { rpcUrl: world.node.url });
    const created = await client.createPaymentPayload(2, accepted);
    return { ...created, accepted, resource: { url: 'https://seller.example/' } };
  };
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${facilitator.url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Record<string, unknown>; // of the official facilitator
  };

  test('the official client pays, the official facilitator settles, and the block says who paid whom', async () => {
    const paymentRequirements = requirements('1500');
    const paymentPayload = await pay(paymentRequirements);
    const question = { paymentPayload, paymentRequirements };
    expect(await post('/verify', question)).toEqual({ isValid: true, payer: world.payer.address });
    const settled = await post('/settle', question);
    expect(settled).toMatchObject({ success: true, payer: world.payer.address });
    const signature = String(settled['transaction']);
    await waitUntil('the payment is final', () => {
      const place = world.node.ledger.place(signature);
      return place !== undefined && place.slot <= world.node.ledger.slot('finalized');
    });
    const { payments } = await readSolanaNaively(world.node.url, { mints: [world.usdc], from: 0 });
    expect(payments).toEqual([
      expect.objectContaining({
        signature,
        feePayer: world.facilitator.address,
        payer: world.payer.address,
        payee: world.payee,
        amount: 1_500n,
        isSponsored: true,
      }),
    ]);
  });

  test('the facilitator names its fee payer, and refuses what the payer cannot cover', async () => {
    const supported = (await (await fetch(`${facilitator.url}/supported`)).json()) as { kinds: object[] };
    expect(supported.kinds).toContainEqual(
      expect.objectContaining({
        network: caip2Of(world.node.network),
        extra: expect.objectContaining({ feePayer: world.facilitator.address }),
      }),
    );
    const paymentRequirements = requirements(String(10n ** 15n));
    const paymentPayload = await pay(paymentRequirements);
    expect(await post('/verify', { paymentPayload, paymentRequirements })).toMatchObject({ isValid: false });
  });
});
