import { useCallback, useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { useStore } from '../store.ts';
import { fragmentOf, readFragment, type SqlQuestion, valuesFor } from './query-text.ts';
import { resumeRun, runs } from './run.ts';
import { changeTabs, followStored, openTabs, storeTabs, tabList } from './tab-store.ts';
import {
  activeTab,
  entryOf,
  newTab,
  type QueryTab,
  randomId,
  TABS_MAX,
  type TabList,
  withChange,
  withEntry,
  withTab,
} from './tabs.ts';

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

export interface Tabs {
  readonly list: TabList;
  /** Counts the changes from outside the editor. */
  readonly revision: number;
  /** Changes a part of the shown query: typed in the editor, or chosen. */
  change(part: Partial<QueryTab>): void;
  /** Puts another text into the editor: a mend, a formatted text. */
  replace(part: Partial<QueryTab>): void;
  /** Opens a tab and shows it; gives its id, or null where as many are open as can be. */
  open(part: Partial<QueryTab>): string | null;
  /** Whether the last `open` found the list full. */
  readonly isFull: boolean;
}

/** The open queries: the queries of the last visit, with the query of the address. The address follows the query that is shown. */
export function useTabs(): Tabs {
  const [first] = useState(() => withAddress(openTabs(readFragment(location.hash) ?? FIRST_QUESTION)));
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
  const [wasRefused, setRefused] = useState(false);
  const open = useCallback((part: Partial<QueryTab>) => {
    const before = tabList.get();
    changeTabs((now) => withTab(now, newTab(randomId(), part)));
    const after = tabList.get();
    const isRefused =
      after === null || (after.tabs.length >= TABS_MAX && after.activeId === before?.activeId);
    setRefused(isRefused);
    return isRefused ? null : after.activeId;
  }, []);
  useEffect(() => {
    const follow = (): void => {
      const list = tabList.get();
      if (list !== null) tabList.set(withAddress(list));
    };
    addEventListener('hashchange', follow);
    addEventListener('pagehide', storeTabs);
    addEventListener('storage', followStored);
    return () => {
      removeEventListener('hashchange', follow);
      removeEventListener('pagehide', storeTabs);
      removeEventListener('storage', followStored);
      storeTabs();
    };
  }, []);
  useFollowedAddress(activeTab(list));
  useResumed(activeTab(list));
  return { list, revision, change, replace, open, isFull: wasRefused && list.tabs.length >= TABS_MAX };
}

/** With the query of the address, which is not run by that. */
function withAddress(list: TabList): TabList {
  const next = withEntry(list, history.state, readFragment(location.hash));
  tabList.set(next);
  return next;
}

const ADDRESS_AFTER_MS = 300;

/** The address is a link to the query shown. It holds no more than the link that is copied. */
function useFollowedAddress({ id, sql, tier, params, chart }: QueryTab): void {
  // At once: a page that is loaded again before the address is written shows this tab.
  useLayoutEffect(() => history.replaceState(entryOf(history.state, id), ''), [id]);
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
