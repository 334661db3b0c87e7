import { expect, test } from 'vitest';
import { readMigrations } from '../../../clickhouse/migrate/migrations.ts';

const migrations = await readMigrations();

/** ClickHouse has neither transactional DDL nor locks here: a migration that was killed half-way is simply run again. */
const REPEATABLE = [
  /^CREATE (TABLE|VIEW|MATERIALIZED VIEW|DICTIONARY) IF NOT EXISTS /,
  /^CREATE OR REPLACE (VIEW|DICTIONARY|FUNCTION) /,
  /^DROP (TABLE|VIEW|DICTIONARY) IF EXISTS /,
  // Into tables that keep the maximum, or one of equal rows: the same rows again change nothing.
  /^INSERT INTO (hour_ver|wallet_seen|transaction_times) SELECT /,
  // The same versions of the same rows: one of them is kept.
  /^INSERT INTO wallet_rows \([\w, ]+\)\nSELECT [^;]+\nFROM wallet_log WHERE /,
  /^INSERT INTO agent_feedback_files SELECT \* FROM feedback_files$/,
  // Makes every agent due once more: deriving one again changes nothing.
  /^INSERT INTO agent_changes SELECT chain, agent_id, 1 AS changes, /,
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
