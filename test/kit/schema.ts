import { CATALOGUE_TABLES } from '../../clickhouse/catalogue/tables.ts';
import {
  currentDatabaseOf,
  publicDatabaseOf,
  snapshotDatabaseOf,
} from '../../clickhouse/engine/databases.ts';
import type { EngineAccess } from '../../clickhouse/engine/engine.ts';
import { createWriter } from '../../clickhouse/engine/http-engine.ts';
import { sql, text, trustedText } from '../../clickhouse/engine/sql.ts';
import { migrate } from '../../clickhouse/migrate/migrate.ts';
import { createDatabases } from '../../clickhouse/migrate/migrations.ts';
import { ensureWalletIdKey, WALLET_ID_KEYS } from '../../clickhouse/tables/wallet-ids.ts';
import type { Log } from '../../core/log.ts';

/**
 * The schema as it stands after the last migration. To make it from this takes the engine a third of what all migrations one after the other
 * take; test/clickhouse/migrate runs those.
 */
export interface Schema {
  /** Statements that can run at the same time, group after group; the names of the databases stand for their copies' names. */
  readonly groups: readonly (readonly string[])[];
}

const TEMPLATE = 'test_template';
const OBJECTS_MAX = 1_000;
const SECONDS_MAX = 60;
const CATALOGUE_VIEW = new RegExp(
  `^CREATE VIEW ${publicDatabaseOf(TEMPLATE)}\\.(${CATALOGUE_TABLES.map(({ view }) => view).join('|')}) `,
);
const HISTORY = 'schema_migrations';

/** Migrates a database for it. */
export async function readSchema(engine: EngineAccess, log: Log): Promise<Schema> {
  const access = { ...engine, database: TEMPLATE };
  await migrate(access, log);
  const writer = createWriter(access, log);
  try {
    const { rows } = await writer.rows({
      name: 'test-schema',
      sql: sql`SELECT create_table_query, engine FROM system.tables
               WHERE database IN (${text(TEMPLATE)}, ${text(publicDatabaseOf(TEMPLATE))}, ${text(snapshotDatabaseOf(TEMPLATE))}, ${text(currentDatabaseOf(TEMPLATE))})
               ORDER BY metadata_modification_time, name`,
      maxSeconds: SECONDS_MAX,
      maxRows: OBJECTS_MAX,
    });
    const { rows: history } = await writer.rows({
      name: 'test-schema-history',
      sql: sql`SELECT version, name, checksum FROM schema_migrations FINAL ORDER BY version`,
      maxSeconds: SECONDS_MAX,
      maxRows: OBJECTS_MAX,
    });
    const { made: number, halves } = await ensureWalletIdKey(writer);
    const made = (isWanted: (kind: string) => boolean): string[] =>
      rows.filter(([, kind]) => isWanted(String(kind))).map(([statement]) => String(statement));
    const values = history.map(([version, name, checksum]) => `(${version}, '${name}', '${checksum}')`);
    return {
      groups: [
        made((kind) => !kind.endsWith('View')),
        [
          `INSERT INTO ${TEMPLATE}.${HISTORY} (version, name, checksum) VALUES ${values.join()}`,
          `INSERT INTO ${TEMPLATE}.${WALLET_ID_KEYS.name} VALUES (${[number, ...halves].join()})`,
          ...made((kind) => kind === 'MaterializedView'),
        ],
        // A view may read another one, but the views of the catalogue read none.
        ...made((kind) => kind === 'View')
          .filter((statement) => !CATALOGUE_VIEW.test(statement))
          .map((statement) => [statement]),
        made((kind) => kind === 'View').filter((statement) => CATALOGUE_VIEW.test(statement)),
      ],
    };
  } finally {
    await writer.close();
  }
}

/** Makes the databases of `access` with the schema in them. */
export async function createSchema(access: EngineAccess, { groups }: Schema, log: Log): Promise<void> {
  const { database } = access;
  await createDatabases(access, [
    database,
    publicDatabaseOf(database),
    snapshotDatabaseOf(database),
    currentDatabaseOf(database),
  ]);
  const writer = createWriter(access, log);
  const run = (statement: string): Promise<void> =>
    writer.run({ name: 'test-schema', sql: trustedText(statement), maxSeconds: SECONDS_MAX });
  try {
    for (const group of groups)
      await Promise.all(group.map((statement) => run(statement.replaceAll(TEMPLATE, database))));
  } finally {
    await writer.close();
  }
}
