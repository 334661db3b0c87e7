import { ERROR_CODES, ERRORS, type ErrorCode } from '../../core/errors.ts';
import type { AnyOperation } from '../operations/define.ts';
import type { PriceClass } from '../operations/prices.ts';
import { failureExample } from './examples.ts';
import { COMMON_HEADERS, headerReferences, RECEIPT_HEADERS } from './headers.ts';
import { type Json, pascalCase } from './schemas.ts';

/** What can go wrong, as the OpenAPI document tells it: one response for each status, its codes as examples. */

/** What every operation can answer with, whatever it does. */
const COMMON_FAILS: readonly ErrorCode[] = [
  'invalid_parameter',
  'malformed_request',
  'invalid_api_key',
  'method_not_allowed',
  'request_timeout',
  'uri_too_long',
  'rate_limited',
  'headers_too_large',
  'internal_error',
  'overloaded',
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

/** What a failure of this status carries besides. A receipt is there when a payment had settled before. */
const HEADERS_OF_STATUS: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  402: ['PAYMENT-REQUIRED', 'Retry-After'],
  405: ['Allow'],
  409: ['Retry-After', ...RECEIPT_HEADERS],
  429: ['Retry-After', ...RECEIPT_HEADERS],
  500: RECEIPT_HEADERS,
  502: ['Retry-After'],
  503: ['Retry-After', ...RECEIPT_HEADERS],
};

/** Codes that share a status on many operations; a status with one code is named after it. */
const SHARED: Readonly<Record<string, readonly ErrorCode[]>> = {
  Unavailable: ['overloaded', 'upstream_unavailable'],
  InvalidRequest: ['invalid_parameter', 'malformed_request'],
  KeyRequired: ['invalid_api_key', 'api_key_required'],
  PaymentRequired: ['payment_required', 'payment_malformed', 'payment_invalid', 'payment_failed'],
  UnitsOrPaymentRequired: [
    'payment_required',
    'payment_malformed',
    'payment_invalid',
    'payment_failed',
    'insufficient_qu',
  ],
};

function sharedName(codes: readonly ErrorCode[]): string | undefined {
  const [only] = codes;
  if (codes.length === 1 && only !== undefined) return pascalCase(only);
  return Object.keys(SHARED).find((name) => SHARED[name]?.join() === codes.join());
}

/** Collects the responses that operations share. */
export class FailureResponses {
  private readonly publicUrl: string;
  private readonly shared = new Map<string, Json>();

  constructor(publicUrl: string) {
    this.publicUrl = publicUrl;
  }

  /** The responses of these codes, by status. */
  of(codes: readonly ErrorCode[]): Json {
    const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
    return Object.fromEntries(
      statuses.map((status) => [
        status,
        this.response(
          status,
          codes.filter((code) => ERRORS[code].status === status),
        ),
      ]),
    );
  }

  components(): Json {
    return Object.fromEntries([...this.shared].sort(([a], [b]) => Number(a > b) - Number(a < b)));
  }

  private response(status: number, codes: readonly ErrorCode[]): Json {
    const name = sharedName(codes);
    if (name === undefined) return this.made(status, codes);
    if (!this.shared.has(name)) this.shared.set(name, this.made(status, codes));
    return { $ref: `#/components/responses/${name}` };
  }

  private made(status: number, codes: readonly ErrorCode[]): Json {
    const own = codes.includes('query_failed') ? RECEIPT_HEADERS : (HEADERS_OF_STATUS[status] ?? []);
    return {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code].advice}`).join(' '),
      headers: headerReferences([...COMMON_HEADERS, ...own]),
      content: {
        'application/problem+json': {
          schema: { $ref: '#/components/schemas/Problem' },
          examples: Object.fromEntries(codes.map((code) => [code, failureExample(code, this.publicUrl)])),
        },
      },
    };
  }
}
