import type { PaymentOffer } from '../../core/domain/payment.ts';
import { ERROR_CODES, ERRORS, type ErrorCode, type FailureContext } from '../../core/errors.ts';
import { REFUSALS } from '../../sandbox/judge/refusal.ts';
import { QUERY_FAILURES } from '../../sandbox/sandbox.ts';
import { isOfOwnAccount } from '../operations/account/scope.ts';
import type { AnyOperation } from '../operations/define.ts';
import type { PriceClass } from '../operations/prices.ts';
import { SETTLEMENT_EXAMPLE } from '../operations/settlements/shape.ts';
import { COMMON_HEADERS, headerReferences, RECEIPT_HEADERS } from './headers.ts';
import { PAYMENT_OFFER_EXAMPLE, PAYMENT_REQUIRED_EXAMPLE } from './payments.ts';
import { problemOf } from './problem.ts';
import { type Json, pascalCase } from './schemas.ts';

/** The failures in the OpenAPI document: one response for each status, its codes as examples. */

/** Codes of every operation. */
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

/** Additional codes of a request that may bring a body, also one that is not used. */
const BODY_FAILS: readonly ErrorCode[] = ['payload_too_large', 'unsupported_media_type'];

/** Additional codes of an operation that an Idempotency-Key makes repeatable. */
const REPEAT_FAILS: readonly ErrorCode[] = ['request_in_progress', 'reply_not_kept', 'idempotency_conflict'];

/** Additional codes of a call that can be paid for over x402. */
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
  metered: [...PAYMENT_FAILS, 'api_key_required', 'insufficient_qu', 'key_budget_exhausted'],
  sold: [...PAYMENT_FAILS, 'not_found'],
};

/** Every code an operation can answer with. */
export function failsOf(operation: AnyOperation): readonly ErrorCode[] {
  const codes = new Set([
    ...operation.fails,
    ...COMMON_FAILS,
    ...FAILS_OF_CLASS[operation.price.class],
    ...(operation.method === 'GET' ? [] : BODY_FAILS),
    ...(isOfOwnAccount(operation) ? [] : (['key_restricted'] as const)),
    ...(operation.repeatable ? REPEAT_FAILS : []),
  ]);
  if (operation.acceptsUnknownKey) codes.delete('invalid_api_key');
  return ERROR_CODES.filter((code) => codes.has(code));
}

/** Additional headers of a failure with this status. A receipt is there when a payment had settled before. */
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

/** Examples of failures, printed as the service prints them. */

interface ExampleFailure extends FailureContext {
  /** Where it happens, `/v0/transactions` without. */
  readonly path?: string;
}

const REQUEST_ID = '0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13';
const TRANSACTION = SETTLEMENT_EXAMPLE.tx_hash;
const NONCE = '0x3d7f2e1c0b9a8d7e6f5c4b3a29180716253443526170899807a6b5c4d3e2f1a0';
const SQL = '/v0/sql';
const TRIAL_KEY = '/v0/test/x402';

const OFFER: PaymentOffer = {
  accepts: [PAYMENT_OFFER_EXAMPLE],
  requiredHeader: Buffer.from(JSON.stringify(PAYMENT_REQUIRED_EXAMPLE)).toString('base64'),
};

