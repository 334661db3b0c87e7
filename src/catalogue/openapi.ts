import type { TSchema } from '@sinclair/typebox';
import { usdNumber } from '../domain/amount.ts';
import { ERROR_CODES, ERRORS, type ErrorCode } from '../errors.ts';
import { IDEMPOTENCY_KEY_MIN_CHARS } from './mint-trial-key.ts';
import { problemExample } from './openapi-examples.ts';
import type { AnyOperation } from './operation.ts';
import type { Param } from './params.ts';
import type { PriceClass } from './prices.ts';

/** OpenAPI 3.1, generated purely from the declared operations and the error catalogue. */

export interface OpenApiOptions {
  readonly operations: readonly AnyOperation[];
  /** Schema of the error answer. */
  readonly problem: TSchema;
  readonly version: string;
  /** '' for links relative to the document. */
  readonly publicUrl: string;
}

type Json = Readonly<Record<string, unknown>>;

/** What every operation can answer with, whatever it does. */
const COMMON_FAILS: readonly ErrorCode[] = [
  'invalid_parameter',
  'malformed_request',
  'invalid_api_key',
  'method_not_allowed',
  'uri_too_long',
  'rate_limited',
  'headers_too_large',
  'internal_error',
  'upstream_unavailable',
];

/** What an operation that reads a body can answer with besides. */
const BODY_FAILS: readonly ErrorCode[] = ['payload_too_large', 'unsupported_media_type'];

/** What an operation can answer with besides where an Idempotency-Key makes it repeatable. */
const REPEAT_FAILS: readonly ErrorCode[] = ['request_in_progress', 'reply_not_kept', 'idempotency_conflict'];

/** What a call that can be paid for over x402 can answer with besides. */
const PAYMENT_FAILS: readonly ErrorCode[] = [
  'payment_required',
  'payment_malformed',
  'payment_invalid',
  'payment_failed',
  'payment_in_progress',
  'settlement_unknown',
];

const FAILS_OF_CLASS: Readonly<Record<PriceClass, readonly ErrorCode[]>> = {
  free: [],
  keyed: [...PAYMENT_FAILS, 'api_key_required'],
  metered: [...PAYMENT_FAILS, 'api_key_required', 'insufficient_qu'],
  sold: [...PAYMENT_FAILS, 'not_found'],
};

const HEADERS: Readonly<Record<string, Json>> = {
  'X-Request-Id': header(
    'string',
    'The id sent with the request, or a new one. Name it when reporting a fault.',
  ),
  'RateLimit-Policy': header(
    'string',
    'Quota and window: `"default";q=600;w=60`; a second entry for a window of the SQL tier: `"sql-standard";q=30;w=60`.',
  ),
  RateLimit: header('string', 'What is left: `"default";r=599;t=60`; a second entry as in RateLimit-Policy.'),
  'X-RateLimit-Limit': header('integer', 'Requests a minute.'),
  'X-RateLimit-Remaining': header('integer', 'Requests left in this minute.'),
  'X-RateLimit-Reset': header('integer', 'Seconds until the minute starts anew.'),
  'Retry-After': header('integer', 'Seconds after which a retry makes sense.'),
  ETag: header('string', 'Weak tag of what the answer says; send it back as If-None-Match.'),
  Link: header('string', '`rel="next"`: the next page, when there is one.'),
  'Server-Timing': header('string', 'Milliseconds: queue, engine, total.'),
  'Idempotent-Replayed': header(
    'string',
    '`true` where this is the kept answer of an earlier request with the same Idempotency-Key.',
  ),
  'WWW-Authenticate': header('string', 'How to send a credential: `Bearer`.'),
  'PAYMENT-REQUIRED': header('string', 'Base64 of the x402 offer, version 2. The body holds version 1.'),
  'X-PAYMENT-RESPONSE': header(
    'string',
    'After a payment settled: base64 of the receipt `{ success, transaction, network, payer }`.',
  ),
  'PAYMENT-RESPONSE': header('string', 'The same receipt, as version 2 names it.'),
};

