import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure } from '../../core/errors.ts';
import { problemOf } from '../../src/openapi/problem.ts';
import type { PaidCall, PaymentLane } from '../../src/payment/payment-lane.ts';
import type { Cast } from '../actors.ts';
import { GOODS, type Good, Wrong } from './goods.ts';
import { openTill, orderFor, type TillOptions } from './till.ts';

/** Three shops on one web host of loopback. Each answers 402 with its price, takes a payment over x402, and answers. */
export interface Shops {
  /** `http://127.0.0.1:<port>`; its /.well-known/x402 lists them. */
  readonly origin: string;
  /** URLs that can be paid for as they are. */
  readonly examples: readonly string[];
  /** Ends every connection; resolves once the port is free. */
  stop(): Promise<void>;
}

interface Shop {
  readonly good: Good;
  readonly lane: PaymentLane;
}

const WELL_KNOWN = '/.well-known/x402';
const PAYMENT_FAILED = 402;

export async function openShops(cast: Cast, options: TillOptions): Promise<Shops> {
  const till = openTill(options);
  const shops = cast.shops.map(
    ({ name, address }): Shop => ({ good: GOODS[name], lane: till.laneOf(address) }),
  );
  const byPath = new Map(shops.map((shop) => [shop.good.path, shop]));
  const origin = await listening((request, response) => {
    const url = new URL(request.url ?? '/', `http://127.0.0.1:${request.socket.localPort}`);
    if (url.pathname === WELL_KNOWN)
      return send(response, 200, { version: 1, resources: shops.map((shop) => itemOf(shop, url)) });
    const shop = byPath.get(url.pathname);
    if (shop === undefined) return send(response, 404, { error: `nothing is sold at ${url.pathname}` });
    sell(shop, url, request, response).catch((error: unknown) => {
      options.log.error({ err: error }, 'a shop could not answer');
      if (!response.headersSent) send(response, 500, { error: 'internal_error' });
    });
  });
  return {
    origin: origin.url,
    examples: shops.map(({ good }) => `${origin.url}${good.path}?${good.example}`),
    async stop() {
      await origin.close();
      await till.close();
    },
  };
}

/** A wrong question is refused before it is paid for. */
async function sell(
  { good, lane }: Shop,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'OPTIONS') return answerPreflight(response);
  if (request.method !== 'GET')
    return send(response, 405, { error: 'only GET is answered' }, { allow: 'GET, OPTIONS' });
  const made = good.make(url.searchParams);
  if (made instanceof Wrong) return send(response, 400, { error: made.detail });
  const order = orderFor(good, url);
  const header = request.headers['payment-signature'] ?? request.headers['x-payment'];
  if (typeof header !== 'string') {
    const offer = lane.offer(order);
    const body = { x402Version: 1, error: 'X-PAYMENT header is required', accepts: offer.accepts };
    return send(response, PAYMENT_FAILED, body, { 'PAYMENT-REQUIRED': offer.requiredHeader });
  }
  try {
    await deliver(await lane.take({ order, header }), made, response);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    refuse(error, url, response);
  }
}

async function deliver(
  paid: PaidCall,
  made: Readonly<Record<string, unknown>>,
  response: ServerResponse,
): Promise<void> {
  if (paid.kind === 'open') throw new Error('a shop offers no ceilings');
  const { receiptHeader: receipt } = paid;
  const left = new Promise<boolean>((resolve) => {
    response.once('finish', () => resolve(true)).once('close', () => resolve(false));
  });
  send(response, 200, made, { 'X-PAYMENT-RESPONSE': receipt, 'PAYMENT-RESPONSE': receipt });
  await paid.finish(await left);
}

function refuse({ code, context }: Failure, url: URL, response: ServerResponse): void {
  const problem = problemOf(code, context, { path: url.pathname, requestId: '', publicUrl: '' });
  const { offer } = context;
  send(response, problem.status, problem, offer && { 'PAYMENT-REQUIRED': offer.requiredHeader });
}

/** As crawlers of directories read it. */
function itemOf({ good, lane }: Shop, at: URL): object {
  const url = new URL(good.path, at);
  const { accepts } = lane.offer(orderFor(good, url));
  const { title, description, tags, example } = good;
  return {
    resource: url.href,
    type: 'http',
    x402Version: 1,
    accepts,
    description: `${description} Example: ${url.href}?${example}`,
    metadata: { name: title, tags },
  };
}

/** Pages of every origin may buy, with whatever headers their client sends, and read the offer and the receipt. */
const FOR_EVERY_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE',
};
const PREFLIGHT_SECONDS = 600;

function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    ...FOR_EVERY_ORIGIN,
    'access-control-allow-methods': 'GET',
    'access-control-allow-headers': '*',
    'access-control-max-age': String(PREFLIGHT_SECONDS),
  });
  response.end();
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...FOR_EVERY_ORIGIN,
    ...headers,
  });
  response.end(`${JSON.stringify(body)}\n`);
}

async function listening(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo; // of a TCP server that listens
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
