import { EVIDENCE_LADDER, EVIDENCE_METHODS } from '../../core/domain/evidence.ts';
import type { Settlement } from '../wire.ts';
import { TIER_NAMES } from './evidence.tsx';

type Evidence = Settlement['evidence'];
type Reason = Evidence['reasons'][number];

/** Methods that stand for a strength of evidence, strongest first. A deposit and a row that was not examined are on no rung. */
const RUNGS = EVIDENCE_METHODS.filter((method) => method !== 'channel_move' && method !== 'not_examined');

export const METHOD_NAMES: Readonly<Record<Evidence['method'], string>> = {
  facilitator_relay: 'Relayed by a named facilitator',
  builder_code: 'Carries a facilitator code',
  catalogued_payee: 'Paid to a catalogued payee',
  gasless_authorization: 'Signed by the payer, relayed by another',
  self_relayed: 'Relayed by a party to it',
  bare_transfer: 'Plain transfer',
  channel_move: 'Money into or out of a channel',
  not_examined: 'Not examined yet',
};

const REASON_TEXTS: Readonly<Record<Reason, string>> = {
  authorization_used: 'A signed EIP-3009 authorization was used in the same transaction.',
  permit2_settled: 'A Permit2 proxy of x402 settled it.',
  direct_call: 'The transaction calls the token directly.',
  routed_call: 'The transaction calls the token through another contract.',
  third_party_relay: 'Neither payer nor payee sent the transaction.',
  relayed_by_payer: 'The payer sent the transaction.',
  relayed_by_payee: 'The payee sent the transaction.',
  receive_with_authorization: 'It was made with receiveWithAuthorization, which only the payee can call.',
  builder_code: 'The calldata carries an ERC-8021 facilitator code.',
  x402_contract: 'The call goes through a contract that only x402 uses.',
  payee_catalogued: 'The payee is the payTo of a catalogued resource.',
  relayer_named: 'The relayer belongs to a named facilitator.',
  no_marker: 'There is no marker of EIP-3009 in the transaction.',
  self_payment: 'Payer and payee are the same address.',
  channel_move: 'Money went into or out of a payment channel or an escrow.',
  voucher_claimed: 'A payment channel of x402 claimed a voucher that the payer signed.',
  escrow_captured: 'An escrow captured or charged the payment.',
  sponsored_exact: 'Another account paid the fee, in a transaction of the form that x402 has on Solana.',
  sponsored_transfer: 'Another account than the payer paid the fee, in a transaction of another form.',
};

/** The ladder with the rung that a settlement reached, and what was seen on chain. */
export function EvidenceLadder({ evidence }: { readonly evidence: Evidence }) {
  const { method, reasons } = evidence;
  return (
    <div class="ladder">
      {RUNGS.some((rung) => rung === method) ? (
        <ol class="ladder-rungs" aria-label="Evidence ladder, strongest first">
          {RUNGS.map((rung) => (
            <Rung key={rung} method={rung} isReached={rung === method} />
          ))}
        </ol>
      ) : (
        <p class="note">
          <strong>{METHOD_NAMES[method]}.</strong> {EVIDENCE_LADDER[method].meaning}
        </p>
      )}
      <div class="ladder-seen">
        <h4>Seen on chain</h4>
        {reasons.length === 0 ? (
          <p class="muted">Nothing has been examined yet.</p>
        ) : (
          <ul>
            {reasons.map((reason) => (
              <li key={reason}>{REASON_TEXTS[reason]}</li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

function Rung({ method, isReached }: { readonly method: Evidence['method']; readonly isReached: boolean }) {
  const { tier, probability, meaning } = EVIDENCE_LADDER[method];
  return (
    <li
      class={isReached ? `rung is-reached is-${tier}` : 'rung'}
      {...(isReached ? { 'aria-current': 'true' as const } : {})}
      title={meaning}
    >
      <span class="rung-name">{METHOD_NAMES[method]}</span>
      <span class="rung-tier">
        {TIER_NAMES[tier]} <span class="number">{probability}</span>
      </span>
      {isReached ? <span class="rung-meaning">{meaning}</span> : null}
    </li>
  );
}
