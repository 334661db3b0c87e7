import { expect, test } from 'vitest';
import { replicaStatement } from '../../../clickhouse/migrate/cluster-ddl.ts';

const names = { database: 'app', isReplicated: true };
const made = new Map([
  [
    'hours',
    "CREATE TABLE app_local.hours (`a` UInt8, `b` UInt8) ENGINE = ReplicatedMergeTree('/p', '{replica}') ORDER BY a",
  ],
  [
    'hours_mv',
    'CREATE MATERIALIZED VIEW app_local.hours_mv TO app.hours (`a` UInt8) AS SELECT a FROM app_local.days',
  ],
  ['slices', 'CREATE VIEW app_local.slices (`a` UInt8) AS SELECT a FROM app_local.hours'],
]);
const asReplica = (statement: string): string | null => replicaStatement(statement, { names, made });

test('a table, a view and what fills a table are made as the first replica has them by now', () => {
  expect(asReplica('CREATE TABLE IF NOT EXISTS hours (a UInt8) ENGINE = MergeTree ORDER BY a')).toBe(
    "CREATE TABLE IF NOT EXISTS app_local.hours (`a` UInt8, `b` UInt8) ENGINE = ReplicatedMergeTree('/p', '{replica}') ORDER BY a",
  );
  expect(asReplica('CREATE MATERIALIZED VIEW IF NOT EXISTS hours_mv TO hours AS\nSELECT a FROM days')).toBe(
    'CREATE MATERIALIZED VIEW IF NOT EXISTS app_local.hours_mv TO app.hours (`a` UInt8) AS SELECT a FROM app_local.days',
  );
  expect(asReplica('CREATE OR REPLACE VIEW slices AS SELECT 1')).toBe(
    'CREATE OR REPLACE VIEW app_local.slices (`a` UInt8) AS SELECT a FROM app_local.hours',
  );
});

test('what a later file has dropped is neither made again nor changed', () => {
  expect(asReplica('CREATE TABLE IF NOT EXISTS days (a UInt8) ENGINE = MergeTree ORDER BY a')).toBeNull();
  expect(asReplica('ALTER TABLE days_mv MODIFY QUERY\nSELECT a FROM days')).toBeNull();
});

test.each([
  'ALTER TABLE hours ADD COLUMN IF NOT EXISTS b UInt8',
  'ALTER TABLE hours MATERIALIZE INDEX ix',
  'INSERT INTO hours SELECT a FROM days',
])('what comes through the Keeper is not done twice: %s', (statement) => {
  expect(asReplica(statement)).toBeNull();
});

test.each([
  'ALTER TABLE hours MODIFY SETTING index_granularity = 1',
  'ALTER TABLE hours_mv MODIFY QUERY\nSELECT a, b FROM days',
  'DROP TABLE IF EXISTS days',
])('what each replica has for itself is done on each: %s', (statement) => {
  expect(asReplica(statement)).toBe(statement);
});
