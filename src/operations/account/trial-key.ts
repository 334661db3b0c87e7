import { Type } from '@sinclair/typebox';
import { TRANSACTION_PATTERN } from '../../../core/domain/account.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import type { SettledPayment } from '../../../core/domain/payment.ts';
import { fail } from '../../../core/errors.ts';
import { defineOperation, PUBLIC_URL_MARK } from '../define.ts';
import type { CallContext } from '../deps.ts';
import { PRICES } from '../prices.ts';
import { AddressShape, ChainShape, nowText, TimeShape } from '../shapes.ts';
import type { AccountDeps, AccountFacts } from './own-account.ts';

/** A key with no account behind it, for one settlement. See docs/design/gate.md. */

/** With a shorter Idempotency-Key the key is not shown again: someone who reads the payment off the chain could guess it. */
export const IDEMPOTENCY_KEY_MIN_CHARS = 16;

export const mintTrialKey = defineOperation({
  id: 'mintTrialKey',
  wire: {
    path: '/test/x402',
    params: {},
    output: Type.Object(
      {
        api_key: Type.String({
          description: '`six_trial_` and 43 base62 characters. Keep it: only its digest is stored.',
        }),
        tier: Type.Literal('trial'),
        expires_at: TimeShape,
        settlement: Type.Object(
          {
            transaction: Type.String({ pattern: TRANSACTION_PATTERN }),
            network: ChainShape,
            payer: AddressShape,
          },
          { title: 'KeySettlement' },
        ),
      },
      { title: 'TrialKey' },
    ),
    fails: ['key_already_issued', 'key_issue_failed'],
    status: 201,
  },
  words: {
    summary: 'Buy a trial key over x402',
    description: `One settlement buys one key, which opens every route that takes any key. The key is shown once; with an \`Idempotency-Key\` of at least ${IDEMPOTENCY_KEY_MIN_CHARS} characters that no one else can guess, the same request with the same payment shows the same key again.`,
    tool: `How to buy a key without an account. Send GET ${PUBLIC_URL_MARK}/v0/test/x402 over HTTP: it answers 402 with \`accepts\`, ${usdNumber(PRICES.sold.x402UsdMicros)} USD in a stablecoin. Sign one and send the same request again with the header X-PAYMENT. \`api_key\`, shown once, opens every tool marked "Any key": send it as X-API-Key.`,
    example: {
      api_key: 'six_trial_…',
      tier: 'trial',
      expires_at: '2026-12-20T09:15:04Z',
      settlement: {
        transaction: '0x6f1c0b8e5d1f0a3c9b7e2d4f8a6c5b3e1d0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b',
        network: 'eip155:8453',
        payer: '0x857b06519e91e3a54538791bdbb0e22373e36b66',
      },
    },
  },
  money: { price: PRICES.sold, load: 'none' },
  run: async (_input, { accounts, deployment: { publicUrl } }: AccountDeps, context) => {
    const { payment } = context;
    if (payment === null) throw notPaid(context, publicUrl);
    const issued = await issue(accounts, payment, context.idempotencyKey);
    if (issued.outcome === 'already_issued') throw alreadyIssued(payment);
    const { transaction, chain: network, payer } = payment;
    return {
      api_key: issued.apiKey,
      tier: 'trial' as const,
      expires_at: nowText(issued.expiresAtMs),
      settlement: { transaction, network, payer },
    };
  },
});

/** The money has moved: any failure from here on gives the payer the settlement's hash and how to get the key. */
async function issue(
  accounts: AccountFacts,
  payment: SettledPayment,
  idempotencyKey: string | undefined,
): ReturnType<AccountFacts['issueTrialKey']> {
  try {
    return await accounts.issueTrialKey(payment, idempotencyKey);
  } catch (cause) {
    throw fail('key_issue_failed', {
      detail:
        'The payment settled, but its key could not be stored. Send the same request with the same payment again: it is not charged twice.',
      payment: { stage: 'settle', transaction: payment.transaction },
      cause,
    });
  }
}

function alreadyIssued({ transaction }: SettledPayment) {
  return fail('key_already_issued', {
    detail: `The settlement ${transaction} already bought a key, which was shown once. This request was not charged. Pay again for another key.`,
  });
}

/** Surfaces that cannot carry a payment tell where it can be sent. */
function notPaid({ surface }: CallContext, publicUrl: string) {
  const where = `GET ${publicUrl}/v0/test/x402`;
  return fail('payment_required', {
    detail:
      surface === 'http'
        ? 'A trial key is sold over x402 only: pay one of the offers.'
        : `A trial key is sold over x402, and no payment can be sent on this surface. Ask ${where} over HTTP: its 402 answer says how to pay.`,
  });
}
