import { EVIDENCE_LADDER, EVIDENCE_TIERS } from '../../core/domain/evidence.ts';
import { countText, microsOf, shareText, usdText, usdTextOfMicros } from '../format.ts';
import type { WalletRole } from '../routes.ts';
import type { Profile, Settlement } from '../wire.ts';
import { type Column, DataTable } from './data-table.tsx';

/** How sure the index is that settlements were x402 payments. */

type Evidence = Settlement['evidence'];
type Tier = Evidence['tier'];

/** The tiers in words; the colour of a badge only repeats them. */
export const TIER_NAMES: Readonly<Record<Tier, string>> = {
  proven: 'proven',
  probable: 'probable',
  unproven: 'unproven',
  not_x402: 'not x402',
  ungraded: 'ungraded',
};

export function EvidenceBadge({ evidence: { method, tier, probability } }: { readonly evidence: Evidence }) {
  return (
    <span class="evidence" title={EVIDENCE_LADDER[method].meaning}>
      <span class={`badge tier-${tier}`}>{TIER_NAMES[tier]}</span>
      <span class="probability">{probability ?? '–'}</span>
    </span>
  );
}

interface TierSum {
  readonly tier: Tier;
  readonly count: number;
  readonly usdMicros: bigint;
}

function sumByTier(rows: readonly Settlement[]): TierSum[] {
  return EVIDENCE_TIERS.map((tier) => {
    const graded = rows.filter((row) => row.evidence.tier === tier);
    return {
      tier,
      count: graded.length,
      usdMicros: graded.reduce((sum, row) => sum + microsOf(row.amount_usd), 0n),
    };
  }).filter(({ count }) => count > 0);
}

interface EvidenceBreakdownProps {
  readonly aggregates: Profile['aggregates'];
  readonly party: WalletRole;
  readonly rows: readonly Settlement[];
}

/** The proven share of a wallet's money, exact over all settlements, and the tiers of the newest settlements. */
export function EvidenceBreakdown({ aggregates, party, rows }: EvidenceBreakdownProps) {
  const all = party === 'payee' ? aggregates.inbound_usd : aggregates.outbound_usd;
  const share = shareText(microsOf(aggregates.proven_usd), microsOf(all));
  const sums = sumByTier(rows);
  return (
    <section class="card" aria-labelledby="evidence-title">
      <div class="card-head">
        <h2 id="evidence-title">Evidence</h2>
        {share === null ? null : <span class="badge quiet">{share} proven</span>}
      </div>
      <p class="note">
        <strong>{usdText(aggregates.proven_usd)}</strong> of {usdText(all)}{' '}
        {party === 'payee' ? 'received' : 'paid'} was relayed by a named facilitator. Exact, over all
        settlements.
      </p>
      {sums.length === 0 ? null : <TierTable sums={sums} count={rows.length} />}
    </section>
  );
}

function TierTable({ sums, count }: { readonly sums: readonly TierSum[]; readonly count: number }) {
  const whole = sums.reduce((sum, { usdMicros }) => sum + usdMicros, 0n);
  return (
    <>
      <TierBar sums={sums} whole={whole} />
      <DataTable
        class="compact"
        caption={`The newest ${countText(count)} settlements by tier`}
        isCaptionShown
        columns={tierColumns(whole)}
        rows={sums}
        keyOf={({ tier }) => tier}
      />
    </>
  );
}

function tierColumns(whole: bigint): readonly Column<TierSum>[] {
  return [
    {
      name: 'Tier',
      isRowHeader: true,
      cell: ({ tier }) => (
        <>
          <span class={`key tier-${tier}`} aria-hidden="true" />
          {TIER_NAMES[tier]}
        </>
      ),
    },
    { name: 'Settlements', isFigure: true, cell: ({ count }) => countText(count) },
    { name: 'Dollars', isFigure: true, cell: ({ usdMicros }) => usdTextOfMicros(usdMicros) },
    { name: 'Share', isFigure: true, cell: ({ usdMicros }) => shareText(usdMicros, whole) ?? '–' },
  ];
}

/** Shares of the dollars side by side. Hidden from screen readers: the table has the same figures. */
function TierBar({ sums, whole }: { readonly sums: readonly TierSum[]; readonly whole: bigint }) {
  if (whole === 0n) return null;
  let x = 0;
  return (
    <svg class="tier-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      {sums.map(({ tier, usdMicros }) => {
        const width = (Number(usdMicros) / Number(whole)) * 100;
        const rect = <rect key={tier} class={`fill-${tier}`} x={x} y="0" width={width} height="8" />;
        x += width;
        return rect;
      })}
    </svg>
  );
}
