import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { columnType } from '../../../sandbox/results/column-type.ts';
import { jsonLines } from '../../../sandbox/results/json-answer.ts';
import { nativeNumbers } from '../../../sandbox/results/native-numbers.ts';

describe('a type', () => {
  test('is read as the engine prints it, over several lines and with any name', () => {
    expect(
      columnType("Tuple(\n    `a, (b)` Array(Nullable(UInt256)),\n    c DateTime64(3, 'UTC'))"),
    ).toMatchObject({
      kind: 'tuple',
      elements: [
        { name: '`a, (b)`', type: { kind: 'array', of: { kind: 'nullable', of: { text: 'UInt256' } } } },
        { name: 'c', type: { kind: 'leaf', text: "DateTime64(3, 'UTC')" } },
      ],
    });
    expect(columnType('Tuple(UInt8, Decimal(38, 6))')).toMatchObject({
      elements: [{ name: null }, { name: null, type: { text: 'Decimal(38, 6)' } }],
    });
    expect(columnType('Map(LowCardinality(String), Tuple(x UInt8))')).toMatchObject({
      key: { kind: 'low_cardinality' },
      value: { kind: 'tuple' },
    });
    const choices = "Enum8('a)' = 1, 'b, \\'c' = 2)";
    expect(columnType(`Array(${choices})`)).toMatchObject({ of: { kind: 'leaf', text: choices } });
    expect(columnType('Tuple()')).toMatchObject({ kind: 'tuple', elements: [] });
  });
});

describe('numbers as numbers', () => {
  test.each([
    ['UInt64', '"0"', '0'],
    ['UInt64', '"9007199254740992"', '9007199254740992'],
    ['UInt64', '"9007199254740993"', '"9007199254740993"'],
    ['Int256', '"-9007199254740992"', '-9007199254740992'],
    ['Int256', '"-9007199254740993"', '"-9007199254740993"'],
    ['Decimal(38, 6)', '"0.000001"', '0.000001'],
    ['Decimal(38, 6)', '"123456789012345"', '123456789012345'],
    ['Decimal(38, 6)', '"1234567890.123456"', '"1234567890.123456"'],
    ['Nullable(UInt64)', 'null', 'null'],
    ['LowCardinality(Nullable(UInt64))', '"7"', '7'],
    ['Array(UInt64)', '["1","18446744073709551615",null]', '[1,"18446744073709551615",null]'],
    ['Tuple(String, UInt64)', '["1","2"]', '["1",2]'],
    ['Tuple(`a b` String, n UInt64)', '{"a b":"1","n":"2"}', '{"a b":"1","n":2}'],
    ['Map(String, UInt64)', '{"1":"2","1":"3"}', '{"1":2,"1":3}'],
    ['Map(UInt64, String)', '{"1":"2"}', '{"1":"2"}'],
    ['Array(Tuple(String, Array(UInt64)))', '[["[1,\\"2",["3"]],["",[]]]', '[["[1,\\"2",[3]],["",[]]]'],
  ])('%s %s is %s', (type, text, expected) => {
    expect(nativeNumbers(type)?.(text) ?? text).toBe(expected);
  });

  test.each([
    'String',
    'Float64',
    'UInt32',
    'Array(String)',
    "Enum8('UInt64' = 1)",
    'AggregateFunction(sum, UInt64)',
  ])('%s is left alone', (type) => expect(nativeNumbers(type)).toBeNull());

  test('every number that becomes one has the value it had', () => {
    const decimal = fc
      .tuple(fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }), fc.integer({ min: 0, max: 20 }))
      .map(([digits, scale]) => {
        const sign = digits < 0n ? '-' : '';
        const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0');
        return scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`;
      });
    fc.assert(
      fc.property(decimal, (text) => {
        const written = nativeNumbers('Decimal(76, 20)')?.(JSON.stringify(text)) ?? '';
        const value: unknown = JSON.parse(written);
        if (typeof value === 'string') expect(value).toBe(text);
        // A double of the same digits: printed with as many, it is the text.
        else expect(value).toBe(Number(text));
        if (typeof value === 'number') expect(Number(value.toPrecision(15))).toBe(value);
      }),
    );
  });
});

describe('lines', () => {
  const HEAD = '["n","s"]\n["UInt64","String"]\n';
  const linesOf = async (text: string, rowsMax: number, size = 7) => {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
      Buffer.from(text.slice(at * size, (at + 1) * size)),
    );
    let out = '';
    for await (const part of jsonLines(Readable.from(pieces), { rowsMax })) out += part.toString();
    return out;
  };

  test('are objects by name, in whatever pieces the engine sends', async () => {
    for (const size of [1, 5, 1_000])
      expect(await linesOf(`${HEAD}["1","2"]\n["18446744073709551615","x"]\n`, 9, size)).toBe(
        '{"n":1,"s":"2"}\n{"n":"18446744073709551615","s":"x"}\n',
      );
    expect(await linesOf(HEAD, 9)).toBe('');
  });

  test('are as many as are wanted', async () => {
    expect(await linesOf(`${HEAD}${'["1","2"]\n'.repeat(5)}`, 3)).toBe('{"n":1,"s":"2"}\n'.repeat(3));
  });
});
