import { decodePaymentRequiredHeader } from '@x402/core/http';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import { x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import type { PaymentOffer } from '../../core/domain/payment.ts';
import type { Wallet } from '../../demo/chain/sender.ts';
import { watchSecret } from './secrets-watch.ts';
import { signatures } from './x402-world.ts';

/** Payments of the scheme `upto`, signed by the real client. */

/** A client that pays by ceiling and by nothing else. */
export function ceilingClient(payer: Wallet): x402Client {
  return new x402Client().register('eip155:*', new UptoEvmScheme(privateKeyToAccount(payer.privateKey)));
}

type Required = ReturnType<typeof decodePaymentRequiredHeader>;
type Entry = Required['accepts'][number];
type Payload = Awaited<ReturnType<x402Client['createPaymentPayload']>>;

/** What a payer signs and sends, where that is not what it was offered. */
export interface CeilingWish {
  /** Signed in place of the offered entry; the entry that is sent as accepted stays the offered one. */
  readonly signs?: (entry: Entry) => Partial<Entry>;
  /** Changes of the sent payment, after signing. */
  readonly sends?: (payload: SentPayload) => object;
  readonly accepted?: Partial<Entry>;
}

export interface SentPayload {
  readonly signature: string;
  readonly permit2Authorization: Readonly<Record<string, unknown>> & {
    readonly from: string;
    readonly nonce: string;
    readonly witness: Readonly<Record<string, unknown>>;
    readonly permitted: Readonly<Record<string, unknown>>;
  };
}

export interface SentCeiling {
  readonly header: string;
  readonly payload: SentPayload;
  readonly accepted: Entry;
}

export function uptoEntries({ requiredHeader }: Pick<PaymentOffer, 'requiredHeader'>): readonly Entry[] {
  return decodePaymentRequiredHeader(requiredHeader).accepts.filter(({ scheme }) => scheme === 'upto');
}

export async function payCeiling(
  { requiredHeader }: Pick<PaymentOffer, 'requiredHeader'>,
  payer: Wallet,
  wish: CeilingWish = {},
): Promise<SentCeiling> {
  const required = decodePaymentRequiredHeader(requiredHeader);
  const entry = required.accepts.find(({ scheme }) => scheme === 'upto');
  if (entry === undefined) throw new Error('no ceiling is offered');
  const signed = { ...entry, ...wish.signs?.(entry) };
  const payment: Payload = await ceilingClient(payer).createPaymentPayload({
    ...required,
    accepts: [signed],
  });
  const made = payment.payload as unknown as SentPayload; // what UptoEvmScheme makes
  signatures.push(made.signature.slice(2));
  const payload = { ...made, ...wish.sends?.(made) };
  const accepted = { ...entry, ...wish.accepted };
  const header = Buffer.from(JSON.stringify({ ...payment, accepted, payload })).toString('base64');
  return { header: watchSecret(header), payload, accepted };
}
