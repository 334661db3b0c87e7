import { decodePaymentRequiredHeader } from '@x402/core/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../core/config/load.ts';
import { offerTokens, readItem } from '../../../ingest/endpoints/item.ts';
import { OFFER_LIST_SCHEMA } from '../../../src/openapi/payments.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { complaints } from '../../kit/answer-schema.ts';
import { type OwnApi, ownApi } from '../../kit/own-api.ts';

/** `/.well-known/x402`: a call is asked for the terms that crawlers read. */

const PATH = '/.well-known/x402';

interface Listed {
  readonly version: number;
  readonly resources: readonly string[];
  readonly x402Version: number;
  readonly items: readonly {
    readonly resource: string;
    readonly accepts: readonly Readonly<Record<string, unknown>>[];
    readonly price: Readonly<Record<string, unknown>>;
    readonly extensions: {
      readonly bazaar: { readonly info: { readonly input: { readonly method: string } } };
    };
  }[];
}

let api: OwnApi;
let listed: Listed;

beforeAll(async () => {
  api = await ownApi({ sells: true });
  const answer = await api.app.inject({ url: PATH, headers: { host: 'index.example' } });
  expect(answer.statusCode).toBe(200);
  listed = answer.json();
});
afterAll(() => api?.close());

describe('sold calls', () => {
  test('is every operation with a price, and none that is free', () => {
    const priced = OPERATIONS.filter(({ price }) => price.x402UsdMicros > 0n);
    expect(listed.items.map(({ resource }) => resource)).toEqual(
      priced.map(({ path }) => `http://index.example/v0${path}`),
    );
    expect(listed).toMatchObject({ version: 1, x402Version: 2 });
    expect(listed.resources).toEqual(
      listed.items.map(({ resource }) => resource).filter((url) => !url.includes('{')),
    );
  });

  test('is what the document says, and nothing else', () => {
    expect(complaints(OFFER_LIST_SCHEMA, listed)).toEqual([]);
  });

  test('has the terms that the 402 of its route has', async () => {
    const asked = listed.items.filter(
      ({ resource, extensions }) =>
        listed.resources.includes(resource) && extensions.bazaar.info.input.method === 'GET',
    );
    expect(asked.length).toBeGreaterThan(5);
    for (const { resource, accepts } of asked) {
      const { pathname } = new URL(resource);
      const query = pathname.endsWith('/graph') ? '?window=10' : '';
      const refused = await api.app.inject({
        url: `${pathname}${query}`,
        headers: { host: 'index.example' },
      });
      expect(refused.statusCode, pathname).toBe(402);
      const { accepts: terms } = decodePaymentRequiredHeader(String(refused.headers['payment-required']));
      expect(terms, pathname).toEqual(accepts);
    }
  });

  test('says the range of a price that the caller chooses, and the amount of any other', () => {
    const priceOf = (path: string) =>
      listed.items.find(({ resource }) => resource === `http://index.example/v0${path}`)?.price;
    expect(priceOf('/sql')).toEqual({
      mode: 'dynamic',
      currency: 'USD',
      min: '0.01',
      max: '0.03',
      per_unit: '0.01',
      unit: 'started 5 seconds of engine work',
    });
    expect(priceOf('/flows')).toEqual({ mode: 'fixed', currency: 'USD', amount: '0.001' });
  });

  test('is read by our own crawler with the price that is signed', () => {
    const facts = {
      tokens: offerTokens(loadConfig({ env: {} })),
      nowSeconds: 1_795_176_000,
      origin: 'http://index.example',
    };
    for (const { method, path, price } of OPERATIONS.filter((one) => one.price.x402UsdMicros > 0n)) {
      const resource = `http://index.example/v0${path}`;
      const item = listed.items.find((one) => one.resource === resource);
      expect(readItem(item, facts), path).toMatchObject([
        { resource, method, priceUsdMicros: price.x402UsdMicros },
      ]);
    }
  });
});

test('a deployment that sells nothing says so', async () => {
  const closed = await ownApi();
  const answer = await closed.app.inject({ url: PATH });
  await closed.close();
  expect({ status: answer.statusCode, code: answer.json().code }).toEqual({ status: 404, code: 'not_found' });
  expect(answer.json().detail).toContain('No calls are sold here');
});

test('a crafted host is not repeated', async () => {
  const crafted = await api.app.inject({ url: PATH, headers: { host: 'evil.example/?' } });
  expect(crafted.body).not.toContain('evil.example');
});
