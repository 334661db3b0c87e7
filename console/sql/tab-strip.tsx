import { useEffect, useRef, useState } from 'preact/hooks';
import { useStore } from '../store.ts';
import { type RunState, runOf, runs } from './run.ts';
import { closedTabs, reopenTab } from './tab-store.ts';
import { type QueryTab, TABS_MAX, type TabList, tabName } from './tabs.ts';

interface TabStripProps {
  readonly list: TabList;
  /** Whether a query could not be opened because too many are. */
  readonly isFull: boolean;
  onShow(id: string): void;
  onClose(id: string): void;
  onRename(id: string, name: string): void;
  onNew(): void;
}

const PANEL_ID = 'query-panel';
export const queryPanel = { id: PANEL_ID } as const;

/** The open queries. F2 or a double click renames one, Delete closes it. Source: the tabs pattern of WAI-ARIA. */
export function TabStrip({
  list: { tabs, activeId },
  isFull,
  onShow,
  onClose,
  onRename,
  onNew,
}: TabStripProps) {
  const [renamed, setRenamed] = useState<string | null>(null);
  const strip = useRef<HTMLDivElement>(null);
  const all = useStore(runs);
  useEffect(() => {
    strip.current
      ?.querySelector('[aria-selected="true"]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [activeId, tabs.length]);
  const named = useRef<string | null>(null);
  // The field that had the focus is gone.
  useEffect(() => {
    if (renamed !== null || named.current === null) return;
    strip.current?.querySelector<HTMLElement>(`#tab-query-${named.current}`)?.focus();
    named.current = null;
  }, [renamed]);
  const focusTab = (id: string | undefined): void => {
    if (id === undefined) return;
    onShow(id);
    strip.current?.querySelector<HTMLElement>(`#tab-query-${id}`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent, id: string): void => {
    const at = tabs.findIndex((tab) => tab.id === id);
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: (at + 1) % tabs.length,
      ArrowLeft: (at - 1 + tabs.length) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    };
    const next = steps[event.key];
    if (next !== undefined) focusTab(tabs[next]?.id);
    else if (event.key === 'F2') setRenamed(id);
    else if (event.key === 'Delete') onClose(id);
    else return;
    event.preventDefault();
  };
  return (
    <div class="query-tabs">
      <div class="query-tab-list" role="tablist" aria-label="Queries" ref={strip}>
        {tabs.map((tab) => (
          <OneTab
            key={tab.id}
            tab={tab}
            state={runOf(all, tab.id)}
            isActive={tab.id === activeId}
            isRenamed={tab.id === renamed}
            onShow={() => onShow(tab.id)}
            onClose={() => onClose(tab.id)}
            onRename={() => setRenamed(tab.id)}
            onKeyDown={(event) => onKeyDown(event, tab.id)}
            onName={(name, isByKey) => {
              setRenamed(null);
              if (isByKey) named.current = tab.id;
              if (name !== null) onRename(tab.id, name);
            }}
          />
        ))}
      </div>
      <button type="button" class="query-tab-new" aria-label="New query" title="New query" onClick={onNew}>
        +
      </button>
      <Reopen />
      {isFull ? (
        <p class="query-tabs-note small" role="status">
          {TABS_MAX} queries are open: close one first.
        </p>
      ) : null}
    </div>
  );
}

/** Undoes the closing of a query. */
function Reopen() {
  const last = useStore(closedTabs).at(-1);
  if (last === undefined) return null;
  return (
    <button type="button" class="query-tab-new query-tab-reopen" title={tabName(last)} onClick={reopenTab}>
      Reopen closed
    </button>
  );
}

interface OneTabProps {
  readonly tab: QueryTab;
  readonly state: RunState;
  readonly isActive: boolean;
  readonly isRenamed: boolean;
  onShow(): void;
  onClose(): void;
  onRename(): void;
  /** Null keeps the old one. `isByKey`: the focus stays with the tab; else it went where the visitor clicked. */
  onName(name: string | null, isByKey: boolean): void;
  onKeyDown(event: KeyboardEvent): void;
}

function OneTab({ tab, state, isActive, isRenamed, ...on }: OneTabProps) {
  const name = tabName(tab);
  if (isRenamed) return <NameField name={name} onName={on.onName} />;
  return (
    <div class={isActive ? 'query-tab active' : 'query-tab'} role="presentation">
      <button
        type="button"
        role="tab"
        id={`tab-query-${tab.id}`}
        aria-selected={isActive}
        aria-controls={PANEL_ID}
        tabIndex={isActive ? 0 : -1}
        title={`${name}. F2 renames it, Delete closes it.`}
        onClick={on.onShow}
        onDblClick={on.onRename}
        onKeyDown={on.onKeyDown}
      >
        <Dot state={state} />
        {name}
      </button>
      {/* For the pointer: a list of tabs may hold nothing but tabs. Delete does the same. */}
      <span class="query-tab-close" aria-hidden="true" title="Close" onClick={on.onClose}>
        ×
      </span>
    </div>
  );
}

const DOTS: Partial<Record<RunState['phase'], readonly [look: string, text: string]>> = {
  running: ['running', 'running'],
  failed: ['bad', 'failed'],
};

function Dot({ state: { phase } }: { readonly state: RunState }) {
  const dot = DOTS[phase];
  if (dot === undefined) return null;
  return (
    <>
      <span class={`query-dot ${dot[0]}`} aria-hidden="true" />
      <span class="visually-hidden">{dot[1]}: </span>
    </>
  );
}

function NameField({ name, onName }: { readonly name: string } & Pick<OneTabProps, 'onName'>) {
  const field = useRef<HTMLInputElement>(null);
  const isDone = useRef(false);
  useEffect(() => field.current?.select(), []);
  const end = (next: string | null, isByKey: boolean): void => {
    // Enter removes the field, which then loses the focus.
    if (isDone.current) return;
    isDone.current = true;
    onName(next, isByKey);
  };
  return (
    <input
      ref={field}
      type="text"
      class="query-tab-name"
      aria-label="Name of the query"
      maxLength={60}
      defaultValue={name}
      onBlur={({ currentTarget }) => end(currentTarget.value, false)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') end(event.currentTarget.value, true);
        if (event.key === 'Escape') end(null, true);
      }}
    />
  );
}
