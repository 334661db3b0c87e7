import { PassThrough } from 'node:stream';
import { afterEach, describe, expect } from 'vitest';
import type { Guard, Writer } from '../../../clickhouse/engine/engine.ts';
import { guardedWriter, highestToken, isOfScope, Overtaken } from '../../../clickhouse/engine/guard.ts';
import { sql, text } from '../../../clickhouse/engine/sql.ts';
import { SETTLEMENTS, type Settlement } from '../../../clickhouse/tables/settlements.ts';
import { columnNames, encodeRows, insertRows } from '../../../clickhouse/tables/table.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { engineLeases } from '../../../ingest/coordinate/engine.ts';
import { type Lead, lead } from '../../../ingest/coordinate/lead.ts';
import { decodeContextOf } from '../../../ingest/decode/context.ts';
import { createChainStatus } from '../../../ingest/follow/chain-status.ts';
import { createEvmWindows } from '../../../ingest/follow/evm-windows.ts';
import { createPipeline } from '../../../ingest/follow/pipeline.ts';
import { saveStatus } from '../../../ingest/follow/status-report.ts';
import { createCatalogueHolder } from '../../../ingest/grading/catalogue.ts';
import { createBatchWriter } from '../../../ingest/write/batch-writer.ts';
import { claimFence, publishedPass, raiseGrades, writeFence } from '../../../ingest/write/fence.ts';
import { retractAbove } from '../../../ingest/write/retract.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { batchOf, TOKENS, transfer, used, wallet } from '../../kit/chain-logs.ts';
import { type TestEngine, testLog } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';
import { catalogueWith, relayed } from '../../kit/regrade-world.ts';
import { BASE, NO_COUNTERS, NOON, settlement } from '../../kit/rows.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** Who was overtaken cannot write, whatever it believes: the engine itself refuses. */

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

let chains = 5_000;
const freshChain = (): Chain => `eip155:${++chains}`;
const rowsOf = (rows: readonly Settlement[], ver: bigint): Uint8Array =>
  encodeRows(SETTLEMENTS, rows, { ver, del: 0 });
const at = (chain: Chain, blockNumber: number): Settlement =>
  settlement({ chain, blockNumber, blockTime: NOON + blockNumber });

async function claim(engine: TestEngine, scope: string, owner: string, atLeast = 0n): Promise<Guard> {
  return claimFence(engine.writer, { scope, owner, atLeast });
}

async function write(writer: Writer, rows: readonly Settlement[], ver: bigint): Promise<void> {
  await insertRows(writer, { name: 'write-settlements', table: SETTLEMENTS, rows, fixed: { ver, del: 0 } });
}

async function liveBlocks(engine: TestEngine, chain: Chain): Promise<number[]> {
  const { rows } = await engine.writer.rows({
    name: 'live',
    sql: sql`SELECT block_number FROM settlements FINAL WHERE chain = ${text(chain)} AND del = 0 ORDER BY block_number`,
    maxSeconds: 10,
    maxRows: 10_000,
  });
  return rows.map(([number]) => Number(number));
}

/** Leads in the background until the test ends; resolves with the lead. */
function leadUntilEnd(
  engine: TestEngine,
  scope: string,
  owner: string,
  nowMs: () => number = Date.now,
): Promise<Lead> {
  const stopping = new AbortController();
  return new Promise((resolve, reject) => {
    const leading = lead(
      {
        leases: engineLeases(engine.writer, owner),
        writer: engine.writer,
        owner,
        log: testLog,
        signal: stopping.signal,
        nowMs,
      },
      scope,
      (held) => {
        resolve(held);
        return new Promise((end) => held.signal.addEventListener('abort', () => end(undefined)));
      },
    );
    leading.catch(reject); // after the test it has no effect
    ending.push(async () => {
      stopping.abort();
      await leading.catch(() => undefined);
    });
  });
}

