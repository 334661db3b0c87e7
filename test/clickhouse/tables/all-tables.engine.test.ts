import { base58 } from '@scure/base';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sql, sql, trustedText } from '../../../clickhouse/engine/sql.ts';
import { ALL_TABLES, VERSIONED } from '../../../clickhouse/tables/all-tables.ts';
import { account, type ColumnType, transactionId } from '../../../clickhouse/tables/columns.ts';
import { SETTLEMENTS, writeSettlement } from '../../../clickhouse/tables/settlements.ts';
import {
  columnNames,
  encodeEvents,
  encodeRows,
  insertRows,
  reading,
  type Table,
} from '../../../clickhouse/tables/table.ts';
import { type TestEngine, testEngine } from '../../kit/engine.ts';
import { settlement } from '../../kit/rows.ts';

/** What clickhouse/tables declares, compared with what the migrations make. */

let engine: TestEngine;
/** Columns of every table and view of the migrations, in order. */
let schema: Map<string, { readonly name: string; readonly type: string; readonly hasDefault: boolean }[]>;
beforeAll(async () => {
  engine = await testEngine();
  schema = new Map();
  const rows = await ask(sql`SELECT table, name, type, default_kind FROM system.columns
    WHERE database = currentDatabase() AND table IN (
      SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')
    ORDER BY table, position`);
  for (const [table, name, type, kind] of rows) {
    const columns = schema.get(String(table)) ?? [];
    columns.push({ name: String(name), type: String(type), hasDefault: kind !== '' });
    schema.set(String(table), columns);
  }
  schema.delete('schema_migrations');
});
afterAll(() => engine?.close());

async function ask(statement: Sql): Promise<readonly (readonly unknown[])[]> {
  const { rows } = await engine.writer.rows({
    name: 'test-ask',
    sql: statement,
    maxSeconds: 10,
    maxRows: 10_000,
  });
  return rows;
}

const VIEWS = ['rollup_slices', 'plain_coverage'];
const withColumns = ALL_TABLES.filter((table) => columnNames(table).length > 0);
const named = (tables: readonly Table[]) => tables.map((table) => [table.name, table] as const);

test('every table of the migrations is declared, and nothing else', () => {
  const declared = ALL_TABLES.map(({ name }) => name).filter((name) => !VIEWS.includes(name));
  expect(declared.toSorted()).toEqual([...schema.keys()].toSorted());
});

test.each(named(withColumns))('%s has the declared columns; any other fills itself', (name, table) => {
  const columns = schema.get(name) ?? [];
  const types = new Map(columns.map((column) => [column.name, column.type]));
  const declared = Object.entries(table.columns);
  expect(declared.map(([column, { type }]) => [column, type])).toEqual(
    declared.map(([column]) => [column, types.get(column)]),
  );
  const others = columns.filter((column) => !Object.hasOwn(table.columns, column.name));
  expect(others.filter(({ hasDefault }) => !hasDefault)).toEqual([]);
});

test('every version column is asked for its highest', () => {
  const inSchema = [...schema].flatMap(([table, columns]) =>
    columns.filter(({ name }) => name === 'ver' || name === 'gen').map(({ name }) => `${table}.${name}`),
  );
  expect(VERSIONED.map(([table, column]) => `${table}.${column}`).toSorted()).toEqual(inSchema.toSorted());
});

test('a retraction writes tombstones to every table with rows of blocks, found by time where they have one', () => {
  const inSchema = [...schema].flatMap(([table, columns]) => {
    const names = columns.map(({ name }) => name);
    if (!names.includes('block_number') || !names.includes('del')) return [];
    return [`${table} ${names.includes('block_time') ? 'byTime' : 'byNumber'}`];
  });
  const declared = ALL_TABLES.flatMap(({ name, retraction }) =>
    retraction !== undefined && 'tombstones' in retraction ? [`${name} ${retraction.tombstones}`] : [],
  );
  expect(declared.toSorted()).toEqual(inSchema.toSorted());
});

