import type { Snapshot } from '../../core/domain/snapshot.ts';
import { allOf, type Sql, sql, text, trustedText, uint32, uint64 } from '../engine/sql.ts';
import { LISTED_NAMES, SETTLEMENTS } from './settlements.ts';
import { type Definitions, dayOf, definitionsOf, type Storage, type Table } from './table.ts';
import { PARTY_COLUMNS, partiesOf } from './wallet-rows.ts';

/** What regrades changed, and the rows of a snapshot made of it (docs/snapshots.md). */

/** How long an older revision is answered. The tables keep a day more. */
export const REVISIONS_KEPT_DAYS = 90;

const { ver: _ver, del: _del, ...FACTS } = definitionsOf(SETTLEMENTS.columns);

/** The version that a row had, and the number of the pass that wrote it anew. */
const KEPT: Definitions = {
  old_ver: 'UInt64 CODEC(Delta, ZSTD(1))',
  old_del: 'UInt8 CODEC(ZSTD(1))',
  pass: 'UInt32 CODEC(Delta, ZSTD(1))',
};

/** A repeat writes a row once more, which replaces itself. */
const kept = (order: string): Storage => ({
  engine: 'ReplacingMergeTree',
  order,
  ttl: `kept_at + toIntervalDay(${REVISIONS_KEPT_DAYS + 1})`,
  settings: { index_granularity: 1024 },
});

/** Each row as it was before a pass regraded it; written before that row is. */
export const SETTLEMENT_HISTORY = {
  name: 'settlement_history',
  columns: {},
  filled: { ...FACTS, ...KEPT, kept_at: "DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))" },
  storage: kept('(block_time, chain, block_number, log_index, old_ver)'),
  placement: dayOf('block_time', 'on the shard of the settlements that it is read with'),
  // After the rows: of each row that a copy has regraded it then has the history.
  backup: 'marks',
} as const satisfies Table;

/** The same by wallet. A view fills it. */
export const WALLET_HISTORY = {
  name: 'wallet_history',
  columns: {},
  filled: { ...PARTY_COLUMNS, ...KEPT, kept_at: "DateTime('UTC') CODEC(Delta, ZSTD(1))" },
  storage: kept('(wallet, block_time, chain, block_number, log_index, role, old_ver)'),
  filledBy: {
    wallet_history_mv: partiesOf('settlement_history', [
      ...Object.keys(PARTY_COLUMNS),
      ...Object.keys(KEPT),
      'kept_at',
    ]),
  },
  placement: { key: 'cityHash64(wallet)', why: 'read together with the rows of the wallet' },
  backup: 'marks',
} as const satisfies Table;

/** Versions that one regraded row can have below the version of its next write (ingest/write/versions.ts). */
const STEP_TEXT = '100000';
/** What all versions of one event share. */
const EVENT_TEXT = `intDiv(ver, ${STEP_TEXT})`;

interface Versioned {
  readonly rows: string;
  readonly history: string;
  /** What names a row, all of it in the sort keys of both. */
  readonly key: string;
  /** Columns of both; `ver` and `del` have other names in the history. */
  readonly columns: string;
}

function without(names: readonly string[], others: readonly string[]): string[] {
  return names.filter((name) => !others.includes(name));
}

const SETTLEMENTS_KEPT: Versioned = {
  rows: 'settlements',
  history: SETTLEMENT_HISTORY.name,
  key: '(block_time, chain, block_number, log_index)',
  columns: without(Object.keys(SETTLEMENTS.columns), ['ver', 'del']).join(', '),
};

const WALLET_ROWS_KEPT: Versioned = {
  rows: 'wallet_rows',
  history: WALLET_HISTORY.name,
  key: '(wallet, block_time, chain, block_number, log_index, role)',
  columns: ['wallet', 'role', 'counterparty', ...without(LISTED_NAMES, ['payer', 'payee'])].join(', '),
};

/**
 * Rows of `settlements` for FROM, tombstones included: as they are, or as a snapshot has them. `conditions` are on the sort key, so that
 * they may be applied before versions are merged.
 */
export function settlementRows(snapshot: Snapshot | undefined, conditions: readonly Sql[]): Sql {
  if (snapshot !== undefined) return rowsOf(SETTLEMENTS_KEPT, snapshot, conditions);
  return sql`(SELECT * FROM settlements FINAL WHERE ${allOf(conditions)})`;
}

