import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import {
  currentDatabaseOf,
  publicDatabaseOf,
  snapshotDatabaseOf,
} from '../../clickhouse/engine/databases.ts';
import type { EngineAccess, Reader, Writer } from '../../clickhouse/engine/engine.ts';
import { createReader, createWriter } from '../../clickhouse/engine/http-engine.ts';
import { sql, trustedText } from '../../clickhouse/engine/sql.ts';
import type { Log } from '../../core/log.ts';
import { createSchema } from './schema.ts';
import { watchedLog, watchSecret } from './secrets-watch.ts';

export interface TestEngine {
  readonly access: EngineAccess;
  readonly database: string;
  readonly writer: Writer;
  readonly reader: Reader;
  /** Drops the database. */
  close(): Promise<void>;
}

export const testLog: Log = watchedLog('test', 'warn');

/** The run's engine with a fresh database that has the schema. For `beforeAll`; call `close()` in `afterAll`. */
export async function testEngine(): Promise<TestEngine> {
  return openTestEngine(await freshSchema());
}

/** A fresh database of the run's engine that has the schema. */
export async function freshSchema(): Promise<EngineAccess> {
  const access = freshDatabase();
  await createSchema(access, inject('schema'), testLog);
  return access;
}

/** The run's engine with the name of a database that does not exist yet. */
export function freshDatabase(): EngineAccess {
  const access = inject('engineAccess');
  for (const { password } of [access.reader, access.writer]) watchSecret(password);
  return { ...access, database: `test_${randomBytes(6).toString('hex')}` };
}

function openTestEngine(access: EngineAccess): TestEngine {
  const writer = createWriter(access, testLog);
  const reader = createReader(access, testLog);
  return {
    access,
    database: access.database,
    writer,
    reader,
    async close() {
      await dropDatabase(writer, access.database);
      await Promise.all([reader.close(), writer.close()]);
    },
  };
}

/** Drops a test's database and the one of its public views. */
export async function dropDatabase(writer: Writer, database: string): Promise<void> {
  for (const name of [
    currentDatabaseOf(database),
    snapshotDatabaseOf(database),
    publicDatabaseOf(database),
    database,
  ]) {
    await writer.run({
      name: 'drop-test-database',
      sql: sql`DROP DATABASE IF EXISTS ${trustedText(name)} SYNC`,
      maxSeconds: 30,
    });
  }
}
