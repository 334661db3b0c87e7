import { createServer, type ServerResponse } from 'node:http';

/** A facilitator's discovery API over HTTP, as the x402 specification has it, whose manners a test can change while it runs. */
export interface Bazaar {
  readonly url: string;
  items: unknown[];
  /** Answers instead of the list; false to let the list answer. */
  manners: (response: ServerResponse, question: BazaarQuestion) => boolean;
  readonly asked: BazaarQuestion[];
  close(): Promise<void>;
}

export interface BazaarQuestion {
  readonly path: string;
  readonly limit: number;
  readonly offset: number;
}

export async function startBazaar(items: readonly unknown[] = []): Promise<Bazaar> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://bazaar');
    const question = {
      path: url.pathname,
      limit: Number(url.searchParams.get('limit') ?? 20),
      offset: Number(url.searchParams.get('offset') ?? 0),
    };
    bazaar.asked.push(question);
    if (!bazaar.manners(response, question)) sendPage(response, bazaar.items, question);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the bazaar has no port');
  const bazaar: Bazaar = {
    url: `http://127.0.0.1:${address.port}`,
    items: [...items],
    manners: () => false,
    asked: [],
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
  return bazaar;
}

export function sendPage(
  response: ServerResponse,
  items: readonly unknown[],
  { limit, offset, total = items.length }: { limit: number; offset: number; total?: number },
): void {
  const page = items.slice(offset, offset + limit);
  response
    .setHeader('content-type', 'application/json')
    .end(JSON.stringify({ x402Version: 2, items: page, pagination: { limit, offset, total } }));
}

export const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

export interface ItemFields {
  readonly payTo?: string;
  readonly amount?: string;
  readonly network?: string;
  readonly item?: Readonly<Record<string, unknown>>;
}

/** An item of version 2 that costs a cent on Base. */
export function listedItem(
  resource: string,
  { payTo, amount, network, item }: ItemFields = {},
): Record<string, unknown> {
  return {
    resource,
    type: 'http',
    x402Version: 2,
    lastUpdated: '2026-11-20T08:00:00.000Z',
    accepts: [
      {
        scheme: 'exact',
        network: network ?? 'eip155:8453',
        amount: amount ?? '10000',
        asset: BASE_USDC,
        payTo: payTo ?? '0x00000000000000000000000000000000000000b2',
        maxTimeoutSeconds: 60,
      },
    ],
    ...item,
  };
}
