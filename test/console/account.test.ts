import { h } from 'preact';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AccountHead } from '../../console/account/account-head.tsx';
import { session } from '../../console/api.ts';
import { SavedList } from '../../console/sql/saved-list.tsx';
import { unitsText } from '../../console/sql/units.ts';
import { elementsOf, htmlOf, textOf } from '../kit/drawn.ts';

const NO_KEY = session.get();

function tabs(): string[] {
  const path = '/account/jobs';
  return elementsOf(htmlOf(h(AccountHead, { title: 'Jobs', path, children: '' })), '<a').map(textOf);
}

describe('the key that all visitors share', () => {
  beforeEach(() => session.set({ ...NO_KEY, key: 'six_lent', origin: 'visitor' }));
  afterEach(() => session.set(NO_KEY));

  it('has no saved queries, and the list says whose could be saved without asking the API', () => {
    expect(textOf(h(SavedList, { onOpen: () => undefined }))).toContain('This needs a key of your own');
  });

  it('leads to no lists that it does not have; the page that is open keeps its tab', () => {
    expect(tabs()).toEqual(['Account', 'Usage', 'Jobs']);
  });
});

it('a key of one’s own leads to every page of the account', () => {
  session.set({ ...NO_KEY, key: 'six_own', origin: 'entered' });
  expect(tabs()).toEqual(['Account', 'Usage', 'Keys', 'Jobs', 'Queries', 'Saved queries']);
  session.set(NO_KEY);
});

it('units are priced to the millionth of a dollar, without the noise of floats', () => {
  expect([unitsText(3, 0.1), unitsText(7, 0.000001), unitsText(2, null)]).toEqual([
    '3 QU ($0.30)',
    '7 QU ($0.000007)',
    '2 QU',
  ]);
});
