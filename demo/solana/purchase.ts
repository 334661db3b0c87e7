import { setTimeout as sleep } from 'node:timers/promises';
import type { Address, TransactionSigner } from '@solana/kit';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequirements, SettleResponse } from '@x402/core/types';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
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

const OFFER_POLL_MS = 500;
const OFFER_TIMEOUT_MS = 20_000;

/** Buys a call of a service that sells on Solana, over HTTP as any agent does. Resolves with the transaction of the receipt. */
export async function buyCall(
  url: string,
  { payer, rpcUrl }: { readonly payer: TransactionSigner; readonly rpcUrl: string },
): Promise<string> {
  await untilOffered(url);
  const scheme = new ExactSvmScheme(toClientSvmSigner(payer), { rpcUrl });
  const pay = wrapFetchWithPayment(fetch, new x402Client().register('solana:*', scheme));
  const response = await pay(url, { signal: AbortSignal.timeout(SETTLE_TIMEOUT_MS) });
  await response.arrayBuffer();
  const receipt = response.headers.get('PAYMENT-RESPONSE');
  if (!response.ok || receipt === null)
    throw new Error(`${url} answers ${response.status} to a payment on Solana`);
  return decodePaymentResponseHeader(receipt).transaction;
}

/** A service that has just started asks its facilitator for a fee payer when it makes its first offer. */
async function untilOffered(url: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < OFFER_TIMEOUT_MS; waitedMs += OFFER_POLL_MS) {
    const response = await fetch(url, { signal: AbortSignal.timeout(SETTLE_TIMEOUT_MS) });
    await response.arrayBuffer();
    const offer = response.headers.get('PAYMENT-REQUIRED');
    const accepts = offer === null ? [] : decodePaymentRequiredHeader(offer).accepts;
    if (accepts.some(({ network }) => network.startsWith('solana:'))) return;
    await sleep(OFFER_POLL_MS);
  }
  throw new Error(`${url} offers nothing on Solana`);
}
