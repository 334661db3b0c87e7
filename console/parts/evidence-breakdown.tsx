import { Chip } from '../components/chip.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { countText, microsOf, shareText } from '../format.ts';
import type { WalletRole } from '../routes.ts';
import type { Profile } from '../wire.ts';
import { TIER_NAMES } from './evidence.tsx';

type InWindow = NonNullable<Profile['in_window']>;
type TierFigures = InWindow['tiers'][number];

interface EvidenceBreakdownProps {
  readonly figures: InWindow;
  readonly party: WalletRole;
  /** In a sentence: `in the last 30 days`. */
  readonly span: string;
}

/** The tiers of a wallet's money in one window: the chip, the sentence, the bar and the table are of the same settlements. */
export function EvidenceBreakdown({ figures, party, span }: EvidenceBreakdownProps) {
  const { tiers, usd, settlement_count: count } = figures;
  const whole = microsOf(usd);
  const proven = tiers.find(({ tier }) => tier === 'proven')?.usd ?? 0;
  const share = shareText(microsOf(proven), whole);
  return (
    <section class="card" aria-labelledby="evidence-title">
      <div class="card-head">
        <h2 id="evidence-title">Evidence</h2>
        {share === null ? null : <Chip>{share} proven</Chip>}
      </div>
      {count === 0 ? (
        <p class="note muted">
          Nothing was {party === 'payee' ? 'received' : 'paid'} {span}.
        </p>
      ) : (
        <>
          <p class="note">
            <strong>
              <Money usd={proven} />
            </strong>{' '}
            of <Money usd={usd} /> {party === 'payee' ? 'received' : 'paid'} {span} was relayed by a named
            facilitator.
          </p>
          <TierBar tiers={tiers} whole={whole} />
          <DataTable
            class="compact"
            caption={`Settlements ${span} by tier`}
            columns={tierColumns(whole)}
            rows={tiers}
            keyOf={({ tier }) => tier}
          />
        </>
      )}
    </section>
  );
}

function tierColumns(whole: bigint): readonly Column<TierFigures>[] {
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
    { name: 'Settlements', isFigure: true, cell: ({ settlement_count: count }) => countText(count) },
    { name: 'Dollars', isFigure: true, cell: ({ usd }) => <Money usd={usd} /> },
    { name: 'Share', isFigure: true, cell: ({ usd }) => shareText(microsOf(usd), whole) ?? '–' },
  ];
}

interface TierBarProps {
  readonly tiers: readonly TierFigures[];
  readonly whole: bigint;
}

/** Shares of the dollars side by side. Hidden from screen readers: the table has the same figures. */
function TierBar({ tiers, whole }: TierBarProps) {
  if (whole === 0n) return null;
  let x = 0;
  return (
    <svg class="tier-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      {tiers.map(({ tier, usd }) => {
        const width = (Number(microsOf(usd)) / Number(whole)) * 100;
        const rect = <rect key={tier} class={`fill-${tier}`} x={x} y="0" width={width} height="8" />;
        x += width;
        return rect;
      })}
    </svg>
  );
}
