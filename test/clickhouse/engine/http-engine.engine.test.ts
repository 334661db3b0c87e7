import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  EngineError,
  type EngineProblem,
  type Reader,
  type Statement,
} from '../../../clickhouse/engine/engine.ts';
import { createReader, createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { dateTime, sql, text, texts, uint8s, uint64, uint64s } from '../../../clickhouse/engine/sql.ts';
import { type TestEngine, testEngine } from '../../kit/engine.ts';
import { waitUntil } from '../../kit/wait-until.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await testEngine();
  await engine.writer.run({
    ...bounds,
    sql: sql`CREATE TABLE pairs (n UInt64, s String) ENGINE = MergeTree ORDER BY n`,
  });
});
afterAll(() => engine?.close());

const bounds = { name: 'test', maxSeconds: 10, maxRows: 1000 };

/** Runs for minutes unless something stops it. */
const endless = sql`SELECT sum(sipHash64(number)) FROM numbers(200000000000)`;

async function problemOf(promise: Promise<unknown>): Promise<[EngineProblem, number | null]> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof EngineError)) throw error;
  return [error.problem, error.engineCode];
}

describe('rows', () => {
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

  test('half of a character arrives as the sign for one that is none', async () => {
    const { rows } = await engine.reader.rows({ ...bounds, sql: sql`SELECT ${text('a\ud83d')}` });
    expect(rows).toEqual([['a\ufffd']]);
  });

  test('integers of 64 bits and more, and decimals, are text and exact', async () => {
    const statement = sql`SELECT toUInt64(18446744073709551615), toInt64(-9007199254740993),
      toUInt256('115792089237316195423570985008687907853269984665640564039457584007913129639935'),
      toDecimal64('1.500000', 6), toUInt32(4294967295)`;
    const { rows } = await engine.reader.rows({ ...bounds, sql: statement });
    expect(rows[0]).toEqual([
      '18446744073709551615',
      '-9007199254740993',
      '115792089237316195423570985008687907853269984665640564039457584007913129639935',
      '1.5',
      4294967295,
    ]);
  });

  test('tell how much was read', async () => {
    const answer = await engine.reader.rows({
      ...bounds,
      sql: sql`SELECT count() FROM numbers(5000) WHERE number % 2`,
    });
    expect(answer.readRows).toBe(5000);
    expect(answer.readBytes).toBe(40_000);
    expect(answer.elapsedMs).toBeGreaterThan(0);
  });

  test('settings of a statement travel with it, and the name is its log_comment', async () => {
    const statement: Statement = {
      ...bounds,
      name: 'settings-test',
      sql: sql`SELECT getSetting('max_threads'), getSetting('log_comment'), getSetting('readonly')`,
      settings: { max_threads: 3, do_not_merge_across_partitions_select_final: 1 },
    };
    expect((await engine.reader.rows(statement)).rows).toEqual([[3, 'settings-test', 2]]);
  });

  test('a read with the credentials of the writer cannot write', async () => {
    const everything = createReader({ ...engine.access, reader: engine.access.writer });
    const insert = everything.rows({ ...bounds, sql: sql`INSERT INTO pairs SELECT 1, 'x'` });
    expect(await problemOf(insert)).toEqual(['engine_refused', 164]);
    await everything.close();
  });
});