describe('tokens', () => {
  test('of any number of claims at once no two get the same, and each is above all before', async ({
    engine,
  }) => {
    const claims = await Promise.all(
      Array.from({ length: 6 }, (_, n) => claim(engine, 'at-once', `owner-${n}`)),
    );
    expect(new Set(claims.map(({ token }) => token)).size).toBe(6);
    const later = await claim(engine, 'at-once', 'later');
    for (const { token } of claims) expect(later.token).toBeGreaterThan(token);
  });

  test('an emptied Redis that begins to count anew gets none below what the engine knows', async ({
    engine,
  }) => {
    await claim(engine, 'emptied', 'old', 40n);
    expect((await claim(engine, 'emptied', 'new', 1n)).token).toBe(41n);
  });
});

describe('a holder that was overtaken', () => {
  test('is refused every insert, also one whose rows are sent; who overtook it writes', async ({
    engine,
  }) => {
    const chain = freshChain();
    const old = guardedWriter(engine.writer, [await claim(engine, chain, 'old')]);
    await write(old, [at(chain, 1)], 100_000n);
    const young = guardedWriter(engine.writer, [await claim(engine, chain, 'young')]);
    await expect(write(old, [at(chain, 2)], 200_000n)).rejects.toThrow(new Overtaken(chain));
    await write(young, [at(chain, 3)], 300_000n);
    expect(await liveBlocks(engine, chain)).toEqual([1, 3]);
  });

  test('loads nothing, drops no partition and runs no DDL', async ({ engine }) => {
    const chain = freshChain();
    const old = guardedWriter(engine.writer, [await claim(engine, chain, 'old')]);
    await claim(engine, chain, 'young');
    const drop = { name: 'drop-of-old', table: 'relayer_totals', partition: 1n, maxSeconds: 10 };
    await expect(old.dropPartition(drop)).rejects.toThrow(new Overtaken(chain));
    const ddl = {
      name: 'ddl-of-old',
      sql: sql`CREATE TABLE of_old (n UInt8) ENGINE = Memory`,
      maxSeconds: 10,
    };
    await expect(old.run({ ...ddl, kind: 'other' })).rejects.toThrow(new Overtaken(chain));
    const body = new PassThrough().end(`['${chain}']`);
    const load = {
      name: 'load-of-old',
      sql: sql`INSERT INTO blocks (chain, number) SELECT chain, 1 FROM input('chain String') FORMAT JSONCompactEachRow`,
      maxSeconds: 10,
    };
    await expect(old.load(load, body)).rejects.toThrow(new Overtaken(chain));
    const { rows } = await engine.writer.rows({
      name: 'loaded',
      sql: sql`SELECT count() FROM blocks WHERE chain = ${text(chain)}`,
      maxSeconds: 10,
      maxRows: 1,
    });
    expect(Number(rows[0]?.[0])).toBe(0);
  });

  test('cannot run a statement that the guard has no place in, unless it says that it is no insert', async ({
    engine,
  }) => {
    const guarded = guardedWriter(engine.writer, [await claim(engine, freshChain(), 'one')]);
    const insert = { name: 'odd-insert', sql: sql`insert into fences (scope) select 'odd'`, maxSeconds: 10 };
    await expect(guarded.run(insert)).rejects.toThrow(TypeError);
  });

  test('retracts nothing: each statement of a retraction is refused by itself', async ({ engine }) => {
    const chain = freshChain();
    const guard = await claim(engine, chain, 'old');
    await write(engine.writer, [at(chain, 1), at(chain, 2)], 100_000n);
    const before = await countRows(engine, chain);
    const old = guardedWriter(engine.writer, [guard]);
    await claim(engine, chain, 'young');
    const refused: boolean[] = [];
    // Goes on after a refusal, as no product does, so that every statement is seen.
    const goesOn: Writer = {
      ...old,
      run: (statement) =>
        old.run(statement).then(
          () => void refused.push(false),
          (error: unknown) => void refused.push(error instanceof Overtaken),
        ),
    };
    await retractAbove(goesOn, createVersions(1_000_000n), chain, { number: 0, time: NOON });
    expect(refused.length).toBeGreaterThan(8);
    // Those that find no rows have nothing to refuse.
    expect(refused.filter(Boolean).length).toBeGreaterThanOrEqual(4);
    expect(await countRows(engine, chain)).toEqual(before);
    expect(await liveBlocks(engine, chain)).toEqual([1, 2]);
  });

  test('cannot overwrite the status of a chain', async ({ engine }) => {
    const chain = freshChain();
    const old = guardedWriter(engine.writer, [await claim(engine, chain, 'old')]);
    await claim(engine, chain, 'young');
    const source = { counters: () => ({ calls: 0, retries: 0, contradictions: 0, contradictedAtMs: 0 }) };
    const status = createChainStatus({ chain, pollMs: 1_000 }, source, NO_COUNTERS);
    await expect(saveStatus(old, createVersions(0n), status.snapshot())).rejects.toThrow(Overtaken);
  });
});

