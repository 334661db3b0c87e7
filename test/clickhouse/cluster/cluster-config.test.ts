import { expect, test } from 'vitest';
import { nodesOf, shardsOf } from '../../../clickhouse/engine/nodes.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { UserError } from '../../../core/user-error.ts';
import { remoteAccess } from '../../../src/attach-engine.ts';

const CLUSTER = {
  CLICKHOUSE_URL: 'http://a1:8123',
  CLICKHOUSE_CLUSTER: 'index',
  CLICKHOUSE_SHARDS: 'http://a1:8123|http://a2:8123, http://b1:8123',
  CLICKHOUSE_REPLICATED: 'true',
};

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig({ env });
  } catch (error) {
    if (error instanceof UserError) return error.problems;
    throw error;
  }
  return [];
}

test('shards and their replicas are spelled as the engine spells them', () => {
  const access = remoteAccess(loadConfig({ env: CLUSTER }));
  expect(access?.cluster).toEqual({
    name: 'index',
    shards: [['http://a1:8123', 'http://a2:8123'], ['http://b1:8123']],
    isReplicated: true,
  });
});

test('a part of a cluster is an engine by itself, over its own tables', () => {
  const access = remoteAccess(loadConfig({ env: CLUSTER }));
  if (access === null) throw new Error('no access');
  const parts = (of: typeof nodesOf) =>
    of(access).map(({ url, database, cluster }) => [url, database, cluster]);
  const local = 'settlement_index_local';
  expect(parts(nodesOf)).toEqual([
    ['http://a1:8123', local, undefined],
    ['http://a2:8123', local, undefined],
    ['http://b1:8123', local, undefined],
  ]);
  expect(parts(shardsOf)).toEqual([
    ['http://a1:8123', local, undefined],
    ['http://b1:8123', local, undefined],
  ]);
});

test('an engine by itself has no parts', () => {
  const access = remoteAccess(loadConfig({ env: { CLICKHOUSE_URL: 'http://a1:8123' } }));
  if (access === null) throw new Error('no access');
  expect(access).not.toHaveProperty('cluster');
  expect([...nodesOf(access), ...shardsOf(access)]).toEqual([]);
});

test.each([
  [{ CLICKHOUSE_URL: '' }, 'needs clickhouse.url'],
  [{ CLICKHOUSE_SHARDS: '' }, 'needs clickhouse.shards'],
  [{ CLICKHOUSE_CLUSTER: '' }, 'clickhouse.shards needs clickhouse.cluster'],
  [{ CLICKHOUSE_SHARDS: 'http://a1:8123,secret-host' }, 'must be an http or https URL'],
  [{ CLICKHOUSE_SHARDS: 'http://a1:8123,http://a1:8123' }, 'names a node twice'],
  [{ CLICKHOUSE_REPLICATED: '' }, 'a shard has one node'],
  [{ CLICKHOUSE_CLUSTER: "x', 'y" }, 'clickhouse.cluster'],
  [{ CLICKHOUSE_REPLICATED: 'maybe' }, 'clickhouse.replicated'],
])('%o is refused, and the error names no URL', (env, said) => {
  const problems = problemsOf({ ...CLUSTER, ...env }).join('\n');
  expect(problems).toContain(said);
  expect(problems).not.toMatch(/a1|secret-host/);
});
