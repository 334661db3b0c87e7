import { useEffect, useState } from 'preact/hooks';
import { account } from '../api.ts';
import { bytesText, countText, durationText, millisecondsText } from '../format.ts';
import { useStore } from '../store.ts';
import type { SqlEstimate, SqlJob, SqlWarning } from '../wire.ts';
import { type Correction, correctionOf, withEdits } from './corrections.ts';
import type { EstimateState } from './estimate.ts';
import type { RunState } from './run.ts';
import type { QueryTab } from './tabs.ts';
import { unitsText, unitUsd } from './units.ts';

interface CostLineProps {
  readonly estimate: EstimateState;
  readonly state: RunState;
  readonly tab: QueryTab;
  /** Changes the query; it is not run. */
  onCorrect(change: Correction['change']): void;
}

/** Below the editor: what the query would cost and what could be better, or how far it is. */
export function CostLine({ estimate, state, tab, onCorrect }: CostLineProps) {
  if (state.phase === 'running') return <Progress state={state} />;
  return (
    <div class="cost">
      <p>
        <EstimateText estimate={estimate} />
        <Offer estimate={estimate} state={state} onCorrect={onCorrect} />
      </p>
      {estimate.phase === 'known' ? (
        <Warnings
          estimate={estimate.estimate}
          // A correction changes the text that the warning is about, and no newer one.
          tab={estimate.sql === tab.sql ? tab : null}
          onCorrect={onCorrect}
        />
      ) : null}
    </div>
  );
}

function EstimateText({ estimate }: { readonly estimate: EstimateState }) {
  const perUnit = unitUsd(useStore(account));
  switch (estimate.phase) {
    case 'none':
      return <span class="muted">Estimates are free: write a query to see what it would cost.</span>;
    case 'unfilled':
      return <span class="muted">Enter the parameters to see what it would cost.</span>;
    case 'asking':
      return <span class="muted">Estimating …</span>;
    case 'refused':
      return <span class="bad">{estimate.problem.body.detail}</span>;
    case 'known': {
      const {
        qu_min: least,
        qu_max: most,
        rows_to_read: rows,
        bytes_to_read: bytes,
        rows_joined_max: joined,
      } = estimate.estimate.estimate;
      return (
        <>
          <span>
            Estimate{' '}
            <strong class="number">
              {least === most ? unitsText(most, perUnit) : `${least}–${unitsText(most, perUnit)}`}
            </strong>
          </span>
          {rows === null ? null : (
            <span class="muted number">
              reads about {countText(rows)} rows{bytes === null ? '' : `, ${bytesText(bytes)}`}
              {joined === null || joined === 0 ? '' : `; its joins make ${countText(joined)} rows at most`}
            </span>
          )}
        </>
      );
    }
  }
}

/** The result below has the same offer, with its text, once the query was run. */
function Offer({ estimate, state, onCorrect }: Pick<CostLineProps, 'estimate' | 'state' | 'onCorrect'>) {
  if (estimate.phase !== 'refused') return null;
  const { suggested_sql: suggested, edits } = estimate.problem.body;
  const isShownBelow = suggested !== undefined && state.phase === 'failed';
  const sql = suggested ?? (edits === undefined ? undefined : withEdits(estimate.sql, edits));
  if (sql === undefined || isShownBelow) return null;
  return (
    <button type="button" class="button small-button" title={sql} onClick={() => onCorrect({ sql })}>
      {suggested === undefined ? 'Correct it' : 'Use it in the SQL of ClickHouse'}
    </button>
  );
}

/** Short texts for known warnings. Others show the message of the answer. */
const WARNINGS: Readonly<Record<string, string>> = {
  no_time_filter: 'No condition on time: reads every day.',
  no_limit: 'No LIMIT: it lists more rows than are kept.',
  no_key_filter: 'No condition on a key: reads the whole table.',
  ids_are_faster: 'Grouping by ids takes a half to a quarter of the time.',
  estimate_unavailable: 'The engine did not estimate in time.',
  may_exceed_memory: 'It may need more memory than a query has.',
  tier_too_small: 'It may need more time than its tier has.',
  format_ignored: 'FORMAT is ignored here.',
  alias_hides_column: 'This is the alias here, and the column in standard SQL.',
  index_lagging: 'The index is behind the chain.',
  index_not_started: 'A chain is not indexed yet.',
};

/** Of a warning whose button writes what the message would explain. */
const CORRECTED: Readonly<Record<string, string>> = {
  empty_is_not_null: 'For no row this is 0, an empty text or 1970-01-01, and NULL in standard SQL.',
};

export function warningText({ code, message, near, replacement }: SqlWarning): string {
  const short = WARNINGS[code] ?? (replacement === undefined ? undefined : CORRECTED[code]) ?? message;
  return near === undefined ? short : `'${near}': ${short}`;
}

interface WarningsProps {
  readonly estimate: SqlEstimate;
  /** Null while the text is newer than the estimate. */
  readonly tab: QueryTab | null;
  onCorrect(change: Correction['change']): void;
}

function Warnings({ estimate, tab, onCorrect }: WarningsProps) {
  if (estimate.warnings.length === 0) return null;
  return (
    <ul class="warnings" aria-label="Warnings">
      {estimate.warnings.map((warning) => (
        <li
          key={`${warning.code} ${warning.near ?? ''} ${warning.position?.line}:${warning.position?.column}`}
        >
          <span>{warningText(warning)}</span>
          <CorrectionButton
            correction={tab === null ? null : correctionOf(warning, tab, estimate)}
            onCorrect={onCorrect}
          />
        </li>
      ))}
    </ul>
  );
}

function CorrectionButton({
  correction,
  onCorrect,
}: {
  readonly correction: Correction | null;
  onCorrect(change: Correction['change']): void;
}) {
  if (correction === null) return null;
  return (
    <button
      type="button"
      class="button small-button"
      title={correction.change.sql ?? correction.label}
      onClick={() => onCorrect(correction.change)}
    >
      {correction.label}
    </button>
  );
}

const TICK_MS = 100;

function Progress({ state }: { readonly state: Extract<RunState, { phase: 'running' }> }) {
  const { startedAtMs, job, progress, isCancelling } = state;
  const [nowMs, setNowMs] = useState(Date.now);
  const perUnit = unitUsd(useStore(account));
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const percent = progress?.percent ?? null;
  return (
    <div class="cost running">
      <progress
        class="run-bar"
        aria-label="Progress of the query"
        max={100}
        {...(percent === null ? {} : { value: percent })}
      />
      <p>
        <strong>{phaseText(job, isCancelling)}</strong>{' '}
        <span class="number">{millisecondsText(Math.max(0, nowMs - startedAtMs))}</span>
        {progress === null ? null : (
          <>
            <span class="number">
              {countText(progress.rows_read)}
              {progress.rows_estimate === null ? '' : ` of about ${countText(progress.rows_estimate)}`} rows
              {percent === null ? '' : `, ${percent}%`}
            </span>
            <span class="number">{bytesText(progress.memory_bytes)} of memory</span>
          </>
        )}
        {job?.progress == null ? null : (
          <span class="number">{unitsText(job.progress.units, perUnit)} so far</span>
        )}
        {job === null ? null : (
          <span class="muted">
            at most {durationText(job.max_seconds)}. It goes on if you close the page.
          </span>
        )}
      </p>
    </div>
  );
}

function phaseText(job: SqlJob | null, isCancelling: boolean): string {
  if (isCancelling) return 'Cancelling after';
  return job?.state === 'queued' ? 'Waiting for its turn for' : 'Running for';
}
