import fc from 'fast-check';
import type { JsonObject } from '../../kit/document-schemas.ts';
import { jsonBody, rawBody } from './bodies.ts';
import type { DescribedOperation, DescribedParameter } from './document.ts';
import { type KnownValues, oddText, parameterText } from './values.ts';

/** Requests made from the document, each a plain value, so that a counter-example can be read and sent again. */

export interface FuzzRequest {
  readonly operation: string;
  /** Which deployment is asked. */
  readonly deployment: (typeof DEPLOYMENTS)[number];
  readonly method: string;
  /** Path and query as they stand on the request line. */
  readonly target: string;
  readonly credential: (typeof CREDENTIALS)[number];
  readonly headers: Readonly<Record<string, string>>;
  /** Latin-1; null without a body. */
  readonly body: string | null;
}

/** One that sells calls, and one that does not. */
const DEPLOYMENTS = ['selling', 'plain'] as const;

/** Organizations with and without units, keys without one, and texts that are no credential. */
export const CREDENTIALS = [
  'rich',
  'rich_bearer',
  'poor',
  'trial',
  'none',
  'unknown',
  'revoked',
  'expired',
  'broken_authorization',
  'two_keys',
  'token',
] as const;

const BASES = ['/v0', '/api/v0'] as const;
const OTHER_METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'TRACE',
  'OPTIONS',
  'PROPFIND',
  'QUERY',
] as const;

export function fuzzRequest(
  operations: readonly DescribedOperation[],
  known: KnownValues,
): fc.Arbitrary<FuzzRequest> {
  // SQL has as many ways to ask as all the others together.
  return fc.oneof(
    ...operations.map((operation) => ({
      weight: operation.body === null ? 1 : 6,
      arbitrary: requestFor(operation, known),
    })),
  );
}

function requestFor(operation: DescribedOperation, known: KnownValues): fc.Arbitrary<FuzzRequest> {
  return fc.record({
    operation: fc.constant(operation.id),
    deployment: fc.constantFrom(...DEPLOYMENTS),
    method: fc.oneof(
      { weight: 12, arbitrary: fc.constant(operation.method) },
      { weight: 1, arbitrary: fc.constantFrom(...OTHER_METHODS) },
    ),
    target: targetOf(operation, known),
    credential: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('rich' as const, 'rich_bearer' as const) },
      { weight: 3, arbitrary: fc.constantFrom(...CREDENTIALS) },
    ),
    headers: fc
      .tuple(headersOf(operation, known), bodyHeaders(operation))
      .map((parts) => Object.assign({}, ...parts)),
    body: bodyOf(operation),
  });
}

function targetOf(operation: DescribedOperation, known: KnownValues): fc.Arbitrary<string> {
  const base = operation.isApi ? fc.constantFrom(...BASES) : fc.constant('');
  return fc.tuple(base, pathOf(operation, known), queryOf(operation, known)).map((parts) => parts.join(''));
}

/** The path with its parameters filled in. */
function pathOf({ path, parameters }: DescribedOperation, known: KnownValues): fc.Arbitrary<string> {
  const names = parameters.filter((parameter) => parameter.in === 'path');
  const values = names.map((parameter) => encoded(parameterText(parameter, known)));
  return fc
    .tuple(...values)
    .map((texts) =>
      names.reduce((filled, { name }, index) => filled.replace(`{${name}}`, () => texts[index] ?? ''), path),
    );
}

/** Each parameter or none, some twice, some that the operation does not have, in any order. */
function queryOf({ parameters }: DescribedOperation, known: KnownValues): fc.Arbitrary<string> {
  const own = parameters.filter((parameter) => parameter.in === 'query');
  const pair = (parameter: DescribedParameter) =>
    encoded(parameterText(parameter, known)).map((value) => `${parameter.name}=${value}`);
  const some = fc.tuple(...own.map((parameter) => oneIn(3, pair(parameter))));
  // Some operations take exactly one of their parameters.
  const one = own.length === 0 ? [] : [fc.oneof(...own.map(pair)).map((only) => [only])];
  const twice = own.length === 0 ? [] : [fc.oneof(...own.map(pair))];
  const unknown = fc
    .tuple(
      encoded(fc.oneof(fc.constantFrom('colour', 'limit', 'chain', 'sql', 'format'), oddText)),
      encoded(oddText),
    )
    .map(([name, value]) => `${name}=${value}`);
  const odd = fc.oneof(
    ...twice,
    unknown,
    fc.constantFrom('&', '=', '?', 'limit', 'limit[]=1', '%00=1', 'a=b=c'),
  );
  return fc
    .tuple(fc.oneof(some, ...one), oneIn(6, odd))
    .chain(([known, extra]) =>
      fc.shuffledSubarray(
        [...known, extra].filter((part) => part !== null),
        { minLength: 0 },
      ),
    )
    .map((parts) => (parts.length === 0 ? '' : `?${parts.join('&')}`));
}

/** The value once in so many times, else none. */
function oneIn<Value>(times: number, value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.oneof({ weight: times - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value });
}

/** As clients write it, and as no client should. */
function encoded(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const ways = fc.oneof(
    { weight: 12, arbitrary: fc.constant('plain') },
    { weight: 1, arbitrary: fc.constantFrom('every_byte', 'as_it_is', 'plus', 'broken') },
  );
  return fc.tuple(text, ways).map(([value, way]) => encode(value, way));
}

/** Half of a character, which no URL can hold. */
const LONE_SURROGATE = /[\ud800-\udfff]/gu;

