import type { Log } from '../../core/log.ts';
import { catalogueViewStatements } from '../catalogue/views.ts';
import { currentDatabaseOf, publicDatabaseOf, snapshotDatabaseOf } from '../engine/databases.ts';
import type { EngineAccess } from '../engine/engine.ts';
import { createWriter } from '../engine/http-engine.ts';
import { trustedText } from '../engine/sql.ts';
import { nodeViewStatements, publicViewStatements } from '../guest/public-views.ts';
import { snapshotViewStatements } from '../guest/views/as-of.ts';
import { currentViewStatement } from '../guest/views/current.ts';
import { type PublicFacts, publicFacts } from '../guest/views/facts.ts';
import { ensureWalletIdKey } from '../tables/wallet-ids.ts';
import { migrateCluster } from './migrate-cluster.ts';
import {
  applyMigrations,
  createDatabases,
  MIGRATIONS_DIRECTORY,
  type Migrated,
  readMigrations,
  runDdl,
} from './migrations.ts';

export interface MigrateOptions {
  /** For tests. */
  readonly directory?: URL;
  /** What the public views know without reading a table; default: the built-in tables. */
  readonly facts?: PublicFacts;
}

/**
 * Creates the databases, migrates the schema and re-creates the public views, on every node of a cluster. Throws `UserError` when an
 * applied file has changed since, `EngineError` when the engine fails.
 */
export async function migrate(
  access: EngineAccess,
  log: Log,
  { directory = MIGRATIONS_DIRECTORY, facts = publicFacts() }: MigrateOptions = {},
): Promise<Migrated> {
  const migrations = await readMigrations(directory);
  if (access.cluster !== undefined)
    return migrateCluster({ ...access, cluster: access.cluster }, migrations, log, facts);
  const { database } = access;
  await createDatabases(access, [
    database,
    publicDatabaseOf(database),
    snapshotDatabaseOf(database),
    currentDatabaseOf(database),
  ]);
  const writer = createWriter(access, log);
  try {
    const migrated = await applyMigrations(writer, migrations, log);
    if (directory.href === MIGRATIONS_DIRECTORY.href) {
      // Not versioned: they derive from declarations, and re-creating an unchanged view costs nothing.
      const idKey = await ensureWalletIdKey(writer);
      for (const view of [
        ...nodeViewStatements(database),
        ...publicViewStatements(database, idKey, facts),
        ...snapshotViewStatements(database, idKey, facts),
        currentViewStatement(database, idKey, facts),
        ...catalogueViewStatements(database),
      ])
        await runDdl(writer, 'declared-view', trustedText(view));
    }
    return migrated;
  } finally {
    await writer.close();
  }
}
