import type { EngineAccess } from '../engine/engine.ts';
import { createWriter } from '../engine/http-engine.ts';
import { sql, trustedText } from '../engine/sql.ts';
import { runDdl } from './migrations.ts';

/** Atomic always: the embedded engine's `default` database is an Overlay that refuses parts of the DDL. */
export async function createDatabases(access: EngineAccess, names: readonly string[]): Promise<void> {
  // A connection that names a missing database fails whatever it asks; `system` is there on every server.
  const writer = createWriter({ ...access, database: 'system' });
  try {
    for (const name of names) {
      await runDdl(
        writer,
        'create-database',
        sql`CREATE DATABASE IF NOT EXISTS ${trustedText(name)} ENGINE = Atomic`,
      );
    }
  } finally {
    await writer.close();
  }
}
