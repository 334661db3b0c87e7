import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { createLog } from '../../../core/log.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import { NO_REWRITES } from '../../../sandbox/judge/rewrites.ts';
import { WATCHDOG_GRACE_MS } from '../../../sandbox/limits.ts';
import type { OpenSandbox, SandboxOptions } from '../../../sandbox/open.ts';
import { loadPolicy } from '../../../sandbox/policy/policy.ts';
import {
  QueryAbandoned,
  QueryFailed,
  RESULT_FORMATS,
  type SandboxQuery,
  type SandboxResult,
} from '../../../sandbox/sandbox.ts';
import { sandboxOver } from '../../kit/judge.ts';
import { IS_PUSH } from '../../kit/lengths.ts';
import { type SandboxEngine, sandboxEngine } from '../../kit/sandbox-engine.ts';
import { waitUntil } from '../../kit/wait-until.ts';

let engine: SandboxEngine;
let sandbox: OpenSandbox;
const opened: OpenSandbox[] = [];

const open = (options: Partial<SandboxOptions> = {}): OpenSandbox => {
  const one = sandboxOver(engine, options);
  opened.push(one);
  return one;
};

beforeAll(async () => {
  engine = await sandboxEngine();
  sandbox = open();
});
afterAll(async () => {
  await Promise.all(opened.map((one) => one.close()));
  await engine?.close();
});

const NEVER = new AbortController().signal;

/** As if the first wall had let it pass. */
const unjudged = (text: string): Accepted => ({
  text,
  tables: [],
  functions: [],
  parameters: [],
  warnings: [],
  namedConstants: [],
  walletKeys: [],
  rewrites: NO_REWRITES,
  blockRows: 8_192,
  safeToPlan: true,
});

/** Lets every function pass, for texts that only the engine should meet. */
const pinned = loadPolicy();
const LENIENT = { ...pinned, functions: { ...pinned.functions, allows: () => true } };

const asked = (accepted: Accepted, wanted: Partial<SandboxQuery> = {}): SandboxQuery => ({
  accepted,
  parameters: {},
  tier: 'standard',
  format: 'csv',
  maxRows: 1_000,
  caller: 'a',
  ...wanted,
});

async function run(
  text: string,
  wanted: Partial<SandboxQuery> = {},
  signal: AbortSignal = NEVER,
): Promise<SandboxResult> {
  const verdict = await sandbox.inspect({ text, parameters: wanted.parameters ?? {}, caller: 'a' });
  if ('refused' in verdict) throw new Error(JSON.stringify(verdict.refused));
  return sandbox.run(asked(verdict.accepted, wanted), signal);
}

const answer = async (...args: Parameters<typeof run>): Promise<string> =>
  readText((await run(...args)).body);

async function failureOf(running: Promise<unknown>): Promise<unknown> {
  const error = await running.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  );
  return error;
}

