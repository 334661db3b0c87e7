import { randomInt } from 'node:crypto';
import type { Row, RunStatement, Writer } from '../../clickhouse/engine/engine.ts';
import {
  commaList,
  dateTime,
  type Sql,
  type SqlValue,
  sql,
  text,
  trustedText,
  uint64,
} from '../../clickhouse/engine/sql.ts';
import type { Table } from '../../clickhouse/tables/table.ts';

/**
 * Tables that are computed anew as a whole. A pass writes its rows under a generation of its own (column `gen`, which is also their
 * partition), publishes them by one row of the table of passes, and drops the generations that no reader reads any more. A pass that is
 * killed at any point leaves the published one as it was, and rows that the next pass drops. Any number of workers may run passes at once.
 *
 *   const RINGS: DerivedTable = { name: 'ring', rows: [WALLET_RINGS], passes: RING_PASSES };
 *   const gen = await derive(writer, RINGS, { fresh: BigInt(nowMs), write: async (gen) => ({ rings: uint64(await insert(gen)) }) });
 */
export interface DerivedTable {
  /** The names of its statements begin with it. */
  readonly name: string;
  /** Each with column `gen`. */
  readonly rows: readonly Table[];
  readonly passes: Table;
  /** Where passes of several kinds share the tables: the column of all of them that tells this kind, and its value. */
  readonly kind?: { readonly column: string; readonly value: SqlValue };
  /** How many published generations stay, for readers that are under way. */
  readonly generationsKept?: number;
  /** Condition on the generations to drop, where it does not follow from their order. */
  readonly isOld?: Sql;
}

/** Columns of the row that publishes a pass. */
export type PassColumns = Readonly<Record<string, SqlValue | Sql>>;

/** A generation that is still to be drawn. */
export interface Draw {
  /** The generation, unless others are above it: the time, or a version. */
  readonly fresh: bigint;
  /** From how many generations a pass draws its own: of two workers that begin in the same moment only so many in one meet. */
  readonly spread?: number;
  /** How many generations right below its own a pass takes too, for rows that it does not publish. */
  readonly stages?: number;
}

export interface Computation extends Draw {
  /** Writes the rows. */
  readonly write: (gen: bigint) => Promise<PassColumns>;
}

/** What rows are computed from. While the newest pass has the same, there is nothing to compute. */
export interface Basis {
  /** A text that changes with what is read: column `basis` of the passes. */
  readonly of: Sql;
  /** Unix seconds up to which rows are read: column `until` of the passes. */
  readonly until?: number;
  /** Asked after the basis is read and before the rows are: whether everything that it stands for can be read. */
  readonly isReady?: () => Promise<boolean>;
}

const MAX_SECONDS = 60;
/** There are more than a handful only where workers died again and again. */
const GENERATIONS_MAX = 10_000;
const GENERATIONS_KEPT = 2;
const GENERATION_SPREAD = 1_000_000;

/** One pass: draws a generation, has its rows written, publishes it, drops the old ones. Returns the generation. */
export async function derive(writer: Writer, table: DerivedTable, computation: Computation): Promise<bigint> {
  const gen = await drawGeneration(writer, table, computation);
  await publish(writer, table, gen, await computation.write(gen));
  await dropOldGenerations(writer, table);
  return gen;
}

/** The same, unless the published pass has the same basis (`current`) or the basis is not ready (`waiting`). */
export async function deriveIfChanged(
  writer: Writer,
  table: DerivedTable,
  { basis, write, ...draw }: Computation & { readonly basis: Basis },
): Promise<bigint | 'current' | 'waiting'> {
  const { columns, isCurrent } = await readBasis(writer, table, basis);
  if (isCurrent) return 'current';
  if (basis.isReady !== undefined && !(await basis.isReady())) return 'waiting';
  return derive(writer, table, { ...draw, write: async (gen) => ({ ...columns, ...(await write(gen)) }) });
}

