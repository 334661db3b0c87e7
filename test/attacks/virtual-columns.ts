import { type Attack, harmless, refused } from './attack.ts';

/** Columns that tables have besides their own; `_database` of a view gives the name of its database away. */

const column = (what: string, text: string, raw: Attack['raw'] = 'denied') =>
  refused('virtual_column', what, text, raw);

export const virtualColumns: readonly Attack[] = [
  column('the database', 'SELECT _database FROM settlements', 'tells'),
  column('the table', 'SELECT _table FROM settlements', 'harmless'),
  column('the part', 'SELECT _part FROM settlements'),
  column('the place in the part', 'SELECT _part_offset, _part_index, _part_uuid FROM settlements'),
  column('the partition', 'SELECT _partition_id, _partition_value FROM settlements'),
  column('rows that were deleted', 'SELECT count() FROM settlements WHERE _row_exists = 0'),
  column('the factor of a sample', 'SELECT sum(_sample_factor) FROM settlements SAMPLE 1/10'),
  column('the block', 'SELECT _block_number, _block_offset FROM settlements'),
  column('the disk', 'SELECT _disk_name FROM settlements'),
  column('the file', 'SELECT _file, _path, _size, _time FROM numbers(1)'),
  column('behind a table', 'SELECT s._database FROM settlements AS s', 'tells'),
  column('in quotes', 'SELECT `_database` FROM settlements', 'tells'),
  column('in WHERE', "SELECT count() FROM settlements WHERE _database LIKE 'i%'", 'harmless'),
  column('in ORDER BY', 'SELECT chain FROM settlements ORDER BY _database', 'harmless'),
  column('in GROUP BY', 'SELECT count() FROM settlements GROUP BY _database', 'harmless'),
  column(
    'in USING',
    "SELECT count() FROM settlements JOIN (SELECT 'guess' AS _database) AS g USING (_database)",
    'harmless',
  ),
  column('in REPLACE', 'SELECT * REPLACE (_database AS payer) FROM settlements', 'tells'),
  column('in a lambda', 'SELECT arrayMap(x -> _database, [1]) FROM settlements', 'tells'),
  column('in COLUMNS', 'SELECT COLUMNS(_database, _table) FROM settlements', 'tells'),
  column('in COLUMNS behind a table', 'SELECT COLUMNS(s._database) FROM settlements AS s', 'tells'),
  column(
    'with an alias of that name elsewhere',
    'SELECT _database FROM settlements WHERE (SELECT 1 AS _database) = 1',
    'tells',
  ),
  column(
    'with a lambda’s argument of that name elsewhere',
    'SELECT _database, arrayMap(_database -> 1, [1]) FROM settlements',
    'tells',
  ),
  column('even as an alias of its own', 'SELECT payer AS _database, _database FROM settlements', 'harmless'),
  column('an underscore that nobody declared', 'SELECT _secret FROM settlements'),
  harmless(
    'an underscore that the query declares',
    'it is the alias',
    'SELECT payer AS _p FROM settlements ORDER BY _p',
  ),
  harmless('what an asterisk shows', 'an asterisk gives no virtual column', 'SELECT * FROM facilitators'),
  harmless(
    'what a pattern shows',
    'a pattern finds no virtual column',
    "SELECT COLUMNS('^_|chain') FROM facilitators",
  ),
];
