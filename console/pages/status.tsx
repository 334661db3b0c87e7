import { Stat, Stats } from '../components/stat.tsx';
import { Loading, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { durationText } from '../format.ts';
import { ChainHealth, IdentityHealth, SourceHealth, TELEMETRY_EVERY_MS } from '../parts/health.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { StatusTabs } from '../parts/status-tabs.tsx';
import type { PageProps } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import type { Telemetry } from '../wire.ts';

/** Health of the index: progress, faults, and files that could not be read. */
export function StatusPage(_props: PageProps) {
  const { answer, problem, reload } = useAnswer<Telemetry>('/telemetry', {
    refreshMs: TELEMETRY_EVERY_MS,
  });
  return (
    <>
      <PageHead title="Status of the index">
        Progress and faults of the index on every chain. Free, without a key.
      </PageHead>
      <StatusTabs current="/status" />
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {answer === null && problem === null ? <Loading what="the status" /> : null}
      {answer === null ? null : <StatusBody answer={answer} />}
    </>
  );
}

const WARNINGS: Readonly<Record<string, string>> = {
  index_lagging: 'The index is behind the tip of a chain.',
  index_not_started: 'No block of a chain has been read yet.',
  backfill_in_progress: 'Older blocks are still being read, so totals are still growing.',
  finality_unknown: 'The node does not report which blocks are final.',
  endpoints_catalog_stale: 'A source of the endpoint catalogue could not be read lately.',
};

function StatusBody({ answer }: { readonly answer: Telemetry }) {
  const isGood = answer.status === 'ok';
  const { rollups, engine, identities, sql } = answer;
  return (
    <>
      <div class={`banner ${isGood ? 'good' : 'warn'}`}>
        <span class={`dot ${isGood ? 'good' : 'warn'}`} aria-hidden="true" />
        <strong>{isGood ? 'Operational' : 'Degraded'}</strong>
        <span class="muted">
          as of <Time at={answer.as_of} ago />
        </span>
        {answer.warnings.map((warning) => (
          <span key={warning}>{WARNINGS[warning] ?? warning}</span>
        ))}
      </div>
      <Stats>
        <Stat name="Version">{answer.version}</Stat>
        <Stat name="Up for">{durationText(answer.uptime_seconds)}</Stat>
        <Stat name="Engine">{engine.status}</Stat>
        {engine.status === 'ok' || engine.answered_at === null ? null : (
          <Stat name="Last answer of the engine">
            <Time at={engine.answered_at} ago />
          </Stat>
        )}
        {sql.open_to === 'everyone' ? null : (
          <Stat name="SQL is open to">
            {sql.open_to === 'organizations' ? 'organizations only' : 'no callers'}
          </Stat>
        )}
        {rollups === null ? null : <Stat name="Days not summed up yet">{rollups.open_slices}</Stat>}
        {rollups === null || rollups.last_closed_at === null ? null : (
          <Stat name="Last day closed">
            <Time at={rollups.last_closed_at} ago />
          </Stat>
        )}
      </Stats>
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