/** Above every generation of these tables. Drawn, because under one generation the rows of two workers would count as one pass. */
export async function drawGeneration(
  writer: Writer,
  { name, passes, rows }: DerivedTable,
  { fresh, spread = GENERATION_SPREAD, stages = 0 }: Draw,
): Promise<bigint> {
  const newest = [passes, ...rows].map((table) => sql`(SELECT max(gen) FROM ${trustedText(table.name)})`);
  const [field] = await readRow(writer, `${name}-generation`, sql`greatest(${commaList(newest)})`);
  const next = BigInt(String(field ?? 0)) + 1n;
  return (fresh > next ? fresh : next) + BigInt(stages + randomInt(spread));
}

/** The moment from which readers see the pass. */
export async function publish(
  writer: Writer,
  { name, passes, kind }: DerivedTable,
  gen: bigint,
  columns: PassColumns,
): Promise<void> {
  const row = { gen: uint64(gen), ...(kind === undefined ? {} : { [kind.column]: kind.value }), ...columns };
  await writer.run({
    name: `${name}-publish`,
    maxSeconds: MAX_SECONDS,
    sql: sql`INSERT INTO ${trustedText(passes.name)} (${trustedText(Object.keys(row).join(', '))}) SELECT ${commaList(Object.values(row))}`,
  });
}

/** Runs the statements of a pass one after the other. */
export async function runInTurn(
  writer: Writer,
  statements: readonly RunStatement[],
  signal?: AbortSignal,
): Promise<void> {
  for (const statement of statements) {
    signal?.throwIfAborted();
    await writer.run(statement);
  }
}

export async function countRows(writer: Pick<Writer, 'rows'>, { name }: Table, gen: bigint): Promise<number> {
  const [count] = await readRow(
    writer,
    `${dashed(name)}-count`,
    sql`count() FROM ${trustedText(name)} WHERE gen = ${uint64(gen)}`,
  );
  return Number(count);
}

/**
 * Drops the generations below the published one, but for the newest published ones, which readers may still be reading. Generations above
 * the published one belong to a pass that another worker is writing.
 */
export async function dropOldGenerations(writer: Writer, table: DerivedTable): Promise<void> {
  const { generationsKept = GENERATIONS_KEPT } = table;
  const passes = trustedText(table.passes.name);
  const among = isOfKind(table);
  const isOld =
    table.isOld ??
    sql`${among} AND gen < (SELECT max(gen) FROM ${passes} WHERE ${among})
        AND gen NOT IN (SELECT gen FROM ${passes} WHERE ${among} ORDER BY gen DESC LIMIT ${uint64(generationsKept)})`;
  for (const { name } of table.rows) {
    const old = await writer.rows({
      name: `${dashed(name)}-old`,
      maxSeconds: MAX_SECONDS,
      maxRows: GENERATIONS_MAX,
      sql: sql`SELECT DISTINCT gen FROM ${trustedText(name)} WHERE ${isOld}`,
    });
    for (const [gen] of old.rows) {
      const partition = BigInt(String(gen));
      await writer.dropPartition({
        name: `${dashed(name)}-drop`,
        table: name,
        partition,
        maxSeconds: MAX_SECONDS,
      });
    }
  }
}

async function readBasis(
  writer: Writer,
  table: DerivedTable,
  { of, until }: Basis,
): Promise<{ readonly columns: PassColumns; readonly isCurrent: boolean }> {
  const mark = until === undefined ? sql`0` : sql`toUnixTimestamp(until)`;
  const newest = sql`(SELECT argMax((basis, ${mark}), gen) FROM ${trustedText(table.passes.name)} WHERE ${isOfKind(table)})`;
  const [basis, published] = await readRow(writer, `${table.name}-basis`, sql`${of}, ${newest}`);
  const [publishedBasis, publishedUntil] = Array.isArray(published) ? published : [];
  return {
    columns: { ...(until === undefined ? {} : { until: dateTime(until) }), basis: text(String(basis)) },
    isCurrent: publishedBasis === basis && Number(publishedUntil) === (until ?? 0),
  };
}

function isOfKind({ kind }: DerivedTable): Sql {
  return kind === undefined ? sql`1` : sql`${trustedText(kind.column)} = ${kind.value}`;
}

/** The first row of a `SELECT`. */
async function readRow(writer: Pick<Writer, 'rows'>, name: string, columns: Sql): Promise<Row> {
  const { rows } = await writer.rows({
    name,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT ${columns}`,
  });
  return rows[0] ?? [];
}

function dashed(table: string): string {
  return table.replaceAll('_', '-');
}
