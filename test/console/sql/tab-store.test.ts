import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { forgetHistory, type HistoryEntry, remember, sqlHistory } from '../../../console/sql/history.ts';
import {
  changeTabs,
  closedTabs,
  followStored,
  openTabs,
  reopenTab,
  storeTabs,
  tabList,
} from '../../../console/sql/tab-store.ts';
import {
  newTab,
  type QueryTab,
  readTabs,
  TABS_MAX,
  withChange,
  withoutTab,
  withTab,
} from '../../../console/sql/tabs.ts';
import { createStore } from '../../../console/store.ts';
import { readStored, writeStored } from '../../../console/stored.ts';
import { stubStorage } from '../../kit/web-storage.ts';

const STORED_AS = 'six.sql.tabs';
const FIRST = { sql: 'SELECT 1', tier: 'standard', params: {} };

const textsOf = (): string[] => (tabList.get()?.tabs ?? []).map(({ sql }) => sql);
const storedTexts = (): string[] => (readTabs(readStored(STORED_AS))?.tabs ?? []).map(({ sql }) => sql);
const open = (id: string, sql: string): void => changeTabs((list) => withTab(list, newTab(id, { sql })));
const close = (id: string): void => changeTabs((list) => withoutTab(list, id, 'empty'));
/** What another window has stored in the meantime. */
const writeElsewhere = (tabs: readonly QueryTab[], closed: Record<string, number> = {}): void =>
  writeStored(STORED_AS, { tabs, activeId: tabs[0]?.id, closed });

/** As after loading the page again. */
function reload(): void {
  storeTabs();
  tabList.set(null);
  closedTabs.set([]);
  openTabs(FIRST);
}

beforeEach(() => {
  stubStorage();
  tabList.set(null);
  closedTabs.set([]);
  openTabs(FIRST);
});
afterEach(() => {
  // Also stops the timer that would store later.
  storeTabs();
  vi.unstubAllGlobals();
});

describe('the open queries', () => {
  it('begin with the query of the page, and are those of the last visit afterwards', () => {
    expect(textsOf()).toEqual(['SELECT 1']);
    open('b', 'SELECT 2');
    reload();
    expect([textsOf(), tabList.get()?.activeId]).toEqual([['SELECT 1', 'SELECT 2'], 'b']);
  });

  it('take over the query that a version without tabs stored', () => {
    tabList.set(null);
    writeStored('six.sql.last', { sql: 'SELECT old', tier: 'standard', params: {} });
    openTabs(FIRST);
    expect(textsOf()).toEqual(['SELECT old']);
  });

  it('keep what another window opened while this one was at work', () => {
    open('b', 'SELECT here');
    writeElsewhere([newTab('there', { sql: 'SELECT there', changedAt: Date.now() })]);
    storeTabs();
    expect(textsOf()).toEqual(['SELECT 1', 'SELECT here', 'SELECT there']);
    expect(storedTexts()).toEqual(textsOf());
  });

  it('stay closed in every window, and come back where one was changed after that', () => {
    open('b', 'SELECT b');
    open('c', 'SELECT c');
    storeTabs();
    const [, b] = tabList.get()?.tabs ?? [];
    if (b === undefined) throw new Error('b is open');
    close('b');
    // The other window still has both, b as it was.
    writeElsewhere([b]);
    storeTabs();
    expect(textsOf()).toEqual(['SELECT 1', 'SELECT c']);
    writeElsewhere([{ ...b, sql: 'SELECT changed', changedAt: Date.now() + 1 }]);
    storeTabs();
    expect(textsOf()).toEqual(['SELECT 1', 'SELECT c', 'SELECT changed']);
  });

  it('follow another window at once, but for the tab that is shown here', () => {
    const shown = tabList.get()?.activeId ?? '';
    const later = Date.now() + 10;
    writeElsewhere([
      newTab(shown, { sql: 'SELECT theirs', changedAt: later }),
      newTab('other', { sql: 'SELECT other', changedAt: later }),
    ]);
    followStored({ key: 'six.theme' });
    expect(textsOf()).toEqual(['SELECT 1']);
    followStored({ key: STORED_AS });
    expect(textsOf()).toEqual(['SELECT 1', 'SELECT other']);
  });

  it('are dated when they change, and only those that changed', () => {
    open('b', 'SELECT b');
    const [first] = tabList.get()?.tabs ?? [];
    changeTabs((list) => withChange(list, 'b', { sql: 'SELECT c' }));
    const [same, changed] = tabList.get()?.tabs ?? [];
    expect(same).toBe(first);
    expect(changed?.changedAt).toBeGreaterThan(0);
  });

  it('are no more than the most, and none goes for a new one', () => {
    for (let at = 1; at <= TABS_MAX; at += 1) open(`t${at}`, `SELECT ${at + 1}`);
    expect([textsOf().length, textsOf()[0]]).toEqual([TABS_MAX, 'SELECT 1']);
  });
});

