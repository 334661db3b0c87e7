import { describe, expect, it } from 'vitest';
import { mergeTabs } from '../../../console/sql/tab-store.ts';
import {
  entryOf,
  newTab,
  readTabs,
  TABS_MAX,
  tabName,
  withEntry,
  withoutTab,
  withTab,
} from '../../../console/sql/tabs.ts';

const list = (...ids: string[]) => ({
  tabs: ids.map((id) => newTab(id, { sql: `SELECT ${id}` })),
  activeId: ids[0] ?? '',
});

describe('open queries', () => {
  it('show the one that is there already in place of a second one', () => {
    const again = withTab(list('a', 'b'), newTab('c', { sql: 'SELECT b', job: 'j' }));
    expect([again.tabs.length, again.activeId, again.tabs[1]?.job]).toEqual([2, 'b', 'j']);
    expect(withTab(list('a'), newTab('c', { sql: 'SELECT a', params: { x: '1' } })).tabs).toHaveLength(2);
    // Empty ones are new each time.
    expect(withTab(withTab(list('a'), newTab('c')), newTab('d')).tabs).toHaveLength(3);
  });

  it('follow the history of the browser to their tab, and an address that names none to its query', () => {
    const shared = { sql: 'SELECT a', tier: 'standard', params: {} };
    const open = list('a', 'b');
    expect(withEntry(open, entryOf({ scroll: 7 }, 'b'), shared)).toEqual({ ...open, activeId: 'b' });
    expect(entryOf({ scroll: 7 }, 'b')).toEqual({ scroll: 7, tab: 'b' });
    for (const state of [null, entryOf(null, 'closed')]) {
      expect(withEntry({ ...open, activeId: 'b' }, state, shared).activeId).toBe('a');
      expect(withEntry(open, state, { ...shared, sql: 'SELECT c' }).tabs).toHaveLength(3);
      expect(withEntry(open, state, null)).toBe(open);
    }
  });

  it('are never none and never more than the most', () => {
    expect(withoutTab(list('a'), 'a', 'z')).toEqual({ tabs: [newTab('z')], activeId: 'z' });
    expect(withoutTab(list('a', 'b', 'c'), 'a', 'z').activeId).toBe('b');
    const full = list(...Array.from({ length: TABS_MAX }, (_, n) => `t${n}`));
    // None goes for a new one.
    expect(withTab(full, newTab('new', { sql: 'SELECT new' }))).toBe(full);
  });

  it('are read from storage, whatever a version before or another program left there', () => {
    expect(readTabs(JSON.parse(JSON.stringify(list('a', 'b'))))).toEqual(list('a', 'b'));
    expect(readTabs({ tabs: [{ id: 'a', sql: 'x', tier: 't', params: {} }, 7], activeId: 'gone' })).toEqual({
      tabs: [newTab('a', { sql: 'x', tier: 't' })],
      activeId: 'a',
    });
    for (const odd of [null, 7, {}, { tabs: [] }, { tabs: [{}] }]) expect(readTabs(odd)).toBeNull();
  });

  it('are called by their visitor, their first comment, or their table', () => {
    expect(tabName({ name: 'Mine', sql: '' })).toBe('Mine');
    expect(tabName({ name: null, sql: '-- top payees\nSELECT 1' })).toBe('top payees');
    expect(tabName({ name: null, sql: "SELECT ' FROM x' FROM wallets" })).toBe('wallets');
    expect(tabName({ name: null, sql: 'SELECT 1' })).toBe('New query');
  });
});

describe('open queries of two windows', () => {
  const at = (id: string, changedAt: number, sql = `SELECT ${id}`) => newTab(id, { sql, changedAt });
  const textsOf = (merged: ReturnType<typeof mergeTabs>) => merged.tabs.map(({ sql }) => sql);

  it('are the queries of both, each in its later state', () => {
    const own = { tabs: [at('a', 1), at('b', 5, 'mine')], activeId: 'a' };
    const theirs = { tabs: [at('a', 1), at('b', 3, 'older'), at('c', 4)], activeId: 'c' };
    const merged = mergeTabs(own, theirs, {});
    expect(textsOf(merged)).toEqual(['SELECT a', 'mine', 'SELECT c']);
    expect(merged.activeId).toBe('a');
    expect(textsOf(mergeTabs(theirs, own, {}))).toEqual(['SELECT a', 'mine', 'SELECT c']);
  });

  it('keep what this window shows, whatever another one wrote', () => {
    const own = { tabs: [at('a', 1, 'being typed')], activeId: 'a' };
    expect(textsOf(mergeTabs(own, { tabs: [at('a', 9, 'later')], activeId: 'a' }, { a: 10 }))).toEqual([
      'being typed',
    ]);
  });

  it('lose those that one of them closed since they were changed, and no others', () => {
    const own = { tabs: [at('a', 1), at('b', 2), at('c', 8)], activeId: 'a' };
    expect(textsOf(mergeTabs(own, own, { b: 5, c: 5 }))).toEqual(['SELECT a', 'SELECT c']);
  });
});
