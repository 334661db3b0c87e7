import { createStore } from '../store.ts';
import { readStored, writeStored } from '../stored.ts';
import { isQuestion, type SqlQuestion } from './query-text.ts';
import { newTab, type QueryTab, randomId, readTabs, type TabList, withTab } from './tabs.ts';

/**
 * The open queries in the storage of the browser, which all windows share. Every write is merged with what other windows wrote, so that none
 * overwrites another's queries.
 */

const STORED_AS = 'six.sql.tabs';
/** What versions without tabs stored. */
const OLD_STORED_AS = 'six.sql.last';
/** Closed tabs are remembered so that another window does not store them again. */
const CLOSED_MAX = 200;
const STORE_AFTER_MS = 400;

/** When tabs were closed, Unix milliseconds, by their ids. */
type ClosedTabs = Readonly<Record<string, number>>;

export const tabList = createStore<TabList | null>(null);
/** Tabs that were closed in this window, the last one at the end. */
export const closedTabs = createStore<readonly QueryTab[]>([]);
let closed: ClosedTabs = {};
let timer: ReturnType<typeof setTimeout> | undefined;

/** Changes the list and stores it a moment later: a text changes with every key. */
export function changeTabs(change: (list: TabList) => TabList): void {
  const before = tabList.get();
  if (before === null) return;
  const after = change(before);
  const now = Date.now();
  const known = new Set<QueryTab>(before.tabs);
  const tabs = after.tabs.map((tab) => (known.has(tab) ? tab : { ...tab, changedAt: now }));
  const ids = new Set(tabs.map(({ id }) => id));
  const gone = before.tabs.filter(({ id }) => !ids.has(id));
  closed = { ...closed, ...Object.fromEntries(gone.map(({ id }) => [id, now])) };
  if (gone.length > 0) closedTabs.set([...closedTabs.get(), ...gone.filter(({ sql }) => sql.trim() !== '')]);
  tabList.set({ ...after, tabs });
  clearTimeout(timer);
  timer = setTimeout(storeTabs, STORE_AFTER_MS);
}

/** Opens the tab again that was closed last in this window. */
export function reopenTab(): void {
  const last = closedTabs.get().at(-1);
  if (last === undefined) return;
  closedTabs.set(closedTabs.get().slice(0, -1));
  changeTabs((list) => withTab(list, { ...last, id: randomId() }));
}

/** Stores the list now: when the visitor leaves the page. */
export function storeTabs(): void {
  clearTimeout(timer);
  timer = undefined;
  const list = tabList.get();
  if (list === null) return;
  const stored = readStored(STORED_AS);
  closed = newest({ ...readClosed(stored), ...closed });
  const merged = mergeTabs(list, readTabs(stored), closed);
  writeStored(STORED_AS, { ...merged, closed });
  if (JSON.stringify(merged) !== JSON.stringify(list)) tabList.set(merged);
}

/** Takes over what another window stored. */
export function followStored({ key }: Pick<StorageEvent, 'key'>): void {
  const list = tabList.get();
  if (key !== STORED_AS || list === null) return;
  const stored = readStored(STORED_AS);
  closed = newest({ ...readClosed(stored), ...closed });
  tabList.set(mergeTabs(list, readTabs(stored), closed));
}

/** The list of the last visit, or one tab with the query given. */
export function openTabs(first: SqlQuestion): TabList {
  const value = readStored(STORED_AS);
  closed = readClosed(value);
  const last = readStored(OLD_STORED_AS);
  const tab = newTab(randomId(), isQuestion(last) ? last : first);
  const list = tabList.get() ?? readTabs(value) ?? { tabs: [tab], activeId: tab.id };
  tabList.set(list);
  return list;
}

/**
 * The list of this window with the tabs of another one: each tab once, in its later state, without those that were closed since. The tab that
 * this window shows stays as it is here: its visitor is at work on it.
 */
export function mergeTabs(own: TabList, stored: TabList | null, closedAt: ClosedTabs): TabList {
  const isOpen = ({ id, changedAt }: QueryTab): boolean =>
    id === own.activeId || (closedAt[id] ?? -1) < changedAt || closedAt[id] === undefined;
  const theirs = new Map((stored?.tabs ?? []).map((tab) => [tab.id, tab]));
  const kept = own.tabs.map((tab) => {
    const other = theirs.get(tab.id);
    const isNewer = other !== undefined && tab.id !== own.activeId && other.changedAt > tab.changedAt;
    return isNewer ? other : tab;
  });
  const ids = new Set(own.tabs.map(({ id }) => id));
  const added = [...theirs.values()].filter(({ id }) => !ids.has(id));
  return { ...own, tabs: [...kept, ...added].filter(isOpen) };
}

function readClosed(value: unknown): ClosedTabs {
  if (typeof value !== 'object' || value === null || !('closed' in value)) return {};
  const { closed: stored } = value;
  if (typeof stored !== 'object' || stored === null) return {};
  return Object.fromEntries(
    Object.entries(stored).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}

function newest(all: ClosedTabs): ClosedTabs {
  const entries = Object.entries(all).toSorted(([, a], [, b]) => b - a);
  return Object.fromEntries(entries.slice(0, CLOSED_MAX));
}