/** The same of `wallet_rows`. */
export function walletRows(snapshot: Snapshot | undefined, conditions: readonly Sql[]): Sql {
  if (snapshot !== undefined) return rowsOf(WALLET_ROWS_KEPT, snapshot, conditions);
  return sql`(SELECT *, amount FROM wallet_rows FINAL WHERE ${allOf(conditions)})`;
}

/** Starts the message of the engine where a row of a snapshot was written again: it is not known what it was before. */
export const WRITTEN_AGAIN = 'written after the snapshot';

function rowsOf(table: Versioned, snapshot: Snapshot, conditions: readonly Sql[]): Sql {
  const within = sql`(${inSnapshot(snapshot)})`;
  return versionsOf(table, '', {
    rows: allOf([...conditions, within, isAsItWas(within, snapshot.version)]),
    history: allOf([...conditions, within, sql`pass > ${uint32(snapshot.revision)}`]),
  });
}

/**
 * The rows, and in place of those that were regraded later the oldest version that is kept. One statement reads each table at one
 * moment (enable_shared_storage_snapshot_in_query), the rows first: a pass keeps a row before it writes it, so a row that is read
 * regraded has its history. History of an event that a reorg took stays, and has a lower version than the event that lives.
 */
function versionsOf(
  { rows, history, key, columns }: Versioned,
  database: string,
  conditions: { readonly rows: Sql; readonly history: Sql },
): Sql {
  const [of, names, by] = [trustedText, trustedText(columns), trustedText(key)];
  const live = sql`SELECT ${names}, ver, del FROM ${of(database + rows)} FINAL WHERE ${conditions.rows}`;
  const changed = sql`(SELECT ${by} FROM ${of(database + history)} WHERE ${conditions.history})`;
  return sql`(
    ${live} AND ${by} NOT IN ${changed}
    UNION ALL
    SELECT ${names}, ver, del FROM (
      ${live} AND ${by} IN ${changed}
      UNION ALL
      SELECT ${names}, old_ver AS ver, old_del AS del FROM ${of(database + history)} WHERE ${conditions.history}
    ) ORDER BY ${of(EVENT_TEXT)} DESC, ver LIMIT 1 BY ${of(columnsOf(key))}
  )`;
}

const columnsOf = (key: string): string => key.slice(1, -1);

/** The versions of public tables, for views. Which of them count, the filters say. */
export const SNAPSHOT_TABLES = {
  settlements: SETTLEMENTS_KEPT,
  wallet_settlements: WALLET_ROWS_KEPT,
} as const;

/** As `versionsOf`, over tables of a database and without conditions: the caller sends the conditions of `snapshotFilters` with the statement. */
export function versionsText(table: Versioned, database: string): string {
  const { parts } = versionsOf(table, `${database}.`, { rows: sql`1`, history: sql`1` });
  return parts.filter((part) => typeof part === 'string').join('');
}

/** By stored table, the condition on the rows that the snapshot is made of. Made of numbers and names of chains. */
export function snapshotFilters({ revision, version, chains }: Snapshot): Readonly<Record<string, string>> {
  const within = `(${chains
    .map(
      ({ chain, from, to }) => `(chain = '${chain}' AND block_number >= ${from} AND block_number <= ${to})`,
    )
    .join(' OR ')})`;
  const again = `throwIf(${within} AND ${EVENT_TEXT} > intDiv(toUInt64('${version}'), ${STEP_TEXT}), '${WRITTEN_AGAIN}') = 0`;
  return Object.fromEntries(
    Object.values(SNAPSHOT_TABLES).flatMap(({ rows, history }) => [
      [rows, `${within} AND ${again}`],
      [history, `${within} AND pass > ${revision}`],
    ]),
  );
}

function inSnapshot({ chains }: Snapshot): Sql {
  const ranges = chains.map(
    ({ chain, from, to }) =>
      sql`(chain = ${text(chain)} AND block_number >= ${uint64(from)} AND block_number <= ${uint64(to)})`,
  );
  return ranges.reduce((any, next) => sql`${any} OR ${next}`);
}

/** Regrades leave the whole steps of a version as they are; any other write is above all versions before it. */
function isAsItWas(within: Sql, version: bigint): Sql {
  return sql`throwIf(${within} AND ${trustedText(EVENT_TEXT)} > intDiv(${uint64(version)}, ${trustedText(STEP_TEXT)}), ${text(WRITTEN_AGAIN)}) = 0`;
}