function encode(value: string, way: string): string {
  const plain = encodeURIComponent(value.replace(LONE_SURROGATE, '?'));
  switch (way) {
    case 'every_byte':
      return [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    case 'as_it_is':
      // What a request line cannot hold at all never reaches the service.
      return value.replace(/[^\x21-\x7e]/g, '').replace(/[#?&/]/g, '');
    case 'plus':
      return plain.replaceAll('%20', '+');
    case 'broken':
      return `${plain}%c3%28%zz`;
    default:
      return plain;
  }
}

/** A value that a header can hold. */
function headerText(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return text.map((value) => value.replace(/[^\x20-\x7e\x80-\xff]/g, '').slice(0, 3_000));
}

const ACCEPTED = fc.constantFrom(
  '*/*',
  'application/json',
  'text/html',
  'text/csv',
  'text/csv;q=0.5, application/x-ndjson;q=0.9',
  'application/vnd.apache.arrow.stream',
  'application/vnd.apache.parquet;q=abc',
  ';;;,',
  'image/*;q=0',
);

const BROKEN_PAYMENTS = fc.constantFrom(
  '',
  'not base64!',
  'e30=',
  'bnVsbA==',
  Buffer.from('{"x402Version":1}').toString('base64'),
  Buffer.from('{"x402Version":3,"scheme":"exact"}').toString('base64'),
  Buffer.from(JSON.stringify(payment(1))).toString('base64'),
  Buffer.from(JSON.stringify(payment(2))).toString('base64'),
  'A'.repeat(6_000),
);

/** Of the right form and for nothing that is sold. */
function payment(x402Version: 1 | 2): JsonObject {
  const address = `0x${'ab'.repeat(20)}`;
  const authorization = {
    from: address,
    to: address,
    value: '1000',
    validAfter: '0',
    validBefore: '4000000000',
    nonce: `0x${'cd'.repeat(32)}`,
  };
  const payload = { signature: `0x${'11'.repeat(65)}`, authorization };
  if (x402Version === 1) return { x402Version, scheme: 'exact', network: 'base-sepolia', payload };
  const accepted = {
    scheme: 'exact',
    network: 'eip155:84532',
    amount: '1000',
    asset: address,
    payTo: address,
    maxTimeoutSeconds: 60,
    extra: {},
  };
  return { x402Version, accepted, payload };
}

/** Headers that the document names for the operation, and some that every server meets. */
function headersOf(
  { parameters }: DescribedOperation,
  known: KnownValues,
): fc.Arbitrary<Record<string, string>> {
  const sometimes = (value: fc.Arbitrary<string>, freq: number) => oneIn(freq, headerText(value));
  const named = parameters
    .filter((parameter) => parameter.in === 'header')
    .map((parameter): [string, fc.Arbitrary<string | null>] => [
      parameter.name.toLowerCase(),
      /payment/i.test(parameter.name)
        ? sometimes(BROKEN_PAYMENTS, 7)
        : sometimes(headerValue(parameter, known), parameter.name === 'Idempotency-Key' ? 2 : 4),
    ]);
  return fc
    .record({
      ...Object.fromEntries(named),
      accept: sometimes(ACCEPTED, 2),
      'accept-encoding': sometimes(
        fc.constantFrom('gzip', 'br', 'identity;q=0, *;q=0', 'gzip;q=abc', 'x'),
        3,
      ),
      'accept-language': sometimes(oddText, 9),
      'access-control-request-method': sometimes(fc.constantFrom('GET', 'POST', ''), 9),
      origin: sometimes(fc.constantFrom('https://shop.example', 'null', ''), 9),
      cookie: sometimes(oddText, 9),
      'x-forwarded-for': sometimes(oddText, 9),
      'x-http-method-override': sometimes(fc.constant('DELETE'), 12),
      range: sometimes(fc.constantFrom('bytes=0-1', 'bytes=-1', 'x'), 12),
      expect: sometimes(fc.constant('100-continue'), 20),
    })
    .map((headers) =>
      Object.fromEntries(
        Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null),
      ),
    );
}

const BODY_TYPES = fc.oneof(
  { weight: 14, arbitrary: fc.constant('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'application/json; charset=utf-8',
      'application/json; charset=latin1',
      'APPLICATION/JSON',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/problem+json',
      'json',
      '',
    ),
  },
);

/** The media type of a body; where the operation takes none, only sometimes. */
function bodyHeaders({ body }: DescribedOperation): fc.Arbitrary<Record<string, string>> {
  const type = body === null ? oneIn(12, BODY_TYPES) : BODY_TYPES;
  const coding = oneIn(20, fc.constantFrom('gzip', 'identity', 'br', 'x'));
  return fc.tuple(type, coding).map(([contentType, contentEncoding]) => ({
    ...(contentType === null ? {} : { 'content-type': contentType }),
    ...(contentEncoding === null ? {} : { 'content-encoding': contentEncoding }),
  }));
}

function headerValue(parameter: DescribedParameter, known: KnownValues): fc.Arbitrary<string> {
  if (parameter.name !== 'If-None-Match') return parameterText(parameter, known);
  return fc.oneof(fc.constantFrom('*', 'W/"', '"x", W/"y"', ',,,'), oddText);
}

function bodyOf({ body }: DescribedOperation): fc.Arbitrary<string | null> {
  if (body === null)
    return fc.oneof({ weight: 14, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: rawBody });
  return fc.oneof({ weight: 8, arbitrary: jsonBody(body) }, { weight: 1, arbitrary: rawBody });
}
