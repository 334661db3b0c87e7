import type { OwnTableRecord, OwnTableStore } from '../own-table-store.ts';
import { numberOf, oneOf, type RedisConnection, textOf } from './connection.ts';
import type { Names } from './layout.ts';

/** Tables of organizations in Redis. Their content is base64, since scripts and commands take texts. */
export function redisOwnTables(redis: RedisConnection, names: Names): OwnTableStore {
  const find = async (organizationId: string, name: string): Promise<OwnTableRecord | null> => {
    const key = names.ownTable(ownTableEntry({ organizationId, name }));
    const [id, facts, bytes, atMs] = await redis.run((client) =>
      client.hmget(key, 'id', 'facts', 'bytes', 'atMs'),
    );
    if (id == null) return null;
    return {
      ...{ organizationId, name, id },
      facts: textOf(facts),
      bytes: numberOf(bytes),
      atMs: numberOf(atMs),
    };
  };
  return {
    put: async ({ organizationId, name, id, facts, bytes, atMs, content, tablesMax, bytesMax }) => {
      const keys = [
        names.organization(organizationId),
        names.ownTable(ownTableEntry({ organizationId, name })),
        names.ownTablesOf(organizationId),
      ];
      const packed = Buffer.from(content).toString('base64');
      const values = [name, id, facts, bytes, atMs, packed, tablesMax, bytesMax];
      return oneOf(
        ['created', 'replaced', 'too_many', 'too_large', 'unknown_organization'],
        await redis.script('putOwnTable', keys, values),
      );
    },
    list: async (organizationId) => {
      const listed = await redis.run((client) => client.hkeys(names.ownTablesOf(organizationId)));
      const found = await Promise.all(listed.sort().map((name) => find(organizationId, name)));
      return found.filter((table) => table !== null);
    },
    content: async ({ id, ...table }) => {
      const key = names.ownTable(ownTableEntry(table));
      const [known, content] = await redis.run((client) => client.hmget(key, 'id', 'content'));
      return known === id && content != null ? Buffer.from(content, 'base64') : null;
    },
    remove: async (table) => {
      const keys = [names.ownTable(ownTableEntry(table)), names.ownTablesOf(table.organizationId)];
      return (await redis.script('removeOwnTable', keys, [table.name])) === 1;
    },
  };
}

/** Names a table among the tables of all organizations. */
function ownTableEntry({ organizationId, name }: Pick<OwnTableRecord, 'organizationId' | 'name'>): string {
  return `${encodeURIComponent(organizationId)}/${name}`;
}