/** Queries that run, without those that judge; those that have read so many rows. */
async function queriesOfGuest(rowsRead = sql`0`): Promise<number> {
  const { rows } = await engine.writer.rows({
    name: 'queries-of-guest',
    sql: sql`SELECT count() FROM system.processes WHERE user = 'guest' AND query LIKE 'SELECT sum(%' AND read_rows >= ${rowsRead}`,
    maxSeconds: 5,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}

/** Half a minute of one core at the least, in small steps. */
const LONG = 'SELECT sum(cityHash64(number, number, number)) FROM numbers(1000000000)';
/** One step that looks at no clock: a minute of one core. */
const UNSTOPPABLE =
  "SELECT sum(levenshteinDistance(repeat('a', 60000 + number % 2), repeat('b', 60000))) FROM numbers(1000)";

/** On a busy machine. */
const STEP_BEGINS_WITHIN_MS = 2_000;

describe('an accepted query', () => {
  test('runs, and its figures are known before its body is read', async () => {
    const { body, ...facts } = await run('SELECT number FROM numbers(100000) WHERE number % 2 = 0', {
      maxRows: 7,
    });
    expect(facts).toMatchObject({ resultRows: 7, hasMore: false });
    expect(facts.rowsRead).toBeGreaterThan(0);
    expect(facts.engineMs).toBeGreaterThan(0);
    expect(await readText(body)).toBe('"number"\n0\n2\n4\n6\n8\n10\n12\n');
  });

  test('is given its parameters as they were sent', async () => {
    const v = 'a\\b\t"c\'\n\r{x:y}\0é😀';
    expect(await answer('SELECT length({v:String}) AS n, hex({v:String}) AS h', { parameters: { v } })).toBe(
      `"n","h"\n${Buffer.byteLength(v)},"${Buffer.from(v).toString('hex').toUpperCase()}"\n`,
    );
  });

  test.each([
    ["SELECT * FROM (VALUES (1, 'a'), (2, upper('b'))) AS t(x, y)", '"x","y"\n1,"a"\n2,"B"\n'],
    ["SELECT x FROM (VALUES ('a'), ('b')) AS t(x) WHERE x IN (VALUES ('b'), ('c'))", '"x"\n"b"\n'],
  ])('takes rows that are written out: %s', async (text, csv) => {
    expect(await answer(text)).toBe(csv);
  });

  test.each(RESULT_FORMATS)('answers in %s, also without rows', async (format) => {
    const some = await run('SELECT number, toString(number) AS t FROM numbers(3)', { format });
    expect(some.resultRows).toBe(3);
    expect((await some.body.toArray()).length).toBeGreaterThan(0);
    const none = await run('SELECT payer FROM settlements WHERE 0', { format });
    expect(none.resultRows).toBe(0);
    none.body.resume();
  });

  test('writes numbers that JSON cannot hold exactly as texts', async () => {
    const text =
      "SELECT toUInt64(18446744073709551615) AS a, toDecimal128('1.000001', 6) AS b, nan AS c, toUInt256('115792089237316195423570985008687907853269984665640564039457584007913129639935') AS d, toInt32(-1) AS e";
    expect(await answer(text, { format: 'ndjson' })).toBe(
      '{"a":"18446744073709551615","b":"1.000001","c":"nan","d":"115792089237316195423570985008687907853269984665640564039457584007913129639935","e":-1}\n',
    );
  });

  test('fails above what a result may have in memory, and is not cut', async () => {
    // 10 GB.
    const text = "SELECT number, repeat('x', 10000 + number % 2) AS t FROM numbers(1000000)";
    const error = await failureOf(run(text, { maxRows: 1_000_001, format: 'parquet' }));
    // Whichever is reached first: what the writer of the file keeps, or the size of the result.
    expect(['result_size', 'memory']).toContain((error as QueryFailed).reason);
    expect((error as QueryFailed).figures?.rowsRead).toBeGreaterThan(0);
  });
});

describe('a query that fails', () => {
  test('is stopped by the seconds of its tier, and says what it took until then', async () => {
    const hasty = open({ secondsOf: () => 1 });
    const error = await failureOf(hasty.run(asked(unjudged(LONG)), NEVER));
    expect(error).toBeInstanceOf(QueryFailed);
    const { reason, figures } = error as QueryFailed;
    expect(reason).toBe('timeout');
    expect(figures?.engineMs).toBeGreaterThan(900);
    expect(figures?.engineMs).toBeLessThan(3_000);
    expect(figures?.rowsRead).toBeGreaterThan(0);
  });

  test.each([
    // In blocks of 8,192 rows the first ran on until the engine was started anew, and the second ran out of memory.
    'SELECT max(s) FROM (SELECT min(toString(number)) OVER (ORDER BY number ROWS BETWEEN 1000000 PRECEDING AND CURRENT ROW) AS s FROM numbers(5000000))',
    'SELECT max(s) FROM (SELECT length(groupUniqArray(number) OVER (ORDER BY number ROWS BETWEEN 10000 PRECEDING AND CURRENT ROW)) AS s FROM numbers(5000000))',
  ])('with a frame that moves is stopped in time: %s', async (text) => {
    const hasty = open({ secondsOf: () => 1 });
    const verdict = await hasty.inspect({ text, parameters: {}, caller: 'a' });
    if ('refused' in verdict) throw new Error(JSON.stringify(verdict.refused));
    const error = await failureOf(hasty.run(asked(verdict.accepted), NEVER));
    expect(error).toMatchObject({ name: 'QueryFailed', reason: 'timeout' });
    // By the engine itself, before anybody had to stop it.
    expect((error as QueryFailed).figures?.engineMs).toBeLessThan(1_000 + WATCHDOG_GRACE_MS);
  });

  test('for want of memory leaves the engine to the next', async () => {
    const error = await failureOf(run('SELECT length(groupArray(toString(number))) FROM numbers(100000000)'));
    expect(error).toMatchObject({ name: 'QueryFailed', reason: 'memory' });
    expect(await answer('SELECT 1 AS one')).toBe('"one"\n1\n');
  });

  test('half-way gives no part of an answer', async () => {
    const error = await failureOf(
      open({ policy: LENIENT }).run(
        asked(unjudged('SELECT throwIf(number = 500000) FROM numbers(1000000)'), { maxRows: 1_000_001 }),
        NEVER,
      ),
    );
    expect(error).toBeInstanceOf(QueryFailed);
    expect((error as QueryFailed).figures?.rowsRead).toBeGreaterThan(0);
  });

  test('at analysis has read nothing', async () => {
    const error = await failureOf(run('SELECT payer + 1 FROM settlements'));
    expect(error).toMatchObject({ reason: 'type_error', figures: null });
  });

  test('at the second wall is a hole in the first: the log says so, the caller does not learn it', async () => {
    const lines: string[] = [];
    const watched = open({
      log: createLog('error', 'test', { write: (line: string) => void lines.push(line) }),
    });
    const text = "SELECT count() FROM file('rows.csv', 'CSV', 'a String')";
    const error = await failureOf(watched.run(asked(unjudged(text)), NEVER));
    expect(error).toMatchObject({ name: 'QueryFailed', reason: 'unsupported' });
    expect((error as QueryFailed).detail).not.toContain(engine.access.database);
    expect(lines.join()).toContain('digest');
  });
});

describe('a text that only the second judgement refuses', () => {
  test('is not run, and its place is free again', async () => {
    for (let time = 0; time < 5; time++) {
      const error = await failureOf(sandbox.run(asked(unjudged('SELECT currentUser()')), NEVER));
      expect(error).toMatchObject({ name: 'Refused', refusal: { code: 'function' } });
    }
    await waitUntil('every place is free', () => sandbox.load().running === 0);
  });

  test('is not planned either', async () => {
    const estimating = sandbox.estimate(asked(unjudged('SELECT currentUser()')), NEVER);
    expect(await failureOf(estimating)).toMatchObject({ name: 'Refused' });
  });
});

describe('a caller who leaves', () => {
  test('stops the query within a second; the failure carries the engine time used', async () => {
    const leaving = new AbortController();
    const running = failureOf(run(LONG, {}, leaving.signal));
    await waitUntil('the query runs', async () => (await queriesOfGuest()) > 0);
    leaving.abort();
    const left = performance.now();
    const error = await running;
    expect(error).toBeInstanceOf(QueryAbandoned);
    expect((error as QueryAbandoned).chargedMs).toBeGreaterThan(0);
    await waitUntil('the query is gone', async () => (await queriesOfGuest()) === 0, 1_000);
    expect(performance.now() - left).toBeLessThan(1_000);
  });

  test('before the turn has come has used nothing', async () => {
    const leaving = new AbortController();
    leaving.abort();
    const error = await failureOf(run('SELECT 1', {}, leaving.signal));
    expect(error).toMatchObject({ name: 'QueryAbandoned', chargedMs: null });
  });

  test('with a result unread does not hold up the next query', async () => {
    const unread = await Promise.all(
      [1, 2, 3, 4].map(() =>
        run("SELECT number, repeat('x', 1000 + number % 2) FROM numbers(50000)", { maxRows: 1_000_001 }),
      ),
    );
    expect(await answer('SELECT 2 AS two')).toBe('"two"\n2\n');
    for (const { body } of unread) body.destroy();
  });
});

describe('an engine that does not obey', () => {
  const untilServing = () =>
    waitUntil('the engine serves', () =>
      engine.guest.explain({ name: 'ready', text: 'SELECT 1', maxSeconds: 5 }).then(
        () => true,
        () => false,
      ),
    );

  test('is started anew; queries of other callers are run again, no query of this caller is', async () => {
    const strict = open({ secondsOf: () => 1, killObeyedMaxMs: 500, policy: LENIENT });
    const before = engine.pid();
    const error = await failureOf(strict.run(asked(unjudged(UNSTOPPABLE)), NEVER));
    expect(error).toBeInstanceOf(EngineError);
    await waitUntil('a new engine', () => engine.pid() !== before && engine.pid() !== undefined);
    await waitUntil('it serves again', () =>
      strict.run(asked(unjudged('SELECT 1'), { caller: 'b' }), NEVER).then(
        ({ body }) => body.resume() !== undefined,
        () => false,
      ),
    );
    const again = await failureOf(strict.run(asked(unjudged(UNSTOPPABLE), { caller: 'b' }), NEVER));
    expect(again).toMatchObject({ name: 'QueryFailed', reason: 'unsupported', figures: null });
    const planned = await failureOf(strict.estimate(asked(unjudged(UNSTOPPABLE), { caller: 'b' }), NEVER));
    expect(planned).toMatchObject({ name: 'QueryFailed', reason: 'unsupported' });
    const other = await failureOf(strict.run(asked(unjudged('SELECT 1')), NEVER));
    expect(other).toMatchObject({ name: 'SandboxBusy', reason: 'penalty' });
  });

  test('is known for it also when its caller leaves first', async () => {
    const strict = open({ killObeyedMaxMs: 500, policy: LENIENT });
    const before = engine.pid();
    const leaving = new AbortController();
    const running = failureOf(strict.run(asked(unjudged(`${UNSTOPPABLE} -- left`)), leaving.signal));
    // Its rows are there; between them and its only step it would still see that it was killed.
    await waitUntil('its rows are read', async () => (await queriesOfGuest(sql`1`)) > 0);
    await sleep(STEP_BEGINS_WITHIN_MS);
    leaving.abort();
    expect(await running).toBeInstanceOf(QueryAbandoned);
    await waitUntil('a new engine', () => engine.pid() !== before && engine.pid() !== undefined);
    expect(await failureOf(strict.run(asked(unjudged('SELECT 1')), NEVER))).toMatchObject({
      reason: 'penalty',
    });
  });

  test.skipIf(IS_PUSH)('by an estimate is no other case: it has an end, and its caller waits', async () => {
    const strict = open({ killObeyedMaxMs: 500, policy: LENIENT });
    // The one before this was started a moment ago, and is not asked in vain.
    await untilServing();
    const before = engine.pid();
    const estimate = (text: string) =>
      failureOf(strict.estimate({ accepted: unjudged(text), parameters: {}, caller: 'a' }, NEVER));
    expect(await estimate(`SELECT (${UNSTOPPABLE})`)).toBeInstanceOf(EngineError);
    await waitUntil('a new engine', () => engine.pid() !== before && engine.pid() !== undefined);
    await untilServing();
    expect(await estimate('SELECT 1')).toMatchObject({ reason: 'penalty' });
  });

  test.skipIf(IS_PUSH)(
    'and is not ours: the caller is answered, and the place goes to the next after a while',
    async () => {
      await untilServing();
      const strict = open({
        secondsOf: () => 1,
        killObeyedMaxMs: 300,
        placeKeptMaxMs: 500,
        restartEngine: null,
        policy: LENIENT,
      });
      const error = await failureOf(strict.run(asked(unjudged(`${UNSTOPPABLE} -- remote`)), NEVER));
      expect(error).toBeInstanceOf(EngineError);
      expect(await queriesOfGuest()).toBe(1);
      await waitUntil('its place is given back', () => strict.load().unstoppable === 1);
      // Still counted, because the engine still runs it.
      expect(strict.load()).toMatchObject({ running: 1, unstoppable: 1 });
      await engine.restart();
    },
  );

  test.skipIf(IS_PUSH)(
    'again and again: SQL is for organizations only, and other queries of the service are run again',
    async () => {
      const strict = open({ secondsOf: () => 1, killObeyedMaxMs: 300, policy: LENIENT });
      for (const n of [1, 2, 3]) {
        await untilServing();
        const caller = `ip:10.0.${n}.1`;
        await failureOf(strict.run(asked(unjudged(`${UNSTOPPABLE} -- ${n}`), { caller }), NEVER));
      }
      await untilServing();
      expect(strict.openNow()).toBe('organizations');
      const stranger = await failureOf(
        strict.run(asked(unjudged('SELECT 1'), { caller: 'ip:192.0.2.1' }), NEVER),
      );
      expect(stranger).toMatchObject({ name: 'SandboxBusy', reason: 'organizations_only' });
      const { body } = await strict.run(asked(unjudged('SELECT 1'), { caller: 'org:a' }), NEVER);
      body.resume();
    },
  );
});

describe('a guest that is not what the second wall needs', () => {
  test.each(['writer', 'reader'] as const)('as the %s is, is given no text', async (user) => {
    const lines: string[] = [];
    const log = createLog('error', 'test', { write: (line: string) => void lines.push(line) });
    const careless = open({ access: { ...engine.access, guest: engine.access[user] }, log });
    const notFit = () => lines.filter((line) => line.includes('not fit')).length;
    // An engine that is busy may not answer the check in time: then no text is given either, and it is checked again.
    await waitUntil('the guest was found not fit', async () => {
      expect(
        await failureOf(careless.inspect({ text: 'SELECT 1', parameters: {}, caller: 'a' })),
      ).toBeInstanceOf(EngineError);
      expect(await failureOf(careless.run(asked(unjudged('SELECT 1')), NEVER))).toBeInstanceOf(EngineError);
      return notFit() > 0;
    });
    expect(notFit()).toBe(1);
  });
});
