import { h } from 'preact';
import { describe, expect, it, test } from 'vitest';
import { ApiProblem } from '../../../console/api.ts';
import { type Column, DataTable, type DataTableProps } from '../../../console/components/data-table.tsx';
import type { List } from '../../../console/components/list-state.tsx';
import { isSortable, sortedRows } from '../../../console/components/table-sort.tsx';
import { elementsOf, htmlOf, textOf } from '../../kit/drawn.ts';

interface Seller {
  readonly name: string;
  readonly usd: number;
  readonly chain: string;
}

const SELLERS: readonly Seller[] = [
  { name: 'Maps', usd: 2, chain: 'Base' },
  { name: 'Weather', usd: 10, chain: 'Polygon' },
  { name: 'Search', usd: 2, chain: 'Base' },
];
const COLUMNS: readonly Column<Seller>[] = [
  { name: 'Seller', isRowHeader: true, cell: ({ name }) => name },
  {
    name: 'Settled',
    isFigure: true,
    unit: 'USDC',
    cell: ({ usd }) => usd,
    compare: (a, b) => a.usd - b.usd,
    sortKey: 'settled',
  },
  { name: 'Chain', priority: 3, cell: ({ chain }) => chain },
];
const LIST: List = { what: 'sellers', meta: null, problem: null, reload: () => undefined };
const BUSY = new ApiProblem(
  { title: 'Busy', status: 503, code: 'overloaded', detail: 'Too many queries.' },
  7,
);

function table(props: Partial<DataTableProps<Seller>>): string {
  const own = { caption: 'Sellers', columns: COLUMNS, rows: SELLERS, keyOf: ({ name }: Seller) => name };
  return htmlOf(h(DataTable<Seller>, { ...own, ...props }));
}

describe('rows that are sorted', () => {
  const namesOf = (sorting: Parameters<typeof sortedRows>[2]): string[] =>
    sortedRows(SELLERS, COLUMNS, sorting).map(({ name }) => name);

  it('are in the order of their column; equal ones keep theirs in both directions', () => {
    expect(namesOf({ name: 'Settled', isDescending: false })).toEqual(['Maps', 'Search', 'Weather']);
    expect(namesOf({ name: 'Settled', isDescending: true })).toEqual(['Weather', 'Maps', 'Search']);
  });

  it('stay as they came without a choice, and by a column that cannot be compared', () => {
    expect(namesOf(null)).toEqual(['Maps', 'Weather', 'Search']);
    expect(namesOf({ name: 'Chain', isDescending: true })).toEqual(['Maps', 'Weather', 'Search']);
  });

  it('leave the list of the page as it was', () => {
    const before = [...SELLERS];
    namesOf({ name: 'Settled', isDescending: true });
    expect(SELLERS).toEqual(before);
  });
});

describe('headers', () => {
  const api = {
    by: 'settled',
    isDescending: true,
    to: (by: string, down: boolean) => `/sellers?by=${by}&down=${down}`,
  };

  it('sort by button among the rows shown, and are texts where a column has no order', () => {
    const [, settled = '', chain = ''] = elementsOf(table({}), 'scope="col"');
    expect(settled).toContain('<button');
    expect(settled).toContain('aria-sort="none"');
    expect(chain).not.toMatch(/<(button|a)/);
  });

  it('are links where the API sorts: the current one turns round, another begins with the largest', () => {
    const [, current = ''] = elementsOf(table({ sort: api }), 'scope="col"');
    expect(current).toContain('aria-sort="descending"');
    expect(current).toContain('href="/console/sellers?by=settled&amp;down=false"');
    const [, other = ''] = elementsOf(table({ sort: { ...api, by: 'name' } }), 'scope="col"');
    expect(other).toContain('aria-sort="none"');
    expect(other).toContain('down=true"');
  });

  it('do not sort by a key of the API on a page that the API does not sort', () => {
    expect(isSortable({ name: 'a', sortKey: 'a' }, undefined)).toBe(false);
    expect(isSortable({ name: 'a', sortKey: 'a' }, api)).toBe(true);
  });
});

test('each cell has the name of its column, for cards, and its unit', () => {
  const html = table({});
  expect(elementsOf(html, 'data-name="Settled"').map(textOf)).toEqual(['2 USDC', '10 USDC', '2 USDC']);
  expect(elementsOf(html, 'scope="row"').map(textOf)).toEqual(['Maps', 'Weather', 'Search']);
});

describe('a list', () => {
  it('that is read for the first time shows its headers, and tells screen readers', () => {
    const html = table({ rows: null, list: LIST, skeletonRows: 2 });
    expect(html).toContain('aria-busy="true"');
    expect(textOf(html)).toBe('Loading sellers … Sellers Seller Settled Chain');
    expect(elementsOf(html, 'inert')).toHaveLength(2);
  });

  it('that could not be read shows the problem in place of rows', () => {
    const html = table({ rows: null, list: { ...LIST, problem: BUSY } });
    expect(textOf(html)).toContain('Too many queries.');
    expect(html).not.toContain('<table');
  });

  it('keeps the rows of before when a refresh fails, below the problem', () => {
    expect(textOf(table({ list: { ...LIST, problem: BUSY } }))).toMatch(/Too many queries\..*Weather/);
  });

  it.each([
    ['nothing has been indexed', { meta: { dataset_last_written_at: null } }, 'Nothing has been indexed yet'],
    ['the filters leave nothing', { isFiltered: true }, 'No sellers match these filters'],
    ['there is nothing of the kind', {}, 'No sellers There are none on the indexed chains'],
  ])('without rows says that %s', (_, fields, text) => {
    expect(textOf(table({ rows: [], list: { ...LIST, ...fields } }))).toContain(text);
  });

  it('offers further pages even where the filters left nothing of this one', () => {
    const paging = { hasMore: true, isLoading: false, more: () => undefined };
    const text = textOf(table({ rows: [], list: { ...LIST, isFiltered: true, paging } }));
    expect(text).toContain('No sellers match these filters');
    expect(text).toContain('0 sellers shown Show more');
  });

  it('says when it is complete, and asks for no page twice', () => {
    const paging = { hasMore: false, isLoading: false, more: () => undefined };
    expect(textOf(table({ list: { ...LIST, paging } }))).toContain('3 sellers shown, that is all');
    const reading = table({ list: { ...LIST, paging: { ...paging, hasMore: true, isLoading: true } } });
    expect(elementsOf(reading, 'class="button" disabled').map(textOf)).toEqual(['Loading …']);
  });

  it('links to the pages before and after it, with the filters of its address', () => {
    const at = (offset: string, nextOffset: number | null): string => {
      const query = new URLSearchParams({ chain: 'eip155:137', ...(offset === '' ? {} : { offset }) });
      return table({ list: { ...LIST, paging: { path: '/sellers', query, limit: 50, nextOffset } } });
    };
    const hrefs = (html: string): string[] =>
      [...html.matchAll(/<a href="([^"]*)" class="button"/g)].map(([, href = '']) =>
        href.replaceAll('&amp;', '&'),
      );
    expect(hrefs(at('100', 150))).toEqual([
      '/console/sellers?chain=eip155%3A137&offset=50',
      '/console/sellers?chain=eip155%3A137&offset=150',
    ]);
    expect(textOf(at('100', 150))).toContain('101 to 103');
    // The first page has one address.
    expect(hrefs(at('50', null))).toEqual(['/console/sellers?chain=eip155%3A137']);
    expect(at('', null)).not.toContain('list-foot');
  });
});
