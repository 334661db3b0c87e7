import { describe, expect, test } from 'vitest';
import {
  createdTable,
  crossingTarget,
  droppedTable,
  localStatement,
} from '../../../clickhouse/migrate/cluster-ddl.ts';
import { readMigrations } from '../../../clickhouse/migrate/migrations.ts';
import { PLACEMENTS } from '../../../clickhouse/tables/all-tables.ts';

const statements = (await readMigrations()).flatMap((migration) => migration.statements);
const alone = { database: 'app', isReplicated: false };
const replicated = { database: 'app', isReplicated: true };

describe('statements of the files on a node', () => {
  test('are the same but for the views whose rows belong to other shards', () => {
    const changed = statements.filter((statement) => localStatement(statement, alone) !== statement);
    expect(changed.map((statement) => /^.* AS$/m.exec(localStatement(statement, alone))?.[0])).toEqual([
      'CREATE MATERIALIZED VIEW IF NOT EXISTS wallet_rows_mv TO app.wallet_rows AS',
      'CREATE MATERIALIZED VIEW IF NOT EXISTS channel_rows_mv TO app.channel_rows AS',
      'CREATE MATERIALIZED VIEW IF NOT EXISTS wallet_history_mv TO app.wallet_history AS',
    ]);
    expect(changed.map(crossingTarget)).toEqual(['wallet_rows', 'channel_rows', 'wallet_history']);
  });

  test('with a Keeper every table is a replica of its shard, and keeps its parameters', () => {
    const tables = statements.filter((statement) => createdTable(statement) !== null);
    const engines = tables.map((statement) =>
      /ENGINE = .*/.exec(localStatement(statement, replicated))?.[0].replace(/;?$/, ''),
    );
    for (const [at, engine] of engines.entries())
      expect(engine).toMatch(
        new RegExp(
          `^ENGINE = Replicated\\w*MergeTree\\('/clickhouse/tables/\\{shard\\}/app_local/${createdTable(tables[at] ?? '')}', '\\{replica\\}'`,
        ),
      );
    expect(engines).toContain(
      "ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/app_local/settlements', '{replica}', ver)",
    );
    const bare = tables.findIndex((statement) => /ENGINE = MergeTree\b/.test(statement));
    expect(engines[bare]).toMatch(/'\{replica\}'\)$/);
  });

  test('with a Keeper other statements stay as they are', () => {
    const others = statements.filter((statement) => createdTable(statement) === null);
    expect(others.length).toBeGreaterThan(15);
    for (const statement of others)
      expect(localStatement(statement, replicated)).toBe(localStatement(statement, alone));
  });
});

test('a table that a file drops is dropped over all nodes, too', () => {
  expect(droppedTable('DROP TABLE IF EXISTS wallet_log')).toBe('wallet_log');
  expect(droppedTable('ALTER TABLE settlements DROP INDEX IF EXISTS ix_tx_text')).toBeNull();
});

test('every table of the files that is still there has a placement', () => {
  const dropped = new Set(
    statements.flatMap((statement) => /^DROP TABLE IF EXISTS (\w+)/.exec(statement)?.[1] ?? []),
  );
  const made = statements.flatMap((statement) => createdTable(statement) ?? []);
  expect(made.filter((name) => !dropped.has(name) && !(name in PLACEMENTS))).toEqual([]);
});
