import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type ApiProblem, account } from '../api.ts';
import type { PageProps } from '../routes.ts';
import type { Mark, SqlEditor } from '../sql/editor.ts';
import { CostLine, type EstimateState, useEstimate } from '../sql/estimate.tsx';
import { Parameters, QueryEditor } from '../sql/query-editor.tsx';
import {
  DEFAULT_TIER,
  findPlaceholders,
  fragmentOf,
  inLines,
  readFragment,
  type SqlQuestion,
  valuesFor,
} from '../sql/query-text.ts';
import { ResultPanel } from '../sql/result-panel.tsx';
import { lastQuestion, type RunState, rememberLast, useRunner } from '../sql/run.ts';
import { SchemaBrowser } from '../sql/schema-browser.tsx';
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
  tier: DEFAULT_TIER,
  params: {},
};

/** All tables with their columns and all functions, for the schema browser and for completion. */
const EVERYTHING = { table: '*', functions: '*' };
const FIRST_ROWS_MAX = 1_000;
/** The query is stored after a pause in typing. */
const REMEMBER_AFTER_MS = 400;

/** The SQL page: schema, editor, cost and result. */
export function SqlPage(_props: PageProps) {
  const { written, revision, change, replace } = useWritten();
  const [rowsMax, setRowsMax] = useState(FIRST_ROWS_MAX);
  const [isSchemaOpen, setSchemaOpen] = useState(false);
  const editor = useRef<SqlEditor | null>(null);
  const schema = useAnswer<SqlSchema>('/sql/schema', { query: EVERYTHING });
  const tiers = useStore(account)?.sql_tiers ?? [];
  const { state, run, cancel } = useRunner();
  const isRunning = state.phase === 'running';
  const question = useMemo(() => ({ ...written, params: valuesFor(written.sql, written.params) }), [written]);
  const estimate = useEstimate(question, isRunning);
  const mark = useMemo(() => markOf(estimate, state, written.sql), [estimate, state, written.sql]);
  const canRun = written.sql.trim() !== '';
  const start = (): void => {
    if (!canRun || isRunning) return;
    history.replaceState(null, '', fragmentOf(question));
    run(question, rowsMax);
  };
  return (
    <>
      <h1 class="visually-hidden">SQL</h1>
      <div class="sql-page">
        <aside class={isSchemaOpen ? 'schema panel open' : 'schema panel'} aria-label="Tables">
          <button
            type="button"
            class="button schema-toggle"
            aria-expanded={isSchemaOpen}
            onClick={() => setSchemaOpen(!isSchemaOpen)}
          >
            Tables and columns
          </button>
          <div class="schema-body">
            <SchemaBrowser schema={schema} onInsert={(name) => editor.current?.insert(name)} />
          </div>
        </aside>
        <div class="sql-main">
          <section class="panel" aria-label="Query">
            <Toolbar
              isRunning={isRunning}
              canRun={canRun}
              tier={written.tier}
              tiers={tiers}
              rowsMax={rowsMax}
              shareUrl={`${location.origin}${location.pathname}${fragmentOf(question)}`}
              examples={schema.answer?.examples ?? []}
              onRun={start}
              onCancel={cancel}
              onTier={(tier) => change({ tier })}
              onRowsMax={setRowsMax}
              onExample={(sql) => replace({ sql: inLines(sql) })}
            />
            <QueryEditor
              text={written.sql}
              revision={revision}
              schema={schema.answer}
              mark={mark}
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
              placeholders={findPlaceholders(written.sql)}
              values={written.params}
              onChange={(params) => change({ params })}
            />
            <CostLine estimate={estimate} state={state} onUse={(sql) => replace({ sql })} />
          </section>
          <ResultPanel
            state={state}
            onOpen={({ sql, tier, params }) => replace({ sql, tier, params })}
            onShowPlace={(place) => editor.current?.goTo(place)}
            onUse={(sql) => replace({ sql })}
          />
        </div>
      </div>
    </>
  );
}

interface Written {
  readonly written: SqlQuestion;
  /** Counts the changes from outside the editor. */
  readonly revision: number;
  /** Changes a part: typed in the editor, or chosen. */
  change(part: Partial<SqlQuestion>): void;
  /** Puts another query into the editor: an example, an entry of the history, a link. */
  replace(part: Partial<SqlQuestion>): void;
}

/** The query in the editor. It starts as the query of the address or the last one, and is stored for the next visit. */
function useWritten(): Written {
  const [{ written, revision }, setState] = useState(() => ({
    written: readFragment(location.hash) ?? lastQuestion() ?? FIRST_QUESTION,
    revision: 0,
  }));
  const remember = useRemembered();
  const newest = useRef(written);
  const put = useCallback(
    (part: Partial<SqlQuestion>, revisions: 0 | 1) => {
      // Not in an effect: when the visitor leaves the page, there is no further render.
      const question = { ...newest.current, ...part };
      newest.current = question;
      remember(question);
      setState((before) => ({ written: question, revision: before.revision + revisions }));
    },
    [remember],
  );
  const change = useCallback((part: Partial<SqlQuestion>) => put(part, 0), [put]);
  const replace = useCallback((part: Partial<SqlQuestion>) => put(part, 1), [put]);
  useEffect(() => {
    remember(newest.current);
    const follow = (): void => {
      const shared = readFragment(location.hash);
      if (shared !== null) replace(shared);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [remember, replace]);
  return { written, revision, change, replace };
}

/** Stores a query after a pause in typing, and when the visitor leaves the page. */
function useRemembered(): (question: SqlQuestion) => void {
  const unkept = useRef<SqlQuestion | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const keep = useCallback(() => {
    clearTimeout(timer.current);
    if (unkept.current !== null) rememberLast(unkept.current);
    unkept.current = null;
  }, []);
  useEffect(() => {
    addEventListener('pagehide', keep);
    return () => {
      removeEventListener('pagehide', keep);
      keep();
    };
  }, [keep]);
  return useCallback(
    (question) => {
      unkept.current = question;
      clearTimeout(timer.current);
      timer.current = setTimeout(keep, REMEMBER_AFTER_MS);
    },
    [keep],
  );
}

/** The place of the newest error: that of the estimate, which follows the text, or else that of the run. */
function markOf(estimate: EstimateState, state: RunState, sql: string): Mark | null {
  const problem = refusalOf(estimate) ?? (state.phase === 'failed' ? state.problem : null);
  if (problem === null || sql.trim() === '') return null;
  const { position, near, detail, hint } = problem.body;
  if (position === undefined) return null;
  return { ...position, near: near ?? '', message: hint === undefined ? detail : `${detail} ${hint}` };
}

function refusalOf(estimate: EstimateState): ApiProblem | null {
  return estimate.phase === 'refused' ? estimate.problem : null;
}
