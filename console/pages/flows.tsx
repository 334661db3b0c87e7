import { useState } from 'preact/hooks';
import { usdText } from '../format.ts';
import type { PageProps } from '../page.ts';
import { Figure } from '../parts/figure.tsx';
import { FlowPictureView } from '../parts/flow-picture.tsx';
import { FreshnessStrip } from '../parts/freshness.tsx';
import { ListState } from '../parts/list-states.tsx';
import { microsOf, usdTextOfMicros } from '../parts/money.ts';
import { PageHead } from '../parts/page-head.tsx';
import { SettlementTable } from '../parts/settlement-table.tsx';
import { FLOWS_SHOWN, type LiveFlows, useLiveFlows } from '../parts/use-live-flows.ts';
import type { NamedSettlement } from '../parts/wire.ts';
import { Link } from '../router.tsx';

/** What is being paid right now, on every indexed chain. */
export function FlowsPage(_props: PageProps) {
  const [isPaused, pause] = useState(false);
  const flows = useLiveFlows(isPaused);
  const { rows, meta, problem, reload } = flows;
  return (
    <>
      <PageHead title="Live flow of funds">
        x402 settlements as they are indexed: who pays whom, through which facilitator, and how sure that is.
      </PageHead>
      <FreshnessStrip />
      <ListState what="settlements" rows={rows} meta={meta} problem={problem} onRetry={reload}>
        <div class="panel flow-panel">
          <div class="panel-head">
            <PageFigures rows={rows ?? []} />
            <LiveSwitch flows={flows} isPaused={isPaused} onPause={pause} />
          </div>
          <FlowPictureView rows={rows ?? []} />
        </div>
        <SettlementTable
          caption={`The newest ${FLOWS_SHOWN} settlements`}
          rows={rows ?? []}
          isNew={flows.isNew}
        />
        <p class="list-foot">
          <Link to="/transactions">All settlements, with filters</Link>
        </p>
      </ListState>
    </>
  );
}

interface LiveSwitchProps {
  readonly flows: LiveFlows;
  readonly isPaused: boolean;
  readonly onPause: (isPaused: boolean) => void;
}

const LIVE_DOTS = { live: 'dot good is-live', 'no answer': 'dot warn', paused: 'dot' } as const;

function LiveSwitch({ flows, isPaused, onPause }: LiveSwitchProps) {
  const answering = flows.problem === null ? 'live' : 'no answer';
  const state = flows.isLive ? answering : 'paused';
  return (
    <div class="row">
      <span class="live">
        <span class={LIVE_DOTS[state]} aria-hidden="true" />
        {state}
      </span>
      <button type="button" class="button" onClick={() => onPause(!isPaused)}>
        {isPaused ? 'Continue' : 'Pause'}
      </button>
    </div>
  );
}

/** Figures of the rows on the page, and only of them: the index adds nothing up over everybody. */
function PageFigures({ rows }: { readonly rows: readonly NamedSettlement[] }) {
  const sum = rows.reduce((total, row) => total + microsOf(row.amount_usd), 0n);
  const proven = rows.filter((row) => row.evidence.tier === 'proven').length;
  const largest = rows.reduce((most, row) => Math.max(most, row.amount_usd), 0);
  return (
    <dl class="figures">
      <Figure name={`In the newest ${rows.length}`}>{usdTextOfMicros(sum)}</Figure>
      <Figure name="Largest">{usdText(largest)}</Figure>
      <Figure name="Proven">{`${proven} of ${rows.length}`}</Figure>
      <Figure name="Payers">{String(new Set(rows.map((row) => row.payer)).size)}</Figure>
      <Figure name="Payees">{String(new Set(rows.map((row) => row.payee)).size)}</Figure>
    </dl>
  );
}