/** Words of the service itself, for one plausible case of each code. */
const FAILURES: Readonly<Record<ErrorCode, ExampleFailure>> = {
  invalid_parameter: {
    detail: 'min_probability must be a number within [0,1], not "2".',
    parameter: 'min_probability',
  },
  malformed_request: { detail: 'The URL or the body cannot be decoded.' },
  invalid_query: {
    path: SQL,
    detail: REFUSALS.unknown_table,
    query: { position: { line: 1, column: 22 }, near: 'setlements', hint: 'Did you mean settlements?' },
  },
  query_failed: {
    path: SQL,
    detail: QUERY_FAILURES.timeout,
    query: {
      reason: 'timeout',
      hint: 'Narrow block_time, ask merchant_days or payer_days for long ranges, or choose a higher `tier`.',
    },
    charged: { heldQu: 3, chargedQu: 3, balance: 197 },
  },
  invalid_api_key: { detail: 'The key that was sent is not known here, is revoked or has expired.' },
  api_key_required: { detail: 'No key was sent, and single calls are not sold here.' },
  payment_required: { detail: 'No key was sent. Send one, or pay for this call.', offer: OFFER },
  payment_malformed: {
    detail: 'The payment header is not base64 (standard alphabet) of a JSON object. Nothing was charged.',
    payment: { stage: 'input' },
    offer: OFFER,
  },
  payment_invalid: {
    detail: 'The authorization is not for the price. Sign exactly 1000 atomic units.',
    payment: { stage: 'verify', reason: 'invalid_exact_evm_payload_authorization_value' },
    offer: OFFER,
  },
  payment_failed: {
    detail:
      'The payment was verified, but the facilitator could not settle it. Nothing was charged. Send it again, or sign a new one.',
    payment: { stage: 'settle' },
    offer: OFFER,
  },
  job_not_found: {
    path: '/v0/sql/jobs/2f1e6c1a-7d3b-4a51-9a39-0d8a4c7be111',
    detail: 'The organization has no job of this id.',
  },
  result_not_found: {
    path: `/v0/results/${'5f'.repeat(32)}`,
    detail: 'There is no result of this id that you may read.',
  },
  dashboard_not_found: {
    path: '/v0/dashboards/index/nothing',
    detail: 'There is no dashboard of this owner and slug that you may open.',
  },
  query_not_found: {
    path: '/v0/q/acme/top-payees',
    detail: 'There is no saved query of this owner, slug and version that you may call.',
  },
  table_not_found: {
    path: '/v0/tables/labels',
    detail: 'Your organization has no table my.labels.',
  },
  table_limit: {
    path: '/v0/tables/labels',
    detail:
      'The plan free has 2 tables of 10 MB together, and this one would be beyond that. Nothing was changed.',
  },
  invalid_table: {
    path: '/v0/tables/labels',
    detail:
      'It cannot be read: row 3, column amount: text "n/a" is not like Int64. Another type can be given in types.',
  },
  handle_required: {
    path: '/v0/queries/top-payees',
    detail: 'A saved query needs an owner: choose a handle first.',
  },
  handle_taken: {
    path: '/v0/account/handle',
    detail: 'acme is the handle of another organization, or looks like one.',
  },
  query_limit: {
    path: '/v0/queries/top-payees',
    detail:
      'An organization has at most 500 saved queries, and a query 200 versions: remove a query, or save this one under another slug.',
  },
  insufficient_qu: {
    path: '/v0/graph',
    detail: 'The call costs 1 QU; the organization has 0 QU free.',
    offer: {
      ...OFFER,
      accepts: [
        {
          ...PAYMENT_OFFER_EXAMPLE,
          maxAmountRequired: '5000',
          resource: 'https://index.example/v0/graph?days=7',
          description: 'Who pays whom: wallets and the sums between them',
        },
      ],
    },
  },
  forbidden_origin: { path: '/mcp', detail: 'Pages of this origin may not use the MCP surface.' },
  upgrade_required: {
    path: SQL,
    detail: 'The plan free does not include the tier deep. deep is included in: enterprise.',
  },
  key_restricted: {
    path: '/v0/graph',
    detail: 'This key may call runSql, getSqlSchema, and what is below /v0/account; not getGraph.',
  },
  key_not_found: {
    path: '/v0/account/keys/key_0b6f4c1d-9a57-4a0e-8f3c-2d1e0f9a8b7c',
    detail: 'The organization has no key of this id.',
  },
  key_budget_exhausted: {
    path: SQL,
    detail:
      'The call holds 3 QU; the key may use 200 QU a day and has 1 left until the UTC day ends. Hold at most 1 with max_qu. Nothing was charged.',
    retryAfterSeconds: 41_520,
  },
  payment_in_progress: {
    detail: 'Another request is using this payment right now. It is not charged twice.',
    payment: { stage: 'settle' },
    retryAfterSeconds: 2,
  },
  request_in_progress: {
    path: SQL,
    detail: 'A request with this Idempotency-Key is still running.',
    retryAfterSeconds: 5,
  },
  reply_not_kept: {
    path: SQL,
    detail:
      'The request with this Idempotency-Key was run before and charged once; its answer was too large to keep, or its caller left.',
  },
  idempotency_conflict: {
    path: SQL,
    detail: 'This Idempotency-Key was sent with another request before.',
  },
  key_already_issued: {
    path: TRIAL_KEY,
    detail: `The settlement ${TRANSACTION} already bought a key, which was shown once. This request was not charged. Pay again for another key.`,
  },
  snapshot_gone: {
    detail:
      'The snapshot cannot be answered: what the catalogues said under revision 3 is kept no more: revisions are answered for 90 days. The oldest one that can: s1_r9_0b9f4a31_1795166103000000000_8453-29000000-38411402-5d0c1f0a7e2b9c44',
  },
  cursor_expired: {
    parameter: 'after',
    detail: 'The changes after this cursor are not kept any more: they are kept for 29 days.',
  },
  not_found: { detail: 'There is no such route. /openapi.json lists them.' },
  transaction_not_found: {
    path: `/v0/transactions/${TRANSACTION}`,
    detail: `No settlement of ${TRANSACTION} is indexed: not a settlement, not yet indexed, taken back by a reorg, or on a chain that is not covered.`,
  },
  channel_not_found: {
    path: `/v0/channels/${TRANSACTION}`,
    detail: `No row of the channel ${TRANSACTION} is indexed.`,
  },
  method_not_allowed: { detail: 'This route does not take DELETE.' },
  request_timeout: { detail: 'The request did not arrive in time.', path: '/' },
  payload_too_large: { path: SQL, detail: 'The request body is larger than this route takes.' },
  range_not_satisfiable: {
    path: '/v0/bundles/eip155:8453/settlements/2026-11-19.r1.parquet',
    detail: 'The file has 38210774 bytes.',
  },
  uri_too_long: { detail: 'The URL is longer than 4096 characters.' },
  unsupported_media_type: {
    path: SQL,
    detail: 'This route takes a JSON object as its body, with Content-Type: application/json.',
  },
  rate_limited: {
    detail: 'More than 600 requests in a minute came from this address.',
    retryAfterSeconds: 17,
  },
  headers_too_large: { detail: 'The URL and headers together exceed 16 KiB.', path: '/' },
  internal_error: {
    detail: 'The service failed to answer this request. The fault is on our side and was logged.',
  },
  key_issue_failed: {
    path: TRIAL_KEY,
    detail:
      'The payment settled, but its key could not be stored. Send the same request with the same payment again: it is not charged twice.',
    payment: { stage: 'settle', transaction: TRANSACTION },
  },
  settlement_unknown: {
    detail:
      'Whether the payment settled is not known: the facilitator was asked at 2026-11-20T09:15:04Z, and the chain does not show the payment yet. Check the chain for the authorization’s nonce before you sign another one. Send this request with this payment again: it is never settled twice, and served once the settlement is seen.',
    payment: { stage: 'settle', authorizationNonce: NONCE, sinceMs: Date.UTC(2026, 10, 20, 9, 15, 4) },
    retryAfterSeconds: 5,
  },
  overloaded: {
    detail: 'More is asked of this service at the moment than it can answer. Nothing was run or charged.',
    retryAfterSeconds: 2,
  },
  upstream_unavailable: {
    detail: 'The index did not answer in time when asked for: settlements.',
    resource: 'settlements',
    retryAfterSeconds: 2,
  },
};

/** A named example of an answer with this code. */
function failureExample(code: ErrorCode, publicUrl: string): Json {
  const { path = '/v0/transactions', ...context } = FAILURES[code];
  return {
    summary: ERRORS[code].title,
    value: problemOf(code, context, { path, requestId: REQUEST_ID, publicUrl }),
  };
}
