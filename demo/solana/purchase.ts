import type { Address, TransactionSigner } from '@solana/kit';
import type { PaymentRequirements, SettleResponse } from '@x402/core/types';
import { toClientSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/client';

/** A payment over x402's scheme `exact`, by the official client, that a facilitator settles. */
export interface SolanaPurchase {
  readonly payer: TransactionSigner;
  readonly payTo: Address;
  readonly mint: Address;
  readonly amount: bigint;
  /** Of the thing that is paid for. */
  readonly resource: string;
}

export interface SolanaLane {
  /** The node that the client asks. */
  readonly rpcUrl: string;
  readonly network: `solana:${string}`;
  readonly facilitatorUrl: string;
  /** The account that pays the facilitator's fees. */
  readonly feePayer: Address;
}

const MAX_TIMEOUT_SECONDS = 60;
const SETTLE_TIMEOUT_MS = 30_000;

/** Resolves with the transaction once the facilitator has seen it in a block, so blocks must be made meanwhile. */
export async function buyOnSolana(
  { payer, payTo, mint, amount, resource }: SolanaPurchase,
  { rpcUrl, network, facilitatorUrl, feePayer }: SolanaLane,
): Promise<string> {
  const paymentRequirements: PaymentRequirements = {
    scheme: 'exact',
    network,
    amount: String(amount),
    asset: mint,
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: { feePayer },
  };
  const client = new ExactSvmScheme(toClientSvmSigner(payer), { rpcUrl });
  const created = await client.createPaymentPayload(2, paymentRequirements);
  const paymentPayload = { ...created, accepted: paymentRequirements, resource: { url: resource } };
  const response = await fetch(`${facilitatorUrl}/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ paymentPayload, paymentRequirements }),
    signal: AbortSignal.timeout(SETTLE_TIMEOUT_MS),
  });
  const settled = (await response.json()) as SettleResponse; // by the x402 specification
  if (!settled.success) throw new Error(`a payment on Solana is not settled: ${settled.errorReason}`);
  return settled.transaction;
}
