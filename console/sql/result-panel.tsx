import { useState } from 'preact/hooks';
import type { ApiProblem } from '../api.ts';
import { Time } from '../components/figures.tsx';
import { EmptyState, ProblemState } from '../components/states.tsx';
import { bytesText, countText, millisecondsText, rowsText } from '../format.ts';
import { useStore } from '../store.ts';
import type { SqlResult } from '../wire.ts';
import { Downloads } from './downloads.tsx';
import type { SqlQuestion } from './query-text.ts';
import { ResultChart } from './result-chart.tsx';
import { ResultGrid } from './result-grid.tsx';
import { forgetHistory, type HistoryEntry, type RunState, sqlHistory } from './run.ts';

const TABS = { table: 'Table', chart: 'Chart', history: 'History' } as const;
type Tab = keyof typeof TABS;
const TAB_IDS: readonly Tab[] = ['table', 'chart', 'history'];

interface ResultPanelProps {
  readonly state: RunState;
  onOpen(question: SqlQuestion): void;
  onShowPlace(place: { readonly line: number; readonly column: number }): void;
  /** Puts a suggested query into the editor; it is not run. */
  onUse(sql: string): void;
}

export function ResultPanel({ state, onOpen, onShowPlace, onUse }: ResultPanelProps) {
  const [tab, setTab] = useState<Tab>('table');
  return (
    <section class="panel result" aria-label="Result">
      <div class="tabs" role="tablist" aria-label="Views of the result">
        {TAB_IDS.map((id) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`tab-${id}`}
            aria-selected={tab === id}
            aria-controls="tab-panel"
            tabIndex={tab === id ? 0 : -1}
            onClick={() => setTab(id)}
            onKeyDown={(event) => moveTab(event, id, setTab)}
          >
            {TABS[id]}
          </button>
        ))}
        {state.phase === 'done' ? <Charge result={state.result} /> : null}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === 'history' ? (
          <HistoryList onOpen={onOpen} />
        ) : (
          <Outcome {...{ state, tab, onShowPlace, onUse }} />
        )}
      </div>
    </section>
  );
}

/** Source: the tabs pattern of WAI-ARIA. */
function moveTab(event: KeyboardEvent, from: Tab, setTab: (tab: Tab) => void): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  const next = TAB_IDS[(TAB_IDS.indexOf(from) + step + TAB_IDS.length) % TAB_IDS.length];
  if (next === undefined) return;
  setTab(next);
  document.getElementById(`tab-${next}`)?.focus();
}

function Charge({
  result: { row_count: rows, duration_ms: ms, statistics, usage },
}: {
  readonly result: SqlResult;
}) {
  return (
    <p class="charge">
      <span class="number">{rowsText(rows)}</span>
      <span class="number muted">{millisecondsText(ms)}</span>
      <span class="number muted">
        read {rowsText(statistics.rows_read)}, {bytesText(statistics.bytes_read)}
      </span>
      <strong class="number">charged {usage.units_charged} QU</strong>
    </p>
  );
}

function Outcome({
  state,
  tab,
  onShowPlace,
  onUse,
}: Pick<ResultPanelProps, 'state' | 'onShowPlace' | 'onUse'> & { readonly tab: Tab }) {
  switch (state.phase) {
    case 'idle':
      return (
        <EmptyState title="Run the query to see its rows">
          <p>In the editor, Ctrl+Enter or ⌘+Enter runs it. The estimate above is free.</p>
        </EmptyState>
      );
    case 'running':
      return <p class="state loading">Running …</p>;
    case 'cancelled':
      return (
        <EmptyState title={`Cancelled after ${millisecondsText(state.afterMs)}`}>
          <p>The engine stopped. The time until then is charged.</p>
        </EmptyState>
      );
    case 'failed':
      return <Failed problem={state.problem} onShowPlace={onShowPlace} onUse={onUse} />;
    case 'done':
      return <Done result={state.result} question={state.question} tab={tab} />;
  }
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
      <p>This reads like another dialect of SQL. The same question in the SQL of ClickHouse:</p>
      <pre>
        <code>{sql}</code>
      </pre>
      <button type="button" class="button" onClick={() => onUse(sql)}>
        Use this query
      </button>
    </div>
  );
}

interface DoneProps {
  readonly result: SqlResult;
  readonly question: SqlQuestion;
  readonly tab: Tab;
}

function Done({ result, question, tab }: DoneProps) {
  return (
    <>
      {result.truncated ? (
        <p class="notice warn">
          There are more rows than these {countText(result.row_count)}. Choose more rows above, or download
          the whole result.
        </p>
      ) : null}
      {tab === 'chart' ? <ResultChart result={result} /> : <Rows result={result} />}
      <Downloads question={question} />
    </>
  );
}

function Rows({ result }: { readonly result: SqlResult }) {
  if (result.rows.length === 0)
    return (
      <EmptyState title="No rows">
        <p>The query found no rows.</p>
      </EmptyState>
    );
  return <ResultGrid result={result} />;
}

/** The queries that were run in this browser, newest first. */
function HistoryList({ onOpen }: { onOpen(question: SqlQuestion): void }) {
  const entries = useStore(sqlHistory);
  if (entries.length === 0)
    return (
      <EmptyState title="No queries yet">
        <p>Queries that you run are listed here, in this browser only.</p>
      </EmptyState>
    );
  return (
    <div class="history">
      <ol>
        {entries.map((entry) => (
          <li key={`${entry.at} ${entry.sql}`}>
            <button
              type="button"
              class="history-query"
              title="Open in the editor"
              onClick={() => onOpen(entry)}
            >
              <code>{oneLine(entry.sql)}</code>
            </button>
            <p class="muted small">
              <Time at={entry.at} ago /> · <RunOutcome entry={entry} />
            </p>
          </li>
        ))}
      </ol>
      <button type="button" class="button" onClick={forgetHistory}>
        Clear the history
      </button>
    </div>
  );
}

const SHOWN_CHARS = 240;

function oneLine(sql: string): string {
  return sql.replace(/\s+/g, ' ').trim().slice(0, SHOWN_CHARS);
}

function RunOutcome({ entry: { failed, rows, ms, chargedQu } }: { readonly entry: HistoryEntry }) {
  if (failed !== null) return <span class="bad">{failed}</span>;
  return (
    <span>
      {rowsText(rows)} · {millisecondsText(ms)} · {chargedQu ?? 0} QU
    </span>
  );
}
