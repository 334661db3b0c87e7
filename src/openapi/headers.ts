import { IDEMPOTENCY_KEY_MIN_CHARS } from '../operations/account/trial-key.ts';
import type { AnyOperation } from '../operations/define.ts';
import type { Param } from '../operations/params.ts';
import { PAYMENT_RECEIPT_EXAMPLE, PAYMENT_REQUIRED_EXAMPLE } from './payments.ts';
import { type Json, type NamedSchemas, pascalCase } from './schemas.ts';

/** Headers of requests and answers, each declared once and referred to. */

function header(schema: Json, description: string, example: string | number): Json {
  return { description, schema, example };
}

const TEXT: Json = { type: 'string' };
const COUNT: Json = { type: 'integer', minimum: 0 };

/** Base64 of a JSON object, which `named` describes. */
function encoded(named: string): Json {
  return {
    type: 'string',
    contentEncoding: 'base64',
    contentMediaType: 'application/json',
    contentSchema: { $ref: `#/components/schemas/${named}` },
  };
}

function base64(value: Json): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

const REQUEST_ID_EXAMPLE = '0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13';
const REQUEST_ID: Json = { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' };
const ETAG_EXAMPLE = 'W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"';

export const HEADERS: Readonly<Record<string, Json>> = {
  'X-Request-Id': {
    ...header(
      REQUEST_ID,
      'The id sent with the request, or a new one. Name it when reporting a fault.',
      REQUEST_ID_EXAMPLE,
    ),
    required: true,
  },
  'RateLimit-Policy': header(
    TEXT,
    'Quota and window; a second entry for the window of a SQL tier: `"default";q=600;w=60, "sql-standard";q=30;w=60`.',
    '"default";q=600;w=60',
  ),
  RateLimit: header(
    TEXT,
    'Requests left, and the seconds until the window resets; entries as in RateLimit-Policy.',
    '"default";r=599;t=60',
  ),
  'X-RateLimit-Limit': header(COUNT, 'Requests a minute.', 600),
  'X-RateLimit-Remaining': header(COUNT, 'Requests left in this minute.', 599),
  'X-RateLimit-Reset': header(COUNT, 'Seconds until the minute starts anew.', 60),
  'Retry-After': header({ type: 'integer', minimum: 1 }, 'Seconds after which a retry makes sense.', 5),
  ETag: header(TEXT, 'Weak tag of the answer’s content; send it back as If-None-Match.', ETAG_EXAMPLE),
  Link: header(
    TEXT,
    '`rel="next"`: the next page, when there is one.',
    '</v0/transactions?limit=50&before=AbCd>; rel="next"',
  ),
  'Cache-Control': header(
    TEXT,
    '`private, no-cache`: keep the answer, and ask with its ETag each time. `no-store` on answers that differ each time, and on every failure.',
    'private, no-cache',
  ),
  Vary: header(
    TEXT,
    'What an answer depends on besides the URL: who asks, and what was paid.',
    'Authorization, X-API-Key, X-PAYMENT, PAYMENT-SIGNATURE',
  ),
  'Server-Timing': header(
    TEXT,
    'Milliseconds: queue, engine, total.',
    'queue;dur=0.3, engine;dur=8.1, total;dur=9.6',
  ),
  'Idempotent-Replayed': header(
    { type: 'string', enum: ['true'] },
    '`true` where this is the kept answer of an earlier request with the same Idempotency-Key.',
    'true',
  ),
  Allow: header(TEXT, 'The methods that the route takes.', 'GET, HEAD, OPTIONS'),
  'WWW-Authenticate': header(
    TEXT,
    'How to send a credential; names an error where one was sent.',
    'Bearer realm="settlement-index", error="invalid_token"',
  ),
  'PAYMENT-REQUIRED': header(
    encoded('PaymentRequired'),
    'Base64 of the x402 offer, version 2, where the deployment sells calls. The body holds version 1.',
    base64(PAYMENT_REQUIRED_EXAMPLE),
  ),
  'X-PAYMENT-RESPONSE': header(
    encoded('PaymentReceipt'),
    'After a payment settled, whatever the answer: base64 of the receipt.',
    base64(PAYMENT_RECEIPT_EXAMPLE),
  ),
  'PAYMENT-RESPONSE': header(
    encoded('PaymentReceipt'),
    'The same receipt, as version 2 names it.',
    base64(PAYMENT_RECEIPT_EXAMPLE),
  ),
};

const RATE_HEADERS = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const;

export const RECEIPT_HEADERS = ['X-PAYMENT-RESPONSE', 'PAYMENT-RESPONSE'] as const;

/** On every answer of an operation, good or bad. */
export const COMMON_HEADERS = [
  'X-Request-Id',
  ...RATE_HEADERS,
  'Server-Timing',
  'Cache-Control',
  'Vary',
] as const;

/** Headers that a request may have, by the name of their component. */
export const REQUEST_HEADERS = {
  XRequestId: {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description:
      'An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.',
    schema: REQUEST_ID,
    example: REQUEST_ID_EXAMPLE,
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description:
      'ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.',
    schema: TEXT,
    example: ETAG_EXAMPLE,
  },
  XPayment: {
    name: 'X-PAYMENT',
    in: 'header',
    required: false,
    description:
      'Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE.',
    schema: encoded('PaymentPayload'),
  },
  PaymentSignature: {
    name: 'PAYMENT-SIGNATURE',
    in: 'header',
    required: false,
    description: 'Base64 of a signed x402 payment, as version 2 names the header.',
    schema: TEXT,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: `Of at least ${IDEMPOTENCY_KEY_MIN_CHARS} characters: the same request with the same payment gives the same answer again. A shorter one is left alone.`,
    schema: { type: 'string', maxLength: 255 },
    example: '7f9c2ba4-e88f-4d1a-a1b4-5c0f8a3d6e21',
  },
  IdempotencyKeyUnits: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Chosen by the client, for calls on units: the same request with the same key is charged once, and gives the same answer again for 24 hours where that is JSON of at most 256 KiB.',
    schema: { type: 'string', maxLength: 255 },
    example: '7f9c2ba4-e88f-4d1a-a1b4-5c0f8a3d6e21',
  },
} as const satisfies Readonly<Record<string, Json>>;

