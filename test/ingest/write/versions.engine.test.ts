import { expect } from 'vitest';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { VERSIONED } from '../../../ingest/write/versions.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';

/** Numbers of passes and moments that are not given by the clock of `Versions`, or that never decide which row is newer. */
const OTHER_NUMBERS = ['schema_migrations'];

test('every table of the schema whose rows have a version is asked for its highest', async ({ engine }) => {
  const { rows } = await engine.reader.rows({
    name: 'versioned-tables',
    sql: sql`SELECT table, name FROM system.columns
      WHERE database = currentDatabase() AND name IN ('ver', 'gen') AND table IN (
        SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')
      ORDER BY table`,
    maxSeconds: 10,
    maxRows: 1_000,
  });
  const inSchema = rows
    .filter(([table]) => !OTHER_NUMBERS.includes(String(table)))
    .map((row) => row.join('.'))
    .toSorted();
  expect(inSchema).toEqual(VERSIONED.map(([table, column]) => `${table}.${column}`).toSorted());
});
