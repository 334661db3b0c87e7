import type { FileConfig } from './schema.ts';

/** Whether the keys of a cluster fit together. A URL may hold a secret path, so none is told. */
export function checkCluster(
  { url, cluster, shards, replicated }: FileConfig['clickhouse'],
  problems: string[],
): void {
  if (cluster === null) {
    if (shards.length > 0) problems.push('clickhouse.shards needs clickhouse.cluster');
    if (replicated) problems.push('clickhouse.replicated needs clickhouse.cluster');
    return;
  }
  if (url === null) problems.push('clickhouse.cluster needs clickhouse.url: where questions are sent');
  if (shards.length === 0) problems.push('clickhouse.cluster needs clickhouse.shards: the URLs of its nodes');
  const urls = shards.flat();
  if (!urls.every(isHttpUrl)) problems.push('clickhouse.shards: every entry must be an http or https URL');
  if (new Set(urls).size !== urls.length) problems.push('clickhouse.shards names a node twice');
  if (!replicated && shards.some((replicas) => replicas.length > 1))
    problems.push('clickhouse.shards: without clickhouse.replicated a shard has one node');
}

function isHttpUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
