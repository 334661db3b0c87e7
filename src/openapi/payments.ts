import { ADDRESS_INPUT_PATTERN, EVM_ADDRESS_INPUT_PATTERN } from '../../core/domain/account.ts';
import { usdNumber } from '../../core/domain/amount.ts';
import { CHAIN_PATTERN } from '../../core/domain/chains.ts';
import type { AnyOperation } from '../operations/define.ts';
import { advertisedPrice, rangeAnswer } from '../operations/route-price.ts';
import { SETTLEMENT_EXAMPLE } from '../operations/settlements/shape.ts';
import type { Json } from './schemas.ts';

/** What x402 carries in headers and 402 bodies, for the OpenAPI document. Source: the x402 specification, versions 1 and 2. */

const NETWORK_V1: Json = { type: 'string', description: 'Name of the chain in version 1: `base`.' };
const CHAIN: Json = {
  title: 'Chain',
  pattern: CHAIN_PATTERN,
  description: 'CAIP-2 name of the chain.',
  type: 'string',
};
const CHECKSUMMED: Json = {
  type: 'string',
  pattern: EVM_ADDRESS_INPUT_PATTERN,
  description: 'EIP-55 address.',
};
const ACCOUNT: Json = {
  type: 'string',
  pattern: ADDRESS_INPUT_PATTERN,
  description: 'EIP-55 address; on Solana base58.',
};
const ATOMIC: Json = { type: 'string', pattern: '^[0-9]+$', description: 'Atomic units of the asset.' };
const SECONDS: Json = { type: 'integer', minimum: 1, description: 'Seconds for which the offer is valid.' };
const UNIX_SECONDS: Json = { type: 'string', pattern: '^[0-9]+$', description: 'Unix seconds.' };
const TOKEN_DOMAIN: Json = {
  title: 'TokenDomain',
  type: 'object',
  description:
    'On EVM chains the EIP-712 domain of the token, with `upto` also how it is transferred. On Solana the account that pays the fee.',
  properties: {
    name: { type: 'string' },
    version: { type: 'string' },
    assetTransferMethod: { type: 'string' },
    facilitatorAddress: CHECKSUMMED,
    feePayer: { ...ACCOUNT, description: 'Sign a transaction of which this account pays the fee.' },
  },
};

/** An entry of `accepts` in a 402 body. */
export const PAYMENT_OFFER_SCHEMA: Json = {
  title: 'PaymentOffer',
  type: 'object',
  description: 'A complete x402 offer, version 1.',
  required: [
    'scheme',
    'network',
    'maxAmountRequired',
    'asset',
    'payTo',
    'resource',
    'description',
    'mimeType',
    'maxTimeoutSeconds',
    'extra',
  ],
  properties: {
    scheme: { type: 'string', const: 'exact' },
    network: NETWORK_V1,
    maxAmountRequired: ATOMIC,
    asset: ACCOUNT,
    payTo: ACCOUNT,
    resource: { type: 'string', format: 'uri', description: 'URL of the resource on sale.' },
    description: { type: 'string' },
    mimeType: { type: 'string' },
    maxTimeoutSeconds: SECONDS,
    extra: TOKEN_DOMAIN,
  },
};

const PAYMENT_TERMS: Json = {
  title: 'PaymentTerms',
  type: 'object',
  required: ['scheme', 'network', 'amount', 'asset', 'payTo', 'maxTimeoutSeconds', 'extra'],
  properties: {
    scheme: {
      type: 'string',
      enum: ['exact', 'upto'],
      description: 'exact: a fixed price. upto: a ceiling, settled for what was used.',
    },
    network: CHAIN,
    amount: ATOMIC,
    asset: ACCOUNT,
    payTo: ACCOUNT,
    maxTimeoutSeconds: SECONDS,
    extra: TOKEN_DOMAIN,
  },
};

/** Values by the names of parameters, which are those of the route. */
function valuesByName(title: string, description: string): Json {
  return { title, type: 'object', additionalProperties: true, description };
}

