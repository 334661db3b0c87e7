import type { EngineAccess, EngineCluster } from '../clickhouse/engine/engine.ts';
import type { Config } from '../core/config/config.ts';

/** Users of a remote engine: the reader defaults to the writer, so that one user is enough to begin with. Null: embedded. */
export function remoteAccess({ clickhouse }: Pick<Config, 'clickhouse'>): EngineAccess | null {
  if (clickhouse.url === null) return null;
  const writer = clickhouse.writer ?? { user: 'default', password: '' };
  const reader = clickhouse.reader ?? writer;
  const cluster = clusterOf(clickhouse);
  return {
    url: clickhouse.url,
    database: clickhouse.database,
    writer,
    reader,
    guest: clickhouse.guest ?? reader,
    ...(cluster === null ? {} : { cluster }),
  };
}

function clusterOf({ cluster, shards, replicated }: Config['clickhouse']): EngineCluster | null {
  if (cluster === null) return null;
  const filled = shards.flatMap(([first, ...others]): [string, ...string[]][] =>
    first === undefined ? [] : [[first, ...others]],
  );
  return { name: cluster, shards: filled, isReplicated: replicated };
}
