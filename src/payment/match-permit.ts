import { OPEN_CALL_SECONDS, type Terms } from './offer.ts';
import { UPTO_PROXY } from './permit2.ts';
import type { PermitAuthorization } from './read-permit.ts';
import { type Refusal, VALID_BEFORE_MARGIN_SECONDS } from './refusal.ts';

/**
 * What can be said about a ceiling without asking anybody. The reasons are those of the x402 packages for the same findings.
 * Whether the facilitator it names is ours is asked apart. Source: protocol.md 1.6, 1.8.
 */
export function findPermitFault(permit: PermitAuthorization, terms: Terms, now: bigint): Refusal | null {
  return findBadParties(permit, terms) ?? findBadAmount(permit, terms) ?? findBadTime(permit, now);
}

function findBadParties({ spender, to }: PermitAuthorization, { payTo }: Terms): Refusal | null {
  if (spender !== UPTO_PROXY)
    return {
      reason: 'invalid_permit2_spender',
      detail: `The authorization lets another contract spend. Sign \`spender\` ${UPTO_PROXY} (x402UptoPermit2Proxy).`,
    };
  if (to === payTo) return null;
  return {
    reason: 'invalid_permit2_recipient_mismatch',
    detail: 'The authorization pays somebody else. Sign `payTo` of one of `accepts` as `witness.to`.',
  };
}

function findBadAmount({ token, amount }: PermitAuthorization, terms: Terms): Refusal | null {
  if (token !== terms.asset)
    return {
      reason: 'permit2_token_mismatch',
      detail: 'The authorization is for another token than the accepted `asset`.',
    };
  if (amount === terms.amount) return null;
  return {
    reason: 'permit2_amount_mismatch',
    detail: `The authorization is not for the price at most. Sign exactly ${terms.amount} atomic units: only what was used of them is taken.`,
  };
}

function findBadTime({ deadline, validAfter }: PermitAuthorization, now: bigint): Refusal | null {
  if (deadline < now + BigInt(OPEN_CALL_SECONDS) + VALID_BEFORE_MARGIN_SECONDS)
    return {
      reason: 'permit2_deadline_expired',
      detail: `The authorization has ended, or ends before the call may. Sign one whose \`deadline\` is \`maxTimeoutSeconds\` away, at least ${OPEN_CALL_SECONDS} s.`,
    };
  if (validAfter <= now) return null;
  return {
    reason: 'permit2_not_yet_valid',
    detail: 'The authorization is not valid yet. Sign one whose `validAfter` has passed.',
  };
}
