import { useState } from 'preact/hooks';
import { type ApiProblem, account } from '../api.ts';
import { EmptyState, ProblemState } from '../components/states.tsx';
import { bytesText, countText, millisecondsText, rowsText } from '../format.ts';
import { useStore } from '../store.ts';
import { ChartView } from './chart-view.tsx';
import { Downloads } from './downloads.tsx';
import type { HistoryEntry } from './history.ts';
import { HistoryList } from './history-list.tsx';
import { PAGE_ROWS_MAX } from './jobs.ts';
import { ResultGrid } from './result-grid.tsx';
import { type Done, type RunState, readMore } from './run.ts';
import { ShareResult } from './share-result.tsx';
import { givenName, type QueryTab } from './tabs.ts';
import { unitsText, unitUsd } from './units.ts';
import { WalletPanel } from './wallet-panel.tsx';

const VIEWS = { table: 'Table', chart: 'Chart', history: 'History' } as const;
type View = keyof typeof VIEWS;
const VIEW_IDS: readonly View[] = ['table', 'chart', 'history'];

interface ResultPanelProps {
  readonly tab: QueryTab;
  readonly state: RunState;
  onOpen(entry: HistoryEntry): void;
  onChart(chart: string): void;
  onShowPlace(place: { readonly line: number; readonly column: number }): void;
  /** Puts a suggested query into the editor; it is not run. */
  onUse(sql: string): void;
}

