import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { text as readText } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EngineError, type GuestQuery, type QueryKiller } from '../../../clickhouse/engine/engine.ts';
import { createQueryKiller } from '../../../clickhouse/engine/query-killer.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { createGuest } from '../../../clickhouse/guest/engine.ts';
import { QUERIES_AT_ONCE_MAX, RESULT_READ_MAX_SECONDS } from '../../../clickhouse/guest/settings.ts';
import { clusterStatements, guestStatements } from '../../../clickhouse/guest/sql.ts';
import { type SandboxEngine, sandboxEngine } from '../../kit/sandbox-engine.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** What the guest's port promises, whatever stands behind it. */

let engine: SandboxEngine;
let killer: QueryKiller;

beforeAll(async () => {
  engine = await sandboxEngine();
  killer = createQueryKiller(engine.access);
});
afterAll(async () => {
  await killer?.close();
  await engine?.close();
});

const NEVER = new AbortController().signal;
const LONG = 'SELECT sum(cityHash64(number, number, number)) FROM numbers(1000000000)';

const query = (text: string, wanted: Partial<GuestQuery> = {}): GuestQuery => ({
  name: 'contract',
  text,
  queryId: randomUUID(),
  format: 'CSV',
  maxRows: 10,
  maxSeconds: 30,
  ...wanted,
});

async function errorOf(running: Promise<unknown>): Promise<EngineError> {
  const error = await running.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof EngineError)) throw new Error(`not an EngineError: ${String(error)}`);
  return error;
}

describe('a query of the guest', () => {
  test('gives its rows, no more than were asked for, and its figures', async () => {
    const { figures, body } = await engine.guest.query(
      query('SELECT number FROM numbers(100)', { maxRows: 3 }),
      NEVER,
    );
    expect(await readText(body)).toBe('0\n1\n2\n');
    expect(figures.resultRows).toBe(3);
    expect(figures.readRows).toBeGreaterThan(0);
    expect(figures.elapsedMs).toBeGreaterThan(0);
    expect(figures.memoryBytes).toBeGreaterThan(0);
  });

  test('that the engine refuses says so with its code, and that it read nothing', async () => {
    const error = await errorOf(engine.guest.query(query('SELECT nowhere FROM settlements'), NEVER));
    expect(error).toMatchObject({ problem: 'engine_refused', engineCode: 47, figures: { readRows: 0 } });
  });

  test('that its seconds end says what it took', async () => {
    const error = await errorOf(engine.guest.query(query(LONG, { maxSeconds: 1 }), NEVER));
    expect(error).toMatchObject({ problem: 'timeout', engineCode: 159 });
    expect(error.figures?.elapsedMs).toBeGreaterThan(900);
    expect(error.figures?.readRows).toBeGreaterThan(0);
  });

  test('may not ask for more seconds or rows than a guest has', async () => {
    for (const wanted of [{ maxSeconds: 901 }, { maxRows: 1_000_002 }, { maxSeconds: 0 }]) {
      const error = await errorOf(engine.guest.query(query('SELECT 1', wanted), NEVER));
      expect(error.engineCode).toBe(452);
    }
  });

  test('whose caller has left is an abort, before and while it runs', async () => {
    expect((await errorOf(engine.guest.query(query('SELECT 1'), AbortSignal.abort()))).problem).toBe(
      'aborted',
    );
    const leaving = new AbortController();
    const long = query(LONG);
    const running = errorOf(engine.guest.query(long, leaving.signal));
    await waitUntil('it runs', () => killer.isRunning(long.queryId));
    leaving.abort();
    expect((await running).problem).toBe('aborted');
    await waitUntil(
      'the engine has noticed by itself',
      async () => !(await killer.isRunning(long.queryId)),
      2_000,
    );
  });

  test('whose reader pauses gives all of its bytes, and no chunk without any', async () => {
    const wanted = query("SELECT number, repeat('x', 100) FROM numbers(100000)", {
      maxRows: 100_000,
      heldInMemory: true,
    });
    const { body } = await engine.guest.query(wanted, NEVER);
    const chunks: Buffer[] = [];
    for await (const chunk of body) {
      chunks.push(chunk);
      // Until more has come than may wait for a reader; the rest is read faster than it comes.
      if (chunks.length % 20 === 0) for (let turn = 0; turn < 50; turn++) await setImmediate();
    }
    const lines = Array.from({ length: 100_000 }, (_, number) => `${number},"${'x'.repeat(100)}"\n`);
    expect(Buffer.concat(chunks).equals(Buffer.from(lines.join('')))).toBe(true);
    expect(chunks.filter(({ length }) => length === 0)).toEqual([]);
  });

  test('whose reader goes away gives its connection back, or all would be taken soon', async () => {
    const many = () => query('SELECT number FROM numbers(300000)', { maxRows: 300_000, heldInMemory: true });
    for (let left = 0; left <= QUERIES_AT_ONCE_MAX; left++) {
      const { body } = await engine.guest.query(many(), NEVER);
      for await (const _ of body) break;
    }
    const next = await engine.guest.query(query('SELECT 1'), NEVER);
    expect(await readText(next.body)).toBe('1\n');
  });

  test('at an engine that is not there is unreachable', async () => {
    const nowhere = createGuest({ ...engine.access, url: 'http://127.0.0.1:1/' });
    expect((await errorOf(nowhere.query(query('SELECT 1'), NEVER))).problem).toBe('unreachable');
    await nowhere.close();
  });
});