describe('a closed tab', () => {
  it('opens again, the last one first, as a tab of its own', () => {
    open('b', 'SELECT b');
    open('c', 'SELECT c');
    close('b');
    close('c');
    reopenTab();
    expect(textsOf()).toEqual(['SELECT 1', 'SELECT c']);
    reopenTab();
    expect(textsOf()).toEqual(['SELECT 1', 'SELECT c', 'SELECT b']);
    expect(tabList.get()?.tabs.map(({ id }) => id)).not.toContain('b');
    reopenTab();
    expect(textsOf()).toHaveLength(3);
    // Under its new name it is not among the closed ones.
    reload();
    expect(textsOf()).toEqual(['SELECT 1', 'SELECT c', 'SELECT b']);
  });

  it('without a text is not worth opening again', () => {
    open('b', ' ');
    close('b');
    expect(closedTabs.get()).toEqual([]);
  });
});

describe('the history of queries', () => {
  const run = (sql: string, fields: Partial<HistoryEntry> = {}): HistoryEntry => ({
    ...FIRST,
    sql,
    at: '2026-11-20T09:15:04Z',
    failed: null,
    rows: 1,
    ms: 3,
    chargedQu: 1,
    ...fields,
  });
  afterEach(() => forgetHistory());

  it('has each text once, with its newest run first', () => {
    remember(run('SELECT 1'));
    remember(run('SELECT 2'));
    remember(run('SELECT 1', { failed: 'cancelled' }));
    expect(sqlHistory.get().map(({ sql, failed }) => [sql, failed])).toEqual([
      ['SELECT 1', 'cancelled'],
      ['SELECT 2', null],
    ]);
  });

  it('has each job once, whatever its text became', () => {
    remember(run('SELECT 1', { job: 'j' }));
    remember(run('SELECT one', { job: 'j' }));
    expect(sqlHistory.get()).toHaveLength(1);
  });

  it('keeps the newest hundred, in this browser', () => {
    for (let at = 0; at < 120; at += 1) remember(run(`SELECT ${at}`));
    expect([sqlHistory.get().length, sqlHistory.get()[0]?.sql]).toEqual([100, 'SELECT 119']);
    expect(readStored('six.sql.history')).toEqual(sqlHistory.get());
  });
});

describe('the storage of the browser', () => {
  it('that is full, forbidden or of another version stops no page', () => {
    localStorage.setItem(STORED_AS, '{"tabs":');
    expect(readStored(STORED_AS)).toBeNull();
    vi.stubGlobal('localStorage', {
      getItem: () => {
        throw new Error('forbidden');
      },
      setItem: () => {
        throw new Error('full');
      },
      removeItem: () => undefined,
    });
    expect(readStored(STORED_AS)).toBeNull();
    expect(() => writeStored(STORED_AS, [])).not.toThrow();
  });
});

it('a store tells each change once, and no listener that has left', () => {
  const store = createStore(1);
  const heard: number[] = [];
  const leave = store.subscribe((value) => heard.push(value));
  store.set(2);
  store.set(2);
  leave();
  store.set(3);
  expect([heard, store.get()]).toEqual([[2], 3]);
});
