import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toChecksum } from '../../../core/domain/account.ts';
import { castOf } from '../../../demo/actors.ts';
import { GOODS } from '../../../demo/shops/goods.ts';
import { openShops, type Shops } from '../../../demo/shops/shops.ts';
import { browserIsThere } from '../../kit/browser.ts';
import { openPayingPage } from '../../kit/paying-page.ts';
import { watchedLog, watchSecret } from '../../kit/secrets-watch.ts';
import { startX402World, type X402World } from '../../kit/x402-world.ts';

/** The three shops of the demo, on a real chain and through its facilitator. */

const cast = castOf(1);
const directory = mkdtempSync(join(tmpdir(), 'settlement-index-shops-'));
let world: X402World;
let shops: Shops;

beforeAll(async () => {
  world = await startX402World();
  shops = await openShops(cast, {
    rpcUrl: world.chain.url,
    facilitatorUrl: world.facilitator.url,
    dataDir: directory,
    log: watchedLog('shops'),
  });
});
afterAll(async () => {
  await shops?.stop();
  await world?.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function payingFetch(): Promise<typeof fetch> {
  const { privateKey } = await world.payer();
  const client = registerExactEvmScheme(new x402Client(), { signer: privateKeyToAccount(privateKey) });
  return wrapFetchWithPayment(fetch, client) as typeof fetch; // the same signature, by the package's declaration
}

test('each of three shops asks its price with 402, takes the payment, and answers', async () => {
  expect(shops.examples).toHaveLength(3);
  for (const [index, url] of shops.examples.entries()) {
    const shop = cast.shops[index];
    if (shop === undefined) throw new Error('a shop without an owner');
    const offer = await fetch(url);
    expect(offer.status).toBe(402);
    const { accepts } = decodePaymentRequiredHeader(offer.headers.get('PAYMENT-REQUIRED') ?? '');
    const price = String(GOODS[shop.name].price);
    expect(accepts).toMatchObject([{ amount: price, payTo: toChecksum(shop.address) }]);
    const before = await world.balance(shop.address);
    const answer = await (await payingFetch())(url);
    expect(answer.status).toBe(200);
    const receipt = decodePaymentResponseHeader(answer.headers.get('PAYMENT-RESPONSE') ?? '');
    expect(receipt).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
    expect((await world.balance(shop.address)) - before).toBe(GOODS[shop.name].price);
  }
});

test.skipIf(!browserIsThere())('a page of another origin buys in a browser', async () => {
  const page = await openPayingPage();
  try {
    for (const url of shops.examples) {
      const { privateKey } = await world.payer();
      const answer = await page.pay(url, watchSecret(privateKey));
      expect(answer).toMatchObject({ status: 200, receipt: expect.any(String) });
      expect(decodePaymentResponseHeader(answer.receipt ?? '')).toMatchObject({ success: true });
    }
  } finally {
    await page.close();
  }
});

test('a sold answer is right', () => {
  const answerOf = (name: keyof typeof GOODS, query: string) => GOODS[name].make(new URLSearchParams(query));
  expect(answerOf('unit-converter', 'value=26.2&from=mi&to=km')).toMatchObject({ result: 42.1648128 });
  expect(answerOf('text-facts', 'text=pay%20per%20call')).toMatchObject({
    characters: 12,
    words: 3,
    sha256: '6ac3f6910ae5a83f923cc4bb414793d65a190612e8b00d5b4d1690d8fef5f566',
  });
  const { rolls } = answerOf('fair-dice', 'sides=2&count=100') as unknown as { rolls: readonly number[] };
  expect(new Set(rolls)).toEqual(new Set([1, 2]));
});

test('a question that cannot be answered is refused before anything is paid', async () => {
  const pay = await payingFetch();
  for (const question of [
    '/convert?value=1&from=mi&to=kg',
    '/convert?from=m&to=km',
    '/roll?sides=0',
    '/text-facts',
  ])
    expect((await pay(`${shops.origin}${question}`)).status, question).toBe(400);
  expect((await pay(`${shops.origin}/elsewhere`)).status).toBe(404);
});

test('the list that directories read holds every shop with what it really asks', async () => {
  const listed = (await (await fetch(`${shops.origin}/.well-known/x402`)).json()) as {
    resources: readonly { resource: string; accepts: readonly { maxAmountRequired: string }[] }[];
  };
  for (const { resource, accepts } of listed.resources) {
    const asked = (await (await fetch(`${resource}?text=a&value=1&from=m&to=m`)).json()) as {
      accepts: readonly object[];
    };
    expect(asked.accepts.map((entry) => ({ ...entry, resource }))).toEqual(accepts);
  }
  expect(listed.resources).toHaveLength(3);
});
