import { decodePaymentRequiredHeader } from '@x402/core/http';
import {
  extractDiscoveryInfo,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from '@x402/extensions';
import { describe, expect, test } from 'vitest';
import { isPayable } from '../../../core/config/access.ts';
import { address } from '../../../core/domain/account.ts';
import { KNOWN_CHAINS } from '../../../core/domain/known-chains.ts';
import { discoveryOf } from '../../../src/http/bazaar.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { offerOf, quoteOf } from '../../../src/payment/offer.ts';

/** How a sold route describes its call, as the official packages of facilitators read it. */

const sold = OPERATIONS.filter(({ price }) => price.x402UsdMicros > 0n);
/** The defaults of reverse proxies for the head of an answer. */
const HEADER_MAX_BYTES = 4 * 1024;

const offered = (operation: (typeof sold)[number]) => {
  const order = {
    resource: `${operation.method} /v0${operation.path}`,
    url: `https://index.example/v0${operation.path.replace(/\{\w+\}/g, 'x')}`,
    description: operation.summary,
    mimeType: 'application/json',
    priceUsdMicros: operation.price.x402UsdMicros,
    settledByUse: false,
    binding: '',
    extensions: { ...discoveryOf(operation) },
  };
  const payTo = address('0x4020615294c913f045dc10f0a5cdebd86c280001');
  const accept = KNOWN_CHAINS.slice(0, 2).flatMap(({ chain, tokens }) =>
    tokens
      .filter(isPayable)
      .slice(0, 1)
      .map((token) => ({ chain, slug: 'chain', rpcUrls: [], token, payTo })),
  );
  return {
    order,
    header: offerOf(quoteOf(order, { accept, offerSeconds: 60 }), 'payment_required').requiredHeader,
  };
};

describe.each(sold.map((operation) => [operation.id, operation] as const))('%s', (_id, operation) => {
  const { order, header } = offered(operation);
  const required = decodePaymentRequiredHeader(header);
  const extension = required.extensions?.['bazaar'] as Parameters<typeof validateDiscoveryExtension>[0]; // checked below

  test('is described as the specification says, with an example that its own schema takes', () => {
    expect(validateDiscoveryExtensionSpec({ ...extension })).toEqual({ valid: true });
    expect(validateDiscoveryExtension(extension)).toEqual({ valid: true });
  });

  test('is listed by what a client echoes of the offer', () => {
    const [accepted] = required.accepts;
    if (accepted === undefined) throw new Error('an offer without terms');
    const { extensions, resource } = required;
    const echoed = { x402Version: 2, accepted, payload: {}, extensions, resource };
    const listed = extractDiscoveryInfo(echoed as Parameters<typeof extractDiscoveryInfo>[0], accepted);
    const template = operation.path.replace(/\{(\w+)\}/g, ':$1');
    expect(listed).toMatchObject({
      resourceUrl: `https://index.example/v0${template}`,
      description: order.description,
      serviceName: 'Settlement Index',
      method: operation.method,
    });
  });

  test('fits the head of an answer', () => {
    expect(Buffer.byteLength(header)).toBeLessThan(HEADER_MAX_BYTES);
  });
});

test('something is sold', () => expect(sold.length).toBeGreaterThan(10));