/** The headers that a request for this operation may have, as references. */
export function requestHeaders({ price, repeatable, caching }: AnyOperation): readonly Json[] {
  const names: (keyof typeof REQUEST_HEADERS)[] = ['XRequestId'];
  if (caching === 'revalidate') names.push('IfNoneMatch');
  if (price.x402UsdMicros > 0n) names.push('XPayment', 'PaymentSignature');
  if (price.class === 'sold') names.push('IdempotencyKey');
  if (repeatable) names.push('IdempotencyKeyUnits');
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

export function headerReferences(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Parameters of the path and the query: one that several operations take stands in the document once. */
export class SharedParameters {
  /** By the name of the component. */
  private readonly shared = new Map<string, { readonly name: string; readonly param: Param }>();

  constructor(operations: readonly AnyOperation[]) {
    const uses = operations.flatMap(({ params }) => Object.entries(params));
    for (const [name, param] of uses) {
      if (param.in === 'body') continue;
      const isShared = uses.filter(([other, used]) => other === name && used === param).length > 1;
      const component = componentName(name, param);
      const before = this.shared.get(component);
      if (!isShared || before?.param === param) continue;
      if (before !== undefined) throw new Error(`two shared parameters are named ${component}`);
      this.shared.set(component, { name, param });
    }
  }

  /** The parameters of an operation. */
  of({ params }: AnyOperation, schemas: NamedSchemas): readonly Json[] {
    return Object.entries(params)
      .filter(([, param]) => param.in !== 'body')
      .map(([name, param]) => {
        const component = componentName(name, param);
        return this.shared.get(component)?.param === param
          ? { $ref: `#/components/parameters/${component}` }
          : parameterObject(name, param, schemas);
      });
  }

  components(schemas: NamedSchemas): Json {
    return Object.fromEntries(
      [...this.shared].map(([component, { name, param }]) => [
        component,
        parameterObject(name, param, schemas),
      ]),
    );
  }
}

function componentName(name: string, { component }: Param): string {
  return component ?? pascalCase(name);
}

function parameterObject(name: string, param: Param, schemas: NamedSchemas): Json {
  return {
    name,
    in: param.in,
    required: param.required,
    description: param.description,
    schema: schemas.place(param.schema),
    ...(param.example === undefined ? {} : { example: param.example }),
  };
}
