import { expect, test } from 'vitest';
import { problemOf } from '../../../src/openapi/problem.ts';

const place = { path: '/v0/flows', requestId: 'r', publicUrl: '' };

test('an offer is in the body in version 1, and left out where that version has no name for the chain', () => {
  const offer = { accepts: [{ scheme: 'exact' }], requiredHeader: 'e30=' };
  const context = { detail: 'Pay.' };
  expect(problemOf('payment_required', { ...context, offer }, place)).toMatchObject({
    x402Version: 1,
    accepts: [{ scheme: 'exact' }],
  });
  const bare = problemOf('payment_required', { ...context, offer: { ...offer, accepts: [] } }, place);
  expect(bare).not.toHaveProperty('x402Version');
  expect(bare).not.toHaveProperty('accepts');
});
