import { expect, test } from 'vitest';
import {
  allOf,
  dateTime,
  empty,
  render,
  type Sql,
  sql,
  text,
  texts,
  uint8s,
  uint32,
  uint64,
  uint64s,
} from '../../../clickhouse/engine/sql.ts';

test('values become typed placeholders and travel apart from the text', () => {
  const statement = sql`SELECT ${text("'; DROP TABLE x; --")} WHERE n >= ${uint64(7n)} AND t < ${dateTime(1)}`;
  expect(render(statement)).toEqual({
    query: "SELECT {p0:String} WHERE n >= {p1:UInt64} AND t < {p2:DateTime('UTC')}",
    params: { p0: "'; DROP TABLE x; --", p1: '7', p2: '0000000001' },
  });
});

test('nested fragments never share a parameter name, even when one is used twice', () => {
  const condition = sql`chain = ${text('base')}`;
  const both = sql`SELECT ${uint32(1)} WHERE (${condition}) OR (${sql`NOT (${condition})`}) LIMIT ${uint32(2)}`;
  expect(render(both)).toEqual({
    query: 'SELECT {p0:UInt32} WHERE (chain = {p1:String}) OR (NOT (chain = {p2:String})) LIMIT {p3:UInt32}',
    params: { p0: 1, p1: 'base', p2: 'base', p3: 2 },
  });
});

test('conditions are joined with AND, and none at all is true', () => {
  expect(render(allOf([])).query).toBe('1');
  expect(render(allOf([sql`a`])).query).toBe('a');
  expect(render(allOf([sql`a = ${text('x')}`, sql`b`, sql`c = ${text('y')}`]))).toEqual({
    query: 'a = {p0:String} AND b AND c = {p1:String}',
    params: { p0: 'x', p1: 'y' },
  });
});

test('an absent optional part leaves no trace', () => {
  expect(render(sql`SELECT 1${empty}`)).toEqual({ query: 'SELECT 1', params: {} });
});

test('64-bit integers keep every digit', () => {
  const { params } = render(
    sql`${uint64(2n ** 64n - 1n)} ${uint64s([2n ** 63n, 5])} ${uint8s([1])} ${texts(['a'])}`,
  );
  expect(params).toEqual({ p0: '18446744073709551615', p1: [2n ** 63n, 5n], p2: [1], p3: ['a'] });
});

test('text from outside does not compile where a statement or a value is asked for', () => {
  const outside: string = '1; DROP TABLE settlements';
  const run = (statement: Sql): Sql => statement;
  // @ts-expect-error a bare string is not a statement
  run(outside);
  // @ts-expect-error neither is a template literal
  run(`SELECT ${outside}`);
  // @ts-expect-error nor can a bare string be interpolated
  expect(() => render(sql`SELECT ${outside}`)).not.toThrow();
  // @ts-expect-error nor a bare number: its type must be said
  expect(() => render(sql`SELECT ${1}`)).not.toThrow();
  // @ts-expect-error and a look-alike lacks the brand
  run({ kind: 'sql', parts: [outside] });
});
