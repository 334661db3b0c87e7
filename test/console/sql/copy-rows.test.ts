import { describe, expect, it } from 'vitest';
import { friendlyType } from '../../../console/cells.ts';
import { rowsAs } from '../../../console/sql/copy-rows.ts';
import { NO_CHOICES, shownColumns, togglePin, withWidth } from '../../../console/sql/grid-columns.ts';

const result = {
  columns: [
    { name: 'payee', type: 'LowCardinality(Nullable(String))' },
    { name: 'usd', type: 'Decimal(38, 6)' },
    { name: 'at time', type: 'DateTime' },
    { name: 'payee', type: 'Array(UInt64)' },
  ],
  rows: [
    ["it's\ta", '1234.500000', '2026-11-20T12:00:00Z', ['1', '2']],
    [null, '9', '2026-11-21T12:00:00Z', []],
  ],
};

describe('copied rows', () => {
  it('are one line each as TSV', () => {
    expect(rowsAs('tsv', result)).toBe(
      'payee\tusd\tat time\tpayee\nit\'s a\t1234.500000\t2026-11-20T12:00:00Z\t["1","2"]\n\t9\t2026-11-21T12:00:00Z\t[]',
    );
  });

  it('keep every column as JSON, also of one name', () => {
    expect(Object.keys(JSON.parse(rowsAs('json', result))[0])).toEqual([
      'payee',
      'usd',
      'at time',
      'payee_2',
    ]);
  });

  it('are a query as SQL, with exact values', () => {
    expect(rowsAs('sql', result)).toBe(
      "SELECT * FROM values('payee Nullable(String), usd Decimal(38, 6), `at time` DateTime, payee_2 Array(UInt64)',\n  ('it\\'s\ta', '1234.500000', '2026-11-20 12:00:00', [1, 2]),\n  (NULL, '9', '2026-11-21 12:00:00', [])\n)",
    );
  });
});

describe('columns', () => {
  const columns = ['a', 'b', 'c'].map((name) => ({
    name,
    type: 'String',
    kind: 'text' as const,
    widthCh: 10,
  }));

  it('are shown with the pinned ones first, each at its place', () => {
    const choices = withWidth(togglePin(togglePin(NO_CHOICES, 2), 1), 2, 100);
    const shown = shownColumns(columns, choices);
    expect(shown.map(({ name }) => name)).toEqual(['c', 'b', 'a']);
    expect(shown.map(({ left }) => left)).toEqual(['calc(0px)', 'calc(0px + 100px)', null]);
    expect(shownColumns(columns, togglePin(choices, 2)).map(({ name }) => name)).toEqual(['b', 'a', 'c']);
  });

  it('say their type in words', () => {
    expect(
      ['LowCardinality(Nullable(String))', "DateTime('UTC')", 'UInt256', 'Array(Nullable(Date))'].map(
        friendlyType,
      ),
    ).toEqual(['text', 'time, UTC', 'integer', 'list of date']);
  });
});
