import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineAccess, Writer } from '../../../clickhouse/engine/engine.ts';
import { createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { trustedText } from '../../../clickhouse/engine/sql.ts';
import { baselineStatements } from '../../../clickhouse/migrate/baseline.ts';
import {
  applyMigrations,
  createDatabases,
  readMigrations,
  runDdl,
} from '../../../clickhouse/migrate/migrations.ts';
import { dropDatabase, freshDatabase, testLog } from '../../kit/engine.ts';

/** What all migrations make, compared with the tables as they are declared: in the engine's own words, every clause of them. */

interface Schema {
  readonly access: EngineAccess;
  readonly writer: Writer;
}

let migrated: Schema;
let declared: Schema;
beforeAll(async () => {
  [migrated, declared] = [await emptySchema(), await emptySchema()];
  await applyMigrations(migrated.writer, await readMigrations(), testLog);
  for (const statement of baselineStatements())
    await runDdl(declared.writer, 'declared', trustedText(statement));
});
afterAll(async () => {
  for (const { access, writer } of [migrated, declared]) {
    await dropDatabase(writer, access.database);
    await writer.close();
  }
});

async function emptySchema(): Promise<Schema> {
  const access = freshDatabase();
  await createDatabases(access, [access.database]);
  return { access, writer: createWriter(access) };
}

async function describe({ access, writer }: Schema): Promise<ReadonlyMap<string, string>> {
  const { rows } = await writer.rows({
    name: 'test-schema',
    sql: trustedText(
      "SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase() AND name != 'schema_migrations'",
    ),
    maxSeconds: 10,
    maxRows: 1_000,
  });
  return new Map(
    rows.map(([name, made]) => [String(name), String(made).replaceAll(`${access.database}.`, '')]),
  );
}

/** The names of the tables and views that differ. */
async function differences(): Promise<string[]> {
  const [is, should] = [await describe(migrated), await describe(declared)];
  return [...new Set([...is.keys(), ...should.keys()])]
    .filter((name) => is.get(name) !== should.get(name))
    .sort();
}

test('the migrations make every table and view as it is declared, and nothing else', async () => {
  const [is, should] = [await describe(migrated), await describe(declared)];
  expect(Object.fromEntries(is)).toEqual(Object.fromEntries(should));
  expect(is.size).toBeGreaterThan(80);
});

test.each([
  ['a type', 'ALTER TABLE blocks MODIFY COLUMN time UInt64', 'blocks'],
  ['a codec', 'ALTER TABLE settlements MODIFY COLUMN seen UInt32 CODEC(T64)', 'settlements'],
  ['a default', "ALTER TABLE fences MODIFY COLUMN owner String DEFAULT 'x'", 'fences'],
  ['a column more', 'ALTER TABLE checkpoints ADD COLUMN later UInt8', 'checkpoints'],
  ['an index less', 'ALTER TABLE attestations DROP INDEX ix_tags', 'attestations'],
  ['a time to live', 'ALTER TABLE agents_due MODIFY TTL written_at + INTERVAL 2 HOUR', 'agents_due'],
  ['a setting', 'ALTER TABLE pair_day MODIFY SETTING min_age_to_force_merge_seconds = 1', 'pair_day'],
  [
    'a projection',
    'ALTER TABLE ring_passes ADD PROJECTION p (SELECT method_version, count() GROUP BY method_version)',
    'ring_passes',
  ],
  [
    'the query of what fills a table',
    'ALTER TABLE wallet_seen_mv MODIFY QUERY SELECT payer AS wallet, max(block_time) AS last_time FROM settlements GROUP BY wallet',
    'wallet_seen_mv',
  ],
  ['a view', 'CREATE OR REPLACE VIEW rollup_slices AS SELECT 1', 'rollup_slices'],
  ['a table less', 'DROP TABLE two_way_wallets', 'two_way_wallets'],
  ['a table more', 'CREATE TABLE wallet_log (n UInt8) ENGINE = MergeTree ORDER BY n', 'wallet_log'],
])('%s that is not declared is found', async (_, statement, table) => {
  const before = await differences();
  expect(before).not.toContain(table);
  await runDdl(migrated.writer, 'test-difference', trustedText(statement));
  expect(await differences()).toEqual([...before, table].sort());
});
