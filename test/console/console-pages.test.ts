import { describe, expect, it } from 'vitest';
import { aboutText, agoText, groupDigits, shortAddress, timeText, usdText } from '../../console/format.ts';
import { consolePath, matchRoute } from '../../console/routes.ts';
import {
  cellAfter,
  cellText,
  compareValues,
  gridColumns,
  kindOf,
  ROW_PX,
  sortedOrder,
  visibleRows,
} from '../../console/sql/cells.ts';
import { chartPoints, chartSummary, chooseChart } from '../../console/sql/chart-choice.ts';
import {
  findPlaceholders,
  fragmentOf,
  inLines,
  readFragment,
  valuesFor,
} from '../../console/sql/query-text.ts';

describe('what the console writes', () => {
  it('keeps every digit of a decimal', () => {
    expect(groupDigits('340282366920938463463374607431768211455.000001')).toBe(
      '340,282,366,920,938,463,463,374,607,431,768,211,455.000001',
    );
    expect(usdText('12345678901234567890.123456')).toBe('$12,345,678,901,234,567,890.123456');
    expect([usdText(1284.03), usdText(0.000001), usdText('0.5'), usdText(-3)]).toEqual([
      '$1,284.03',
      '$0.000001',
      '$0.50',
      '-$3.00',
    ]);
  });

  it('says about how much with three digits', () => {
    expect([aboutText(7), aboutText(1_234), aboutText(-4_500_000), aboutText(0.00125)]).toEqual([
      '7',
      '1.23k',
      '-4.5M',
      '0.00125',
    ]);
  });

  it('tells times in UTC, and short addresses by their ends', () => {
    expect(timeText('2026-11-20T09:15:04Z')).toBe('2026-11-20 09:15:04 UTC');
    expect(agoText('2026-11-20T09:15:04Z', Date.parse('2026-11-20T09:17:04Z'))).toBe('2 min ago');
    expect(shortAddress('0x4020615294c913f045dc10f0a5cdebd86c280001')).toBe('0x4020…0001');
  });
});

describe('addresses of the console', () => {
  it('match their pattern and nothing else', () => {
    expect(matchRoute('/merchants/:address', '/merchants/0xab')).toEqual({ address: '0xab' });
    expect(matchRoute('/merchants/:address', '/merchants')).toBeNull();
    expect(matchRoute('/merchants/:address', '/agents/0xab')).toBeNull();
    expect(matchRoute('/', '/')).toEqual({});
  });

  it('survive a segment that cannot be decoded', () => {
    expect(matchRoute('/agents/:wallet', '/agents/%E0%A4%A')).toEqual({ wallet: '%E0%A4%A' });
  });

  it('begin with /console as a whole segment', () => {
    expect(['/console', '/console/', '/console/sql', '/consoles', '/'].map(consolePath)).toEqual([
      '/',
      '/',
      '/sql',
      null,
      null,
    ]);
  });
});

describe('values of SQL answers', () => {
  it('are of the kind that the engine’s type says, whatever is around it', () => {
    expect(
      [
        'Nullable(Decimal(38, 6))',
        'LowCardinality(Nullable(String))',
        "DateTime('UTC')",
        'UInt256',
        'Array(UInt8)',
      ].map(kindOf),
    ).toEqual(['number', 'text', 'time', 'number', 'text']);
  });

  it('are ordered digit by digit where a float would lose them', () => {
    expect(compareValues('9007199254740993', '9007199254740992', 'number')).toBe(1);
    expect(compareValues('0.000001', '0.0000010', 'number')).toBe(0);
    expect(compareValues('-2', '-10', 'number')).toBe(1);
    expect(compareValues(1e-9, 2, 'number')).toBe(-1);
    expect(compareValues('inf', '5', 'number')).toBe(1);
  });

  it('are sorted with NULL last in both directions, and equal rows as they came', () => {
    const rows = [
      [null, 'a'],
      ['2', 'b'],
      ['10', 'c'],
      ['2', 'd'],
    ];
    expect(sortedOrder(rows, { column: 0, descending: false }, 'number')).toEqual([1, 3, 2, 0]);
    expect(sortedOrder(rows, { column: 0, descending: true }, 'number')).toEqual([2, 1, 3, 0]);
  });

  it('are shown as they are: NULL, lists, grouped numbers', () => {
    expect([cellText(null, 'text'), cellText(['a', 1], 'text'), cellText('1234567', 'number')]).toEqual([
      'NULL',
      '["a",1]',
      '1,234,567',
    ]);
  });
});

