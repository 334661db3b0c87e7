import type Database from 'libsql';
import type { OwnTableRecord, OwnTableStore } from '../own-table-store.ts';
import { type AtOnce, prepare } from './rows.ts';

/** Tables of organizations in SQLite. */

export interface OwnTableWrites {
  readonly putOwnTable: AtOnce<OwnTableStore['put']>;
  readonly removeOwnTable: AtOnce<OwnTableStore['remove']>;
}

const THIS_TABLE = 'organization_id = :organizationId AND name = :name';

export function ownTableWrites(db: Database.Database): OwnTableWrites {
  const organization = prepare<object>(db, 'SELECT 1 FROM organization WHERE id = :organizationId');
  const others = prepare<{ readonly tables: number; readonly bytes: number }>(
    db,
    `SELECT count(*) AS tables, ifnull(sum(bytes), 0) AS bytes FROM own_table
     WHERE organization_id = :organizationId AND name <> :name`,
  );
  const known = prepare<object>(db, `SELECT 1 FROM own_table WHERE ${THIS_TABLE}`);
  const put = prepare(
    db,
    `INSERT OR REPLACE INTO own_table (organization_id, name, id, facts, bytes, at_ms, content)
     VALUES (:organizationId, :name, :id, :facts, :bytes, :atMs, :content)`,
  );
  const remove = prepare(db, `DELETE FROM own_table WHERE ${THIS_TABLE}`);
  return {
    putOwnTable: ({ tablesMax, bytesMax, content, ...table }) => {
      if (organization.one(table) === undefined) return 'unknown_organization';
      const { tables, bytes } = others.one(table) ?? { tables: 0, bytes: 0 };
      if (tables + 1 > tablesMax) return 'too_many';
      if (bytes + table.bytes > bytesMax) return 'too_large';
      const isThere = known.one(table) !== undefined;
      // From the other thread it comes as plain bytes, which libsql does not bind.
      put.run({ ...table, content: Buffer.from(content) });
      return isThere ? 'replaced' : 'created';
    },
    removeOwnTable: (table) => remove.run({ ...table }) === 1,
  };
}

export function ownTableReads(db: Database.Database): {
  readonly listOwnTables: AtOnce<OwnTableStore['list']>;
  readonly ownContent: AtOnce<OwnTableStore['content']>;
} {
  const all = prepare<OwnTableRecord>(
    db,
    `SELECT organization_id AS organizationId, name, id, facts, bytes, at_ms AS atMs FROM own_table
     WHERE organization_id = :organizationId ORDER BY name`,
  );
  const content = prepare<{ readonly content: Uint8Array }>(
    db,
    `SELECT content FROM own_table WHERE ${THIS_TABLE} AND id = :id`,
  );
  return {
    listOwnTables: (organizationId) => all.all({ organizationId }),
    ownContent: (table) => content.one({ ...table })?.content ?? null,
  };
}
