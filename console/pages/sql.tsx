import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { account } from '../api.ts';
import { announce } from '../components/states.tsx';
import type { PageProps } from '../routes.ts';
import { CostLine } from '../sql/cost-line.tsx';
import type { Mark, SqlEditor } from '../sql/editor.ts';
import { type EstimateState, useEstimate } from '../sql/estimate.ts';
import { Examples } from '../sql/examples.tsx';
import type { HistoryEntry } from '../sql/history.ts';
import { faultyPlaceholders, fieldId, Parameters } from '../sql/parameters.tsx';
import { QueryEditor } from '../sql/query-editor.tsx';
import {
  findPlaceholders,
  fragmentOf,
  readFragment,
  type SqlQuestion,
  valuesFor,
} from '../sql/query-text.ts';
import { ResultPanel } from '../sql/result-panel.tsx';
import { cancelRun, leaveRun, type RunState, resumeRun, runOf, runs, startRun } from '../sql/run.ts';
import { SchemaBrowser } from '../sql/schema-browser.tsx';
import { Sidebar } from '../sql/sidebar.tsx';
import { SplitterBar, useSplit } from '../sql/splitter.tsx';
import { queryPanel, TabStrip } from '../sql/tab-strip.tsx';
import {
  activeTab,
  changeTabs,
  newTab,
  openTabs,
  type QueryTab,
  randomId,
  storeTabs,
  type TabList,
  tabList,
  withChange,
  withoutTab,
  withTab,
} from '../sql/tabs.ts';
import { Toolbar } from '../sql/toolbar.tsx';
import { useStore } from '../store.ts';
import { useAnswer } from '../use-answer.ts';
import type { SqlSchema } from '../wire.ts';

/** The query in the editor on the first visit. */
const FIRST_QUESTION: SqlQuestion = {
  sql: `SELECT payee, count() AS settlements, sum(amount_usd) AS usd
FROM settlements
WHERE block_time >= now() - INTERVAL 7 DAY
GROUP BY payee
ORDER BY usd DESC
LIMIT 20`,
  tier: 'standard',
  params: {},
};

/** All tables with their columns and all functions, for the schema browser and for completion. */
const EVERYTHING = { table: '*', functions: '*' };

/** The SQL page: what a query is made of, the open queries, and the result of the one that is shown. */
export function SqlPage(_props: PageProps) {
  const { list, revision, change, replace, open } = useTabs();
  const tab = activeTab(list);
  const state = runOf(useStore(runs), tab.id);
  const isRunning = state.phase === 'running';
  const editor = useRef<SqlEditor | null>(null);
  const schema = useAnswer<SqlSchema>('/sql/schema', { query: EVERYTHING });
  const tiers = useStore(account)?.sql_tiers ?? [];
  const question = useMemo(
    () => ({ sql: tab.sql, tier: tab.tier, params: valuesFor(tab.sql, tab.params) }),
    [tab.sql, tab.tier, tab.params],
  );
  const placeholders = useMemo(() => findPlaceholders(tab.sql), [tab.sql]);
  const faulty = faultyPlaceholders(placeholders, tab.params);
  // Without its values a query can be neither estimated nor run.
  const estimate = useEstimate(question, isRunning || faulty.length > 0);
  const marks = useMemo(() => marksOf(estimate, state, tab.sql), [estimate, state, tab.sql]);
  const [checked, setChecked] = useState<string | null>(null);
  const split = useSplit();
  const start = (): void => {
    if (tab.sql.trim() === '' || isRunning) return;
    setChecked(tab.id);
    const [first] = faulty;
    if (first !== undefined) {
      document.getElementById(fieldId(first.name))?.focus();
      return;
    }
    const { id: tabId, rowsMax } = tab;
    startRun({
      tabId,
      question,
      rowsMax,
      onJob: (job) => changeTabs((now) => withChange(now, tabId, { job })),
    });
  };
  const format = async (): Promise<void> => {
    const { formatSql } = await import('../sql/format-sql.ts');
    const text = formatSql(tab.sql);
    announce(text === null ? 'This query cannot be laid out without changing it' : 'Query laid out');
    if (text !== null) replace({ sql: text });
  };
  const openEntry = ({ sql, tier, params, job }: HistoryEntry): void => {
    const id = open({ sql, tier, params, job: job ?? null });
    if (job !== undefined) resumeRun(id, job, { sql, tier, params });
  };
  return (
    <>
      <h1 class="visually-hidden">SQL</h1>
      <div class="sql-page">
        <Sidebar>
          {(view, close) => {
            switch (view) {
              case 'tables':
                return <SchemaBrowser schema={schema} onInsert={(name) => editor.current?.insert(name)} />;
              case 'examples':
                return (
                  <Examples
                    onOpen={(example) => {
                      open(example);
                      close();
                    }}
                  />
                );
              case 'saved':
                return null;
            }
          }}
        </Sidebar>
        <div class="sql-main">
          <section class="panel query" aria-label="Query">
            <TabStrip
              list={list}
              onShow={(id) => changeTabs((now) => ({ ...now, activeId: id }))}
              onClose={(id) => {
                leaveRun(id);
                changeTabs((now) => withoutTab(now, id, randomId()));
              }}
              onRename={(id, name) => changeTabs((now) => withChange(now, id, { name }))}
              onNew={() => {
                open({});
                editor.current?.focus();
              }}
            />
            <div {...queryPanel} aria-labelledby={`tab-query-${tab.id}`}>
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
                onFormat={() => void format()}
              />
              <div class="query-body" style={{ '--editor-px': `${split.px}px` }}>
                <QueryEditor
                  id={tab.id}
                  text={tab.sql}
                  revision={revision}
                  schema={schema.answer}
                  marks={marks}
                  isRunning={isRunning}
                  onChange={(sql) => change({ sql })}
                  onRun={start}
                  onReady={(ready) => {
                    editor.current = ready;
                    // With a finger it would open the keyboard over the page.
                    if (matchMedia('(pointer: fine)').matches) ready.focus();
                  }}
                />
                <Parameters
                  key={tab.id}
                  placeholders={placeholders}
                  values={tab.params}
                  showsAll={checked === tab.id}
                  onChange={(params) => change({ params })}
                />
              </div>
              <CostLine
                estimate={faulty.length > 0 ? NO_ESTIMATE : estimate}
                state={state}
                tab={tab}
                schema={schema.answer}
                onMend={replace}
              />
            </div>
          </section>
          <SplitterBar {...split} />
          <ResultPanel
            key={tab.id}
            tabId={tab.id}
            state={state}
            sql={tab.sql}
            onOpen={openEntry}
            onShowPlace={(place) => editor.current?.goTo(place)}
            onUse={(sql) => replace({ sql })}
          />
        </div>
      </div>
    </>
  );
}