/** Headers of a request that pay for it, or make it repeatable. */
const REQUEST_HEADERS = {
  'X-PAYMENT': {
    name: 'X-PAYMENT',
    in: 'header',
    required: false,
    description:
      'Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE.',
    schema: { type: 'string' },
  },
  'PAYMENT-SIGNATURE': {
    name: 'PAYMENT-SIGNATURE',
    in: 'header',
    required: false,
    description: 'Base64 of a signed x402 payment, as version 2 names the header.',
    schema: { type: 'string' },
  },
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: `Of at least ${IDEMPOTENCY_KEY_MIN_CHARS} characters: the same request with the same payment gives the same answer again. A shorter one is left alone.`,
    schema: { type: 'string', maxLength: 255 },
  },
  'Idempotency-Key-Units': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Chosen by the client, for calls on units: the same request with the same key is charged once, and gives the same answer again for 24 hours where that is JSON of at most 256 KiB.',
    schema: { type: 'string', maxLength: 255 },
  },
} as const satisfies Readonly<Record<string, Json>>;

const RECEIPT_HEADERS = ['X-PAYMENT-RESPONSE', 'PAYMENT-RESPONSE'];

function header(type: string, description: string): Json {
  return { description, schema: { type } };
}

const RATE_HEADERS = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

export function buildOpenApi(options: OpenApiOptions): Json {
  const { operations, problem, version, publicUrl } = options;
  return plain({
    openapi: '3.1.0',
    info: {
      title: 'Settlement Index',
      version,
      summary: 'x402 settlements, indexed and graded, as JSON.',
      description:
        'Read-only. Lists are walked with `next_before`; an empty array is an answer, a refused query is 503 `upstream_unavailable`. Amounts in atomic units are decimal strings, `*_usd` are numbers with at most six decimals.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${publicUrl}/v0` }, { url: `${publicUrl}/api/v0`, description: 'The same answers.' }],
    paths: {
      ...operationPaths(operations, publicUrl),
      ...servicePaths(publicUrl),
    },
    components: {
      schemas: { Problem: problem },
      headers: HEADERS,
      parameters: REQUEST_HEADERS,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, or a token (JWT) of the issuer that the deployment accepts.',
        },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key.' },
      },
    },
  });
}

/** Operations that share a path stand beside each other under it. */
function operationPaths(operations: readonly AnyOperation[], publicUrl: string): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const method = operation.method.toLowerCase();
    paths[operation.path] = { ...paths[operation.path], [method]: operationObject(operation, publicUrl) };
  }
  return paths;
}

/** TypeBox keeps its own marks under symbols; JSON has none. */
function plain(document: Json): Json {
  return JSON.parse(JSON.stringify(document)) as Json; // what was just printed
}

function operationObject(operation: AnyOperation, publicUrl: string): Json {
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: operation.description,
    parameters: [
      ...Object.entries(operation.params)
        .filter(([, param]) => param.in !== 'body')
        .map(([name, param]) => parameterObject(name, param)),
      ...requestHeaders(operation).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(operation.method === 'POST' ? { requestBody: requestBody(operation) } : {}),
    // The empty entry: the credential is optional; where there is a price, a payment takes its place.
    security: operation.price.class === 'sold' ? [{}] : [{}, { bearer: [] }, { apiKey: [] }],
    'x-payment-info': {
      class: operation.price.class,
      qu: operation.price.qu,
      x402_usd: usdNumber(operation.price.x402UsdMicros),
      description: operation.price.meaning,
    },
    responses: { ...successResponses(operation), ...failureResponses(failsOf(operation), publicUrl) },
  };
}

/** Every code an operation can answer with. */
export function failsOf(operation: AnyOperation): readonly ErrorCode[] {
  const codes = new Set([
    ...operation.fails,
    ...COMMON_FAILS,
    ...FAILS_OF_CLASS[operation.price.class],
    ...(operation.method === 'POST' ? BODY_FAILS : []),
    ...(operation.repeatable ? REPEAT_FAILS : []),
  ]);
  if (operation.acceptsUnknownKey) codes.delete('invalid_api_key');
  return ERROR_CODES.filter((code) => codes.has(code));
}

function requestHeaders({ price, repeatable }: AnyOperation): readonly (keyof typeof REQUEST_HEADERS)[] {
  const payment = ['X-PAYMENT', 'PAYMENT-SIGNATURE'] as const;
  if (price.class === 'free') return [];
  if (price.class === 'sold') return [...payment, 'Idempotency-Key'];
  return repeatable ? [...payment, 'Idempotency-Key-Units'] : payment;
}

