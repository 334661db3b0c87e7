import { EVIDENCE_LADDER, EVIDENCE_TIERS } from '../../core/domain/evidence.ts';
import type { Evidence } from './wire.ts';

/** What the tiers are called where people read, with a tone that is never the only sign of it. */
export const TIER_NAMES: Readonly<Record<string, string>> = {
  proven: 'proven',
  probable: 'probable',
  unproven: 'unproven',
  not_x402: 'not x402',
  ungraded: 'ungraded',
};

export const TIERS: readonly string[] = EVIDENCE_TIERS;

/** Why a settlement has its grade, in a sentence of the ladder. */
export function gradeMeaning(method: string): string {
  const rung = Object.entries(EVIDENCE_LADDER).find(([name]) => name === method);
  return rung === undefined ? method : rung[1].meaning;
}

export function TierBadge({ tier }: { readonly tier: string }) {
  return <span class={`badge tier-${tier}`}>{TIER_NAMES[tier] ?? tier}</span>;
}

export function EvidenceBadge({ evidence }: { readonly evidence: Evidence }) {
  return (
    <span class="evidence" title={gradeMeaning(evidence.method)}>
      <TierBadge tier={evidence.tier} />
      <span class="probability">{evidence.probability === null ? '–' : evidence.probability}</span>
    </span>
  );
}