async function countRows(engine: TestEngine, chain: Chain): Promise<unknown> {
  const { rows } = await engine.writer.rows({
    name: 'count',
    sql: sql`SELECT (SELECT count() FROM settlements WHERE chain = ${text(chain)}),
      (SELECT count() FROM wallet_rows WHERE chain = ${text(chain)}),
      (SELECT count() FROM retracted_keys WHERE chain = ${text(chain)})`,
    maxSeconds: 10,
    maxRows: 1,
  });
  return rows;
}

describe('who takes over', () => {
  test('waits for an insert that had begun, and takes versions above what it wrote', async ({ engine }) => {
    const chain = freshChain();
    const old = guardedWriter(engine.writer, [await claim(engine, chain, 'old')]);
    await writeFence(engine.writer, { scope: chain, token: 1n }, 'old', true); // its process is gone
    const ahead = createVersions(0n, () => Date.now() + 7_200_000);
    const written = ahead.next();
    const begun = pausedInsert(old, chain, { rows: BEGUN_ROWS, ver: written });
    await waitUntil('the engine has begun with it', async () => (await running(engine, chain)) === 1);
    const unread = pausedInsert(old, chain, { rows: 1, ver: ahead.next() });
    const taking = leadUntilEnd(engine, chain, 'young');
    await waitUntil('the fence is up', async () => (await highestToken(engine.writer, chain)) > 1n);
    // Whatever begins now is refused, also what was sent before and not looked at yet.
    await expect(write(old, [at(chain, 9)], ahead.next())).rejects.toThrow(Overtaken);
    await expect(unread.finish()).rejects.toThrow(Overtaken);
    await begun.finish();
    const { versions } = await taking;
    expect(versions.next()).toBeGreaterThan(written);
    expect(await liveBlocks(engine, chain)).toHaveLength(BEGUN_ROWS);
  });

  test('with a clock that is hours behind: rows that it retracts are gone, and rows that others then write for it are there', async ({
    engine,
  }) => {
    const chain = freshChain();
    const now = Date.now();
    // The first leader's clock is two hours ahead, the second one's right, the worker's two hours behind.
    const first = await leadUntilEnd(engine, chain, 'ahead', () => now + 7_200_000);
    await write(first.writer, [at(chain, 1), at(chain, 2)], first.versions.next());
    await writeFence(engine.writer, first.guard, 'ahead', true);
    const second = await leadUntilEnd(engine, chain, 'right', () => now);
    await retractAbove(second.writer, second.versions, chain, { number: 0, time: NOON });
    expect(await liveBlocks(engine, chain)).toEqual([]);
    const worker = createVersions(0n, () => now - 7_200_000);
    worker.raise(second.versions.next());
    await write(guardedWriter(engine.writer, [second.guard]), [at(chain, 1), at(chain, 2)], worker.next());
    expect(await liveBlocks(engine, chain)).toEqual([1, 2]);
  });

  test('without Redis waits while the other one shows that it is alive', async ({ engine }) => {
    const scope = 'alone';
    const guard = await claim(engine, scope, 'one');
    const others = engineLeases(engine.writer, 'two');
    expect(await others.tryAcquire(scope)).toBeNull();
    expect(await engineLeases(engine.writer, 'one').tryAcquire(scope)).not.toBeNull();
    await writeFence(engine.writer, guard, 'one', true);
    expect(await others.tryAcquire(scope)).not.toBeNull();
  });
});

