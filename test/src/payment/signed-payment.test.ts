import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPayable } from '../../../core/config/access.ts';
import { address } from '../../../core/domain/account.ts';
import { knownChain } from '../../../core/domain/networks.ts';
import { Failure } from '../../../core/errors.ts';
import { type Quote, quoteOf } from '../../../src/payment/offer.ts';
import { readPurchase, toConfirm, toSettle, toVerify } from '../../../src/payment/purchase.ts';
import { PAYMENT_HEADER_CHARS_MAX, readPayment } from '../../../src/payment/signed-payment.ts';

const PAY_TO = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
const ASSET = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const SIGNATURE = `0x${'5a'.repeat(65)}`;
const AUTHORIZATION = {
  from: '0x857b06519E91e3A54538791bDbb0E22373e36b66',
  to: PAY_TO,
  value: '1000',
  validAfter: '1740672089',
  validBefore: '1740672154',
  nonce: `0x${'F3'.repeat(32)}`,
};
const V1 = {
  x402Version: 1,
  scheme: 'exact',
  network: 'base-sepolia',
  payload: { signature: SIGNATURE, authorization: AUTHORIZATION },
};
const ACCEPTED = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '1000',
  asset: ASSET,
  payTo: PAY_TO,
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC', version: '2' },
};
const V2 = {
  x402Version: 2,
  resource: { url: 'https://api.example/v0/flows' },
  accepted: ACCEPTED,
  payload: V1.payload,
};

const PERMIT = {
  from: AUTHORIZATION.from,
  permitted: { token: ASSET, amount: '30000' },
  spender: '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
  nonce: '255',
  deadline: '1740672154',
  witness: { to: PAY_TO, facilitator: `0x${'aa'.repeat(20)}`, validAfter: '0' },
};
const CEILING = {
  ...V2,
  accepted: { ...ACCEPTED, scheme: 'upto', amount: '30000' },
  payload: { signature: SIGNATURE, permit2Authorization: PERMIT },
};

/** Two seconds alone; a machine that runs everything at once takes its time. */
const FUZZ_TIMEOUT_MS = 60_000;

const encode = (body: unknown) => Buffer.from(JSON.stringify(body)).toString('base64');
const withAuthorization = (change: object) => ({
  ...V1,
  payload: { ...V1.payload, authorization: { ...AUTHORIZATION, ...change } },
});

const withPermit = (change: object) => ({
  ...CEILING,
  payload: { signature: SIGNATURE, permit2Authorization: { ...PERMIT, ...change } },
});

const QUOTE = quoteOfTest();

function quoteOfTest(settledByUse = false): Quote {
  const token = knownChain('base-sepolia')?.tokens.find(isPayable);
  if (token === undefined) throw new Error('Base Sepolia is built in');
  const payTo = address(PAY_TO);
  return quoteOf(
    {
      resource: 'GET /v0/flows',
      url: 'https://api.example/v0/flows',
      description: 'Newest settlements.',
      mimeType: 'application/json',
      priceUsdMicros: 1_000n,
      settledByUse,
      binding: '00'.repeat(32),
    },
    {
      accept: [{ chain: 'eip155:84532', slug: 'base-sepolia', token, payTo, rpcUrls: [] }],
      offerSeconds: 60,
    },
  );
}

/** The failure that a header is answered with; null when it is a payment for the quote. */
function failureOf(header: string, quote = QUOTE): Failure | null {
  try {
    readPurchase(quote, header);
    return null;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw new Error('not a failure of the catalogue', { cause: error });
  }
}

function told({ message, context }: Failure): string {
  return JSON.stringify([message, context.detail, context.payment, String(context.cause)]);
}