const NO_ESTIMATE: EstimateState = { phase: 'none' };

interface Tabs {
  readonly list: TabList;
  /** Counts the changes from outside the editor. */
  readonly revision: number;
  /** Changes a part of the shown query: typed in the editor, or chosen. */
  change(part: Partial<QueryTab>): void;
  /** Puts another text into the editor: a mend, a formatted text. */
  replace(part: Partial<QueryTab>): void;
  /** Opens a tab and shows it; gives its id. */
  open(part: Partial<QueryTab>): string;
}

/** The open queries: those of the last visit, with the query of the address. The address follows the query that is shown. */
function useTabs(): Tabs {
  const [first] = useState(() => withAddress(openTabs(FIRST_QUESTION)));
  const list = useStore(tabList) ?? first;
  const [revision, setRevision] = useState(0);
  const change = useCallback(
    (part: Partial<QueryTab>) => changeTabs((now) => withChange(now, now.activeId, part)),
    [],
  );
  const replace = useCallback(
    (part: Partial<QueryTab>) => {
      change(part);
      setRevision((before) => before + 1);
    },
    [change],
  );
  const open = useCallback((part: Partial<QueryTab>) => {
    changeTabs((now) => withTab(now, newTab(randomId(), part)));
    return tabList.get()?.activeId ?? '';
  }, []);
  useEffect(() => {
    const follow = (): void => {
      const list = tabList.get();
      if (list !== null) tabList.set(withAddress(list));
    };
    addEventListener('hashchange', follow);
    addEventListener('pagehide', storeTabs);
    return () => {
      removeEventListener('hashchange', follow);
      removeEventListener('pagehide', storeTabs);
      storeTabs();
    };
  }, []);
  useFollowedAddress(activeTab(list));
  useResumed(activeTab(list));
  return { list, revision, change, replace, open };
}

/** With the query of the address, which is not run by that. */
function withAddress(list: TabList): TabList {
  const shared = readFragment(location.hash);
  const next = shared === null ? list : withTab(list, newTab(randomId(), shared));
  tabList.set(next);
  return next;
}

const ADDRESS_AFTER_MS = 300;

/** The address is a link to what is shown. It holds no more than the link that is copied. */
function useFollowedAddress({ sql, tier, params, chart }: QueryTab): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      const fragment = fragmentOf({ sql, tier, params: valuesFor(sql, params) }, chart);
      if (fragment !== location.hash) history.replaceState(history.state, '', fragment);
    }, ADDRESS_AFTER_MS);
    return () => clearTimeout(timer);
  }, [sql, tier, params, chart]);
}

/** After a reload the tab shows the kept result of its last run, or follows the run, without another charge. */
function useResumed({ id, job, sql, tier, params }: QueryTab): void {
  useEffect(() => {
    if (job !== null && runs.get().get(id) === undefined) resumeRun(id, job, { sql, tier, params });
    // Once for each tab that is shown.
  }, [id]);
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
