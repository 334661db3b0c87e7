import { ERRORS, type ErrorCode } from '../errors.ts';

/** Examples of failures for the OpenAPI document, each a whole problem. */

type Json = Readonly<Record<string, unknown>>;

const EXAMPLE_TRANSACTION = '0x6f1c0b8e5d1f0a3c9b7e2d4f8a6c5b3e1d0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b';

const EXAMPLE_OFFER: Json = {
  x402Version: 1,
  error: 'X-PAYMENT header is required',
  accepts: [
    {
      scheme: 'exact',
      network: 'base',
      maxAmountRequired: '1000',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
      resource: 'https://index.example/v0/flows',
      description: 'Newest settlements across every indexed chain, payer to payee',
      mimeType: 'application/json',
      maxTimeoutSeconds: 60,
      extra: { name: 'USD Coin', version: '2' },
    },
  ],
};

const EXAMPLE_CONTEXT: Partial<Record<ErrorCode, Json>> = {
  payment_required: { detail: 'No key was sent. Send one, or pay for this call.', ...EXAMPLE_OFFER },
  payment_malformed: { ...EXAMPLE_OFFER, error: 'payment_malformed', stage: 'input', retryable: false },
  payment_invalid: {
    ...EXAMPLE_OFFER,
    error: 'payment_invalid',
    stage: 'verify',
    retryable: false,
    reason: 'invalid_exact_evm_payload_authorization_value',
  },
  payment_failed: { ...EXAMPLE_OFFER, error: 'payment_failed', stage: 'settle', retryable: true },
  insufficient_qu: {
    detail: 'The call costs 1 QU; the organization has 0 QU free.',
    ...EXAMPLE_OFFER,
    error: 'insufficient_qu',
  },
  payment_in_progress: { stage: 'settle', retryable: true, retry_after: 2 },
  key_already_issued: { detail: `The settlement ${EXAMPLE_TRANSACTION} already bought a key.` },
  key_issue_failed: { stage: 'settle', retryable: true, transaction: EXAMPLE_TRANSACTION },
  settlement_unknown: {
    stage: 'settle',
    retryable: true,
    authorization_nonce: '0x3d7f2e1c0b9a8d7e6f5c4b3a29180716253443526170899807a6b5c4d3e2f1a0',
    retry_after: 5,
  },
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

/** What a failure of this code looks like. */
export function problemExample(code: ErrorCode, publicUrl: string): Json {
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
