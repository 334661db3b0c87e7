import { countText, usdText } from '../format.ts';
import { TIER_NAMES, TIERS } from './evidence-badge.tsx';
import { microsOf, shareText, usdTextOfMicros } from './money.ts';
import type { Aggregates, NamedSettlement } from './wire.ts';

/** How much of a wallet's money is proven: exact over everything, and by tier over the newest settlements that are on the page. */

interface TierSum {
  readonly tier: string;
  readonly count: number;
  readonly usdMicros: bigint;
}

export function sumByTier(rows: readonly NamedSettlement[]): TierSum[] {
  return TIERS.map((tier) => {
    const graded = rows.filter((row) => row.evidence.tier === tier);
    return {
      tier,
      count: graded.length,
      usdMicros: graded.reduce((sum, row) => sum + microsOf(row.amount_usd), 0n),
    };
  }).filter(({ count }) => count > 0);
}

interface EvidenceBreakdownProps {
  readonly aggregates: Aggregates;
  readonly party: 'payee' | 'payer';
  readonly rows: readonly NamedSettlement[];
}

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
      <table class="data compact">
        <caption>The newest {countText(count)} settlements by tier</caption>
        <thead>
          <tr>
            <th scope="col">Tier</th>
            <th scope="col" class="number">
              Settlements
            </th>
            <th scope="col" class="number">
              Dollars
            </th>
            <th scope="col" class="number">
              Share
            </th>
          </tr>
        </thead>
        <tbody>
          {sums.map(({ tier, count: settled, usdMicros }) => (
            <tr key={tier}>
              <th scope="row">
                <span class={`key tier-${tier}`} aria-hidden="true" />
                {TIER_NAMES[tier]}
              </th>
              <td class="number">{countText(settled)}</td>
              <td class="number">{usdTextOfMicros(usdMicros)}</td>
              <td class="number">{shareText(usdMicros, whole) ?? '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Shares of the dollars side by side. Decoration: the table says the same. */
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
