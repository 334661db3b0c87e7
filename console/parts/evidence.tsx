import { EVIDENCE_LADDER } from '../../core/domain/evidence.ts';
import { Chip, type Tone } from '../components/chip.tsx';
import type { Settlement } from '../wire.ts';

/** How sure the index is that settlements were x402 payments. */

type Evidence = Settlement['evidence'];
type Tier = Evidence['tier'];

/** The tiers in words; the colour of a chip only repeats them. */
export const TIER_NAMES: Readonly<Record<Tier, string>> = {
  proven: 'proven',
  probable: 'probable',
  unproven: 'unproven',
  not_x402: 'not x402',
  ungraded: 'ungraded',
};

const TIER_TONES: Readonly<Record<Tier, Tone>> = {
  proven: 'good',
  probable: 'info',
  unproven: 'warn',
  not_x402: 'bad',
  ungraded: 'neutral',
};

export function EvidenceChip({ evidence: { method, tier, probability } }: { readonly evidence: Evidence }) {
  return (
    <span class="evidence" title={EVIDENCE_LADDER[method].meaning}>
      <Chip tone={TIER_TONES[tier]}>{TIER_NAMES[tier]}</Chip>
      <span class="probability">{probability ?? '–'}</span>
    </span>
  );
}