describe('a payment header', () => {
  test('of version 1 is read as it was signed', () => {
    expect(readPayment(encode(V1))).toEqual({
      kind: 'authorization',
      scheme: 'exact',
      x402Version: 1,
      network: 'base-sepolia',
      accepted: null,
      resourceUrl: null,
      signature: SIGNATURE,
      authorization: AUTHORIZATION,
    });
  });

  test('of version 2 is read with the terms and the resource that it names', () => {
    expect(readPayment(encode(V2))).toMatchObject({
      x402Version: 2,
      network: 'eip155:84532',
      accepted: { amount: '1000', asset: ASSET, payTo: PAY_TO },
      resourceUrl: 'https://api.example/v0/flows',
    });
  });

  test('is named by chain, asset, payer and nonce in lower case, however they were written', () => {
    const { id, payer } = readPurchase(QUOTE, encode(V1));
    expect(id).toEqual({
      chain: 'eip155:84532',
      asset: ASSET.toLowerCase(),
      payer: AUTHORIZATION.from.toLowerCase(),
      nonce: AUTHORIZATION.nonce.toLowerCase(),
    });
    expect(payer).toBe(id.payer);
  });

  // The vectors of ERC-2098.
  test.each([
    [
      '68a020a209d3d56c46f38cc50a33f704f4a9a10a59377f8dd762ac66910e9b907e865ad05c4035ab5792787d4a0297a43617ae897930a6fe4d822b8faea52064',
      '68a020a209d3d56c46f38cc50a33f704f4a9a10a59377f8dd762ac66910e9b907e865ad05c4035ab5792787d4a0297a43617ae897930a6fe4d822b8faea520641b',
    ],
    [
      '9328da16089fcba9bececa81663203989f2df5fe1faa6291a45381c81bd17f76939c6d6b623b42da56557e5e734a43dc83345ddfadec52cbe24d0cc64f550793',
      '9328da16089fcba9bececa81663203989f2df5fe1faa6291a45381c81bd17f76139c6d6b623b42da56557e5e734a43dc83345ddfadec52cbe24d0cc64f5507931c',
    ],
  ])('of 64 bytes has the 65 that token contracts take', (compact, whole) => {
    const body = { ...V1, payload: { ...V1.payload, signature: `0x${compact}` } };
    expect(readPayment(encode(body))).toMatchObject({ signature: `0x${whole}` });
    const sameWhole = { ...V1, payload: { ...V1.payload, signature: `0x${whole}` } };
    const binding = (sent: unknown) => readPurchase(QUOTE, encode(sent)).binding;
    expect(binding(body)).toBe(binding(sameWhole));
  });

  test('is bound to its signature as well as to its request', () => {
    const other = { ...V1, payload: { ...V1.payload, signature: `0x${'5b'.repeat(65)}` } };
    const binding = (body: unknown) => readPurchase(QUOTE, encode(body)).binding;
    expect(binding(V1)).toMatch(/^[0-9a-f]{64}$/);
    expect(binding(V1)).toBe(binding({ ...V1, extra: 1 }));
    expect(binding(V1)).not.toBe(binding(other));
  });

  test.each([
    ['version 1', V1, { x402Version: 1, scheme: 'exact', network: 'base-sepolia' }],
    [
      'version 2',
      V2,
      {
        x402Version: 2,
        accepted: ACCEPTED,
        resource: expect.objectContaining({ url: QUOTE.order.url, description: QUOTE.order.description }),
      },
    ],
  ])(
    'of %s goes to the facilitator rebuilt, with our terms and nothing that we did not read',
    (_version, body, head) => {
      const extended = { ...body, extensions: { a: 1 }, payload: { ...V1.payload, more: 'x' }, more: 'y' };
      const { paymentPayload } = toSettle(readPurchase(QUOTE, encode(extended)));
      expect(paymentPayload).toEqual({
        ...head,
        payload: { signature: SIGNATURE, authorization: AUTHORIZATION },
      });
    },
  );
});

