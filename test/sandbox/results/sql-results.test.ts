import { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { columnsOf, jsonAnswer, objectWriter, valueTexts } from '../../../sandbox/results/json-answer.ts';
import { readAhead } from '../../../sandbox/results/read-ahead.ts';
import {
  allRows,
  beforeTotals,
  csvLineEnds,
  type FindLineEnds,
  plainLineEnds,
  wholeRows,
} from '../../../sandbox/results/whole-rows.ts';

/** What leaves of a result: whole rows, every value as the engine wrote it, and the truth about what was left out. */

/** The text in pieces of the given sizes, again and again. */
function inPieces(text: string, sizes: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

const sizesArb = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

async function cut(
  text: string,
  limits: {
    headLines?: number;
    rowsMax?: number;
    sizes?: readonly number[];
    ends?: FindLineEnds;
  },
): Promise<string> {
  const { headLines = 0, rowsMax = 1e9, sizes = [7], ends = plainLineEnds() } = limits;
  return readText(
    Readable.from(wholeRows(Readable.from(inPieces(text, sizes)), ends, { headLines, rowsMax })),
  );
}

describe('whole rows', () => {
  test('whatever the pieces and the limit, that many rows and the lines before them are passed on', async () => {
    const lineArb = fc.string({ unit: 'binary', maxLength: 30 }).map((line) => line.replaceAll('\n', ' '));
    await fc.assert(
      fc.asyncProperty(
        fc.array(lineArb, { maxLength: 30 }),
        sizesArb,
        fc.integer({ min: 0, max: 2 }),
        fc.integer({ min: 0, max: 40 }),
        async (lines, sizes, headLines, rowsMax) => {
          const text = lines.map((line) => `${line}\n`);
          const got = await cut(text.join(''), { headLines, rowsMax, sizes });
          expect(got).toBe(text.slice(0, headLines + rowsMax).join(''));
        },
      ),
    );
  });

  test('a line break inside of a quoted CSV value ends no row, wherever the pieces end', async () => {
    const csv = '"a","b"\n"one\n""two""\n","3"\n4,"x"\n';
    for (const size of [1, 2, 3, 5, 100]) {
      const got = await cut(csv, { headLines: 1, rowsMax: 1, sizes: [size], ends: csvLineEnds() });
      expect(got).toBe('"a","b"\n"one\n""two""\n","3"\n');
    }
  });

  test('a result that ends inside of a row is a failure, not an answer', async () => {
    await expect(cut('whole\nhal', {})).rejects.toThrow('middle of a row');
  });

  test('reading ends once the limit is reached', async () => {
    let read = 0;
    async function* endless() {
      for (;;) {
        read += 1;
        yield Buffer.from('row\n');
      }
    }
    for await (const _ of wholeRows(endless(), plainLineEnds(), { headLines: 0, rowsMax: 3 })) void _;
    expect(read).toBe(4);
  });
});

describe('all rows', () => {
  test('come as they are, the first one whole in the first chunk', async () => {
    const text = '{"a":1,"a":2}\n{"a":3,"a":4}\n';
    for (const size of [1, 3, 14, 100]) {
      const pieces = inPieces(text, [size]);
      const passed: Buffer[] = [];
      for await (const part of allRows(Readable.from(pieces))) passed.push(part);
      expect(String(passed[0])).toMatch(/^\{"a":1,"a":2\}\n/);
      expect(passed.slice(1).every((part) => pieces.includes(part))).toBe(true);
      expect(Buffer.concat(passed).toString()).toBe(text);
    }
    expect(await readText(Readable.from(allRows(Readable.from([]))))).toBe('');
  });

  test('that end inside of a row are a failure, not an answer', async () => {
    for (const text of ['whole\nhal', 'hal'])
      await expect(readText(Readable.from(allRows(Readable.from(inPieces(text, [4])))))).rejects.toThrow(
        'middle of a row',
      );
  });
});

describe('JSON rows', () => {
  test('every value stands in the object as the engine wrote it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        (values, spaced) => {
          const texts = values.map((value) => JSON.stringify(value));
          const line = `[${texts.join(spaced ? ', ' : ',')}]`;
          expect(valueTexts(line)).toEqual(texts);
          const columns = values.map((_, index) => ({ name: `c${index}`, type: 'String' }));
          const row = objectWriter(columns)(line);
          expect(JSON.parse(row)).toEqual(
            JSON.parse(
              JSON.stringify(Object.fromEntries(values.map((value, index) => [`c${index}`, value]))),
            ),
          );
        },
      ),
    );
  });

  test('a number that JavaScript does not hold exactly is not touched', () => {
    const line = '[18446744073709551615, 0.1000000000000000055511151231257827, -0, 1e400]';
    const write = objectWriter(['a', 'b', 'c', 'd'].map((name) => ({ name, type: 'x' })));
    expect(write(line)).toBe(
      '{"a":18446744073709551615,"b":0.1000000000000000055511151231257827,"c":-0,"d":1e400}',
    );
  });

  test('two columns of one name both reach the caller', () => {
    const columns = columnsOf('["n","n","n_2","n"]', '["A","B","C","D"]', { unique: true });
    expect(columns.map(({ name }) => name)).toEqual(['n', 'n_2', 'n_2_2', 'n_3']);
  });
});