/** How the route is called, as bazaars write it (src/http/bazaar.ts). */
const LISTED_EXTENSIONS: Json = {
  title: 'ListedExtensions',
  type: 'object',
  required: ['bazaar'],
  properties: {
    bazaar: {
      title: 'BazaarListing',
      type: 'object',
      required: ['info', 'schema'],
      properties: {
        info: {
          title: 'BazaarInfo',
          type: 'object',
          required: ['input', 'output'],
          properties: {
            input: {
              title: 'BazaarInput',
              type: 'object',
              required: ['type', 'method'],
              properties: {
                type: { type: 'string', const: 'http' },
                method: { type: 'string', enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
                bodyType: { type: 'string', const: 'json' },
                pathParams: valuesByName('BazaarPathParams', 'In its path; an example of each.'),
                queryParams: valuesByName('BazaarQueryParams', 'An example of those that are required.'),
                body: valuesByName('BazaarBody', 'An example.'),
              },
            },
            output: {
              title: 'BazaarOutput',
              type: 'object',
              required: ['type'],
              properties: { type: { type: 'string', const: 'json' } },
            },
          },
        },
        schema: valuesByName('BazaarSchema', 'The JSON Schema of `info`.'),
        routeTemplate: {
          type: 'string',
          description: 'The path with colons before its parameters; absent where it has none.',
        },
      },
    },
  },
};

const DOLLARS: Json = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?$', description: 'Dollars.' };

/** Either `amount`, or the range that a caller chooses from. */
const ADVERTISED_PRICE: Json = {
  title: 'AdvertisedPrice',
  type: 'object',
  required: ['mode', 'currency'],
  properties: {
    mode: { type: 'string', enum: ['fixed', 'dynamic'] },
    currency: { type: 'string', const: 'USD' },
    amount: { ...DOLLARS, description: 'Of a fixed price.' },
    min: { ...DOLLARS, description: 'Of a dynamic price.' },
    max: DOLLARS,
    per_unit: DOLLARS,
    unit: { type: 'string', description: 'What one unit buys.' },
  },
};

/** What `/.well-known/x402` answers. Source: the x402 specification, discovery. */
export const OFFER_LIST_SCHEMA: Json = {
  title: 'OfferList',
  type: 'object',
  required: ['version', 'resources', 'x402Version', 'items'],
  properties: {
    version: { type: 'integer', const: 1, description: 'Of `resources`.' },
    resources: {
      type: 'array',
      description: 'URLs that answer 402 as they are, once their parameters are sent with them.',
      items: { type: 'string', format: 'uri' },
    },
    x402Version: { type: 'integer', const: 2, description: 'Of `items`.' },
    items: {
      type: 'array',
      items: {
        title: 'ListedOffer',
        type: 'object',
        required: [
          'resource',
          'type',
          'x402Version',
          'description',
          'mimeType',
          'serviceName',
          'accepts',
          'price',
          'extensions',
        ],
        properties: {
          resource: { type: 'string', description: 'The URL; parameters of its path in braces.' },
          type: { type: 'string', const: 'http' },
          x402Version: { type: 'integer', const: 2 },
          description: { type: 'string' },
          mimeType: { type: 'string' },
          serviceName: { type: 'string' },
          accepts: {
            type: 'array',
            items: PAYMENT_TERMS,
            description: 'The terms of a call that chooses nothing of a dynamic price.',
          },
          price: ADVERTISED_PRICE,
          extensions: LISTED_EXTENSIONS,
        },
      },
    },
  },
};

const PAYMENT_REQUIRED: Json = {
  title: 'PaymentRequired',
  type: 'object',
  description: 'The x402 offer, version 2, as the PAYMENT-REQUIRED header holds it.',
  required: ['x402Version', 'error', 'resource', 'accepts'],
  properties: {
    x402Version: { type: 'integer', const: 2 },
    error: { type: 'string' },
    resource: {
      title: 'PaidResource',
      type: 'object',
      required: ['url', 'description', 'mimeType'],
      properties: {
        url: { type: 'string', format: 'uri' },
        description: { type: 'string' },
        mimeType: { type: 'string' },
      },
    },
    accepts: { type: 'array', items: PAYMENT_TERMS },
  },
};

const PAYMENT_PAYLOAD: Json = {
  title: 'PaymentPayload',
  type: 'object',
  description:
    'A signed payment, version 1: an EIP-3009 authorization and its signature; on Solana a transaction that the facilitator signs last.',
  required: ['x402Version', 'scheme', 'network', 'payload'],
  properties: {
    x402Version: { type: 'integer', const: 1 },
    scheme: { type: 'string', const: 'exact' },
    network: NETWORK_V1,
    payload: {
      title: 'SignedAuthorization',
      type: 'object',
      properties: {
        transaction: { type: 'string', description: 'On Solana: base64 of the wire format.' },
        signature: { type: 'string', pattern: '^0x[0-9a-fA-F]+$' },
        authorization: {
          title: 'TransferAuthorization',
          type: 'object',
          required: ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'],
          properties: {
            from: CHECKSUMMED,
            to: CHECKSUMMED,
            value: ATOMIC,
            validAfter: UNIX_SECONDS,
            validBefore: UNIX_SECONDS,
            nonce: {
              type: 'string',
              pattern: '^0x[0-9a-fA-F]{64}$',
              description: '32 random bytes, used once.',
            },
          },
        },
      },
    },
  },
};

const PAYMENT_RECEIPT: Json = {
  title: 'PaymentReceipt',
  type: 'object',
  description: 'What became of a payment.',
  required: ['success', 'transaction', 'network', 'payer'],
  properties: {
    success: { type: 'boolean' },
    transaction: { type: 'string', description: 'Hash of the settlement, on Solana its first signature.' },
    network: { type: 'string', description: 'As the version of the payment names the chain.' },
    payer: ACCOUNT,
    amount: { ...ATOMIC, description: 'Atomic units that were taken, where the scheme is `upto`.' },
  },
};

/** What only headers hold, for the document’s list of schemas. */
export const PAYMENT_SCHEMAS = [PAYMENT_REQUIRED, PAYMENT_PAYLOAD, PAYMENT_RECEIPT] as const;

const EXAMPLE_URL = 'https://index.example/v0/transactions';
const EXAMPLE_WORDS = {
  description: 'Every indexed settlement, newest first, filterable by x402 confidence',
  mimeType: 'application/json',
};
const EXAMPLE_TERMS = {
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  maxTimeoutSeconds: 60,
  extra: { name: 'USD Coin', version: '2' },
};

export const PAYMENT_OFFER_EXAMPLE: Json = {
  scheme: 'exact',
  network: 'base',
  maxAmountRequired: '1000',
  resource: EXAMPLE_URL,
  ...EXAMPLE_WORDS,
  ...EXAMPLE_TERMS,
};

export const PAYMENT_REQUIRED_EXAMPLE: Json = {
  x402Version: 2,
  error: 'payment_required',
  resource: { url: EXAMPLE_URL, ...EXAMPLE_WORDS },
  accepts: [{ scheme: 'exact', network: 'eip155:8453', amount: '1000', ...EXAMPLE_TERMS }],
};

export const PAYMENT_RECEIPT_EXAMPLE: Json = {
  success: true,
  transaction: SETTLEMENT_EXAMPLE.tx_hash,
  network: 'base',
  payer: SETTLEMENT_EXAMPLE.payer,
};

/** Credentials and prices of a call in the OpenAPI document. */

export const SECURITY_SCHEMES: Json = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key, or an access token (JWT) of the issuer that the deployment accepts: `/.well-known/oauth-protected-resource` names it.',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key.' },
  x402: {
    type: 'apiKey',
    in: 'header',
    name: 'X-PAYMENT',
    description:
      'Not a key but a payment, signed for this one request. Send the request without it first: the 402 says what to sign. OpenAPI has no type for payments.',
  },
};

const KEY: readonly Json[] = [{ bearer: [] }, { apiKey: [] }];

/** The ways in, each enough by itself; the empty one is to send nothing. */
export function securityOf({ price, params }: AnyOperation): readonly Json[] {
  switch (price.class) {
    case 'free':
      return [{}, ...KEY];
    case 'keyed':
      return [...KEY, { x402: [] }];
    case 'metered':
      // An estimate is free.
      return [...KEY, { x402: [] }, ...('explain_only' in params ? [{}] : [])];
    case 'sold':
      return [{ x402: [] }];
  }
}

/** `class`, `qu`, `x402_usd` and `range` are our own fields; crawlers of payable APIs read `price` and `protocols`. */
export function paymentInfo({ price }: AnyOperation): Json {
  const { class: priceClass, qu, x402UsdMicros, meaning } = price;
  const range = rangeAnswer(price);
  const own = {
    class: priceClass,
    qu,
    x402_usd: usdNumber(x402UsdMicros),
    ...(range === null ? {} : { range }),
    description: meaning,
  };
  if (priceClass === 'free' || x402UsdMicros === 0n) return own;
  return { ...own, price: advertisedPrice(price), protocols: [{ x402: {} }] };
}
