import { describe, expect, it } from 'vitest';
import { limitMend, mendOf } from '../../../console/sql/mends.ts';
import type { SqlWarning } from '../../../console/wire.ts';

const SCHEMA = {
  tables: [
    { name: 'settlements', columns: [{ name: 'block_time', type: 'DateTime', meaning: '' }] },
    { name: 'merchant_days', columns: [{ name: 'day', type: 'Date', meaning: '' }] },
  ],
} as unknown as Parameters<typeof mendOf>[3];

function mended(
  code: SqlWarning['code'],
  sql: string,
  more: Partial<SqlWarning> = {},
  table = 'settlements',
) {
  const warning: SqlWarning = { code, message: '', ...more };
  return mendOf(warning, { sql }, { tables: [table], advised_tier: 'deep' }, SCHEMA)?.change.sql ?? null;
}

describe('a mend', () => {
  it('writes the literal where the warning points', () => {
    expect(
      mended('constant_matches_nothing', "SELECT 1\nWHERE chain = 'base' AND x = 'base'", {
        position: { line: 2, column: 15 },
        replacement: "'eip155:8453'",
      }),
    ).toBe("SELECT 1\nWHERE chain = 'eip155:8453' AND x = 'base'");
  });

  it('writes NULL where the standard has NULL, where the text still is what the warning names', () => {
    const sql = 'SELECT lag(amount) OVER () FROM t';
    const place = { position: { line: 1, column: 12 }, replacement: 'toNullable(amount)' };
    expect(mended('empty_is_not_null', sql, { ...place, near: 'amount' })).toBe(
      'SELECT lag(toNullable(amount)) OVER () FROM t',
    );
    expect(mended('empty_is_not_null', sql, { ...place, near: 'usd' })).toBeNull();
    expect(mended('empty_is_not_null', sql)).toBeNull();
  });

  it('reads the column and not the alias, and keeps the layout and the comments of the visitor', () => {
    const settings = 'SETTINGS prefer_column_name_to_alias = 1';
    const suggested = `SELECT max(amount) AS amount FROM t WHERE amount > 5 ${settings}`;
    const mine = 'SELECT max(amount) AS amount\nFROM t\nWHERE amount > 5 -- large ones';
    const more = { suggested_sql: suggested };
    expect(mended('alias_hides_column', mine, more)).toBe(`${mine}\n${settings}`);
    for (const end of [';', ' FORMAT JSON', ' SETTINGS max_threads = 1'])
      expect(mended('alias_hides_column', `SELECT 1${end}`, more), end).toBe(suggested);
    expect(mended('alias_hides_column', mine)).toBeNull();
  });

  it('adds a condition on time to a single SELECT of a single table, and keeps an OR together', () => {
    expect(mended('no_time_filter', 'SELECT payee FROM settlements WHERE a OR b GROUP BY payee')).toBe(
      'SELECT payee FROM settlements WHERE block_time >= now() - INTERVAL 30 DAY AND (a OR b)\nGROUP BY payee',
    );
    expect(mended('no_time_filter', 'SELECT 1 FROM merchant_days;', {}, 'merchant_days')).toBe(
      'SELECT 1 FROM merchant_days\nWHERE day >= today() - 30;',
    );
    expect(
      mended('no_time_filter', 'SELECT 1 FROM settlements a JOIN settlements b USING (payee)'),
    ).toBeNull();
  });

  it('counts and groups by ids, and looks one address of each group up', () => {
    expect(
      mended(
        'ids_are_faster',
        'SELECT payee, uniq(payer) AS n FROM settlements GROUP BY payee ORDER BY payee',
      ),
    ).toBe(
      'SELECT any(payee) AS payee, uniq(payer_id) AS n FROM settlements GROUP BY payee_id ORDER BY payee',
    );
    expect(
      mended('ids_are_faster', "SELECT payee FROM settlements WHERE payee != '' GROUP BY payee"),
    ).toBeNull();
  });

  it('removes parts that are ignored, and writes WHERE for PREWHERE', () => {
    expect(mended('format_ignored', 'SELECT 1 FORMAT JSON')).toBe('SELECT 1');
    expect(mended('settings_left_out', 'SELECT 1 SETTINGS max_threads = 1 FORMAT JSON')).toBe(
      'SELECT 1 FORMAT JSON',
    );
    expect(mended('prewhere_as_where', 'SELECT 1 FROM t PREWHERE a')).toBe('SELECT 1 FROM t WHERE a');
    expect(mended('prewhere_as_where', 'SELECT 1 FROM t PREWHERE a WHERE b')).toBeNull();
  });

  it('is none where the visitor has to decide', () => {
    expect(mended('index_lagging', 'SELECT 1')).toBeNull();
  });
});

describe('a LIMIT', () => {
  const many = { rowsToRead: 50_000, rowsMax: 10_000 };

  it('is offered to a list of more rows than are kept, before what stands last', () => {
    expect(
      limitMend({ sql: 'SELECT payer FROM settlements ORDER BY payer SETTINGS x = 1' }, many)?.change.sql,
    ).toBe('SELECT payer FROM settlements ORDER BY payer\nLIMIT 1000\nSETTINGS x = 1');
  });

  it('is not offered where there is one, or where rows are grouped', () => {
    for (const sql of ['SELECT a FROM t LIMIT 5', 'SELECT a FROM t GROUP BY a', 'SELECT count() FROM t'])
      expect(limitMend({ sql }, many), sql).toBeNull();
    expect(limitMend({ sql: 'SELECT a FROM t' }, { ...many, rowsToRead: 10_000 })).toBeNull();
  });
});
