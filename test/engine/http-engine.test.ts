import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dateTime, sql, text, texts, uint8s, uint64, uint64s } from '../../clickhouse/sql.ts';
import { type TestEngine, testEngine } from '../support/engine.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await testEngine();
});
afterAll(() => engine?.close());

const bounds = { name: 'test', maxSeconds: 10, maxRows: 1000 };

describe('values travel as server-side parameters', () => {
  test('every kind of value arrives as it was sent', async () => {
    const nasty = `quote ' double " back\\slash \t tab \n line {p0:String} 日本`;
    const statement = sql`SELECT ${text(nasty)}, ${uint64(2n ** 64n - 1n)}, toUnixTimestamp(${dateTime(1_700_000_000)}),
      ${texts([nasty, ''])}, ${uint8s([1, 2])}, ${uint64s([2n ** 63n, 1])}, ${dateTime(1_700_000_000)}`;
    const { rows } = await engine.reader.rows({ ...bounds, sql: statement });
    expect(rows).toEqual([
      [
        nasty,
        '18446744073709551615',
        1_700_000_000,
        [nasty, ''],
        [1, 2],
        ['9223372036854775808', '1'],
        '2023-11-14 22:13:20',
      ],
    ]);
  });
});