describe('a ceiling', () => {
  const quote = quoteOfTest(true);

  test('is named by its Permit2 nonce, in a spelling that no EIP-3009 nonce has', () => {
    const { id, payer, asked, terms } = readPurchase(quote, encode(CEILING));
    expect([id.nonce, payer]).toEqual([
      `permit2:0x${'ff'.padStart(64, '0')}`,
      AUTHORIZATION.from.toLowerCase(),
    ]);
    expect([terms.scheme, asked]).toEqual(['upto', 1_000n]);
  });

  test('is the same whatever the case of its addresses, and goes to the facilitator in the case that typed data takes', () => {
    const lower = withPermit({ from: PERMIT.from.toLowerCase(), spender: PERMIT.spender.toLowerCase() });
    const [one, other] = [CEILING, lower].map((body) => readPurchase(quote, encode(body)));
    expect(other?.id).toEqual(one?.id);
    for (const purchase of [one, other])
      expect(purchase && toSettle(purchase).paymentPayload).toMatchObject({
        payload: {
          signature: SIGNATURE,
          permit2Authorization: { from: PERMIT.from, spender: PERMIT.spender },
        },
      });
  });

  test('is verified as it was signed and settled for the amount asked, with nothing that we did not read', () => {
    const extended = { ...withPermit({ more: 'x' }), extensions: { eip2612GasSponsoring: { info: {} } } };
    const purchase = { ...readPurchase(quote, encode(extended)), asked: 7n };
    const [verified, settled] = [toVerify(purchase), toSettle(purchase)];
    expect([verified.paymentRequirements['amount'], settled.paymentRequirements['amount']]).toEqual([
      '1000',
      '7',
    ]);
    expect(verified.paymentPayload).toEqual(settled.paymentPayload);
    expect(JSON.stringify(settled)).not.toMatch(/more|eip2612/);
    expect(toConfirm(purchase, 0).amount).toBe('7');
  });

  test.each([
    ['no authorization', { ...CEILING, payload: { signature: SIGNATURE } }],
    ['a list as authorization', { ...CEILING, payload: { signature: SIGNATURE, permit2Authorization: [] } }],
    ['no witness', withPermit({ witness: undefined })],
    ['a witness that is a text', withPermit({ witness: 'secret-witness' })],
    ['a witness without facilitator', withPermit({ witness: { to: PAY_TO, validAfter: '0' } })],
    ['no token', withPermit({ permitted: { amount: '1' } })],
    ['a short payer', withPermit({ from: '0x12' })],
    ['its nonce in hex', withPermit({ nonce: '0xff' })],
    ['its nonce as a number', withPermit({ nonce: 255 })],
    ['a nonce beyond 32 bytes', withPermit({ nonce: String(2n ** 256n) })],
    ['a deadline in words', withPermit({ deadline: 'secret-never' })],
    ['a negative ceiling', withPermit({ permitted: { token: ASSET, amount: '-1' } })],
  ])('with %s is malformed, without a word of it', (_what, body) => {
    const failure = failureOf(encode(body), quote);
    expect([failure?.code, failure?.context.payment]).toEqual(['payment_malformed', { stage: 'input' }]);
    expect(failure && told(failure)).not.toMatch(/secret-|5a5a5a/);
  });
});

