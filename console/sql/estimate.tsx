import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, isAbort, post, readJson } from '../api.ts';
import { bytesText, countText, millisecondsText } from '../format.ts';
import type { SqlEstimate, SqlWarning } from '../wire.ts';
import type { SqlQuestion } from './query-text.ts';
import type { RunState } from './run.ts';

/** The estimated cost of a query, read while it is written. Estimates are free and need no key. */

export type EstimateState =
  | { readonly phase: 'none' }
  | { readonly phase: 'asking' }
  | { readonly phase: 'known'; readonly estimate: SqlEstimate }
  | { readonly phase: 'refused'; readonly problem: ApiProblem };

/** The pause after the last key before an estimate is read. */
const QUIET_MS = 450;

export function useEstimate({ sql, tier, params }: SqlQuestion, isPaused: boolean): EstimateState {
  const [state, setState] = useState<EstimateState>({ phase: 'none' });
  const values = JSON.stringify(params);
  useEffect(() => {
    if (isPaused) return;
    if (sql.trim() === '') {
      setState({ phase: 'none' });
      return;
    }
    const leaving = new AbortController();
    setState((before) => (before.phase === 'known' ? before : { phase: 'asking' }));
    const timer = setTimeout(() => {
      void ask({ sql, tier, params: JSON.parse(values) as SqlQuestion['params'] }, leaving.signal).then(
        (next) => {
          if (next !== null) setState(next);
        },
      );
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [sql, tier, values, isPaused]);
  return state;
}

async function ask(question: SqlQuestion, signal: AbortSignal): Promise<EstimateState | null> {
  try {
    const response = await post('/sql', { ...question, explain_only: true }, signal);
    return { phase: 'known', estimate: await readJson<SqlEstimate>(response) };
  } catch (error) {
    if (isAbort(error)) return null;
    if (error instanceof ApiProblem) return { phase: 'refused', problem: error };
    throw error;
  }
}

/** The estimate, or the time of a running query. */
export function CostLine({
  estimate,
  state,
  onUse,
}: {
  readonly estimate: EstimateState;
  readonly state: RunState;
  /** Puts a suggested query into the editor. */
  onUse(sql: string): void;
}) {
  if (state.phase === 'running') return <Running startedAtMs={state.startedAtMs} />;
  return (
    <p class="cost">
      <EstimateText estimate={estimate} />
      <Offer estimate={estimate} state={state} onUse={onUse} />
    </p>
  );
}

/** The result below has the same offer, with its text, once the query was run. */
function Offer({
  estimate,
  state,
  onUse,
}: {
  readonly estimate: EstimateState;
  readonly state: RunState;
  onUse(sql: string): void;
}) {
  const suggested = estimate.phase === 'refused' ? estimate.problem.body.suggested_sql : undefined;
  if (suggested === undefined || state.phase === 'failed') return null;
  return (
    <button type="button" class="button" title={suggested} onClick={() => onUse(suggested)}>
      Use it in the SQL of ClickHouse
    </button>
  );
}

const TICK_MS = 100;

function Running({ startedAtMs }: { readonly startedAtMs: number }) {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p class="cost running">
      Running for <span class="number">{millisecondsText(Math.max(0, nowMs - startedAtMs))}</span>
    </p>
  );
}

function EstimateText({ estimate }: { readonly estimate: EstimateState }) {
  switch (estimate.phase) {
    case 'none':
      return <span class="muted">Estimates are free: write a query to see what it would cost.</span>;
    case 'asking':
      return <span class="muted">Estimating …</span>;
    case 'refused':
      return <span class="bad">{estimate.problem.body.detail}</span>;
    case 'known':
      return <Known estimate={estimate.estimate} />;
  }
}

/** Short texts for known warnings. Others show the message of the answer. */
const WARNINGS: Readonly<Record<string, string>> = {
  no_time_filter: 'no condition on time',
  no_key_filter: 'no condition on a key: reads the whole table',
  estimate_unavailable: 'the engine did not estimate in time',
  tier_too_small: 'may need a larger tier',
  budget_too_small: 'may need more units than its budget',
  format_ignored: 'FORMAT is ignored here',
  index_lagging: 'the index is behind the chain',
  index_not_started: 'a chain is not indexed yet',
};

function warningText({ code, message, near, replacement }: SqlWarning): string {
  const short = WARNINGS[code] ?? message;
  const about = near === undefined ? short : `'${near}': ${short}`;
  return replacement === undefined ? about : `${about} Write ${replacement}.`;
}

function Known({
  estimate: { estimate, warnings, tier, advised_tier: advised },
}: {
  readonly estimate: SqlEstimate;
}) {
  const { qu_min: least, qu_max: most, rows_to_read: rows, bytes_to_read: bytes } = estimate;
  return (
    <>
      <span>
        Estimate <strong class="number">{least === most ? most : `${least}–${most}`} QU</strong>
      </span>
      {rows === null ? null : (
        <span class="muted number">
          reads about {countText(rows)} rows{bytes === null ? '' : `, ${bytesText(bytes)}`}
        </span>
      )}
      {advised === tier ? null : <span class="warn">advised tier: {advised}</span>}
      {warnings.length === 0 ? null : <span class="warn">{warnings.map(warningText).join(' · ')}</span>}
    </>
  );
}
