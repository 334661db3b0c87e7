import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
  HTTPFacilitatorClient,
  PAYMENT_REQUIRED_CACHE_CONTROL,
} from '@x402/core/http';
import { parsePaymentPayload } from '@x402/core/schemas';
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from '@x402/core/types';
import type { Address } from '../src/domain/address.ts';
import { toChecksum } from '../src/domain/address.ts';

/**
 * A shop that sells one thing for USDC over x402. Three doors:
 * `/exact` answers 402 in v1 (body) and v2 (header) at once, `/v1` in v1 only, `/upto` sells up to a ceiling (v2 only).
 */
export interface Shop {
  readonly url: string;
  /** Stops listening; resolves once every connection is closed. */
  stop(): Promise<void>;
}

export interface ShopOptions {
  readonly facilitatorUrl: string;
  readonly chainId: number;
  readonly token: Address;
  readonly payTo: Address;
}

export type Door = 'exact' | 'v1' | 'upto';
export const DOORS: readonly Door[] = ['exact', 'v1', 'upto'];

/** One cent; every x402 client's default spending cap is above it (protocol.md 0.4). */
const PRICE_ATOMS = '10000';
/** What `/upto` takes of its ceiling. */
const METERED_ATOMS = '4200';
const OFFER_SECONDS = 60;
const HEADER_CHARS_MAX = 16 * 1024;
const DOMAIN = { name: 'USDC', version: '2' } as const;

/** Listens on a free loopback port. `upto` needs the facilitator's address, so its /supported is asked once. */
export async function startShop(options: ShopOptions): Promise<Shop> {
  const facilitator = new HTTPFacilitatorClient({ url: options.facilitatorUrl });
  const { kinds } = await facilitator.getSupported();
  const uptoExtra = kinds.find(({ scheme }) => scheme === 'upto')?.extra;
  if (uptoExtra === undefined) throw new Error('the local facilitator does not offer the scheme upto');
  const server = createServer({ maxHeaderSize: HEADER_CHARS_MAX });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = urlOf(server);
  const offers = offersOf(options, url, uptoExtra);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    serve({ facilitator, offers }, request, response).catch(() => {
      // Not the error's text: the packages put signed authorizations into some.
      if (response.headersSent) response.destroy();
      else send(response, 502, { error: 'facilitator_unavailable' });
    });
  });
  return { url, stop: () => close(server) };
}

interface Offer {
  /** The body's entry, absent where v1 has no form of the scheme. */
  readonly v1: object | undefined;
  readonly v2: PaymentRequired | undefined;
  /** What a payment is checked against, by its x402Version. */
  readonly required: Partial<Record<1 | 2, PaymentRequirements>>;
  /** What is settled, where that is less than what was signed. */
  readonly settled: string | undefined;
}

function offersOf(
  { chainId, token, payTo }: ShopOptions,
  url: string,
  uptoExtra: Record<string, unknown>,
): Record<Door, Offer> {
  // Clients sign the checksummed spelling, and the v1 client compares the asset by case (protocol.md 1.2).
  const [asset, payee] = [toChecksum(token), toChecksum(payTo)];
  const base = { asset, payTo: payee, maxTimeoutSeconds: OFFER_SECONDS };
  const network = `eip155:${chainId}` as const;
  const about = (door: Door) => ({
    url: `${url}/${door}`,
    description: 'One answer.',
    mimeType: 'application/json',
  });
  const v1 = (door: Door) => {
    const { url: resource, description, mimeType } = about(door);
    const entry = { scheme: 'exact', network: 'base-sepolia', maxAmountRequired: PRICE_ATOMS, extra: DOMAIN };
    return { ...entry, ...base, resource, description, mimeType };
  };
  const v2 = (door: Door, requirement: PaymentRequirements): PaymentRequired => ({
    x402Version: 2,
    error: 'PAYMENT-SIGNATURE header is required',
    resource: about(door),
    accepts: [requirement],
  });
  const exact: PaymentRequirements = {
    scheme: 'exact',
    network,
    amount: PRICE_ATOMS,
    ...base,
    extra: DOMAIN,
  };
  const upto: PaymentRequirements = {
    ...exact,
    scheme: 'upto',
    extra: { ...DOMAIN, assetTransferMethod: 'permit2', ...uptoExtra },
  };
  // The facilitator takes v1 requirements through the v2 type; it tells them apart by the payload's version.
  const asRequired = (entry: object) => entry as PaymentRequirements;
  return {
    exact: {
      v1: v1('exact'),
      v2: v2('exact', exact),
      required: { 1: asRequired(v1('exact')), 2: exact },
      settled: undefined,
    },
    v1: { v1: v1('v1'), v2: undefined, required: { 1: asRequired(v1('v1')) }, settled: undefined },
    upto: { v1: undefined, v2: v2('upto', upto), required: { 2: upto }, settled: METERED_ATOMS },
  };
}

interface Counter {
  readonly facilitator: HTTPFacilitatorClient;
  readonly offers: Record<Door, Offer>;
}

async function serve(counter: Counter, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const door = DOORS.find((name) => request.url === `/${name}`);
  if (door === undefined) return send(response, 404, { error: 'not_found' });
  const offer = counter.offers[door];
  const header = request.headers['x-payment'] ?? request.headers['payment-signature'];
  if (header === undefined) return challenge(response, offer, 'payment_required');
  const payment = readPayment(String(header));
  if (payment === undefined) return challenge(response, offer, 'payment_malformed');
  // The requirement is the shop's own, never the one that the payment says it accepted.
  const required = offer.required[payment.x402Version === 1 ? 1 : 2];
  if (required === undefined) return challenge(response, offer, 'payment_version');
  const verified = await counter.facilitator.verify(payment, required);
  if (!verified.isValid) return challenge(response, offer, 'payment_invalid');
  const due = offer.settled === undefined ? required : { ...required, amount: offer.settled };
  const settled = await counter.facilitator.settle(payment, due);
  if (!settled.success) return challenge(response, offer, 'payment_failed');
  // Served only now: a verified payment is a promise, a settled one is money.
  const receipt = encodePaymentResponseHeader(settled);
  send(response, 200, { answer: 42 }, { 'PAYMENT-RESPONSE': receipt, 'X-PAYMENT-RESPONSE': receipt });
}

function readPayment(header: string): PaymentPayload | undefined {
  try {
    const parsed = parsePaymentPayload(decodePaymentSignatureHeader(header));
    return parsed.success ? (parsed.data as PaymentPayload) : undefined; // v1 and v2 travel under the v2 type
  } catch {
    return undefined; // not base64 or not JSON
  }
}

function challenge(response: ServerResponse, offer: Offer, error: string): void {
  const headers = {
    'cache-control': PAYMENT_REQUIRED_CACHE_CONTROL,
    ...(offer.v2 === undefined
      ? {}
      : { 'PAYMENT-REQUIRED': encodePaymentRequiredHeader({ ...offer.v2, error }) }),
  };
  const body = offer.v1 === undefined ? { error } : { x402Version: 1, error, accepts: [offer.v1] };
  send(response, 402, body, headers);
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function urlOf(server: Server): string {
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('the shop does not listen');
  return `http://127.0.0.1:${bound.port}`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