async function jsonOf(
  lines: readonly string[],
  over: {
    rows?: 'objects' | 'arrays';
    rowsMax?: number;
    sizes?: readonly number[];
    zeroColumns?: readonly number[];
  } = {},
): Promise<unknown> {
  const { rows = 'objects', rowsMax = 1e9, sizes = [11], zeroColumns } = over;
  const body = Readable.from(inPieces(lines.map((line) => `${line}\n`).join(''), sizes));
  let text = '';
  for await (const part of jsonAnswer(body, {
    rows,
    numbers: 'text',
    rowsMax,
    ...(zeroColumns === undefined ? {} : { zeroColumns }),
    tail: (rowCount, hasZero) => ({ rowCount, ...(zeroColumns === undefined ? {} : { hasZero }) }),
  }))
    text += part;
  return JSON.parse(text);
}

const HEAD = ['["a","b"]', '["UInt64","String"]'];
const COLUMNS = [
  { name: 'a', type: 'UInt64' },
  { name: 'b', type: 'String' },
];

describe('JSON answers', () => {
  test.for([
    ['["1","0"]', [1], true],
    ['["1","0.000000"]', [1], true],
    ['[-0,"1"]', [0], true],
    ['["0","1"]', [1], false],
    ['["1","0.5"]', [0, 1], false],
    ['["1",null]', [0, 1], false],
    ['["00","x0"]', [0, 1], false],
  ] as const)('a zero in %s, columns %j: %s', async ([line, zeroColumns, hasZero]) => {
    for (const rows of ['objects', 'arrays'] as const)
      expect(await jsonOf([...HEAD, '["5","5"]', line, '["5","5"]'], { zeroColumns, rows })).toMatchObject({
        hasZero,
      });
  });

  test('a result without rows is an answer with its columns', async () => {
    const answer = { columns: COLUMNS, rows: [], rowCount: 0 };
    expect(await jsonOf(HEAD)).toEqual(answer);
    expect(await jsonOf(HEAD, { rows: 'arrays', sizes: [1] })).toEqual(answer);
  });

  test('rows are objects or arrays, in every way that the bytes can arrive', async () => {
    const lines = [...HEAD, '["1","x\\ny"]', '["2","é\\"]"]'];
    for (const size of [1, 2, 3, 1000]) {
      expect(await jsonOf(lines, { sizes: [size] })).toEqual({
        columns: COLUMNS,
        rows: [
          { a: '1', b: 'x\ny' },
          { a: '2', b: 'é"]' },
        ],
        rowCount: 2,
      });
      expect(await jsonOf(lines, { rows: 'arrays', sizes: [size] })).toMatchObject({
        rows: [
          ['1', 'x\ny'],
          ['2', 'é"]'],
        ],
      });
    }
  });

  test('of as many rows as are wanted are whole JSON', async () => {
    const lines = [...HEAD, ...Array.from({ length: 50 }, (_, index) => `["${index}","x"]`)];
    for (const rowsMax of [3, 50]) {
      const answer = (await jsonOf(lines, { rowsMax })) as { rows: unknown[]; rowCount: number };
      expect([answer.rowCount, answer.rows.length]).toEqual([rowsMax, rowsMax]);
    }
  });
});

test('bytes read ahead are not lost, and a small stream is known to be whole', async () => {
  async function* of(...parts: string[]) {
    for (const part of parts) yield Buffer.from(part);
  }
  const gather = (stream: AsyncIterable<Buffer>) => readText(Readable.from(stream));
  const small = await readAhead(of('ab', 'cd'), 100);
  expect([small.isWhole, await gather(small.all())]).toEqual([true, 'abcd']);
  const large = await readAhead(of('ab', 'cd', 'ef'), 3);
  expect([large.isWhole, large.begun.length, await gather(large.all())]).toEqual([false, 2, 'abcdef']);
});

test('totals behind the rows of CSV are cut off, wherever the pieces of it end, and a line break in a value is none', async () => {
  const rows = '"chain","c"\n"a\n\nb",1\n"",2\n';
  const whole = Buffer.from(`${rows}\n"",3\n`);
  for (let size = 1; size <= whole.length; size++) {
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
      whole.subarray(at * size, (at + 1) * size),
    );
    expect(await readText(Readable.from(beforeTotals(Readable.from(pieces))))).toBe(rows);
  }
  expect(await readText(Readable.from(beforeTotals(Readable.from([Buffer.from(rows)]))))).toBe(rows);
});
