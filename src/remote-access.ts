import type { EngineAccess } from '../clickhouse/engine.ts';
import type { Config } from './config/config.ts';

/** Users of a remote engine: the reader defaults to the writer, so that one user is enough to begin with. Null: embedded. */
export function remoteAccess({ clickhouse }: Pick<Config, 'clickhouse'>): EngineAccess | null {
  if (clickhouse.url === null) return null;
  const writer = clickhouse.writer ?? { user: 'default', password: '' };
  const reader = clickhouse.reader ?? writer;
  return {
    url: clickhouse.url,
    database: clickhouse.database,
    writer,
    reader,
    guest: clickhouse.guest ?? reader,
  };
}
