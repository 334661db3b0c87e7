import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql, uint32, uint64 } from '../../clickhouse/engine/sql.ts';

/** Which documents to fetch next: cards of agents and files of feedback are chosen by the same rules. */

/** What is looked for: up to `filesMax` documents that are due at `now` (Unix seconds), in rows of a version above `since`. */
export interface DueQuery {
  readonly filesMax: number;
  readonly now: number;
  /** 0 for all rows. */
  readonly since: bigint;
}

export interface DueDocuments<Document> {
  readonly due: readonly Document[];
  /** All that are due, these among them. */
  readonly total: number;
}

/** Documents of one kind. */
export interface DueKind<Document> {
  /** Of the statements. */
  readonly name: string;
  readonly table: Sql;
  /** Columns that name a row of it, and those that the lot is drawn by. */
  readonly key: Sql;
  readonly sampleBy: Sql;
  isDue(now: number): Sql;
  /** Columns, FROM and WHERE of the due rows whose keys are in `chosen`, a subquery. */
  select(chosen: Sql, now: number): Sql;
  /** In the words of `select`: what the lot is drawn by, the URI, and what is as good as a host where that has none. */
  readonly selected: { readonly sampleBy: Sql; readonly uri: Sql; readonly hostless: Sql };
  read(row: readonly unknown[]): Document[];
}

const MAX_SECONDS = 60;
const SETTINGS = { max_threads: 1 } as const;
/** Looked at for one batch: enough hosts to choose from. */
const LOOKED_AT_MAX = 2_000;
/** Of one host in a batch: a host with a hundred thousand documents is asked beside the others, not before them. */
const PER_HOST_MAX = 20;

/** Documents that are due, in no order: they are drawn by lot, so that every host gets on in proportion. */
export async function readDueDocuments<Document>(
  writer: Writer,
  kind: DueKind<Document>,
  query: DueQuery,
): Promise<DueDocuments<Document>> {
  const counted = query.since === 0n ? await countDue(writer, kind, query.now) : null;
  if (counted === 0) return { due: [], total: 0 };
  const { rows } = await writer.rows({
    name: `${kind.name}-due`,
    sql: dueSql(kind, query),
    maxSeconds: MAX_SECONDS,
    maxRows: query.filesMax,
    settings: SETTINGS,
  });
  return { due: rows.flatMap(kind.read), total: counted ?? rows.length };
}

async function countDue<Document>(
  writer: Writer,
  { name, table, isDue }: DueKind<Document>,
  now: number,
): Promise<number> {
  const { rows } = await writer.rows({
    name: `${name}-due-count`,
    sql: sql`SELECT count() FROM ${table} FINAL WHERE ${isDue(now)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    settings: SETTINGS,
  });
  return Number(rows[0]?.[0] ?? 0);
}

function dueSql<Document>(kind: DueKind<Document>, { filesMax, now, since }: DueQuery): Sql {
  const { table, key, selected } = kind;
  const lot = (by: Sql): Sql => sql`cityHash64(${by}, ${uint32(now)})`;
  // Keys first: the URIs of half a million documents are not read for a few hundred. Of what was written lately, rows that were
  // replaced since may be among them; they are judged by their newest version in `select`, and no merge of the whole is waited for.
  const rows = since === 0n ? sql`${table} FINAL WHERE` : sql`${table} WHERE ver > ${uint64(since)} AND`;
  const chosen = sql`(SELECT ${key} FROM ${rows} ${kind.isDue(now)} ORDER BY ${lot(kind.sampleBy)} LIMIT ${uint32(LOOKED_AT_MAX)})`;
  return sql`${kind.select(chosen, now)}
    ORDER BY ${lot(selected.sampleBy)}
    LIMIT ${uint32(PER_HOST_MAX)} BY if(startsWith(lower(${selected.uri}), 'http'), domain(${selected.uri}), toString(${selected.hostless}))
    LIMIT ${uint32(filesMax)}`;
}