/** The engine reads 256 KiB before it looks at a statement; so many rows are more. */
const BEGUN_ROWS = 2_000;

/** An insert whose last byte does not come before `finish`. */
function pausedInsert(
  writer: Writer,
  chain: Chain,
  { rows, ver }: { readonly rows: number; readonly ver: bigint },
): { finish(): Promise<void> } {
  const body = new PassThrough();
  const bytes = rowsOf(
    Array.from({ length: rows }, (_, index) => at(chain, 1 + index)),
    ver,
  );
  body.write(Buffer.from(bytes.subarray(0, -1)));
  const inserting = writer.insert('write-settlements', 'settlements', columnNames(SETTLEMENTS), body);
  inserting.catch(() => undefined); // the caller that awaits it gets the error
  return {
    finish() {
      body.end(Buffer.from(bytes.subarray(-1)));
      return inserting;
    },
  };
}

async function running(engine: TestEngine, chain: Chain): Promise<number> {
  const { rows } = await engine.writer.rows({
    name: 'running',
    sql: sql`SELECT count() FROM system.processes WHERE query_kind = 'Insert' AND ${isOfScope(chain)}`,
    maxSeconds: 10,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}

describe('rows of an older catalogue', () => {
  test('are refused once a newer one is published, then graded by that and written', async ({ engine }) => {
    const [alice, shop, ann] = [wallet(0xa1), wallet(0x51), wallet(0xa22)];
    const signal = new AbortController().signal;
    await raiseGrades(engine.writer, 4);
    const catalogues = createCatalogueHolder(catalogueWith(), 4n);
    const context = decodeContextOf({ chain: BASE, tokens: TOKENS, registries: {} }, catalogues.current());
    let refused = 0;
    const guarded = guardedWriter(engine.writer, []);
    const counting: Writer = {
      ...guarded,
      insert: (...given) =>
        guarded.insert(...given).catch((error: unknown) => {
          refused += 1;
          throw error;
        }),
    };
    const pipeline = createPipeline({
      windows: createEvmWindows({
        source: {
          read: async () => batchOf([[{ from: ann, events: [used(alice), transfer(alice, shop, 5)] }]]),
          receipts: async () => [],
        },
        context,
        writer: counting,
      }),
      catalogues,
      batches: createBatchWriter({
        chain: BASE,
        writer: counting,
        versions: createVersions(0n),
        log: testLog,
        signal,
      }),
      status: { sourceAnswered: () => undefined, wrote: () => undefined },
      signal,
    });
    const batch = await pipeline.read(100, 100);
    await raiseGrades(engine.writer, 5);
    expect(await publishedPass(engine.writer)).toBe(5n);
    const storing = pipeline.store(batch);
    await waitUntil('the engine has refused it', () => refused > 0);
    expect(await liveBlocks(engine, BASE)).toEqual([]);
    void catalogues.replace(catalogueWith({ facilitators: [relayed('ann', ann)] }), 5n);
    await storing;
    const { rows } = await engine.writer.rows({
      name: 'graded',
      sql: sql`SELECT facilitator FROM settlements FINAL WHERE chain = ${text(BASE)} AND del = 0`,
      maxSeconds: 10,
      maxRows: 10,
    });
    expect(rows).toEqual([['ann']]);
  });
});
