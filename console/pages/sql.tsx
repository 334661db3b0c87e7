import { useRef } from 'preact/hooks';
import type { PageProps } from '../routes.ts';
import type { SqlEditor } from '../sql/editor.ts';
import { Examples } from '../sql/examples.tsx';
import type { HistoryEntry } from '../sql/history.ts';
import { QueryPanel } from '../sql/query-panel.tsx';
import { ResultPanel } from '../sql/result-panel.tsx';
import { resumeRun, runOf, runs } from '../sql/run.ts';
import { SavedList } from '../sql/saved-list.tsx';
import { SchemaBrowser } from '../sql/schema-browser.tsx';
import { Sidebar, type SidebarView } from '../sql/sidebar.tsx';
import { SplitterBar, useSplit } from '../sql/splitter.tsx';
import { activeTab, type QueryTab } from '../sql/tabs.ts';
import { useTabs } from '../sql/use-tabs.ts';
import { useStore } from '../store.ts';
import { useAnswer } from '../use-answer.ts';
import type { SqlSchema } from '../wire.ts';

/** All tables with their columns and all functions, for the schema browser and for completion. */
const EVERYTHING = { table: '*', functions: '*' };

/** The SQL page: the parts of a query, the open queries, and the result of the one that is shown. */
export function SqlPage(_props: PageProps) {
  const tabs = useTabs();
  const { list, change, replace, open } = tabs;
  const tab = activeTab(list);
  const state = runOf(useStore(runs), tab.id);
  const editor = useRef<SqlEditor | null>(null);
  const schema = useAnswer<SqlSchema>('/sql/schema', { query: EVERYTHING });
  const split = useSplit();
  const openEntry = ({ sql, tier, params, job }: HistoryEntry): void => {
    const id = open({ sql, tier, params, job: job ?? null });
    if (job !== undefined && id !== null) resumeRun(id, job, { sql, tier, params });
  };
  const sidebar = (view: SidebarView, close: () => void) => {
    const openAndClose = (part: Partial<QueryTab>): void => {
      open(part);
      close();
    };
    switch (view) {
      case 'tables':
        return <SchemaBrowser schema={schema} onInsert={(name) => editor.current?.insert(name)} />;
      case 'examples':
        return <Examples onOpen={openAndClose} />;
      case 'saved':
        return <SavedList onOpen={openAndClose} />;
    }
  };
  return (
    <>
      <h1 class="visually-hidden">SQL</h1>
      <div class="sql-page">
        <Sidebar>{sidebar}</Sidebar>
        <div class="sql-main">
          <QueryPanel
            tabs={tabs}
            state={state}
            schema={schema.answer}
            editorPx={split.px}
            onFocusEditor={() => editor.current?.focus()}
            onEditor={(ready) => {
              editor.current = ready;
              // With a finger it would open the keyboard over the page.
              if (matchMedia('(pointer: fine)').matches) ready.focus();
            }}
          />
          <SplitterBar {...split} />
          <ResultPanel
            key={tab.id}
            tab={tab}
            state={state}
            onOpen={openEntry}
            onChart={(chart) => change({ chart })}
            onShowPlace={(place) => editor.current?.goTo(place)}
            onUse={(sql) => replace({ sql })}
          />
        </div>
      </div>
    </>
  );
}
