import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import type { Hash } from '../src/domain/settlement.ts';
import type { Actor } from './actors.ts';
import type { Door, Shop } from './shop.ts';

/** An agent that pays over real x402 HTTP: 402, signature, second request, receipt. */
export interface Shopper {
  /**
   * Buys once. Resolves with the settlement's transaction when it is mined, so somebody must be mining. Throws, without
   * the package's own text (it can hold the signed authorization), when the shop did not deliver.
   */
  buy(shop: Shop, door: Door): Promise<Hash>;
}

const PURCHASE_TIMEOUT_MS = 30_000;

export function createShopper(agent: Actor): Shopper {
  const signer = privateKeyToAccount(agent.privateKey);
  const client = registerExactEvmScheme(new x402Client(), { signer });
  client.register('eip155:*', new UptoEvmScheme(signer));
  const pay = wrapFetchWithPayment(fetch, client);
  return {
    async buy(shop, door) {
      const url = `${shop.url}/${door}`;
      const response = await pay(url, { signal: AbortSignal.timeout(PURCHASE_TIMEOUT_MS) }).catch(
        (cause: unknown) => {
          throw new Error(
            `${agent.name} could not pay at ${door}: ${cause instanceof Error ? cause.name : 'no error'}`,
          );
        },
      );
      const receipt = response.headers.get('PAYMENT-RESPONSE');
      if (!response.ok || receipt === null) {
        const { error } = (await response.json()) as { error?: string }; // our own shop's answer
        throw new Error(`${agent.name} got ${response.status} ${error ?? ''} at ${door}`);
      }
      return decodePaymentResponseHeader(receipt).transaction as Hash; // a transaction hash by the x402 specification
    },
  };
}
