import { decodePaymentRequiredHeader } from '@x402/core/http';
import { PaymentRequiredV1Schema, parsePaymentRequired } from '@x402/core/schemas';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AcceptedPayment, isPayable } from '../../../core/config/access.ts';
import { address, isAddress, readAddress, toChecksum } from '../../../core/domain/account.ts';
import { usdMicros } from '../../../core/domain/amount.ts';
import type { Chain, ChainFacts } from '../../../core/domain/chains.ts';
import { KNOWN_CHAINS } from '../../../core/domain/known-chains.ts';
import { namesChain, networkName, v1NameOf } from '../../../core/domain/networks.ts';
import { atomicUnits, offerOf, quoteOf, requirementOf } from '../../../src/payment/offer.ts';
import type { Order } from '../../../src/payment/payment-lane.ts';

const PAY_TO = address('0x209693bc6afc0c5328ba36faf03c514ef312287c');
const SOLANA_PAY_TO = address('6f9uXvV1Cxb5dQa8nEoMTbDyyFd2TnJt9GcN7hXkXGvX');
const FEE_PAYER = address('2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4');
const isOfSolana = ({ chain }: { readonly chain: Chain }) => chain.startsWith('solana:');
const feePayerOn = (chain: Chain) => (isOfSolana({ chain }) ? FEE_PAYER : null);
/** Networks that x402@1.2.0 knows; its client refuses a whole offer for any other. */
const V1_CLIENT_NETWORKS = new Set(
  'abstract abstract-testnet base-sepolia base avalanche-fuji avalanche iotex solana-devnet solana sei sei-testnet polygon polygon-amoy peaq story educhain skale-base-sepolia'.split(
    ' ',
  ),
);
const ORDER: Order = {
  resource: 'GET /v0/flows',
  url: 'https://api.example/v0/flows?limit=5',
  description: 'Newest settlements – “as they happen”.',
  mimeType: 'application/json',
  priceUsdMicros: 1_000n,
  settledByUse: false,
  binding: 'ab'.repeat(32),
};

function accepted(facts: ChainFacts): AcceptedPayment {
  const token = facts.tokens.find(isPayable);
  if (token === undefined) throw new Error(`nothing to pay with on ${facts.slug}`);
  return {
    chain: facts.chain,
    slug: facts.slug,
    token,
    payTo: isOfSolana(facts) ? SOLANA_PAY_TO : PAY_TO,
    rpcUrls: ['http://127.0.0.1/key'],
  };
}

const everywhere = KNOWN_CHAINS.filter(({ tokens }) => tokens.some(isPayable)).map((facts) =>
  accepted(facts),
);
const offered = (accept: readonly AcceptedPayment[], order = ORDER) =>
  offerOf(quoteOf(order, { accept, offerSeconds: 60 }, feePayerOn), 'payment_required');

describe('an offer', () => {
  test('in version 1 passes the schema of the packages and names only networks and schemes that the v1 client knows', () => {
    const { accepts } = offered(everywhere);
    const body = { x402Version: 1, error: 'payment_required', accepts };
    expect(PaymentRequiredV1Schema.safeParse(body)).toMatchObject({ success: true });
    for (const entry of accepts) {
      expect(V1_CLIENT_NETWORKS).toContain(entry['network']);
      expect(entry['scheme']).toBe('exact');
      expect(entry).not.toHaveProperty('outputSchema');
      expect(URL.canParse(String(entry['resource']))).toBe(true);
    }
    expect(accepts.map(({ network }) => network)).toEqual([
      'base',
      'base-sepolia',
      'polygon',
      'avalanche',
      'sei',
      'polygon-amoy',
      'peaq',
      'solana',
      'solana-devnet',
    ]);
  });

  test('in version 2 passes the schema of the packages and names every chain by CAIP-2', () => {
    const required = decodePaymentRequiredHeader(offered(everywhere).requiredHeader);
    expect(parsePaymentRequired(required)).toMatchObject({ success: true });
    expect(required).toMatchObject({
      x402Version: 2,
      error: 'payment_required',
      resource: { url: ORDER.url, description: ORDER.description, mimeType: ORDER.mimeType },
    });
    expect(required.accepts.map(({ network }) => network)).toEqual(everywhere.map(({ chain }) => chain));
  });

  test('says all that a signer needs, exactly', () => {
    const { accepts, requiredHeader } = offered(everywhere.slice(1, 2));
    const common = {
      scheme: 'exact',
      asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
      maxTimeoutSeconds: 60,
      extra: { name: 'USDC', version: '2' },
    };
    const { url: resource, description, mimeType } = ORDER;
    expect(accepts).toEqual([
      { ...common, network: 'base-sepolia', maxAmountRequired: '1000', resource, description, mimeType },
    ]);
    expect(decodePaymentRequiredHeader(requiredHeader).accepts).toEqual([
      { ...common, network: 'eip155:84532', amount: '1000' },
    ]);
  });

  test('is pure ASCII in its header and holds no RPC URL', () => {
    const { requiredHeader, accepts } = offered(everywhere);
    expect(requiredHeader).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
    const text = JSON.stringify(accepts) + Buffer.from(requiredHeader, 'base64').toString('utf8');
    expect(text).not.toContain('127.0.0.1');
  });

  test('of a second token on a chain is made in version 2 only: a v1 payment does not say which token it is in', () => {
    const [first] = everywhere;
    if (first === undefined) throw new Error('there are known chains');
    const other = {
      ...first,
      token: { ...first.token, address: address(`0x${'12'.repeat(20)}`), decimals: 18 },
    };
    const { accepts, requiredHeader } = offered([first, other]);
    expect(accepts).toHaveLength(1);
    expect(decodePaymentRequiredHeader(requiredHeader).accepts.map(({ amount }) => amount)).toEqual([
      '1000',
      '1000000000000000',
    ]);
  });

  test('is checked by a facilitator against the entry of the payment’s version', () => {
    const [terms] = quoteOf(ORDER, { accept: everywhere.slice(1, 2), offerSeconds: 60 }).terms;
    if (terms === undefined) throw new Error('one way to pay');
    expect(requirementOf(terms, 1)).toMatchObject({ network: 'base-sepolia', maxAmountRequired: '1000' });
    expect(requirementOf(terms, 2)).toMatchObject({ network: 'eip155:84532', amount: '1000' });
    expect(isAddress(readAddress(String(requirementOf(terms, 1)['payTo'])))).toBe(true);
  });
});

