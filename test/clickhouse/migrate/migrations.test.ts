import { expect, test } from 'vitest';
import { readMigrations } from '../../../clickhouse/migrate/migrations.ts';

const migrations = await readMigrations();

/** ClickHouse has neither transactional DDL nor locks here: a migration that was killed half-way is simply run again. */
const REPEATABLE = [
  /^CREATE (TABLE|VIEW|MATERIALIZED VIEW|DICTIONARY) IF NOT EXISTS /,
  /^CREATE OR REPLACE (VIEW|DICTIONARY|FUNCTION) /,
  /^DROP (TABLE|VIEW|DICTIONARY) IF EXISTS /,
  /^ALTER TABLE \w+ (ADD (COLUMN|INDEX|PROJECTION) IF NOT EXISTS|(DROP|CLEAR) (COLUMN|INDEX|PROJECTION) IF EXISTS|MATERIALIZE (INDEX|COLUMN)|MODIFY|COMMENT) /,
];

test.each(
  migrations.flatMap(({ version, name, statements }) =>
    statements.map((statement, index) => ({ title: `${version}-${name} statement ${index + 1}`, statement })),
  ),
)('$title may run again', ({ statement }) => {
  expect(
    REPEATABLE.some((form) => form.test(statement)),
    statement,
  ).toBe(true);
});

test('migrations are numbered from one without gaps', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1));
});
