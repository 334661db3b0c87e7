import { bareText, DEFAULT_TIER, isQuestion, type SqlQuestion } from './query-text.ts';

/** The queries that are open, as a list of tabs. tab-store.ts keeps it. */

export interface QueryTab extends SqlQuestion {
  readonly id: string;
  /** As the visitor calls it; null: a name that follows from the text. */
  readonly name: string | null;
  /** Rows that a run keeps at most. */
  readonly rowsMax: number;
  /** The job of the last run, whose result is shown again after a reload. */
  readonly job: string | null;
  /** The settings of the chart, as they are written in a link. */
  readonly chart: string | null;
  /** The slug of the saved query that it was opened from. */
  readonly saved: string | null;
  /** When it was last changed, Unix milliseconds: of two windows that change one tab, the later one wins. */
  readonly changedAt: number;
}

export interface TabList {
  readonly tabs: readonly QueryTab[];
  readonly activeId: string;
}

export const TABS_MAX = 100;
/** A first run keeps a result that the table can show at once. */
export const ROWS_MAX = 10_000;

export function newTab(id: string, part: Partial<Omit<QueryTab, 'id'>> = {}): QueryTab {
  return {
    id,
    name: null,
    sql: '',
    tier: DEFAULT_TIER,
    params: {},
    rowsMax: ROWS_MAX,
    job: null,
    chart: null,
    saved: null,
    changedAt: 0,
    ...part,
  };
}

/** Opens a tab at the end and shows it. One of the same query is shown instead. A full list stays as it is. */
export function withTab(list: TabList, tab: QueryTab): TabList {
  const { tabs } = list;
  const same = tabs.find((open) => isSameQuestion(open, tab));
  if (same !== undefined && tab.sql !== '')
    return withChange({ tabs, activeId: same.id }, same.id, {
      chart: tab.chart ?? same.chart,
      job: tab.job ?? same.job,
    });
  return tabs.length >= TABS_MAX ? list : { tabs: [...tabs, tab], activeId: tab.id };
}

/** The state of an entry of the browser's history that shows a tab. */
export function entryOf(state: unknown, tab: string): object {
  return { ...(typeof state === 'object' ? state : null), tab };
}

/**
 * Shows what an entry of the browser's history stands for: its tab, whose text may be newer than the address, or else the query of the
 * address, such as that of a shared link.
 */
export function withEntry(list: TabList, state: unknown, shared: SqlQuestion | null): TabList {
  const own = list.tabs.find(
    ({ id }) => typeof state === 'object' && state !== null && 'tab' in state && state.tab === id,
  );
  if (own !== undefined) return { ...list, activeId: own.id };
  return shared === null ? list : withTab(list, newTab(randomId(), shared));
}

function isSameQuestion(a: SqlQuestion, b: SqlQuestion): boolean {
  const text = ({ sql, tier, params }: SqlQuestion): string =>
    JSON.stringify([sql, tier, Object.entries(params).toSorted(([x], [y]) => (x < y ? -1 : 1))]);
  return text(a) === text(b);
}

/** The neighbour of the closed tab is shown. The last one becomes an empty tab with the id given. */
export function withoutTab({ tabs, activeId }: TabList, id: string, emptyId: string): TabList {
  const at = tabs.findIndex((tab) => tab.id === id);
  const left = tabs.filter((tab) => tab.id !== id);
  if (left.length === 0) return { tabs: [newTab(emptyId)], activeId: emptyId };
  const next = left[Math.min(Math.max(at, 0), left.length - 1)]?.id ?? activeId;
  return { tabs: left, activeId: activeId === id ? next : activeId };
}

export function withChange(list: TabList, id: string, part: Partial<QueryTab>): TabList {
  return { ...list, tabs: list.tabs.map((tab) => (tab.id === id ? { ...tab, ...part, id } : tab)) };
}

export function activeTab({ tabs, activeId }: TabList): QueryTab {
  const tab = tabs.find(({ id }) => id === activeId) ?? tabs[0];
  if (tab === undefined) throw new Error('a list of tabs is never empty');
  return tab;
}

const NAME_MAX_CHARS = 28;

/** The name that a person gave it: as a tab or a saved query, else as the first comment of its text. Null without one. */
export function givenName({ name, sql }: Pick<QueryTab, 'name' | 'sql'>): string | null {
  if (name !== null && name.trim() !== '') return name;
  return /^\s*--\s*(\S[^\n]*)/.exec(sql)?.[1]?.trim() ?? null;
}

/** The name of the tab: a given one, else the first table it reads. */
export function tabName({ name, sql }: Pick<QueryTab, 'name' | 'sql'>): string {
  if (name !== null && name.trim() !== '') return name;
  const comment = givenName({ name, sql });
  if (comment !== null) return cut(comment);
  const table = FIRST_TABLE.exec(bareText(sql))?.[1];
  return table === undefined ? 'New query' : cut(table);
}

const FIRST_TABLE = /\bfrom\s+([a-z_]\w*)/i;

function cut(text: string): string {
  return text.length <= NAME_MAX_CHARS ? text : `${text.slice(0, NAME_MAX_CHARS - 1)}…`;
}

/** Not `randomUUID`, which pages without TLS do not have. */
export function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(ID_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

const ID_BYTES = 16;

/** Null where it holds no list of tabs. */
export function readTabs(value: unknown): TabList | null {
  if (typeof value !== 'object' || value === null || !('tabs' in value) || !Array.isArray(value.tabs))
    return null;
  const tabs = value.tabs.flatMap((tab: unknown) => (isTab(tab) ? [newTab(tab.id, tab)] : []));
  const [first] = tabs;
  if (first === undefined) return null;
  const activeId =
    'activeId' in value && tabs.some(({ id }) => id === value.activeId) ? value.activeId : null;
  return { tabs, activeId: typeof activeId === 'string' ? activeId : first.id };
}

/** The fields that older versions did not store have their defaults. */
function isTab(value: unknown): value is Pick<QueryTab, 'id'> & Partial<QueryTab> {
  return isQuestion(value) && 'id' in value && typeof value.id === 'string';
}
