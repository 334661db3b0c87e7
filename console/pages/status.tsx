import { Time } from '../components/figures.tsx';
import { Loading, ProblemState } from '../components/states.tsx';
import { durationText } from '../format.ts';
import type { PageProps } from '../page.ts';
import { ChainHealth } from '../parts/chain-health.tsx';
import { Figure } from '../parts/figure.tsx';
import { TELEMETRY_EVERY_MS } from '../parts/freshness.tsx';
import { IdentityHealth, SourceHealth } from '../parts/identity-health.tsx';
import { PageHead } from '../parts/page-head.tsx';
import type { TelemetryAnswer } from '../parts/wire-service.ts';
import { useAnswer } from '../use-answer.ts';

/** Health of the index: how far it is, what it met on the way, and what it could not read. */
export function StatusPage(_props: PageProps) {
  const { answer, problem, reload } = useAnswer<TelemetryAnswer>('/telemetry', {
    refreshMs: TELEMETRY_EVERY_MS,
  });
  return (
    <>
      <PageHead title="Status of the index">
        How far the index is on every chain, and what it met on the way. Free, without a key.
      </PageHead>
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {answer === null && problem === null ? <Loading what="the status" /> : null}
      {answer === null ? null : <StatusBody answer={answer} />}
    </>
  );
}

const WARNINGS: Readonly<Record<string, string>> = {
  index_lagging: 'The index is behind the tip of a chain.',
  index_not_started: 'A chain has not been read yet.',
  backfill_in_progress: 'Older blocks are still being read: totals grow until it is done.',
  finality_unknown: 'The node does not say which blocks are final.',
  endpoints_catalog_stale: 'A source of the endpoint catalogue has not answered well lately.',
};

function StatusBody({ answer }: { readonly answer: TelemetryAnswer }) {
  const isGood = answer.status === 'ok';
  const { rollups, engine, identities, sql } = answer;
  return (
    <>
      <div class={`banner ${isGood ? 'good' : 'warn'}`}>
        <span class={`dot ${isGood ? 'good' : 'warn'}`} aria-hidden="true" />
        <strong>{isGood ? 'Everything works' : 'Degraded'}</strong>
        <span class="muted">
          as of <Time at={answer.as_of} ago />
        </span>
        {answer.warnings.map((warning) => (
          <span key={warning}>{WARNINGS[warning] ?? warning}</span>
        ))}
      </div>
      <dl class="figures panel figures-panel">
        <Figure name="Version">{answer.version}</Figure>
        <Figure name="Up for">{durationText(answer.uptime_seconds)}</Figure>
        <Figure name="Engine">{engine.status}</Figure>
        {engine.status === 'ok' || engine.answered_at === null ? null : (
          <Figure name="Engine answered last">
            <Time at={engine.answered_at} ago />
          </Figure>
        )}
        {sql.open_to === 'everyone' ? null : (
          <Figure name="SQL is run for">
            {sql.open_to === 'organizations' ? 'organizations only' : 'no caller'}
          </Figure>
        )}
        {rollups === null ? null : <Figure name="Days being added up">{rollups.open_slices}</Figure>}
        {rollups === null || rollups.last_closed_at === null ? null : (
          <Figure name="Last day closed">
            <Time at={rollups.last_closed_at} ago />
          </Figure>
        )}
      </dl>
      <div class="columns">
        {answer.chains.map((chain) => (
          <ChainHealth key={chain.chain} chain={chain} />
        ))}
        {identities?.chains.map((chain) => (
          <IdentityHealth key={chain.chain} identities={chain} />
        ))}
      </div>
      {identities === null ? null : <SourceHealth sources={identities.endpoint_sources} />}
    </>
  );
}