export function ResultPanel({ tab, state, onOpen, ...actions }: ResultPanelProps) {
  const [view, setView] = useState<View>('table');
  const [wallet, setWallet] = useState<string | null>(null);
  const open = (entry: HistoryEntry): void => {
    setView('table');
    onOpen(entry);
  };
  return (
    <section class="panel result" aria-label="Result">
      <div class="tabs" role="tablist" aria-label="Views of the result">
        {VIEW_IDS.map((id) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`tab-${id}`}
            aria-selected={view === id}
            aria-controls="tab-panel"
            tabIndex={view === id ? 0 : -1}
            onClick={() => setView(id)}
            onKeyDown={(event) => moveView(event, id, setView)}
          >
            {VIEWS[id]}
          </button>
        ))}
        {state.phase === 'done' ? <Charge done={state} isOld={state.sql !== tab.sql} /> : null}
      </div>
      <div class={wallet === null ? 'result-body' : 'result-body with-wallet'}>
        <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${view}`}>
          {view === 'history' ? (
            <HistoryList onOpen={open} />
          ) : (
            <Outcome {...{ tab, state, view }} {...actions} onWallet={setWallet} />
          )}
        </div>
        {wallet === null ? null : (
          <WalletPanel key={wallet} wallet={wallet} onClose={() => setWallet(null)} />
        )}
      </div>
    </section>
  );
}

/** Source: the tabs pattern of WAI-ARIA. */
function moveView(event: KeyboardEvent, from: View, setView: (view: View) => void): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  const next = VIEW_IDS[(VIEW_IDS.indexOf(from) + step + VIEW_IDS.length) % VIEW_IDS.length];
  if (next === undefined) return;
  setView(next);
  document.getElementById(`tab-${next}`)?.focus();
}

/** What the run read and was charged: once, however often its result is read. */
function Charge({
  done: { kept, chargedQu, result },
  isOld,
}: {
  readonly done: Done;
  readonly isOld: boolean;
}) {
  const perUnit = unitUsd(useStore(account));
  const { duration_ms: ms, statistics } = result;
  return (
    <p class="charge">
      {isOld ? <span class="warn">The query has changed since this run.</span> : null}
      <span class="number">{rowsText(kept?.row_count ?? result.row_count)}</span>
      <span class="number muted">{millisecondsText(ms)}</span>
      <span class="number muted">
        read {rowsText(statistics.rows_read)}, {bytesText(statistics.bytes_read)}
      </span>
      <strong class="number">charged {unitsText(chargedQu, perUnit)}</strong>
    </p>
  );
}

interface OutcomeProps extends Omit<ResultPanelProps, 'onOpen'> {
  readonly view: View;
  onWallet(wallet: string): void;
}

function Outcome({ tab, state, view, onChart, onShowPlace, onUse, onWallet }: OutcomeProps) {
  switch (state.phase) {
    case 'idle':
      return (
        <EmptyState title="Run the query to see its rows">
          <p>In the editor, Ctrl+Enter or ⌘+Enter runs it. The estimate above is free.</p>
        </EmptyState>
      );
    case 'running':
      return <p class="state">Running …</p>;
    case 'reading':
      return <p class="state">Reading the kept result …</p>;
    case 'cancelled':
      return <Cancelled state={state} />;
    case 'failed':
      return <Failed problem={state.problem} onShowPlace={onShowPlace} onUse={onUse} />;
    case 'done':
      return <Rows key={state.runId} {...{ tab, view, onChart, onWallet }} done={state} />;
  }
}

function Cancelled({ state }: { readonly state: Extract<RunState, { phase: 'cancelled' }> }) {
  return (
    <EmptyState title={`Cancelled after ${millisecondsText(state.afterMs)}`}>
      <p>{cancelText(state)}</p>
    </EmptyState>
  );
}

function cancelText({ chargedQu }: Extract<RunState, { phase: 'cancelled' }>): string {
  if (chargedQu === null) return 'The engine stops. The time until then is charged.';
  if (chargedQu === 0) return 'The query was stopped. Nothing was charged.';
  return `The engine stopped. The time until then is charged: ${chargedQu} QU.`;
}

function Failed({
  problem,
  onShowPlace,
  onUse,
}: { readonly problem: ApiProblem } & Pick<ResultPanelProps, 'onShowPlace' | 'onUse'>) {
  const { position, near, usage, suggested_sql: suggested } = problem.body;
  return (
    <div class="failed">
      <ProblemState problem={problem} />
      {position === undefined ? null : (
        <button type="button" class="button" onClick={() => onShowPlace(position)}>
          Line {position.line}, column {position.column}
          {near === undefined ? '' : `: ${near}`}
        </button>
      )}
      {suggested === undefined ? null : <Suggestion sql={suggested} onUse={onUse} />}
      {usage === undefined || usage.units_charged === 0 ? null : (
        <p class="warn small">Charged {usage.units_charged} QU for the time until it failed.</p>
      )}
    </div>
  );
}

/** The query in ClickHouse's words, where it was written in another dialect. */
function Suggestion({ sql, onUse }: { readonly sql: string } & Pick<ResultPanelProps, 'onUse'>) {
  return (
    <div class="suggestion">
      <p>This reads like another dialect of SQL. The same query in ClickHouse SQL:</p>
      <pre>
        <code>{sql}</code>
      </pre>
      <button type="button" class="button" onClick={() => onUse(sql)}>
        Use this query
      </button>
    </div>
  );
}

interface RowsProps {
  readonly tab: QueryTab;
  readonly done: Done;
  readonly view: View;
  onChart(chart: string): void;
  onWallet(wallet: string): void;
}

function Rows({ tab, done, view, onChart, onWallet }: RowsProps) {
  const { result, kept } = done;
  const count = kept?.row_count ?? result.row_count;
  if (result.rows.length === 0)
    return (
      <EmptyState title="No rows">
        <p>The query returned no rows. It is charged for the time it took.</p>
      </EmptyState>
    );
  return (
    <div class="result-rows">
      {(kept ?? result).truncated ? (
        <p class="notice warn">
          There are more rows than these {countText(count)}.{' '}
          {kept === null && count >= PAGE_ROWS_MAX
            ? 'With a key of your own, up to 1,000,000 are kept.'
            : 'Choose more rows above and run it again.'}
        </p>
      ) : null}
      {view === 'chart' ? (
        <ChartView name={givenName(tab)} result={result} chart={tab.chart} onChart={onChart} />
      ) : (
        <ResultGrid result={result} onWallet={onWallet} />
      )}
      <div class="result-foot">
        {result.rows.length < count ? (
          <p class="row small">
            {countText(result.rows.length)} of {countText(count)} rows are in the table.
            <button type="button" class="button small-button" onClick={() => void readMore(tab.id)}>
              Load more rows
            </button>
          </p>
        ) : null}
        {kept === null ? (
          <p class="muted small">
            With a key of your own, the result is kept for seven days and downloaded as a file.
          </p>
        ) : (
          <>
            <Downloads resultId={kept.id} />
            <ShareResult resultId={kept.id} title={givenName(tab) ?? ''} chart={tab.chart} />
          </>
        )}
      </div>
    </div>
  );
}
