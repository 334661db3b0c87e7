import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import type { Address, Hash } from '../core/domain/account.ts';
import type { Actor } from './actors.ts';

/** One thing that agents buy, and the x402 version they pay it in. */
export interface Errand {
  /** Below the API's base URL; or a URL of another seller. */
  readonly path: string;
  /** Sent as JSON, by POST. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly x402Version: 1 | 2;
  /** The use of the answer. */
  use?(answer: Response, api: string): Promise<void>;
}

/** An agent that pays over real x402 HTTP: 402, signature, second request, receipt. */
export interface Shopper {
  /**
   * Buys once. Resolves with the settlement's transaction when it is mined, so the chain must be producing blocks. Throws,
   * without the package's own text (it can hold the signed authorization), when the API did not deliver.
   */
  buy(api: string, errand: Errand): Promise<Hash>;
}

const PURCHASE_TIMEOUT_MS = 30_000;

/** In turn; the trial key comes first, so that the shortest run has one. `merchant` is one with payments to look at, `shops` are URLs. */
export function errandsOf(merchant: Address, shops: readonly string[]): readonly Errand[] {
  return [
    { path: '/v0/test/x402', x402Version: 2, use: callWithNewKey },
    { path: `/v0/merchants/${merchant}`, x402Version: 1 },
    {
      path: '/v0/sql',
      body: {
        sql: 'SELECT payee, sum(amount_usd) AS usd FROM settlements GROUP BY payee ORDER BY usd DESC LIMIT 5',
        max_qu: 1,
      },
      x402Version: 2,
    },
    { path: '/v0/graph?window=1000&max_edges=10', x402Version: 2 },
    { path: '/v0/flows?limit=5', x402Version: 2 },
    ...shops.map((path): Errand => ({ path, x402Version: 2 })),
  ];
}

export function createShopper(agent: Actor): Shopper {
  const client = registerExactEvmScheme(new x402Client(), { signer: privateKeyToAccount(agent.privateKey) });
  const pay = {
    1: wrapFetchWithPayment(fetchAsVersion1, client),
    2: wrapFetchWithPayment(fetch, client),
  };
  return {
    async buy(api, { path, body, x402Version, use }) {
      const signal = AbortSignal.timeout(PURCHASE_TIMEOUT_MS);
      const request = body === undefined ? { signal } : { signal, ...posted(body) };
      const response = await pay[x402Version](new URL(path, api), request).catch((cause: unknown) => {
        throw new Error(
          `${agent.name} could not pay for ${path}: ${cause instanceof Error ? cause.name : 'no error'}`,
        );
      });
      const receipt = response.headers.get('PAYMENT-RESPONSE');
      if (!response.ok || receipt === null) {
        const { code } = (await response.json()) as { code?: string }; // our own API's answer
        throw new Error(`${agent.name} got ${response.status} ${code ?? ''} for ${path}`);
      }
      await use?.(response, api);
      return decodePaymentResponseHeader(receipt).transaction as Hash; // a transaction hash by the x402 specification
    },
  };
}

function posted(body: Readonly<Record<string, unknown>>): RequestInit {
  return { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

/** A 402 as a client of version 1 sees it: with the offer in the body, without the one in the header. */
const fetchAsVersion1: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const headers = new Headers(response.headers);
  headers.delete('PAYMENT-REQUIRED');
  return new Response(response.body, { status: response.status, headers });
};

/** A key that was bought must open what takes any key. */
async function callWithNewKey(answer: Response, api: string): Promise<void> {
  const { api_key: key } = (await answer.json()) as { api_key: string }; // our own API's answer
  const called = await fetch(`${api}/v0/flows?limit=1`, { headers: { 'X-API-Key': key } });
  if (!called.ok) throw new Error(`a bought key got ${called.status} for /v0/flows`);
}