describe('a failure is an EngineError that says whose fault it is', () => {
  const rows = (statement: Partial<Statement>) =>
    engine.reader.rows({ ...bounds, sql: sql`SELECT 1`, ...statement });

  test('a statement over its time is a timeout', async () => {
    expect(await problemOf(rows({ sql: endless, maxSeconds: 0.3 }))).toEqual(['timeout', 159]);
  });

  test('a statement over its memory is memory', async () => {
    const greedy = sql`SELECT count() FROM (SELECT number FROM numbers(20000000) GROUP BY number)`;
    const settings = {
      max_memory_usage: 10_000_000,
      max_bytes_before_external_group_by: 0,
      max_bytes_ratio_before_external_group_by: 0,
    };
    expect(await problemOf(rows({ sql: greedy, settings }))).toEqual(['memory', 241]);
  });

  test('more rows than the bound are refused, never cut', async () => {
    const statement = sql`SELECT number FROM numbers(1001)`;
    expect(await problemOf(rows({ sql: statement }))).toEqual(['engine_refused', 396]);
    expect((await rows({ sql: sql`SELECT number FROM numbers(1000)` })).rows).toHaveLength(1000);
  });

  test('a wrong statement is refused with the engine’s code', async () => {
    expect(await problemOf(rows({ sql: sql`SELECT nothing FROM nowhere` }))).toEqual(['engine_refused', 60]);
    expect(await problemOf(rows({ sql: sql`SELEC` }))).toEqual(['engine_refused', 62]);
  });

  test('an error in the middle of the answer is an error, not a shorter answer', async () => {
    const late = sql`SELECT throwIf(number = 900) FROM numbers(1000)`;
    expect(await problemOf(rows({ sql: late, settings: { max_block_size: 10 } }))).toEqual([
      'engine_refused',
      395,
    ]);
  });

  test('a wrong password is refused', async () => {
    const stranger = createReader({ ...engine.access, reader: { user: 'reader', password: 'wrong' } });
    expect(await problemOf(stranger.ping())).toEqual(['engine_refused', 516]);
    await stranger.close();
  });

  test('no server at the address is unreachable', async () => {
    const { port, close } = await proxy(() => false);
    close();
    const gone = { ...engine.access, url: `http://127.0.0.1:${port}` };
    const reader = createReader(gone);
    const writer = createWriter(gone);
    expect(await problemOf(reader.ping())).toEqual(['unreachable', null]);
    expect(await problemOf(writer.run({ ...bounds, sql: sql`SELECT 1` }))).toEqual(['unreachable', null]);
    expect(await problemOf(writer.insert('i', 'pairs', ['n'], [Buffer.alloc(8)]))).toEqual([
      'unreachable',
      null,
    ]);
    await Promise.all([reader.close(), writer.close()]);
  });

  test('an answer that is not ClickHouse’s is unreachable', async () => {
    const silent = createServer((socket) =>
      socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 5\r\n\r\n<html'),
    );
    const port = await listening(silent);
    const reader = createReader({ ...engine.access, url: `http://127.0.0.1:${port}` });
    expect(await problemOf(reader.ping())).toEqual(['unreachable', null]);
    await reader.close();
    silent.close();
  });

  test.each([
    ['is not in the engine’s format', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'],
    ['is in its format and holds no rows', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'],
    ['breaks off', 'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"data": [[1]]'],
  ])('an answer that %s is unreachable', async (_, answer) => {
    const other = createServer((socket) => socket.on('error', () => undefined).end(answer));
    const reader = createReader({ ...engine.access, url: `http://127.0.0.1:${await listening(other)}` });
    expect(await problemOf(reader.ping())).toEqual(['unreachable', null]);
    await reader.close();
    other.close();
  });

  test('an answer that stops half-way is a timeout, or aborted by the caller', async () => {
    const stalled = createServer((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"data": [[1]]'),
    );
    const reader = createReader({ ...engine.access, url: `http://127.0.0.1:${await listening(stalled)}` });
    const statement = { ...bounds, maxSeconds: 0.1, sql: sql`SELECT 1` };
    const timedOut = problemOf(reader.rows(statement));
    const aborted = problemOf(reader.rows(statement, AbortSignal.timeout(200)));
    expect(await Promise.all([timedOut, aborted])).toEqual([
      ['timeout', null],
      ['aborted', null],
    ]);
    await reader.close();
    stalled.close();
  });

  test('the error names the statement and holds neither password nor address', async () => {
    const error: unknown = await rows({ name: 'my-statement', sql: sql`SELEC` }).catch(
      (reason: unknown) => reason,
    );
    expect(String(error)).toContain('my-statement');
    const everything =
      JSON.stringify(error, Object.getOwnPropertyNames(error)) + String((error as Error).cause);
    expect(everything).not.toContain(engine.access.reader.password);
    expect(everything).not.toContain(new URL(engine.access.url).pathname);
  });
});

describe('abort', () => {
  const running = async (reader: Reader) => {
    const { rows } = await reader.rows({
      ...bounds,
      name: 'look',
      sql: sql`SELECT toUInt32(count()) FROM system.processes WHERE query LIKE '%sipHash64%' AND query NOT LIKE '%processes%'`,
    });
    return rows[0]?.[0];
  };

  test.each(['reader', 'writer'] as const)(
    'by the caller stops the query of a %s in the engine',
    async (who) => {
      // A user sees its own processes only.
      const reader = createReader({ ...engine.access, reader: engine.access[who] });
      const controller = new AbortController();
      const failed = problemOf(reader.rows({ ...bounds, sql: endless, maxSeconds: 60 }, controller.signal));
      await waitUntil('the query runs', async () => (await running(reader)) === 1);
      controller.abort();
      expect(await failed).toEqual(['aborted', null]);
      await waitUntil('the engine has stopped it', async () => (await running(reader)) === 0);
      await reader.close();
    },
  );

  test('before the call asks the engine nothing', async () => {
    const failed = engine.reader.rows({ ...bounds, sql: endless }, AbortSignal.abort());
    expect(await problemOf(failed)).toEqual(['aborted', null]);
    expect(await running(engine.reader)).toBe(0);
  });

  test('an engine that does not answer at all is a timeout', async () => {
    const silent = createServer(() => undefined);
    const port = await listening(silent);
    const reader = createReader({ ...engine.access, url: `http://127.0.0.1:${port}` });
    const asked = reader.rows({ ...bounds, maxSeconds: 0.1, sql: sql`SELECT 1` });
    expect(await problemOf(asked)).toEqual(['timeout', null]);
    await reader.close();
    silent.close();
  });
});

describe('a broken connection', () => {
  test('is retried once for a read', async () => {
    let connections = 0;
    const broken = await proxy(() => ++connections > 1);
    const reader = createReader(atPort(broken.port));
    const { rows } = await reader.rows({ ...bounds, sql: sql`SELECT 7` });
    expect(rows).toEqual([[7]]);
    expect(connections).toBe(2);
    await reader.close();
    broken.close();
  });

  test('that breaks again is unreachable', async () => {
    let connections = 0;
    const broken = await proxy(() => ++connections > 2);
    const reader = createReader(atPort(broken.port));
    expect(await problemOf(reader.ping())).toEqual(['unreachable', null]);
    expect(connections).toBe(2);
    await reader.close();
    broken.close();
  });

  test('is never retried for an insert', async () => {
    let connections = 0;
    const broken = await proxy(() => ++connections > 1);
    const writer = createWriter(atPort(broken.port));
    const insert = writer.insert('insert', 'pairs', ['n'], [Buffer.alloc(8)]);
    expect(await problemOf(insert)).toEqual(['unreachable', null]);
    expect(connections).toBe(1);
    await writer.close();
    broken.close();
  });
});

describe('insert', () => {
  const pair = (n: number, s: string) => {
    const number = Buffer.alloc(8);
    number.writeBigUInt64LE(BigInt(n));
    return Buffer.concat([number, Buffer.from([s.length]), Buffer.from(s)]);
  };
  const stored = async (from: number) =>
    (
      await engine.reader.rows({
        ...bounds,
        sql: sql`SELECT toUInt32(n), s FROM pairs WHERE n >= ${uint64(from)} ORDER BY n`,
      })
    ).rows;

  test('takes chunks, and a stream, whatever their boundaries', async () => {
    const body = Buffer.concat([pair(100, 'a'), pair(101, 'bb')]);
    await engine.writer.insert('insert', 'pairs', ['n', 's'], [body.subarray(0, 3), body.subarray(3)]);
    await engine.writer.insert(
      'insert',
      'pairs',
      ['n', 's'],
      Readable.from([pair(102, 'c'), pair(103, 'd')]),
    );
    expect(await stored(100)).toEqual([
      [100, 'a'],
      [101, 'bb'],
      [102, 'c'],
      [103, 'd'],
    ]);
  });

  test('of nothing asks the engine nothing', async () => {
    const { port, close } = await proxy(() => false);
    const writer = createWriter(atPort(port));
    await expect(writer.insert('insert', 'pairs', ['n', 's'], [])).resolves.toBeUndefined();
    await writer.close();
    close();
  });

  test('that is torn is refused and leaves nothing', async () => {
    const torn = engine.writer.insert(
      'insert',
      'pairs',
      ['n', 's'],
      [pair(200, 'a'), pair(201, 'b').subarray(0, 5)],
    );
    expect((await problemOf(torn))[0]).toBe('engine_refused');
    expect(await stored(200)).toEqual([]);
  });

  test('whose source fails fails and leaves nothing', async () => {
    async function* failing() {
      yield pair(300, 'a');
      throw new Error('the encoder broke');
    }
    await expect(
      engine.writer.insert('insert', 'pairs', ['n', 's'], Readable.from(failing())),
    ).rejects.toThrow();
    expect(await stored(300)).toEqual([]);
  });

  test('takes only names of ours for table and columns', async () => {
    const injected = engine.writer.insert('insert', 'pairs; DROP TABLE pairs', ['n'], [Buffer.alloc(8)]);
    await expect(injected).rejects.toThrow(TypeError);
  });
});

function atPort(port: number) {
  const url = new URL(engine.access.url);
  url.port = String(port);
  return { ...engine.access, url: url.href };
}

/** A TCP proxy before the engine that resets each connection for which `accept` says no. */
async function proxy(accept: () => boolean): Promise<{ port: number; close(): void }> {
  const target = Number(new URL(engine.access.url).port);
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (!accept()) {
      socket.resetAndDestroy();
      return;
    }
    const upstream = connect(target, '127.0.0.1');
    upstream.on('error', () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  return { port: await listening(server), close: () => server.close() };
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no address');
  return address.port;
}
