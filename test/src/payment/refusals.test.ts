import { expect, test } from 'vitest';
import { rejected } from '../../../src/payment/refusals.ts';

/** What a payer is told after a facilitator refused. */

const QUOTE = {
  order: {
    ...{ resource: 'GET /v0/flows', url: 'https://index.example/v0/flows', description: 'Flows' },
    ...{ mimeType: 'application/json', priceUsdMicros: 1_000n, settledByUse: false, binding: '' },
  },
  terms: [],
  accepted: [],
};

test.each([
  'invalid_exact_evm_token_name_mismatch',
  'invalid_exact_evm_token_version_mismatch',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_eip3009_not_supported',
])('%s is a fault of the offer: to sign again does not help', (reason) => {
  const { code, context } = rejected(QUOTE, reason);
  expect(code).toBe('payment_invalid');
  expect(context.payment).toMatchObject({ stage: 'verify', reason });
  expect(context.detail).toMatch(/fault of this service.*Do not sign it again/);
  expect(context.detail).not.toMatch(/Sign a new/);
});

test.each(['invalid_exact_evm_signature', 'something_else', null])('%s is one of the payment', (reason) => {
  expect(rejected(QUOTE, reason).context.detail).toMatch(/Sign/);
});