function requestBody({ params }: AnyOperation): Json {
  const fields = Object.entries(params).filter(([, param]) => param.in === 'body');
  const required = fields.filter(([, param]) => param.required).map(([name]) => name);
  const examples = fields.filter(([, { example }]) => example !== undefined);
  return {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: Object.fromEntries(
            fields.map(([name, { schema, description }]) => [name, { ...schema, description }]),
          ),
          ...(required.length === 0 ? {} : { required }),
          additionalProperties: false,
        },
        ...(examples.length === 0
          ? {}
          : { example: Object.fromEntries(examples.map(([name, { example }]) => [name, example])) }),
      },
    },
  };
}

function parameterObject(name: string, param: Param): Json {
  return {
    name,
    in: param.in,
    required: param.required,
    description: param.description,
    schema: param.schema,
    ...(param.example === undefined ? {} : { example: param.example }),
  };
}

function successResponses(operation: AnyOperation): Json {
  const tagged = operation.caching === 'revalidate';
  const names = [
    'X-Request-Id',
    ...RATE_HEADERS,
    'Server-Timing',
    ...(tagged ? ['ETag'] : []),
    ...(operation.paging === 'none' ? [] : ['Link']),
    ...(operation.repeatable ? ['Idempotent-Replayed'] : []),
    ...(operation.price.class === 'free' ? [] : RECEIPT_HEADERS),
  ];
  return {
    [operation.status ?? 200]: {
      description: operation.summary,
      headers: { ...references(names), ...ownHeaders(operation) },
      content: {
        ...Object.fromEntries(
          Object.entries(operation.media ?? {}).map(([type, holds]) => [
            type,
            { schema: { description: holds } },
          ]),
        ),
        'application/json': { schema: answerSchema(operation), example: operation.example },
      },
    },
    ...(tagged ? { 304: { description: 'Nothing changed since the tag in If-None-Match.' } } : {}),
  };
}

function ownHeaders({ answerHeaders = {} }: AnyOperation): Json {
  return Object.fromEntries(
    Object.entries(answerHeaders).map(([name, says]) => [headerName(name), header('string', says)]),
  );
}

/** As documentation writes it: `X-Row-Count`. */
function headerName(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}

/** What an object that this operation answers with looks like. */
export function answerSchema({ output, alsoAnswers = [] }: AnyOperation): TSchema | Json {
  return alsoAnswers.length === 0 ? output : { anyOf: [output, ...alsoAnswers] };
}

function references(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** What a failure of this status carries besides. */
const FAILURE_HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  402: ['PAYMENT-REQUIRED'],
  409: ['Retry-After'],
  429: ['Retry-After'],
  500: RECEIPT_HEADERS,
  502: ['Retry-After'],
  503: ['Retry-After'],
};

/** One response for each status; codes that share it are its examples. */
function failureResponses(codes: readonly ErrorCode[], publicUrl: string): Json {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const here = codes.filter((code) => ERRORS[code].status === status);
      return [
        status,
        {
          description: here.map((code) => `\`${code}\`: ${ERRORS[code].advice}`).join(' '),
          headers: references(['X-Request-Id', ...(FAILURE_HEADERS[status] ?? [])]),
          content: {
            'application/problem+json': {
              schema: { $ref: '#/components/schemas/Problem' },
              examples: Object.fromEntries(
                here.map((code) => [code, { value: problemExample(code, publicUrl) }]),
              ),
            },
          },
        },
      ];
    }),
  );
}

function servicePaths(publicUrl: string): Json {
  const servers = [{ url: publicUrl === '' ? '/' : publicUrl }];
  const status = (description: string) => ({
    description,
    content: {
      'application/json': {
        schema: { type: 'object', required: ['status'], properties: { status: { type: 'string' } } },
      },
    },
  });
  return {
    '/healthz': {
      servers,
      get: {
        operationId: 'getHealth',
        summary: 'Whether the process lives',
        security: [],
        responses: { 200: status('It does.') },
      },
    },
    '/readyz': {
      servers,
      get: {
        operationId: 'getReadiness',
        summary: 'Whether the engine answers and its tables exist',
        security: [],
        responses: {
          200: status('Both.'),
          ...failureResponses(['upstream_unavailable'], publicUrl),
        },
      },
    },
  };
}
