import type { TSchema } from '@sinclair/typebox';
import { usdNumber } from '../domain/amount.ts';
import { ERROR_CODES, ERRORS, type ErrorCode } from '../errors.ts';
import type { AnyOperation } from './operation.ts';
import type { Param } from './params.ts';

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
];

const HEADERS: Readonly<Record<string, Json>> = {
  'X-Request-Id': header(
    'string',
    'The id sent with the request, or a new one. Name it when reporting a fault.',
  ),
  'RateLimit-Policy': header('string', 'Quota and window: `"default";q=600;w=60`.'),
  RateLimit: header('string', 'What is left: `"default";r=599;t=60`.'),
  'X-RateLimit-Limit': header('integer', 'Requests a minute.'),
  'X-RateLimit-Remaining': header('integer', 'Requests left in this minute.'),
  'X-RateLimit-Reset': header('integer', 'Seconds until the minute starts anew.'),
  'Retry-After': header('integer', 'Seconds after which a retry makes sense.'),
  ETag: header('string', 'Weak tag of what the answer says; send it back as If-None-Match.'),
  Link: header('string', '`rel="next"`: the next page, when there is one.'),
  'Server-Timing': header('string', 'Milliseconds: queue, engine, total.'),
};

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
      ...Object.fromEntries(
        operations.map((operation) => [operation.path, { get: operationObject(operation, publicUrl) }]),
      ),
      ...servicePaths(publicUrl),
    },
    components: {
      schemas: { Problem: problem },
      headers: HEADERS,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The same key.' },
      },
    },
  });
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
    parameters: Object.entries(operation.params).map(([name, param]) => parameterObject(name, param)),
    // The empty entry: the credential is optional.
    security: [{}, { bearer: [] }, { apiKey: [] }],
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
  const codes = new Set([...operation.fails, ...COMMON_FAILS]);
  if (operation.acceptsUnknownKey) codes.delete('invalid_api_key');
  return ERROR_CODES.filter((code) => codes.has(code));
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
  ];
  return {
    200: {
      description: operation.summary,
      headers: references(names),
      content: { 'application/json': { schema: operation.output, example: operation.example } },
    },
    ...(tagged ? { 304: { description: 'Nothing changed since the tag in If-None-Match.' } } : {}),
  };
}

function references(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** One response for each status; codes that share it are its examples. */
function failureResponses(codes: readonly ErrorCode[], publicUrl: string): Json {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const here = codes.filter((code) => ERRORS[code].status === status);
      const retryable = status === 429 || status === 503;
      return [
        status,
        {
          description: here.map((code) => `\`${code}\`: ${ERRORS[code].advice}`).join(' '),
          headers: references(['X-Request-Id', ...(retryable ? ['Retry-After'] : [])]),
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

const EXAMPLE_CONTEXT: Partial<Record<ErrorCode, Json>> = {
  invalid_parameter: {
    detail: 'min_probability must be a number within [0,1], not "2".',
    parameter: 'min_probability',
  },
  rate_limited: { detail: 'More than 600 requests in a minute came from this address.', retry_after: 17 },
  upstream_unavailable: {
    detail: 'The index did not answer when asked for: settlements.',
    resource: 'settlements',
    retry_after: 2,
  },
};

function problemExample(code: ErrorCode, publicUrl: string): Json {
  const { status, title, advice } = ERRORS[code];
  return {
    type: `${publicUrl}/docs/errors#${code}`,
    title,
    status,
    detail: advice,
    instance: '/v0/transactions',
    code,
    request_id: '0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13',
    ...EXAMPLE_CONTEXT[code],
  };
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