describe('a header that is no payment', () => {
  const long = 'A'.repeat(PAYMENT_HEADER_CHARS_MAX);
  const rows: [string, string][] = [
    ['is empty', ''],
    ['is too long', `${long}A`],
    ['is long and nothing', long],
    ['is a payment with padding beyond the bound', encode({ ...V1, padding: long })],
    ['is url-safe base64', Buffer.from([0xfb, 0xff, 0xfe]).toString('base64url')],
    ['is JSON itself', JSON.stringify(V1)],
    ['is base64 of no UTF-8', Buffer.from([0xff, 0xfe, 0xfd]).toString('base64')],
    ['is base64 of a number', encode(1)],
    ['is base64 of null', encode(null)],
    ['is of version 3', encode({ ...V1, x402Version: 3 })],
    ['says its version in words', encode({ ...V1, x402Version: '1' })],
    ['is of the scheme upto in version 1', encode({ ...V1, scheme: 'upto' })],
    ['is of no scheme that we know', encode({ ...V2, accepted: { ...ACCEPTED, scheme: 'escrow' } })],
    [
      'accepted the scheme upto and signed a transfer',
      encode({ ...V2, accepted: { ...ACCEPTED, scheme: 'upto' } }),
    ],
    ['accepted nothing', encode({ ...V2, accepted: undefined })],
    ['has no payload', encode({ ...V1, payload: undefined })],
    ['has an empty payload', encode({ ...V1, payload: {} })],
    ['has no signature', encode({ ...V1, payload: { authorization: AUTHORIZATION } })],
    [
      'has half a signature',
      encode({ ...V1, payload: { ...V1.payload, signature: SIGNATURE.slice(0, 66) } }),
    ],
    ['has an odd signature', encode({ ...V1, payload: { ...V1.payload, signature: `${SIGNATURE}f` } })],
    ['has no authorization', encode({ ...V1, payload: { signature: SIGNATURE } })],
    ['has a list as authorization', encode({ ...V1, payload: { signature: SIGNATURE, authorization: [] } })],
    ['has a short payer', encode(withAuthorization({ from: '0x12' }))],
    ['has a payee without 0x', encode(withAuthorization({ to: PAY_TO.slice(2) }))],
    ['has a short nonce', encode(withAuthorization({ nonce: '0x01' }))],
    ['has its value as a number', encode(withAuthorization({ value: 1000 }))],
    ['has its value in dollars', encode(withAuthorization({ value: '0.001' }))],
    ['has its value in hex', encode(withAuthorization({ value: '0x3e8' }))],
    ['has a negative value', encode(withAuthorization({ value: '-1' }))],
    ['has a value with zeros in front', encode(withAuthorization({ value: '01000' }))],
    ['has a value of 79 digits', encode(withAuthorization({ value: '1'.repeat(79) }))],
    ['has its end in words', encode(withAuthorization({ validBefore: 'never' }))],
  ];
  test.each(rows)('because it %s gets that reason, without a word of the header', (_what, header) => {
    const failure = failureOf(header);
    expect(failure?.code).toBe('payment_malformed');
    expect(failure?.context.payment).toEqual({ stage: 'input' });
    expect(failure?.context.offer?.accepts).toHaveLength(1);
    if (header.length > 20) expect(failure && told(failure)).not.toContain(header.slice(0, 20));
    expect(failure && told(failure)).not.toContain('5a5a5a');
  });

  test(
    'whatever it is, ends in a failure of stage input and never in another error',
    () => {
      const anything = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string().map((text) => Buffer.from(text).toString('base64')),
        fc.json({ maxDepth: 1 }).map((json) => Buffer.from(json).toString('base64')),
        fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('base64')),
      );
      fc.assert(
        fc.property(anything, (header) => {
          const failure = failureOf(header);
          // Not `expect`: it prints its subject also when all is well, which takes longer than everything else here.
          const isRefused =
            failure?.code === 'payment_malformed' && failure.context.payment?.stage === 'input';
          const isRepeated = failure !== null && header.length > 24 && told(failure).includes(header);
          return isRefused && !isRepeated;
        }),
        { numRuns: 300 },
      );
    },
    FUZZ_TIMEOUT_MS,
  );

  test(
    'because one part of a real payment was replaced is refused without repeating that part',
    () => {
      const paths = [
        ...['x402Version', 'scheme', 'network', 'payload'].map((key) => [key]),
        ['payload', 'signature'],
        ['payload', 'authorization'],
        ...Object.keys(AUTHORIZATION).map((key) => ['payload', 'authorization', key]),
      ];
      const marked = fc.string({ minLength: 1, maxLength: 30 }).map((text) => `secret-${text}`);
      const junk = fc.oneof(
        marked,
        fc.array(marked, { maxLength: 3 }),
        fc.record({ a: marked }),
        fc.integer({ min: 3 }),
        fc.constant(null),
      );
      fc.assert(
        fc.property(fc.constantFrom(...paths), junk, (path, value) => {
          const failure = failureOf(encode(replaced(V1, path, value)));
          if (failure === null) throw new Error('taken for a payment');
          const isNetwork = path[0] === 'network' && typeof value === 'string';
          expect(failure.code).toBe(isNetwork ? 'payment_invalid' : 'payment_malformed');
          expect(told(failure)).not.toContain('secret-');
          expect(told(failure)).not.toContain('5a5a5a');
        }),
        { numRuns: 300 },
      );
    },
    FUZZ_TIMEOUT_MS,
  );
});

function replaced(body: object, [key = '', ...rest]: readonly string[], value: unknown): object {
  const inner = (body as Record<string, unknown>)[key]; // a path of V1
  return { ...body, [key]: rest.length === 0 ? value : replaced(inner as object, rest, value) };
}
