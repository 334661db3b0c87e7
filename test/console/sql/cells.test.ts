import { describe, expect, it } from 'vitest';
import {
  cellAfter,
  cellText,
  gridColumns,
  isAddress,
  kindOf,
  ROW_PX,
  visibleRows,
} from '../../../console/cells.ts';
import { ON_SOLANA, wallet } from '../../kit/rows.ts';

describe('values of SQL answers', () => {
  it('have the kind of their type, whatever wraps it', () => {
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

  it('are wallets in the spelling of either kind of chain', () => {
    const { buyer, signature } = ON_SOLANA;
    const texts = [buyer, wallet(1), `${wallet(1)}0`, signature, 'Weather desk'];
    expect(texts.filter(isAddress)).toEqual([buyer, wallet(1)]);
  });

  it('are written in full: NULL, lists, grouped numbers', () => {
    expect([cellText(null, 'text'), cellText(['a', 1], 'text'), cellText('1234567', 'number')]).toEqual([
      'NULL',
      '["a",1]',
      '1,234,567',
    ]);
  });
});

describe('the grid', () => {
  it('holds only the rows around the visible ones', () => {
    expect(visibleRows({ scrollTop: 0, height: 280, count: 10_000 })).toEqual({ from: 0, to: 18 });
    expect(visibleRows({ scrollTop: 5_000 * ROW_PX, height: 280, count: 10_000 })).toEqual({
      from: 4_992,
      to: 5_018,
    });
    expect(visibleRows({ scrollTop: 0, height: 280, count: 3 })).toEqual({ from: 0, to: 3 });
  });

  it('moves with the keys of a grid, never beyond its edges', () => {
    const grid = { rows: 10, columns: 3, page: 4, hasControl: false };
    expect(cellAfter('ArrowUp', { row: 0, column: 0 }, grid)).toEqual({ row: 0, column: 0 });
    expect(cellAfter('PageDown', { row: 8, column: 1 }, grid)).toEqual({ row: 9, column: 1 });
    expect(cellAfter('End', { row: 2, column: 0 }, { ...grid, hasControl: true })).toEqual({
      row: 9,
      column: 2,
    });
    expect(cellAfter('a', { row: 0, column: 0 }, grid)).toBeNull();
  });

  it('makes a column as wide as its longest value, within bounds', () => {
    const [short, long] = gridColumns({
      columns: [
        { name: 'n', type: 'UInt8' },
        { name: 't', type: 'String' },
      ],
      rows: [[1, 'x'.repeat(500)]],
    });
    expect([short?.widthCh, long?.widthCh]).toEqual([13, 46]);
  });
});