test('keys are noted before the tombstones that hide them, marks after all that they stand for', () => {
  const order = ALL_TABLES.filter(({ retraction }) => retraction !== undefined).map(({ name }) => name);
  const at = (name: string): number => order.indexOf(name);
  expect(at('retracted_keys')).toBeLessThan(at('settlements'));
  expect(at('hour_ver')).toBeGreaterThan(at('settlements'));
  expect(order.at(-1)).toBe('agent_changes');
});

/** A field as the engine answers it, of each type that a declared column has. */
const FIELDS: Readonly<Record<string, unknown>> = {
  String: '0x00ff7f',
  'LowCardinality(String)': 'eip155:8453',
  'FixedString(32)': `0x${'ef'.repeat(32)}`,
  UInt8: 1,
  UInt16: 65_535,
  UInt32: 4_294_967_295,
  UInt64: '9007199254740991',
  UInt128: `0f${'3c'.repeat(15)}`,
  UInt256: String(2n ** 256n - 1n),
  Int128: String(-(2n ** 127n)),
  Float64: 0.1,
  'Decimal(18, 6)': '-1.000001',
  'Decimal(38, 6)': '123456789012345678901.5',
  "DateTime('UTC')": 1_795_176_000,
  "DateTime64(3, 'UTC')": '1795176000123',
  Date: '2026-11-20',
  'SimpleAggregateFunction(min, Date)': '2026-11-20',
  'Array(String)': ['a', '₮'],
  'Array(LowCardinality(String))': [],
};

const TEXTS_OF_BYTES = {
  'EVM chains': { account: `0x${'12'.repeat(20)}`, transaction: `0x${'ef'.repeat(32)}` },
  Solana: {
    account: base58.encode(new Uint8Array(32).fill(1)),
    transaction: base58.encode(new Uint8Array(64).fill(255)),
  },
};
type Texts = (typeof TEXTS_OF_BYTES)[keyof typeof TEXTS_OF_BYTES];

function fieldOfColumn(column: Pick<ColumnType<unknown>, 'select' | 'type'>, texts: Texts): unknown {
  if (column.select === account.select) return texts.account;
  return column.select === transactionId.select ? texts.transaction : fieldOf(column.type);
}

function fieldOf(type: string): unknown {
  const inner = /^Nullable\((.*)\)$/.exec(type)?.[1];
  if (inner !== undefined) return fieldOf(inner);
  // The last name of a list.
  return /^Enum8\(.*'(\w+)' = \d+\)$/.exec(type)?.[1] ?? FIELDS[type];
}

describe.each(Object.entries(TEXTS_OF_BYTES))('a row of %s is read as it was written', (_chains, texts) => {
  test.each(named(withColumns))('%s', async (_, table) => {
    const fields = Object.values(table.columns).map((column) => fieldOfColumn(column, texts));
    expect(fields).not.toContain(undefined);
    const every = reading(table, columnNames(table));
    const row = every.read(fields);
    await insertRows(engine.writer, { name: 'test-row', table, rows: [row], fixed: {} });
    const rows = await ask(sql`SELECT ${every.columns} FROM ${trustedText(table.name)}`);
    expect(rows.map(every.read)).toContainEqual(row);
  });
});

test('a null in a column that may be empty', () => {
  const columns = ALL_TABLES.flatMap((table) => Object.values(table.columns));
  for (const column of columns.filter(({ type }) => type.startsWith('Nullable')))
    expect(column.read(null)).toBeNull();
});

test('the encoder of settlements that is written by hand gives the bytes that follow from the columns', () => {
  const rows = [settlement(), settlement({ builderApps: 'one,two', seen: 7, amount: 2n ** 200n })];
  const byHand = encodeEvents(rows, writeSettlement, 1).at(77n);
  expect(Buffer.from(byHand).toString('hex')).toBe(
    Buffer.from(encodeRows(SETTLEMENTS, rows, { ver: 77n, del: 1 })).toString('hex'),
  );
});