describe('placeholders', () => {
  it('are found once each, and not in strings or comments', () => {
    const sql = `SELECT {wallet:String}, '{no:String}', {n : UInt8} -- {no:Int8}\n/* {no:Int8} */ WHERE a = {wallet:String}`;
    expect(findPlaceholders(sql)).toEqual([
      { name: 'wallet', type: 'String' },
      { name: 'n', type: 'UInt8' },
    ]);
  });

  it('send only values that the query has a place for', () => {
    expect(valuesFor('SELECT {a:String}', { a: '1', b: '2' })).toEqual({ a: '1' });
  });
});

describe('a shared link', () => {
  it('gives back the query, its tier and its values', () => {
    const question = { sql: "SELECT '+&#%\n é'", tier: 'extended', params: { 'a b': '0x1&', c: '' } };
    expect(readFragment(fragmentOf(question))).toEqual(question);
    expect(readFragment('#main')).toBeNull();
  });
});

describe('the table', () => {
  it('holds only the rows around those in sight', () => {
    expect(visibleRows({ scrollTop: 0, height: 280, count: 10_000 })).toEqual({ from: 0, to: 18 });
    expect(visibleRows({ scrollTop: 5_000 * ROW_PX, height: 280, count: 10_000 })).toEqual({
      from: 4_992,
      to: 5_018,
    });
    expect(visibleRows({ scrollTop: 0, height: 280, count: 3 })).toEqual({ from: 0, to: 3 });
  });

  it('is walked with the keys of a grid, never beyond its edges', () => {
    const grid = { rows: 10, columns: 3, page: 4, hasControl: false };
    expect(cellAfter('ArrowUp', { row: 0, column: 0 }, grid)).toEqual({ row: 0, column: 0 });
    expect(cellAfter('PageDown', { row: 8, column: 1 }, grid)).toEqual({ row: 9, column: 1 });
    expect(cellAfter('End', { row: 2, column: 0 }, { ...grid, hasControl: true })).toEqual({
      row: 9,
      column: 2,
    });
    expect(cellAfter('a', { row: 0, column: 0 }, grid)).toBeNull();
  });

  it('gives a column the room of its longest value, within bounds', () => {
    const [short, long] = gridColumns({
      columns: [
        { name: 'n', type: 'UInt8' },
        { name: 't', type: 'String' },
      ],
      rows: [[1, 'x'.repeat(500)]],
    });
    expect([short?.widthCh, long?.widthCh]).toEqual([8, 46]);
  });
});

describe('the first chart', () => {
  const usd = { name: 'usd', type: 'Decimal(38, 6)' };

  it('goes along time where there is one, along names else', () => {
    const day = { name: 'day', type: 'Date' };
    expect(chooseChart({ columns: [usd, day], rows: [['1', '2026-11-01']] })).toEqual({
      kind: 'line',
      x: 1,
      y: [0],
    });
    const payee = { name: 'payee', type: 'String' };
    expect(chooseChart({ columns: [payee, usd], rows: [['a', '1']] })).toEqual({ kind: 'bar', x: 0, y: [1] });
    expect(chooseChart({ columns: [payee], rows: [['a']] })).toBeNull();
  });

  it('says in words what it shows, and draws time forward', () => {
    const result = {
      columns: [{ name: 'day', type: 'Date' }, usd],
      rows: [
        ['2026-11-02', '5.5'],
        ['2026-11-01', null],
        ['2026-11-03', '2'],
      ],
    };
    const choice = { kind: 'line', x: 0, y: [1] } as const;
    const points = chartPoints(result, choice);
    expect(points.map(({ label }) => label)).toEqual(['2026-11-01', '2026-11-02', '2026-11-03']);
    expect(chartSummary(result, choice, points)).toBe(
      'Line chart along day, 3 points: usd from 2 (2026-11-03) to 5.5 (2026-11-02).',
    );
  });
});

describe('an example in the editor', () => {
  it('has its clauses on lines of their own, and its strings whole', () => {
    expect(inLines("SELECT ' FROM a' FROM t WHERE x GROUP BY y")).toBe(
      "SELECT ' FROM a'\nFROM t\nWHERE x\nGROUP BY y",
    );
    expect(inLines('SELECT 1 FROM (SELECT 2 FROM t)')).toBe('SELECT 1 FROM (SELECT 2 FROM t)');
  });
});
