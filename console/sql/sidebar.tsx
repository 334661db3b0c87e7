import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { readStored, writeStored } from '../stored.ts';

const STORED_AS = 'six.sql.sidebar';

const VIEWS = { tables: 'Tables', examples: 'Examples', saved: 'Saved' } as const;
export type SidebarView = keyof typeof VIEWS;
const VIEW_IDS: readonly SidebarView[] = ['tables', 'examples', 'saved'];

interface SidebarProps {
  readonly children: (view: SidebarView, close: () => void) => ComponentChildren;
}

/** What a query can be made of: tables, examples, saved queries. On a narrow screen it is opened by its buttons. */
export function Sidebar({ children }: SidebarProps) {
  const [view, setView] = useState<SidebarView>(storedView);
  const [isOpen, setOpen] = useState(false);
  const choose = (next: SidebarView): void => {
    setOpen(next !== view || !isOpen);
    setView(next);
    writeStored(STORED_AS, next);
  };
  return (
    <aside
      class={isOpen ? 'schema panel open' : 'schema panel'}
      aria-label="Tables, examples and saved queries"
    >
      <div class="sidebar-views">
        {VIEW_IDS.map((id) => (
          <button key={id} type="button" aria-pressed={view === id} onClick={() => choose(id)}>
            {VIEWS[id]}
          </button>
        ))}
      </div>
      <div class="schema-body">{children(view, () => setOpen(false))}</div>
    </aside>
  );
}

function storedView(): SidebarView {
  const stored = readStored(STORED_AS);
  return VIEW_IDS.find((id) => id === stored) ?? 'tables';
}