test('the engine waits as long for a slow reader as a result may be read', async () => {
  const { rows } = await engine.writer.rows({
    name: 'send-timeout',
    sql: sql`SELECT value FROM system.settings WHERE name = 'http_send_timeout'`,
    maxSeconds: 5,
    maxRows: 1,
  });
  // The writer has no value of its own: this is the server's.
  expect(Number(rows[0]?.[0])).toBe(RESULT_READ_MAX_SECONDS);
});

describe('the killer', () => {
  test.each(['', '-more'])(
    'ends a query, which says that it was, by the beginning of its id (then %o)',
    async (more) => {
      const queryId = randomUUID();
      const running = errorOf(engine.guest.query(query(LONG, { queryId: `${queryId}${more}` }), NEVER));
      await waitUntil('it reads', async () => ((await killer.progress(queryId))?.readRows ?? 0) > 0);
      await killer.kill(queryId);
      const error = await running;
      expect(error).toMatchObject({ problem: 'aborted', engineCode: 394 });
      expect(error.figures?.readRows).toBeGreaterThan(0);
      await waitUntil('it is gone', async () => !(await killer.isRunning(queryId)), 1_000);
    },
  );

  test('does not mind a query that is not there', async () => {
    await killer.kill(randomUUID());
    expect(await killer.isRunning(randomUUID())).toBe(false);
  });
});

describe('the guest of a remote engine', () => {
  const names = { database: 'settlement_index', guest: 'index_guest', writer: 'index_writer' };
  const statements = [
    ...guestStatements(names),
    ...clusterStatements({ ...names, node: 'index_node', reader: 'index_reader' }),
  ];

  test('is in the operators’ guide as it is here', () => {
    const guide = readFileSync(new URL('../../../docs/operators.md', import.meta.url), 'utf8');
    for (const statement of statements) expect(guide).toContain(`${statement};`);
  });

  test.each(statements)('is made by statements that the engine can read: %s', async (statement) => {
    const hex = Buffer.from(statement).toString('hex');
    const [row] = await engine.guest.explain({
      name: 'statement',
      text: `SELECT formatQuerySingleLine(unhex('${hex}'))`,
      maxSeconds: 5,
    });
    expect(String(row?.[0])).toMatch(/^(CREATE|GRANT|ALTER) /);
  });
});