describe('an offer of a ceiling', () => {
  const facilitator = address(`0x${'fa'.repeat(20)}`);
  const byUse = { ...ORDER, priceUsdMicros: 30_000n, settledByUse: true };
  const polygon = 'eip155:137';
  const offer = offerOf(
    quoteOf(byUse, { accept: everywhere, offerSeconds: 60 }, (chain) =>
      chain === polygon ? facilitator : feePayerOn(chain),
    ),
    'payment_required',
  );

  test('stands in version 2 after all fixed prices, where the facilitator settles it, and passes the schema of the packages', () => {
    const required = decodePaymentRequiredHeader(offer.requiredHeader);
    expect(parsePaymentRequired(required)).toMatchObject({ success: true });
    expect(required.accepts).toHaveLength(everywhere.length + 1);
    expect(required.accepts.at(-1)).toEqual({
      scheme: 'upto',
      network: polygon,
      amount: '30000',
      asset: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
      payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
      // The call runs between the verification and the settlement.
      maxTimeoutSeconds: 120,
      extra: {
        name: 'USD Coin',
        version: '2',
        assetTransferMethod: 'permit2',
        facilitatorAddress: toChecksum(facilitator),
      },
    });
  });

  test('leaves version 1 as it was: its client would refuse the whole body', () => {
    const without = offered(everywhere, byUse);
    expect(offer.accepts).toEqual(without.accepts);
    expect(JSON.stringify(offer.accepts)).not.toMatch(/upto|permit2/);
  });

  test('is not made for a call of a fixed price', () => {
    const fixed = quoteOf(ORDER, { accept: everywhere, offerSeconds: 60 }, () => facilitator);
    expect(fixed.terms.map(({ scheme }) => scheme)).not.toContain('upto');
  });
});

test('an offer on Solana names the account that pays the fee, and is none while that is not known; no ceiling is offered there', () => {
  const accept = everywhere.filter(isOfSolana);
  const byUse = { ...ORDER, settledByUse: true };
  const { accepts, requiredHeader } = offered(accept, byUse);
  const extra = { feePayer: FEE_PAYER };
  const terms = { scheme: 'exact', payTo: SOLANA_PAY_TO, extra };
  expect(accepts).toMatchObject([terms, terms]);
  expect(decodePaymentRequiredHeader(requiredHeader).accepts).toMatchObject([terms, terms]);
  const unknown = quoteOf(byUse, { accept, offerSeconds: 60 });
  expect([unknown.terms.length, unknown.accepted.length]).toEqual([0, 2]);
});

describe('dollars as atomic units', () => {
  test('are exact for every price and every number of decimals from six on', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 18n }),
        fc.integer({ min: 6, max: 36 }),
        (micros, decimals) => {
          expect(usdMicros(atomicUnits(micros, decimals), { decimals, currency: 'USD' })).toBe(micros);
        },
      ),
    );
  });

  test.each([
    [10_000n, 6, 10_000n],
    [10_000n, 18, 10_000_000_000_000_000n],
    [10_000n, 2, 1n],
    [1n, 8, 100n],
  ])('%i millionths of a dollar with %i decimals', (micros, decimals, atoms) => {
    expect(atomicUnits(micros, decimals)).toBe(atoms);
  });

  test('are refused where they would have to be rounded, and below zero', () => {
    expect(() => atomicUnits(1_000n, 2)).toThrow(RangeError);
    expect(() => atomicUnits(-1n, 6)).toThrow(RangeError);
  });
});

describe('names of chains', () => {
  test.each(['eip155:1', 'eip155:42161', 'eip155:10', 'eip155:42220'] as const)(
    '%s has none in version 1',
    (chain) => {
      expect(v1NameOf(chain)).toBeNull();
      expect(networkName(chain, 2)).toBe(chain);
    },
  );

  test('of either version mean their chain and no other', () => {
    expect(namesChain('base', 'eip155:8453')).toBe(true);
    expect(namesChain('eip155:8453', 'eip155:8453')).toBe(true);
    expect(namesChain('base-sepolia', 'eip155:8453')).toBe(false);
    expect(namesChain('eip155:84532', 'eip155:8453')).toBe(false);
    for (const nothing of [null, undefined, '', 8453, 'ethereum'])
      expect(namesChain(nothing, 'eip155:1')).toBe(false);
  });
});
