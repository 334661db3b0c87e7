import { useMemo, useState } from 'preact/hooks';
import { account } from '../api.ts';
import { announce } from '../components/states.tsx';
import { useStore } from '../store.ts';
import type { SqlSchema } from '../wire.ts';
import { CostLine } from './cost-line.tsx';
import type { Mark, SqlEditor } from './editor.ts';
import { type EstimateState, useEstimate } from './estimate.ts';
import { faultyPlaceholders, fieldId, Parameters } from './parameters.tsx';
import { QueryEditor } from './query-editor.tsx';
import { findPlaceholders, fragmentOf, valuesFor } from './query-text.ts';
import { cancelRun, leaveRun, type RunState, startRun } from './run.ts';
import { SaveButton } from './saved-form.tsx';
import { changeTabs } from './tab-store.ts';
import { queryPanel, TabStrip } from './tab-strip.tsx';
import { activeTab, randomId, withChange, withoutTab } from './tabs.ts';
import { Toolbar } from './toolbar.tsx';
import type { Tabs } from './use-tabs.ts';

interface QueryPanelProps {
  readonly tabs: Tabs;
  readonly state: RunState;
  readonly schema: SqlSchema | null;
  readonly editorPx: number;
  /** Puts the cursor into the editor. */
  onFocusEditor(): void;
  onEditor(editor: SqlEditor): void;
}

/** The open queries, and the editor of the one that is shown, with its parameters and its price. */
export function QueryPanel({ tabs, state, schema, editorPx, onFocusEditor, onEditor }: QueryPanelProps) {
  const { list, revision, change, replace, open, isFull } = tabs;
  const tab = activeTab(list);
  const isRunning = state.phase === 'running';
  const tiers = useStore(account)?.sql_tiers ?? [];
  const question = useMemo(
    () => ({ sql: tab.sql, tier: tab.tier, params: valuesFor(tab.sql, tab.params) }),
    [tab.sql, tab.tier, tab.params],
  );
  const placeholders = useMemo(() => findPlaceholders(tab.sql), [tab.sql]);
  const faulty = faultyPlaceholders(placeholders, tab.params);
  // Without its values a query can be neither estimated nor run.
  const asked = useEstimate({ ...question, rowsMax: tab.rowsMax }, isRunning || faulty.length > 0);
  const estimate = faulty.length > 0 ? UNFILLED : asked;
  const marks = useMemo(() => marksOf(estimate, state, tab.sql), [estimate, state, tab.sql]);
  const [checked, setChecked] = useState<string | null>(null);
  const start = (): void => {
    if (tab.sql.trim() === '' || isRunning) return;
    setChecked(tab.id);
    const [first] = faulty;
    if (first !== undefined) {
      document.getElementById(fieldId(first.name))?.focus();
      return;
    }
    const { id: tabId, rowsMax } = tab;
    const onJob = (job: string | null): void => changeTabs((now) => withChange(now, tabId, { job }));
    startRun({ tabId, question, rowsMax, onJob });
  };
  return (
    <section class="panel query" aria-label="Query">
      <TabStrip
        list={list}
        onShow={(id) => changeTabs((now) => ({ ...now, activeId: id }))}
        onClose={close}
        onRename={(id, name) => changeTabs((now) => withChange(now, id, { name }))}
        isFull={isFull}
        onNew={() => {
          open({});
          // After the tab is shown: the button would keep the keys.
          setTimeout(onFocusEditor);
        }}
      />
      <div {...queryPanel} role="tabpanel" aria-labelledby={`tab-query-${tab.id}`}>
        <Toolbar
          isRunning={isRunning}
          isCancelling={isRunning && state.isCancelling}
          canRun={tab.sql.trim() !== ''}
          tier={tab.tier}
          tiers={tiers}
          rowsMax={tab.rowsMax}
          shareUrl={`${location.origin}${location.pathname}${fragmentOf(question, tab.chart)}`}
          onRun={start}
          onCancel={() => cancelRun(tab.id)}
          onTier={(tier) => change({ tier })}
          onRowsMax={(rowsMax) => change({ rowsMax })}
          onFormat={() => void format(tab.sql, replace)}
        >
          <SaveButton tab={tab} placeholders={placeholders} onSaved={(saved) => change({ saved })} />
        </Toolbar>
        <div class="query-body" style={{ '--editor-px': `${editorPx}px` }}>
          <QueryEditor
            id={tab.id}
            text={tab.sql}
            revision={revision}
            schema={schema}
            marks={marks}
            isRunning={isRunning}
            onChange={(sql) => change({ sql })}
            onRun={start}
            onReady={onEditor}
          />
          <Parameters
            key={tab.id}
            placeholders={placeholders}
            values={tab.params}
            showsAll={checked === tab.id}
            onChange={(params) => change({ params })}
          />
        </div>
        <CostLine estimate={estimate} state={state} tab={tab} onCorrect={replace} />
      </div>
    </section>
  );
}

const UNFILLED: EstimateState = { phase: 'unfilled' };

function close(id: string): void {
  leaveRun(id);
  changeTabs((now) => withoutTab(now, id, randomId()));
}

async function format(sql: string, replace: Tabs['replace']): Promise<void> {
  const { formatSql } = await import('./format-sql.ts');
  const text = formatSql(sql);
  announce(text === null ? 'This query cannot be laid out without changing it' : 'Query laid out');
  if (text !== null) replace({ sql: text });
}

/** Where the text is at fault: by the estimate, which follows the text, or else by the run. */
function marksOf(estimate: EstimateState, state: RunState, sql: string): readonly Mark[] {
  if (sql.trim() === '') return [];
  if (estimate.phase === 'known' && estimate.sql === sql) {
    const warnings = estimate.estimate.warnings.flatMap(({ position, near, message }) =>
      position === undefined
        ? []
        : [{ severity: 'warning' as const, ...position, near: near ?? '', message }],
    );
    if (warnings.length > 0) return warnings;
  }
  const problem = problemOf(estimate, state, sql);
  if (problem?.position === undefined) return [];
  const { position, near, detail, hint } = problem;
  const message = hint === undefined ? detail : `${detail} ${hint}`;
  return [{ severity: 'error', ...position, near: near ?? '', message }];
}

function problemOf(estimate: EstimateState, state: RunState, sql: string) {
  if (estimate.phase === 'refused') return estimate.problem.body;
  // Of an older text it says nothing about this one.
  return state.phase === 'failed' && state.sql === sql ? state.problem.body : null;
}
